//! What can be typed; the doc comments here are the help texts.

use std::ffi::OsString;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};
use rekindle_model::{ProtocolName, Report};

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

#[derive(Debug, Args)]
pub(crate) struct TortureArguments {
    /// How many kills at least; a run that has begun is finished
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) kills: u32,
    /// Chooses plans and disturbances
    ///
    /// The same seed gives each run the same plan, and the same disturbances in the same order: of which kind, how long after the one before, and which of those whom it fits.
    /// Moments are times of a clock, and what the processes are doing then is up to the machine: who is hit, and so the figures, differ from time to time.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many workers at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) jobs: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RescueCommand {
    /// Lists what was kept, one line each
    List {
        /// Only of this workflow: `protocol:name`, a name, or a beginning of one
        workflow: Option<String>,
    },
    /// Shows what one rescue holds: from where and when, and which files differ from its base
    ///
    /// Files are compared byte by byte, so those that git converts when it checks them out (line ends, filters) differ too.
    Show {
        /// The rescue: its ref, `workflow/task/n`, or a unique beginning
        name: String,
    },
    /// Writes the files of a rescue into a new folder, after a yes; never over anything that exists
    Restore {
        /// The rescue: its ref, `workflow/task/n`, or a unique beginning
        name: String,
        /// The folder, which must not exist yet [default: one below `.rekindle/restored/`]
        #[arg(long, value_name = "DIR")]
        into: Option<Utf8PathBuf>,
        /// Writes it without asking
        #[arg(short, long)]
        yes: bool,
    },
}

/// Which workflow is meant.
#[derive(Debug, Args)]
pub(crate) struct WorkflowArguments {
    /// The workflow: `protocol:name`, a name, or a unique beginning of one
    pub(crate) id: Option<String>,
    /// Looks only at this protocol
    #[arg(long, value_name = "PROTOCOL", value_parser = parse_protocol)]
    pub(crate) protocol: Option<ProtocolName>,
    /// Reads the host's task list from this file (JSON) instead of the list on disk; for kiln-teams
    #[arg(long, value_name = "FILE")]
    pub(crate) tasks: Option<Utf8PathBuf>,
}

/// Where and how a workflow with checkpoints is taken up.
#[derive(Debug, Args)]
pub(crate) struct StartArguments {
    /// Goes back to this checkpoint instead of the latest; for bifrost
    #[arg(long, value_name = "CP")]
    pub(crate) checkpoint: Option<String>,
    /// Shows only phase, artifacts and next action, and compacts the session where the context is high; for bifrost
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Runs the validators first; for bifrost
    #[arg(long)]
    pub(crate) validate: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    /// Also writes all that was read to this file, to be played back elsewhere
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) capture: Option<Utf8PathBuf>,
    /// Looks at what was captured in this file instead of the project
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<Utf8PathBuf>,
}

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that can be typed"
)]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArguments,
    #[command(flatten)]
    pub(crate) start: StartArguments,
    /// Goes on without asking; the protocol's own questions to a person are still put
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Shows the plan and writes nothing, as `rekindle plan` does
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArguments,
    /// Does all that needs no agent, says what an agent would do next, and stops
    #[arg(long, conflicts_with_all = ["agent_cmd", "agent"])]
    pub(crate) no_agent: bool,
    /// Stays while others are at work on it, and goes on when they have ended
    #[arg(long)]
    pub(crate) watch: bool,
}

