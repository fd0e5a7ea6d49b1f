//! What can be typed; the doc comments here are the help texts.

mod checkpoint;
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
pub(crate) use self::report::{EventArguments, HeartbeatArguments};
pub(crate) use self::setup::{HookArguments, InstallArguments, InstallTarget};
pub(crate) use self::upkeep::{RescueCommand, TortureArguments};
pub(crate) use self::work::{AgentArguments, ResumeArguments, RunArguments};
pub(crate) use self::workflow::{
    ExplainArguments, InspectArguments, PlanArguments, StartArguments, WorkflowArguments,
};

/// Picks up any interrupted coding-agent workflow exactly where it stopped
///
/// Without a command: what can be resumed here, and the one command to type next.
#[derive(Debug, Parser)]
#[command(
    name = "rekindle",
    version,
    propagate_version = true,
    max_term_width = 100
)]
#[command(
    after_help = "Exit codes: 0 done or declined, 1 cannot resume, 2 wrong usage, 3 a choice is needed and nobody is there, 4 another rekindle or agent is at work."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// How and about what every command speaks.
#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// Works on the project in this folder instead of the current one
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) folder: Option<Utf8PathBuf>,
    /// Prints one JSON object with a `schema` instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: ColorWhen,
    /// Says less: no hints and no progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Says more: notes, and where each thing comes from
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
    /// Shows what can be resumed here, one line each, and the command to type next
    Status,
    /// Shows everything known of one workflow: facts, findings, where each comes from
    Inspect(InspectArguments),
    /// Starts a new run from a task graph (JSON) or a Markdown task list
    Run(RunArguments),
    /// Shows what resume would do, in order; writes nothing
    Plan(PlanArguments),
    /// Briefs, asks once, and goes on until the work is done or a person is needed
    Resume(ResumeArguments),
    /// Tells why a task is in its state (ID TASK), or what a finding means (CODE)
    Explain(ExplainArguments),
    /// Makes a checkpoint
    Checkpoint(CheckpointArguments),
    /// Lists the checkpoints of a workflow
    Checkpoints(CheckpointsArguments),
    /// Goes back to a checkpoint of a Bifrost feature, after a yes; deletes nothing
    ///
    /// Session and marker are kept in `.bifrost/rollback-backup/` before they change.
    /// Files that were written after the checkpoint are listed; nothing is deleted, and newer checkpoints stay in the history.
    /// The checkpoint is the latest one afterwards, so that a plain `resume` goes on from it.
    Rollback(RollbackArguments),
    /// Holds a feature's spec and plan, or single files, against Bifrost's rules
    Validate(ValidateArguments),
    /// Gives a feature the session that all features shared before, after a yes
    ///
    /// Exit codes: 0 done or declined, 1 nothing to migrate, 2 the session is another feature's, 3 something could not be written.
    Migrate {
        /// The feature [default: the one of the marker]
        feature: Option<String>,
        /// Migrates without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Appends an event to a workflow's log, for workers and scripts
    Event(EventArguments),
    /// Appends a sign of life of a running task
    Heartbeat(HeartbeatArguments),
    /// Sets a coding agent or a MAP project up to call rekindle, after a yes
    Install(InstallArguments),
    /// Takes away what `install` added; the settings are again what they were
    Uninstall(InstallArguments),
    /// Answers a coding agent that calls at a moment of its session; never fails it
    ///
    /// The agent's JSON is read from standard input. `rekindle install` sets agents up to call it.
    Hook(HookArguments),
    /// Remove worktrees that are no longer needed
    ///
    /// Lists the worktrees that runs left behind and those of kiln waves that have landed, and asks before it removes them; what is in them is kept as a rescue.
    /// A folder that belongs to no task is removed only if it is named.
    Clean {
        /// Worktrees to remove, by path or by name; all that are no longer needed if none is given
        #[arg(value_name = "WORKTREE")]
        names: Vec<String>,
        /// Removes them without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Lists, shows and restores what was kept before something could have destroyed it
    #[command(subcommand)]
    Rescue(RescueCommand),
    /// Answers as MAP's `map_orchestrator.py` does: `rekindle map get_next_step`
    ///
    /// Also the commands of `map_step_runner.py` that a resume needs.
    /// Prints their JSON with their exit codes, and keeps their state files; `rekindle map --help` lists the commands.
    #[command(disable_help_flag = true)]
    Map {
        /// The command and its words, as the scripts take them
        #[arg(
            value_name = "COMMAND",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        words: Vec<OsString>,
    },
    /// Builds a small project in a scratch folder, interrupts its work and resumes it
    Demo,
    /// Kills runs at random moments, resumes them, and counts what was lost
    ///
    /// The runs are made on a copy of this repository, or on a small one where there is none; this one is not touched.
    /// Orchestrators, workers, agents and all of them at once are killed with `kill -9`, some are stopped for a while instead.
    /// Your hooks and filters are not run and nothing is signed; Ctrl-C ends everything and removes the copy.
    /// Exit 0 means that nothing at all was wrong; the copy of a run that went wrong is kept and named.
    Torture(TortureArguments),
    /// Does one attempt at a task; started by `run` and `resume`
    #[command(hide = true)]
    Worker {
        /// The attempt's order
        order: Utf8PathBuf,
    },
    /// Serves coding agents over MCP on standard input and output, until the input ends
    Mcp {
        /// The mark by which `rekindle uninstall` knows what `rekindle install` added; it does nothing
        #[arg(long = "installed", hide = true)]
        _installed: bool,
    },
    /// Checks whether everything that rekindle needs is in order
    Doctor,
    /// Prints a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual page, in the form that `man` reads
    Man,
}
