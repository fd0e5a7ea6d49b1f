//! `heartbeat`: a sign of life of a task.

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
    /// The workflow: `protocol:name` as `list` has it, a name, or a unique beginning of one. Not needed while only one is open.
    id: Option<String>,
    /// The task that is being worked on.
    task: String,
    /// Who works on it; names the folder of the log. `agent` if nothing is said.
    actor: Option<String>,
}

impl Tool for Heartbeat {
    const NAME: &'static str = "heartbeat";
    const TITLE: &'static str = "Give a sign of life";
    const ABOUT: &'static str = "Appends a sign of life of a task that you are at work on, so that nobody takes it for interrupted. Call it every few minutes while a long step goes on.";
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
