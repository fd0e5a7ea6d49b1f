//! Reports of workers and scripts.

use clap::Args;
use rekindle_model::Report;

use super::values::parse_object;

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
