//! `checkpoints`: the checkpoints of a workflow.

use super::{Tool, Touch, Which};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::server::Desk;
use rekindle_app::Offer;

pub(super) struct Checkpoints;

impl Tool for Checkpoints {
    const NAME: &'static str = "checkpoints";
    const TITLE: &'static str = "List checkpoints";
    const ABOUT: &'static str = "Lists the checkpoints of a workflow. Changes nothing.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Which;

    const NEEDS: Option<Offer> = Some(Offer::Checkpoints);
    fn call(desk: &Desk, which: Which) -> Result<Answer, Failure> {
        let kept = rekindle_app::checkpoints(&desk.project, &which.query()?)?;
        Ok(Answer::new(&kept.object())?.from(which.offset))
    }
}
