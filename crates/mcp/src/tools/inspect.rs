//! `inspect`: everything that is known about a workflow.

use rekindle_wire::Inspect as Object;
use rmcp::model::JsonObject;

use super::{Tool, Touch, Which};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::schema;
use crate::server::Desk;

pub(super) struct Inspect;

impl Tool for Inspect {
    const NAME: &'static str = "inspect";
    const TITLE: &'static str = "Inspect a workflow";
    const ABOUT: &'static str = "Returns all facts and findings of a workflow, with the file and line that each comes from. Long; `brief` is the short form. Changes nothing.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Which;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<Object>()]
    }

    fn call(desk: &Desk, which: Which) -> Result<Answer, Failure> {
        let inspected = rekindle_app::inspect(&desk.project, &which.query()?, None)?;
        Ok(Answer::new(&inspected.object())?.from(which.offset))
    }
}