/// Who does the work, and how much at once.
#[derive(Debug, Args)]
pub(crate) struct AgentArguments {
    /// The agent: a shell command that gets the prompt on its standard input
    #[arg(long, value_name = "COMMAND")]
    pub(crate) agent_cmd: Option<String>,
    /// The agent by its name: `claude`, `codex`, `opencode`, `gemini`, or one of the configuration
    #[arg(long, value_name = "NAME", conflicts_with = "agent_cmd")]
    pub(crate) agent: Option<String>,
    /// How many workers at once [default: what the workflow says, or 4]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) jobs: Option<u8>,
    /// No new attempts once the run's reported cost has reached this many dollars; `resume` keeps the limit of `run`
    #[arg(long, value_name = "DOLLARS", value_parser = parse_dollars)]
    pub(crate) max_cost: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The plan: `task-graph.json` in either shape, or a Markdown task list
    pub(crate) plan: Utf8PathBuf,
    #[command(flatten)]
    pub(crate) agent: AgentArguments,
    /// The branch on which the work lands; without one the run gets its own
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,
    /// A command that must succeed in a task's worktree, and again on the integrated tree if the branch has moved; may be given more than once [default: `verify` of the configuration]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) verify: Vec<String>,
    /// How long one attempt may take: `90s`, `45m` or `2h` [default: what the configuration says, or 45m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// How often a failed task is tried again [default: 2]
    #[arg(long, value_name = "N")]
    pub(crate) retries: Option<u32>,
    /// Goes on without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The workflow, or the code of a finding
    #[arg(value_name = "ID|CODE")]
    pub(crate) subject: String,
    /// The task
    pub(crate) task: Option<String>,
    /// Looks only at this protocol
    #[arg(long, value_name = "PROTOCOL", value_parser = parse_protocol)]
    pub(crate) protocol: Option<ProtocolName>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointArguments {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArguments,
    /// What is said about it
    #[arg(short, long, value_name = "TEXT", default_value = "")]
    pub(crate) message: String,
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointsArguments {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArguments,
    /// Moves all but the newest five, and old lines of the history, to a file beside the session; for bifrost
    #[arg(long)]
    pub(crate) archive: bool,
    /// Archives without asking
    #[arg(short, long, requires = "archive")]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RollbackArguments {
    /// The workflow
    pub(crate) id: String,
    /// The checkpoint, such as `CP-003`
    #[arg(value_name = "CP")]
    pub(crate) checkpoint: String,
    /// Looks only at this protocol
    #[arg(long, value_name = "PROTOCOL", value_parser = parse_protocol)]
    pub(crate) protocol: Option<ProtocolName>,
    /// Goes back without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["feature", "spec", "plan"]))]
pub(crate) struct ValidateArguments {
    /// The feature, by its name or its folder
    pub(crate) feature: Option<String>,
    /// Validates this specification
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<Utf8PathBuf>,
    /// Validates this plan
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<Utf8PathBuf>,
    /// The rules that the plan is held against
    #[arg(long, value_name = "FILE", requires = "plan", conflicts_with_all = ["feature", "spec"])]
    pub(crate) rules: Option<Utf8PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct EventArguments {
    /// The workflow
    pub(crate) id: String,
    /// What happened, such as `task_completed`
    #[arg(value_name = "TYPE", value_parser = Report::parse_event)]
    pub(crate) event: String,
    /// The task it is about
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// Who tells it; names the folder of the log
    #[arg(long, value_name = "NAME", default_value = "rekindle", value_parser = Report::parse_actor)]
    pub(crate) actor: String,
    /// More about it: one JSON object
    #[arg(long, value_name = "JSON", value_parser = parse_object)]
    pub(crate) details: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HeartbeatArguments {
    /// The workflow
    pub(crate) id: String,
    /// The task that is being worked on
    pub(crate) task: String,
    /// Who works on it; names the folder of the log
    #[arg(long, value_name = "NAME", default_value = "rekindle", value_parser = Report::parse_actor)]
    pub(crate) actor: String,
}

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that can be typed"
)]
pub(crate) struct InstallArguments {
    /// The agent, or the project's MAP scripts
    pub(crate) target: InstallTarget,
    /// Changes your own settings, for all projects; the default for agents, not for `map`
    #[arg(long, conflicts_with = "project")]
    pub(crate) user: bool,
    /// Changes the settings in the project's folder, for all who work on it; the default for `map`
    #[arg(long)]
    pub(crate) project: bool,
    /// Shows the change and writes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Writes without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Who can be set up to call rekindle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InstallTarget {
    Claude,
    Codex,
    Gemini,
    Opencode,
    /// The project's `.map/scripts/map_orchestrator.py`, which then hands its commands to `rekindle map`
    Map,
}

#[derive(Debug, Args)]
pub(crate) struct HookArguments {
    /// The moment: session-start, pre-compact, session-end, stop, stop-failure or post-tool-use
    pub(crate) event: String,
    /// Who calls: claude, codex, gemini or opencode; without it the agent is told by what it says
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The mark by which `rekindle uninstall` knows what `rekindle install` added; it does nothing
    #[arg(long = "installed", hide = true)]
    _installed: bool,
}

fn parse_protocol(text: &str) -> Result<ProtocolName, String> {
    rekindle_app::parse_protocol(text).ok_or_else(|| {
        let known: Vec<&str> = rekindle_app::protocol_names()
            .iter()
            .map(|name| name.as_str())
            .collect();
        format!("`{text}` is not a protocol; known: {}", known.join(", "))
    })
}

/// Reads dollars into millionths of one.
fn parse_dollars(text: &str) -> Result<u64, String> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
        return Err("write dollars as `5` or `2.50`".to_owned());
    }
    let millionths = format!("{whole}{part:0<6}");
    millionths
        .parse()
        .map_err(|_| "that is too much".to_owned())
}

/// Reads `90s`, `45m` or `2h`.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write a time as `90s`, `45m` or `2h`".to_owned();
    let seconds = match text.char_indices().last() {
        Some((_, 's')) => 1,
        Some((_, 'm')) => 60,
        Some((_, 'h')) => 3600,
        Some(_) | None => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number
        .checked_mul(seconds)
        .filter(|secs| *secs > 0)
        .map(Duration::from_secs)
        .ok_or_else(wrong)
}

fn parse_object(text: &str) -> Result<String, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if value.is_object() {
        Ok(value.to_string())
    } else {
        Err("details are one JSON object, such as `{\"reason\":\"…\"}`".to_owned())
    }
}
