//! Starting and resuming work.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;

use super::values::{parse_dollars, parse_duration};
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
