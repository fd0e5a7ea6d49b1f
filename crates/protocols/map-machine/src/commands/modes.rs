//! Settings of a workflow: approval, execution mode, test-first mode, subtasks.

use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::{is_space, strip};

use crate::desk::Desk;
use crate::reply::{Fault, Reply};
use crate::state::{State, StateFile, key};
use crate::{blueprint, steps, task_plan};

/// Parses a boolean.
fn yes_or_no(word: &str) -> Option<bool> {
    match strip(word).to_lowercase().as_str() {
        "1" | "true" | "yes" | "y" => Some(true),
        "0" | "false" | "no" | "n" => Some(false),
        _ => None,
    }
}

/// `set_plan_approved`.
pub fn approve(desk: Desk<'_>, word: &str) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let Some(is_approved) = yes_or_no(word) else {
        return Ok(Reply::error(format!("`{word}` is neither true nor false.")));
    };
    file.state.set(key::PLAN_APPROVED, is_approved);
    let answer = Reply::success().with("plan_approved", is_approved);
    Ok(Reply::of(answer).doing(file.saved()))
}

/// `set_execution_mode`.
pub(crate) fn execution(desk: Desk<'_>, word: &str) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let mode = strip(word).to_lowercase();
    if mode != "batch" && mode != "step_by_step" {
        let message = format!("`{word}` is not a mode: use batch or step_by_step.");
        return Ok(Reply::error(message));
    }
    file.state.set(key::EXECUTION_MODE, mode.as_str());
    let answer = Reply::success().with("execution_mode", mode);
    Ok(Reply::of(answer).doing(file.saved()))
}

/// `set_tdd_mode`: adds or removes the test-first steps from the current step on.
pub(crate) fn test_first(desk: Desk<'_>, word: &str) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let Some(is_on) = yes_or_no(word) else {
        return Ok(Reply::error(format!("`{word}` is neither true nor false.")));
    };
    let state = &mut file.state;
    state.set(key::TDD_MODE, is_on);
    if is_on {
        let is_test_first = |step: &Json| steps::SKIPPABLE.iter().any(|known| step.is_text(known));
        let mut skipped: Vec<Json> = match state.get(key::SKIPPED_STEPS).as_object() {
            Some(object) => object.iter().map(|(step, _)| step.into()).collect(),
            None => state.list(key::SKIPPED_STEPS)?.to_vec(),
        };
        skipped.retain(|step| !is_test_first(step));
        state.set(key::SKIPPED_STEPS, skipped);
    }
    let pending = rebuilt(state, is_on)?;
    state.set(key::PENDING_STEPS, pending);
    let answer = Reply::success().with("tdd_mode", is_on);
    Ok(Reply::of(answer).doing(file.saved()))
}

fn rebuilt(state: &State, is_on: bool) -> Result<Vec<&'static str>, Fault> {
    let order = steps::order(is_on);
    let mut left = Vec::new();
    for step in order {
        let is_closed = state.has_entry(key::COMPLETED_STEPS, step)?;
        if !is_closed && !state.has_entry(key::SKIPPED_STEPS, step)? {
            left.push(*step);
        }
    }
    let first = state.list_or_nothing(key::PENDING_STEPS)?.first();
    let position = |step: &str| order.iter().position(|known| *known == step);
    let Some(mut from) = first.and_then(Json::as_text).and_then(position) else {
        return Ok(left);
    };
    if is_on {
        // Test-first steps that were skipped return.
        let missed = steps::SKIPPABLE.iter().filter(|step| left.contains(step));
        from = missed
            .filter_map(|step| position(step))
            .fold(from, usize::min);
    }
    left.retain(|step| position(step).is_some_and(|position| position >= from));
    Ok(left)
}

/// `set_subtasks`: sets the subtasks, sorted by dependencies.
pub(crate) fn subtasks(desk: Desk<'_>, words: &[String]) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let ids = words.iter().flat_map(|word| word.split(is_space));
    let ids: Vec<String> = ids.filter(|id| !id.is_empty()).map(str::to_owned).collect();
    let invalid = ids.iter().map(String::as_str);
    let invalid: Vec<&str> = invalid.filter(|id| !task_plan::is_id(id)).collect();
    if !invalid.is_empty() {
        let invalid = invalid.join(", ");
        let message = format!("Invalid subtask ids: {invalid}. They look like ST-001.");
        return Ok(Reply::error(message));
    }
    let sorted = match blueprint::sorted(&ids, &blueprint::dependencies(desk)?) {
        Ok(sorted) => sorted,
        Err(stuck) => {
            let stuck = stuck.join(", ");
            return Ok(Reply::error(format!(
                "These subtasks wait for each other: {stuck}. Fix their dependencies in the blueprint."
            )));
        }
    };
    let Some(first) = sorted.first() else {
        return Ok(Reply::error("Name at least one subtask."));
    };
    let state = &mut file.state;
    state.set(key::SEQUENCE, sorted.clone());
    state.set(key::CURRENT_SUBTASK, first);
    state.set(key::SUBTASK_INDEX, 0_i64);
    let mut answer: Object = Reply::success()
        .with("subtask_sequence", sorted.clone())
        .with("current_subtask_id", first);
    if sorted != ids {
        answer.set("reordered", true);
        answer.set("original_sequence", ids);
    }
    Ok(Reply::of(answer).doing(file.saved()))
}
