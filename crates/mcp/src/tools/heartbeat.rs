//! `heartbeat`: records that a task is still being worked on.

use rekindle_model::Report;
use rekindle_wire::EventOut;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::report_event::{actor, recorded};
use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::schema;
use crate::server::Desk;

pub(super) struct Heartbeat;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The workflow: `protocol:name` as listed by `list`, a name, or a unique prefix of one. Optional if only one is open.
    id: Option<String>,
    /// The task that is being worked on.
    task: String,
    /// Who works on it; this is also the name of the log's folder. Default: `agent`.
    actor: Option<String>,
}

impl Tool for Heartbeat {
    const NAME: &'static str = "heartbeat";
    const TITLE: &'static str = "Send a heartbeat";
    const ABOUT: &'static str = "Records that you are still working on a task, so that it does not count as interrupted. Call it every few minutes during a long step.";
    const TOUCH: Touch = Touch::Adds;
    type Arguments = Arguments;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<EventOut>()]
    }

    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        let query = query(arguments.id.as_deref(), None)?;
        let report = Report::heartbeat(actor(arguments.actor.as_deref())?, arguments.task);
        recorded(rekindle_app::event(&desk.project, &query, report)?)
    }
}
