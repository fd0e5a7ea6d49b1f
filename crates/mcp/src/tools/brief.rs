//! `brief`: a summary of a workflow.

use super::{Tool, Touch, Which};
use crate::answer::Answer;
use crate::brief::brief;
use crate::failure::Failure;
use crate::server::Desk;

pub(super) struct Briefing;

impl Tool for Briefing {
    const NAME: &'static str = "brief";
    const TITLE: &'static str = "Brief about a workflow";
    const ABOUT: &'static str =
        "Says in a short text where a workflow is and what was noticed. Changes nothing.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Which;

    fn call(desk: &Desk, which: Which) -> Result<Answer, Failure> {
        let answer = Answer::new(&brief(desk, &which.query()?)?)?;
        Ok(answer.from(which.offset))
    }
}
