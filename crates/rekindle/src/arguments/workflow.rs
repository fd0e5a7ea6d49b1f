//! Looking at a workflow.

use camino::Utf8PathBuf;
use clap::Args;
use rekindle_model::ProtocolName;

use super::values::parse_protocol;

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
