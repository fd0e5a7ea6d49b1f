//! The state of a workflow and its next action.

use rekindle_map_machine::commands::advance::BLOCKED;
use rekindle_map_machine::interruption::Interruption;
use rekindle_map_machine::state::key;
use rekindle_map_machine::{Branch, layout};
use rekindle_model::{Next, Progress, State, Summary};

use crate::read::{Found, Workflow};
use crate::{id, messages, steps};

/// Returns the summary of a branch.
pub(crate) fn summary(branch: &Branch, found: &Found) -> Summary {
    let workflow = found.workflow();
    let unknown = || ("unknown".to_owned(), Progress::default());
    let (stage, progress) = workflow.map_or_else(unknown, position);
    let (state, kind, summary) = match found {
        Found::Workflow(workflow) => of_workflow(workflow),
        Found::Suspended(suspended) => {
            let state = match &suspended.interruption {
                Interruption::Unclear(unclear) if !unclear.is_claimed => State::Blocked,
                Interruption::Idle | Interruption::Open(_) | Interruption::Unclear(_) => {
                    State::Waiting
                }
            };
            (
                state,
                "repair",
                messages::repair_next(&suspended.interruption),
            )
        }
        Found::Nothing | Found::Unusable(_) => {
            let path = branch.file(layout::STATE);
            let summary = format!("`{path}` cannot be read; repair it or move it away");
            (State::Corrupt, "mend", summary)
        }
    };
    let last_activity = workflow.and_then(|workflow| workflow.last_activity);
    Summary::new(id(branch), state, stage, progress, Next::new(kind, summary))
        .last_active(last_activity)
}

/// Returns whether a journal reports an open repair of a branch that has no state file.
pub(crate) fn is_suspended_without_state(found: &Found) -> bool {
    let Found::Suspended(suspended) = found else {
        return false;
    };
    match &suspended.interruption {
        Interruption::Unclear(unclear) => unclear.is_claimed && !suspended.has_state,
        Interruption::Idle | Interruption::Open(_) => false,
    }
}

fn position(workflow: &Workflow) -> (String, Progress) {
    let state = &workflow.state;
    let phase = state.get(key::PHASE).as_text().unwrap_or_default();
    let stage = match (steps::in_wave(state), state.subtask()) {
        (Ok(Some((subtask, phase))), _) => format!("{phase} of {subtask}"),
        (_, Some(subtask)) => format!("{phase} of {subtask}"),
        (_, None) => phase.to_owned(),
    };
    let progress = Progress {
        done: workflow.done().len(),
        total: Some(workflow.total()).filter(|total| *total > 0),
    };
    (stage, progress)
}

fn of_workflow(workflow: &Workflow) -> (State, &'static str, String) {
    let state = &workflow.state;
    let (state, kind, summary) = if workflow.is_complete() {
        (State::Complete, "complete", "nothing is left to do")
    } else if !workflow.has_plan && !workflow.is_before_plan() {
        let summary = "the task plan is missing: write a new one, or start fresh";
        (State::Blocked, "plan", summary)
    } else if let Some(count) = workflow.rejections() {
        let summary = format!("rejected {count} times: a person has to decide");
        return (State::Blocked, "decide", summary);
    } else if state.is(key::PHASE, BLOCKED) {
        let summary = "every remaining subtask waits for another one";
        (State::Blocked, "dependencies", summary)
    } else if state.is(key::STEP, "1.55") && !state.get(key::PLAN_APPROVED).is_truthy() {
        (State::Waiting, "approve", "approve the plan")
    } else {
        let next = workflow.briefing.next_action.last();
        let summary = next.map_or("resume current step", String::as_str);
        (State::Interrupted, "step", summary)
    };
    (state, kind, summary.to_owned())
}
