//! Decisions about a run.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct TaskArguments {
    /// The tasks
    #[arg(value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    /// The run: `protocol:name`, a name, or a unique beginning of one [default: the open one]
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RetryArguments {
    #[command(flatten)]
    pub(crate) about: TaskArguments,
    /// Retry every task that waits for a person; the default without TASK
    #[arg(long, conflicts_with = "tasks")]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SkipArguments {
    #[command(flatten)]
    pub(crate) about: TaskArguments,
}

#[derive(Debug, Args)]
pub(crate) struct CancelArguments {
    /// The run [default: the open one]
    pub(crate) id: Option<String>,
    /// Cancel without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    /// The run [default: the open one]
    pub(crate) id: Option<String>,
    /// Stop the running agents too; their tasks are done again by the next resume
    #[arg(long)]
    pub(crate) now: bool,
}
