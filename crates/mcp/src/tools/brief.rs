//! `brief`: a summary of a workflow.

use rekindle_wire::Brief;
use rmcp::model::JsonObject;

use super::{Tool, Touch, Which};
use crate::answer::Answer;
use crate::brief::brief;
use crate::failure::Failure;
use crate::schema;
use crate::server::Desk;

pub(super) struct Briefing;

impl Tool for Briefing {
    const NAME: &'static str = "brief";
    const TITLE: &'static str = "Summarize a workflow";
    const ABOUT: &'static str = "Returns a short summary of a workflow: its state, findings, and next action. Start here. Changes nothing.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Which;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<Brief>()]
    }

    fn call(desk: &Desk, which: Which) -> Result<Answer, Failure> {
        let answer = Answer::new(&brief(desk, &which.query()?)?)?;
        Ok(answer.from(which.offset))
    }
}
