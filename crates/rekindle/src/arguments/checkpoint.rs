//! Checkpoints and the documents of a feature.

use camino::Utf8PathBuf;
use clap::Args;
use rekindle_model::ProtocolName;

use super::WorkflowArguments;
use super::values::parse_protocol;

#[derive(Debug, Args)]
pub(crate) struct CheckpointArguments {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArguments,
    /// A note on the checkpoint
    #[arg(short, long, value_name = "TEXT", default_value = "")]
    pub(crate) message: String,
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointsArguments {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArguments,
    /// Move all but the newest five checkpoints, and old history lines, to a file next to the session (bifrost)
    #[arg(long)]
    pub(crate) archive: bool,
    /// Archive without asking
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
    /// Use only this protocol
    #[arg(long, value_name = "PROTOCOL", value_parser = parse_protocol)]
    pub(crate) protocol: Option<ProtocolName>,
    /// Return to the checkpoint without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["feature", "spec", "plan"]))]
pub(crate) struct ValidateArguments {
    /// The feature: its name or folder
    pub(crate) feature: Option<String>,
    /// Validate this specification
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<Utf8PathBuf>,
    /// Validate this plan
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<Utf8PathBuf>,
    /// Validate the plan against these rules
    #[arg(long, value_name = "FILE", requires = "plan", conflicts_with_all = ["feature", "spec"])]
    pub(crate) rules: Option<Utf8PathBuf>,
}
