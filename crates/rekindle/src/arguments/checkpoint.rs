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
