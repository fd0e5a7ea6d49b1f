//! `next_step`: what comes next in a workflow that was resumed.

use rekindle_app::Planned;
use rekindle_model::Then;
use rekindle_wire::NextStep as Object;
use rmcp::model::JsonObject;

use super::{Tool, Touch, Which};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::quote::in_hint;
use crate::schema;
use crate::server::Desk;

pub(super) struct NextStep;

impl Tool for NextStep {
    const NAME: &'static str = "next_step";
    const TITLE: &'static str = "Get the next step";
    const ABOUT: &'static str = "Returns what comes next in a workflow that you resumed with `resume`: a step for you with its whole prompt, a question for the user, or the end; and whether another session is at work here. Call it after each step. Changes nothing.";
    const TOUCH: Touch = Touch::Looks;
    type Arguments = Which;

    fn objects() -> Vec<JsonObject> {
        vec![schema::of::<Object>()]
    }

    fn call(desk: &Desk, which: Which) -> Result<Answer, Failure> {
        let planned = rekindle_app::next_step(&desk.project, &which.query()?)?;
        let plan = planned.object();
        let object = Object {
            schema: "rekindle.next_step/1",
            id: plan.id,
            findings: plan.findings,
            due: planned
                .plan
                .steps
                .iter()
                .map(|step| step.why.clone())
                .collect(),
            hints: hints(&planned),
            then: plan.then,
        };
        Ok(Answer::new(&object)?.from(which.offset))
    }
}

/// Returns the hints for it.
fn hints(planned: &Planned) -> Vec<String> {
    let id = in_hint(&planned.plan.id);
    // No agents are started over MCP, so a step that needs one ends as the protocol prescribes.
    if let Some(stop) = &planned.plan.without_agent {
        return [stop.reason.clone()]
            .into_iter()
            .chain(stop.hints.clone())
            .collect();
    }
    let hint = match &planned.plan.then {
        Then::Agent(_) => "do what `then.prompt` says yourself and report the result as `then.by_hand` says, events with `report_event`; then call `next_step` again".to_owned(),
        Then::Ask(_) => format!("ask the user this question word for word; they answer it in a terminal with `rekindle resume {id}`"),
        Then::Workers | Then::Check(_) => format!("this is for workers, which a person starts in a terminal with `rekindle resume {id} --agent NAME`"),
        Then::Again => "rekindle must record something first: call `resume` without `digest`, then with it".to_owned(),
        Then::Stop(stop) => return stop.hints.clone(),
    };
    vec![hint]
}
