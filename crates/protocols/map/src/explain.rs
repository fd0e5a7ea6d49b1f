//! Why a subtask is in its state.

use rekindle_map_machine::state::{DEFERRED, key};
use rekindle_map_machine::{Branch, layout};
use rekindle_model::{Explanation, Place, Said};
use rekindle_text::excerpt;

use crate::id;
use crate::read::Workflow;

/// Returns what state and plan say about a subtask, or `None` if neither has it.
pub(crate) fn explain(branch: &Branch, workflow: &Workflow, task: &str) -> Option<Explanation> {
    let mut planned = workflow.planned().iter();
    let planned = planned.find(|planned| planned.id == task);
    let position = workflow.sequence().iter().position(|id| id == task);
    if position.is_none() && planned.is_none() {
        return None;
    }
    let state = &workflow.state;
    let is_done = workflow.done().iter().any(|id| id == task);
    let (verdict, rule) = if is_done {
        let rule = "a result or the phase of a wave says so, or the cursor has passed it and it was not deferred";
        ("complete".to_owned(), rule)
    } else if state.subtask() == Some(task) {
        let phase = state.get(key::PHASE).as_text().unwrap_or_default();
        let rule =
            "the cursor of step_state.json is at it; it is complete when its last step is closed";
        (format!("at phase {phase}"), rule)
    } else {
        let rule = "the cursor of step_state.json has not reached it";
        ("pending".to_owned(), rule)
    };
    let mut said = Vec::new();
    let mut says = |path: String, what: String, decided: bool| {
        said.push(Said::new(Place::path(path), what, decided));
    };
    let path = || branch.file(layout::STATE);
    let results = state.map(key::RESULTS).ok();
    let result = results.and_then(|results| results.get(task));
    if let Some(result) = result.and_then(|result| result.as_object()) {
        let status = excerpt(result.text("status").unwrap_or("no status"), 80);
        says(path(), format!("its result is `{status}`"), is_done);
    }
    let phases = state.map(key::SUBTASK_PHASES).ok();
    if let Some(phase) = phases.and_then(|phases| phases.text(task)) {
        let decided = is_done || phase == DEFERRED;
        let what = format!("its phase is `{}`", excerpt(phase, 80));
        says(path(), what, decided);
    }
    if let (Some(position), Ok(index)) = (position, state.int(key::SUBTASK_INDEX)) {
        let (number, cursor) = (position + 1, index.saturating_add(1));
        let what = format!("it is number {number} and the cursor is at {cursor}");
        says(path(), what, result.is_none());
    }
    if let Some(planned) = planned {
        let status = excerpt(&planned.status, 80);
        let what = format!("its status in the plan is `{status}`");
        says(branch.plan(), what, false);
    }
    Some(Explanation::new(id(branch), task, verdict, rule, said))
}
