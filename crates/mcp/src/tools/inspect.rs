//! `inspect`: everything that is known about a workflow.

use super::{Tool, Touch, Which};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::server::Desk;

pub(super) struct Inspect;

impl Tool for Inspect {
    const NAME: &'static str = "inspect";
    const TITLE: &'static str = "Inspect a workflow";
    const ABOUT: &'static str = "Returns every fact and finding of a workflow with its place in the files. Long. Changes nothing.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Which;

    fn call(desk: &Desk, which: Which) -> Result<Answer, Failure> {
        let inspected = rekindle_app::inspect(&desk.project, &which.query()?, None)?;
        Ok(Answer::new(&inspected.object())?.from(which.offset))
    }
}
