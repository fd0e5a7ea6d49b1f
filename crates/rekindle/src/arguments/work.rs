//! Starting and resuming work.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;

use super::values::{parse_command, parse_dollars};
use super::{StartArguments, WorkflowArguments};

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
    /// Start without asking; the protocol's own questions are still asked
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Show the plan without changing anything, as `rekindle plan` does
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArguments,
    /// Do everything that needs no agent, print what an agent would do next, and stop
    #[arg(long, conflicts_with_all = ["agent_cmd", "agent"])]
    pub(crate) no_agent: bool,
    /// Start over with tasks that were cut short: run their agents again, each in a new session and with clean files
    ///
    /// Without it, work that an agent had finished is only checked and delivered, and an agent that was cut short goes on in its session where that is possible.
    #[arg(long, conflicts_with = "all")]
    pub(crate) restart: bool,
    /// Take over what was edited in the run's plan file since it was started
    ///
    /// Open tasks get their new texts, checks and needs, new tasks are added, and tasks that the file no longer has are left out.
    /// What has landed or is at work stays as it is.
    #[arg(long, conflicts_with_all = ["dry_run", "all"])]
    pub(crate) update_plan: bool,
    /// Wait until no other rekindle or agent is working on it, then resume
    #[arg(long)]
    pub(crate) watch: bool,
    /// Continue a session whose folder is gone in this folder (Claude Code and Codex)
    #[arg(long, value_name = "DIR")]
    pub(crate) in_folder: Option<Utf8PathBuf>,
    /// Wait for the end of a session's usage limit, then continue it
    #[arg(long)]
    pub(crate) wait: bool,
    /// Hand the session over to a new one of this agent; the old one stays as it is
    #[arg(long, value_name = "AGENT", conflicts_with_all = ["all", "agent", "agent_cmd", "no_agent"])]
    pub(crate) with: Option<String>,
    /// Continue every interrupted session that is safe, one at a time in a folder
    #[arg(long, conflicts_with_all = ["id", "in_folder", "no_agent", "dry_run", "watch"])]
    pub(crate) all: bool,
    /// With `--all`: sessions of all folders
    #[arg(long, requires = "all")]
    pub(crate) everywhere: bool,
    /// With `--all`: also sessions that scripts started
    #[arg(long, requires = "all")]
    pub(crate) headless: bool,
    /// Land the tasks of a list on this branch [default: one of the run's own]
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,
}

/// The agent, and how much it may do at once.
#[derive(Debug, Args)]
pub(crate) struct AgentArguments {
    /// Use this shell command as the agent; it gets the prompt on standard input
    #[arg(long, value_name = "COMMAND", value_parser = parse_command)]
    pub(crate) agent_cmd: Option<String>,
    /// Use this agent: `claude`, `codex`, `opencode`, `gemini`, or one from the configuration
    #[arg(long, value_name = "NAME", conflicts_with = "agent_cmd")]
    pub(crate) agent: Option<String>,
    /// Number of parallel workers [default: from the workflow, or 4]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) jobs: Option<u8>,
    /// Make a new worktree for every task instead of using those of the pool again
    #[arg(long)]
    pub(crate) fresh_worktrees: bool,
    /// Start no new attempts once the reported cost has reached this many dollars; a resumed run keeps its limit
    #[arg(long, value_name = "DOLLARS", value_parser = parse_dollars)]
    pub(crate) max_cost: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The plan: a Markdown task list, a task graph (JSON), or `-` for standard input
    pub(crate) plan: Utf8PathBuf,
    /// Show the tasks in the order in which they run; write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArguments,
    /// Land the work on this branch [default: a new branch]
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,
    /// Require this command to succeed in a task's worktree, and again after merging if the branch has new commits; may be repeated [default: `verify` from the configuration]
    #[arg(long, value_name = "COMMAND", value_parser = parse_command)]
    pub(crate) verify: Vec<String>,
    /// Time limit of one attempt, such as `90s` or `1h30m` [default: from the configuration, or 45m]
    #[arg(long, value_name = "TIME", value_parser = rekindle_app::parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Number of retries of a failed task [default: 2]
    #[arg(long, value_name = "N")]
    pub(crate) retries: Option<u32>,
    /// Start without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}
