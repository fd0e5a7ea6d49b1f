//! `plan`: what a resume would do.

use rekindle_wire::PlanOut;
use rmcp::model::JsonObject;

use super::{Tool, Touch, Which};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::schema;
use crate::server::Desk;

pub(super) struct Plan;

impl Tool for Plan {
    const NAME: &'static str = "plan";
    const TITLE: &'static str = "Plan a resume";
    const ABOUT: &'static str = "Returns what `resume` would do: the steps in order, what follows them, and the plan's `digest`. Changes nothing.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Which;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<PlanOut>()]
    }

    fn call(desk: &Desk, which: Which) -> Result<Answer, Failure> {
        let planned = rekindle_app::plan(&desk.project, &which.query()?)?;
        Ok(Answer::new(&desk.plans.show(&planned))?.from(which.offset))
    }
}
