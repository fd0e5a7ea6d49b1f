//! Reports of workers and scripts.

use clap::Args;
use rekindle_model::Report;

use super::values::parse_object;

#[derive(Debug, Args)]
pub(crate) struct EventArguments {
    /// The workflow
    pub(crate) id: String,
    /// The type of the event, such as `task_completed`
    #[arg(value_name = "TYPE", value_parser = Report::parse_event)]
    pub(crate) event: String,
    /// The task
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// Who reports the event; also the name of the log's folder
    #[arg(long, value_name = "NAME", default_value = "rekindle", value_parser = Report::parse_actor)]
    pub(crate) actor: String,
    /// Details, as one JSON object
    #[arg(long, value_name = "JSON", value_parser = parse_object)]
    pub(crate) details: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HeartbeatArguments {
    /// The workflow
    pub(crate) id: String,
    /// The running task
    pub(crate) task: String,
    /// The worker; also the name of the log's folder
    #[arg(long, value_name = "NAME", default_value = "rekindle", value_parser = Report::parse_actor)]
    pub(crate) actor: String,
}
