//! Why a subtask is in its state.

use rekindle_model::{Explanation, Place, Said};
use rekindle_text::excerpt;

use super::id;
use super::read::Workflow;
use crate::layout::{self, Branch};
use crate::state::{DEFERRED, key};

/// Tells what state and plan say of a subtask, or `None` when neither knows it.
pub(super) fn explain(branch: &Branch, workflow: &Workflow, task: &str) -> Option<Explanation> {
    let planned = workflow.briefing.progress.iter();
    let planned = planned
        .flat_map(|progress| &progress.subtasks)
        .find(|planned| planned.id == task);
    let sequence = workflow.state.texts(key::SEQUENCE).unwrap_or_default();
    let place = sequence.iter().position(|id| id == task);
    if place.is_none() && planned.is_none() {
        return None;
    }
    let state = &workflow.state;
    let is_done = workflow.done().iter().any(|id| id == task);
    let is_current = state.subtask() == Some(task);
    let phase = state.get(key::PHASE).as_text().unwrap_or_default();
    let (verdict, rule) = if is_done {
        (
            "complete".to_owned(),
            "a result or a wave's phase says so, or the cursor is past it and it was not put off",
        )
    } else if is_current {
        (
            format!("at phase {phase}"),
            "the cursor of step_state.json stands at it; it is done when its last step is closed",
        )
    } else {
        (
            "pending".to_owned(),
            "the cursor of step_state.json has not come to it",
        )
    };
    let path = Place::path(branch.file(layout::STATE));
    let mut said = Vec::new();
    let mut says = |what: String, decided: bool| {
        said.push(Said {
            place: path.clone(),
            at: None,
            what,
            decided,
        });
    };
    let results = state.map(key::RESULTS).ok();
    let result = results.and_then(|results| results.get(task));
    if let Some(result) = result.and_then(|result| result.as_object()) {
        let status = result.text("status").unwrap_or("no status");
        says(format!("its result is `{}`", excerpt(status, 80)), is_done);
    }
    let phases = state.map(key::SUBTASK_PHASES).ok();
    if let Some(known) = phases.and_then(|phases| phases.text(task)) {
        let decided = is_done || known == DEFERRED;
        says(format!("its phase is `{}`", excerpt(known, 80)), decided);
    }
    if let (Some(place), Ok(index)) = (place, state.int(key::SUBTASK_INDEX)) {
        let what = format!(
            "it is number {} and the cursor stands at {}",
            place + 1,
            index.saturating_add(1)
        );
        says(what, result.is_none());
    }
    if let Some(planned) = planned {
        said.push(Said {
            place: Place::path(branch.plan()),
            at: None,
            what: format!(
                "its status in the plan is `{}`",
                excerpt(&planned.status, 80)
            ),
            decided: false,
        });
    }
    Some(Explanation {
        id: id(branch),
        task: task.to_owned(),
        verdict,
        rule: rule.to_owned(),
        said,
        left_out: 0,
    })
}
