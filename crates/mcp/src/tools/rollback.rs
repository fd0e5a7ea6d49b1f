//! `rollback`: rolls back to a checkpoint, the plan first, as with `resume`.

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
    /// The workflow: `protocol:name` as listed by `list`, a name, or a unique prefix of one. Optional if only one is open.
    id: Option<String>,
    /// The checkpoint's id as listed by `checkpoints`, such as `CP-003`.
    checkpoint: String,
    /// The digest of the plan that the user agreed to. Without it the plan is shown and nothing is changed.
    digest: Option<String>,
    /// The start of the plan's next page: `next_offset` of the page before. Only without `digest`.
    offset: Option<usize>,
}

impl Tool for Rollback {
    const NAME: &'static str = "rollback";
    const TITLE: &'static str = "Roll back to a checkpoint";
    const ABOUT: &'static str = "Rolls a workflow back to a checkpoint, if its protocol can (bifrost), in two calls. Without `digest`: returns the plan with its `digest` and a list of what was written since that checkpoint; changes nothing; show it to the user. With that `digest`, after the user agrees: applies exactly that plan, or refuses if the project has changed. Replaced contents are kept, and no file is deleted.";
    const TOUCH: Touch = Touch::Changes;
    type Arguments = Arguments;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<PlanOut>(), schema::of::<ResumeOut>()]
    }

    fn call(desk: &Desk, arguments: Arguments) -> Result<Answer, Failure> {
        if arguments.checkpoint.is_empty() {
            let message = "`checkpoint` must be the id of a checkpoint".to_owned();
            return Err(Failure::usage(message).hint("`checkpoints` lists them"));
        }
        let query = Query {
            options: vec![(rekindle_app::ResumeOption::CHECKPOINT, arguments.checkpoint)],
            ..query(arguments.id.as_deref(), None)?
        };
        two_calls(desk, &query, arguments.digest, arguments.offset)
    }
}
