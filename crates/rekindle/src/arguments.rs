//! The command line; doc comments are the help texts.

mod checkpoint;
mod decide;
mod picture;
mod report;
mod setup;
mod upkeep;
mod values;
mod work;
mod workflow;

use std::ffi::OsString;

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::checkpoint::{
    CheckpointArguments, CheckpointsArguments, RollbackArguments, ValidateArguments,
};
pub(crate) use self::decide::{CancelArguments, RetryArguments, SkipArguments, StopArguments};
pub(crate) use self::picture::{ReportArguments, SvgKind};
pub(crate) use self::report::{EventArguments, HeartbeatArguments};
pub(crate) use self::setup::{DemoStory, HookArguments, InstallArguments, InstallTarget};
pub(crate) use self::upkeep::{PruneArguments, RescueCommand, TortureArguments};
pub(crate) use self::work::{AgentArguments, ResumeArguments, RunArguments};
pub(crate) use self::workflow::{
    AttachArguments, ExplainArguments, InspectArguments, LogsArguments, PlanArguments,
    SessionsArguments, StartArguments, StatusArguments, WorkflowArguments,
};

/// The version, and in a release build the commit and its day; see `build.rs`.
pub(crate) const VERSION: &str = env!("REKINDLE_VERSION");

/// Resume interrupted coding-agent workflows exactly where they stopped
///
/// Without a command, it lists what can be resumed in this project and the command to type next.
#[derive(Debug, Parser)]
#[command(
    name = "rekindle",
    version = VERSION,
    propagate_version = true,
    max_term_width = 100
)]
#[command(
    after_help = "Exit codes: 0 done or declined, 1 cannot resume, 2 wrong usage, 3 a question was not answered, 4 another rekindle or agent is working on it"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) list: StatusArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// Use the project in this folder instead of the current one
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) folder: Option<Utf8PathBuf>,
    /// Print one JSON object instead of text; its `schema` names the format
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: ColorWhen,
    /// Print no hints and no progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also print notes and the files that facts come from
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the workflows that can be resumed and the command to type next
    #[command(aliases = ["list", "ls"])]
    Status(StatusArguments),
    /// List the sessions of coding agents in all folders, and which of them were cut off
    ///
    /// Claude Code, Codex, opencode and Gemini CLI; finished sessions are counted.
    Sessions(SessionsArguments),
    /// Show the facts and findings of a workflow, with their sources
    Inspect(InspectArguments),
    /// Run a plan: a Markdown task list or a task graph (JSON)
    Run(RunArguments),
    /// Show what `resume` would do, without changing anything
    Plan(PlanArguments),
    /// Resume a workflow
    Resume(ResumeArguments),
    /// Show what agents and checks printed
    ///
    /// Without ID: of the workflow that somebody works on, or of the newest; without TASK: the last lines of each task.
    /// Secrets are masked; `-v` prints each line as it came, such as JSON.
    #[command(alias = "log")]
    Logs(LogsArguments),
    /// Follow a run that is at work in another terminal
    ///
    /// The same view as in that terminal, until the run ends or you press `q` or Ctrl-C; the run is not touched.
    /// Without ID: the newest run that somebody works on. The exit code is that of the run; 0 if you leave.
    Attach(AttachArguments),
    /// Write what happened to a workflow as one HTML page, a drawing or a trace
    ///
    /// The page needs no network and no scripts: story, timeline, graph, and for each task why, diff and findings.
    /// Secrets are masked, and only you can read the file. Only a file that you name with `-o` is replaced; a link is refused.
    Report(ReportArguments),
    /// Try failed tasks of a run again
    Retry(RetryArguments),
    /// Leave tasks of a run out
    Skip(SkipArguments),
    /// End a run for good; what has landed stays on its branch
    Cancel(CancelArguments),
    /// Ask a run that is at work in another terminal to stop
    ///
    /// Running tasks finish and land, as after one Ctrl-C.
    Stop(StopArguments),
    /// Explain the state of a task (ID TASK) or a finding (CODE)
    Explain(ExplainArguments),
    /// Record a checkpoint
    Checkpoint(CheckpointArguments),
    /// List the checkpoints of a workflow
    Checkpoints(CheckpointsArguments),
    /// Roll a Bifrost feature back to a checkpoint, after confirmation
    ///
    /// The session and the active-workflow marker are copied to `.bifrost/rollback-backup/` first.
    /// Nothing is deleted: files written after the checkpoint are listed, and newer checkpoints stay in the history.
    /// Afterwards the checkpoint is the latest one, so that a plain `resume` continues from it.
    Rollback(RollbackArguments),
    /// Validate a feature's spec and plan
    Validate(ValidateArguments),
    /// Migrate the legacy shared session to one feature, after confirmation
    ///
    /// Exit codes: 0 done or declined, 1 nothing to migrate, 2 the session belongs to another feature, 3 nobody answered or a file cannot be written.
    Migrate {
        /// The feature [default: the active one]
        feature: Option<String>,
        /// Migrate without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Append an event to a workflow's log, for workers and scripts
    Event(EventArguments),
    /// Record that a task is still running, for workers and scripts
    Heartbeat(HeartbeatArguments),
    /// Leave a workflow out of what new sessions of coding agents are told
    ///
    /// It stays in `rekindle status`, and can be resumed.
    Mute {
        /// The workflow
        id: String,
        /// Tell new sessions of it again
        #[arg(long)]
        undo: bool,
    },
    /// Set up a coding agent or a MAP project to use rekindle, after confirmation
    Install(InstallArguments),
    /// Remove what `install` added
    Uninstall(InstallArguments),
    /// Handle a coding-agent hook event (always exits 0)
    ///
    /// The agent's JSON is read from standard input. `rekindle install` sets up agents to call this command.
    Hook(HookArguments),
    /// Remove worktrees that are no longer needed
    ///
    /// List the worktrees that runs left behind and those of landed kiln waves and, after confirmation, back up their contents and remove them.
    /// A folder that does not belong to a task is removed only if you name it.
    Clean {
        /// Worktrees to remove, by path or name [default: all that are no longer needed]
        #[arg(value_name = "WORKTREE")]
        names: Vec<String>,
        /// Remove them without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Remove records of finished runs, merged branches and old backups
    ///
    /// List, and after confirmation remove: records of runs that finished longer ago, `rekindle/` branches that are merged, and backups that have landed or are older.
    /// What is not merged is removed only if you name it; what a run needs is never removed.
    Prune(PruneArguments),
    /// List, show and restore backups of worktrees
    #[command(subcommand)]
    Rescue(RescueCommand),
    /// Run a command of MAP's `map_orchestrator.py`, such as `rekindle map get_next_step`
    ///
    /// The commands of `map_step_runner.py` that a resume needs are available too.
    /// Output, exit codes and state files are those of the scripts; `rekindle map --help` lists the commands.
    #[command(disable_help_flag = true)]
    Map {
        /// The command and its arguments, as the scripts take them
        #[arg(
            value_name = "COMMAND",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        words: Vec<OsString>,
    },
    /// Kill a run in a scratch project and resume it, to see how it works
    ///
    /// `rekindle demo sessions` kills six sessions of coding agents instead, for which scripts stand in.
    Demo {
        /// What is killed
        #[arg(value_name = "WHAT", default_value = "run")]
        story: DemoStory,
        /// Write a report of the run, as `rekindle report` does
        #[arg(long)]
        report: bool,
    },
    /// Kill runs at random moments, resume them, and count what was lost
    ///
    /// Runs use a copy of this repository, or a small new one outside a repository; this one is not changed.
    /// Orchestrators, workers, agents or all of them are killed with `kill -9`; some are suspended for a while instead.
    /// Your hooks and filters are not run and nothing is signed; Ctrl-C ends the runs and removes the copy.
    /// Exit code 0 means that nothing was lost or done twice; otherwise the copy stays, and its folder is printed.
    Torture(TortureArguments),
    /// Run one attempt of a task; started by `run` and `resume`
    #[command(hide = true)]
    Worker {
        /// The attempt's order
        order: Utf8PathBuf,
    },
    /// Serve coding agents over MCP on standard input and output
    Mcp {
        /// Marks an entry that `rekindle install` added, for `rekindle uninstall`; has no effect
        #[arg(long = "installed", hide = true)]
        _installed: bool,
    },
    /// Write a commented `rekindle.toml` for the agents that are installed
    ///
    /// A team shares it by committing it. An existing file is not changed.
    Init,
    /// Show the configuration that holds, and where each setting is from
    Config,
    /// Check git, the configuration and the agents
    Doctor,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the version, as `--version` does
    #[command(hide = true)]
    Version,
    /// Print the manual page in roff format
    Man {
        /// The page of this command; without it, one page with all commands
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
}
