//! `checkpoint`: records the state of a workflow.

use rekindle_wire::EventOut;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::report_event::recorded;
use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::schema;
use crate::server::Desk;

pub(super) struct Checkpoint;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The workflow: `protocol:name` as listed by `list`, a name, or a unique prefix of one. Optional if only one is open.
    id: Option<String>,
    /// The message of the checkpoint.
    message: Option<String>,
}

impl Tool for Checkpoint {
    const NAME: &'static str = "checkpoint";
    const TITLE: &'static str = "Create a checkpoint";
    const ABOUT: &'static str = "Creates a checkpoint of a workflow, if its protocol has checkpoints: before something risky, or at the end of a session.";
    const TOUCH: Touch = Touch::Adds;
    type Arguments = Arguments;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<EventOut>()]
    }

    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        let query = query(arguments.id.as_deref(), None)?;
        let note = arguments.message.unwrap_or_default();
        recorded(rekindle_app::checkpoint(&desk.project, &query, note)?)
    }
}
