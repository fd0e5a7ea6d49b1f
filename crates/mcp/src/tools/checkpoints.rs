//! `checkpoints`: the checkpoints of a workflow.

use rekindle_wire::Checkpoints as Object;
use rmcp::model::JsonObject;

use super::{Tool, Touch, Which};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::schema;
use crate::server::Desk;

pub(super) struct Checkpoints;

impl Tool for Checkpoints {
    const NAME: &'static str = "checkpoints";
    const TITLE: &'static str = "List checkpoints";
    const ABOUT: &'static str =
        "Lists the checkpoints of a workflow, oldest first. Changes nothing.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Which;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<Object>()]
    }

    fn call(desk: &Desk, which: Which) -> Result<Answer, Failure> {
        let kept = rekindle_app::checkpoints(&desk.project, &which.query()?)?;
        Ok(Answer::new(&kept.object())?.from(which.offset))
    }
}
