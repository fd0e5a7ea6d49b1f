//! `rollback`: back to a checkpoint, the plan first, as with `resume`.

use rekindle_app::Query;
use rekindle_wire::{PlanOut, ResumeOut};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::resume::two_calls;
use super::{Tool, Touch, query};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::schema;
use crate::server::Desk;

pub(super) struct Rollback;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The workflow: `protocol:name` as `list` has it, a name, or a unique beginning of one. Not needed while only one is open.
    id: Option<String>,
    /// The checkpoint as `checkpoints` has it, such as `CP-003`.
    checkpoint: String,
    /// The digest of the plan that was agreed to. Without it the plan is shown and nothing is changed.
    digest: Option<String>,
    /// Where a long plan goes on: the `next_offset` of the page before. Only without `digest`.
    offset: Option<usize>,
}

impl Tool for Rollback {
    const NAME: &'static str = "rollback";
    const TITLE: &'static str = "Go back to a checkpoint";
    const ABOUT: &'static str = "Goes back to a checkpoint of a workflow, where the protocol can (bifrost), in two calls. Without `digest`: returns the plan with its `digest`, and what was written since that checkpoint; changes nothing; show it to the user. With that `digest`, after the user's yes: carries out exactly that plan, or refuses if the project has moved on. What is replaced is kept, and no file is deleted.";
    const TOUCH: Touch = Touch::Changes;
    type Arguments = Arguments;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<PlanOut>(), schema::of::<ResumeOut>()]
    }

    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        if arguments.checkpoint.is_empty() {
            let message = "`checkpoint` names no checkpoint".to_owned();
            return Err(Failure::usage(message).hint("`checkpoints` lists those that there are"));
        }
        let query = Query {
            options: vec![(rekindle_app::ResumeOption::CHECKPOINT, arguments.checkpoint)],
            ..query(arguments.id.as_deref(), None)?
        };
        two_calls(desk, &query, arguments.digest, arguments.offset)
    }
}
