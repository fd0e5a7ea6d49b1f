//! The next step, with and without entering it; the circuit breaker.

use rekindle_text::python_json::{Json, Object};

use super::advance::{self, BLOCKED, Found};
use crate::briefing::{self, Artifacts};
use crate::desk::Desk;
use crate::layout::Branch;
use crate::reply::{Fault, Reply};
use crate::state::{COMPLETE, CONTRACT_READY, State, StateFile, WORKFLOW_COMPLETE, key};
use crate::steps;

/// `peek_current_step`: the current step, without a change.
pub(crate) fn peek(desk: Desk<'_>) -> Result<Reply, Fault> {
    let state = StateFile::read(desk)?.state;
    let subtask = state.get(key::CURRENT_SUBTASK);
    let special = |word: &str, is_complete: bool| {
        let answer = Object::new()
            .with("step_id", word)
            .with("phase", word)
            .with("is_complete", is_complete);
        Reply::of(answer.with("current_subtask", subtask))
    };
    if state.is(key::STATUS, WORKFLOW_COMPLETE) {
        return Ok(special(COMPLETE, true));
    }
    if state.is(key::STATUS, CONTRACT_READY) {
        return Ok(special(CONTRACT_READY, false));
    }
    let pending = state.list_or_nothing(key::PENDING_STEPS)?;
    let step = pending.first().unwrap_or(state.get(key::STEP));
    let phase = match known_phase(step)? {
        Some(phase) => phase.into(),
        None if state.get(key::PHASE).is_truthy() => state.get(key::PHASE).clone(),
        None => "UNKNOWN".into(),
    };
    let total = state.list(key::SEQUENCE)?.len().max(1);
    let answer = Object::new()
        .with("step_id", step)
        .with("phase", phase)
        .with("is_complete", false)
        .with("current_subtask", subtask)
        .with("subtask_progress", progress(&state, total)?);
    Ok(Reply::of(answer))
}

/// `get_next_step`: enters the next step that needs somebody.
pub fn next(desk: Desk<'_>) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let state = &mut file.state;
    if state.is(key::STATUS, WORKFLOW_COMPLETE) {
        return Ok(Reply::of(all_done()));
    }
    if state.is(key::STATUS, CONTRACT_READY) {
        return at_contract(file);
    }
    skip_automatic_steps(state)?;
    let mut first = state.list_or_nothing(key::PENDING_STEPS)?.first().cloned();
    if first.is_none() {
        if !advance::is_anything_left(state)? {
            return Ok(Reply::of(all_done()).doing(file.saved()));
        }
        let advance = advance::advance(desk, state)?;
        match advance.found {
            Found::Subtask(_) => first = state.list(key::PENDING_STEPS)?.first().cloned(),
            Found::Nothing => return Ok(Reply::of(all_done()).doing(file.saved())),
            Found::Blocked(left) => {
                let answer = Object::new()
                    .with("step_id", BLOCKED)
                    .with("phase", BLOCKED)
                    .with("instruction", "Every remaining subtask waits for another one. Check the dependencies in blueprint.json and subtask_results: record a missing result, or fix the dependencies.")
                    .with("is_complete", false)
                    .with("blocked_subtasks", left)
                    .with("skipped_for_deps", advance.skipped);
                return Ok(Reply::of(answer).doing(file.saved()));
            }
        }
    }
    let step = first.unwrap_or_default();
    let name = step.as_text().unwrap_or_default();
    let warning = unresearched(desk, state, name)?;
    let phase = known_phase(&step)?.unwrap_or("UNKNOWN");
    let instruction = steps::instruction(name, state, desk.branch)?;
    state.enter(&step, phase);
    let total = state.list(key::SEQUENCE)?.len();
    let mut answer = Object::new()
        .with("step_id", &step)
        .with("phase", phase)
        .with("instruction", instruction)
        .with("is_complete", false)
        .with("current_subtask", state.get(key::CURRENT_SUBTASK))
        .with("subtask_progress", progress(state, total)?);
    if let Some(warning) = warning {
        answer.set("warning", warning);
    }
    Ok(Reply::of(answer).doing(file.saved()))
}

fn all_done() -> Object {
    Object::new()
        .with("step_id", COMPLETE)
        .with("phase", COMPLETE)
        .with("instruction", "Every subtask is done. Verify the whole.")
        .with("is_complete", true)
}

fn at_contract(mut file: StateFile) -> Result<Reply, Fault> {
    let state = &mut file.state;
    let only: Json = vec![CONTRACT_READY].into();
    if *state.get(key::PENDING_STEPS) != only {
        state.set(key::PENDING_STEPS, only);
    }
    let total = state.list(key::SEQUENCE)?.len();
    let answer = Object::new()
        .with("step_id", CONTRACT_READY)
        .with("phase", CONTRACT_READY)
        .with(
            "instruction",
            "The test contract is written. Resume the subtask with /map-task.",
        )
        .with("is_complete", false)
        .with("current_subtask", state.get(key::CURRENT_SUBTASK))
        .with("subtask_progress", progress(state, total)?);
    Ok(Reply::of(answer).doing(file.saved()))
}

/// Removes the choice of a mode, and without test-first mode its two steps, from the pending steps.
fn skip_automatic_steps(state: &mut State) -> Result<(), Fault> {
    let first_is = |state: &State, names: &[&str]| -> Result<bool, Fault> {
        let pending = state.list_or_nothing(key::PENDING_STEPS)?;
        let first = pending.first().and_then(Json::as_text);
        Ok(first.is_some_and(|first| names.contains(&first)))
    };
    while first_is(state, &["1.56"])? {
        state.set(key::EXECUTION_MODE, "batch");
        state.list_mut(key::COMPLETED_STEPS)?.push("1.56".into());
        state.list_mut(key::PENDING_STEPS)?.remove(0);
    }
    while !state.is_tdd() && first_is(state, steps::SKIPPABLE)? {
        let skipped = state.list_mut(key::PENDING_STEPS)?.remove(0);
        state.list_mut(key::SKIPPED_STEPS)?.push(skipped);
    }
    Ok(())
}

/// Returns a warning if the actor is next but there is no research on the subtask.
fn unresearched(desk: Desk<'_>, state: &State, step: &str) -> Result<Option<String>, Fault> {
    if step != "2.3" || state.has_entry(key::COMPLETED_STEPS, "2.2")? {
        return Ok(None);
    }
    for skipped in ["2.2", "2.25", "2.26"] {
        if state.has_entry(key::SKIPPED_STEPS, skipped)? {
            return Ok(None);
        }
    }
    let Some(subtask) = state.subtask() else {
        return Ok(None);
    };
    let prefix = format!("{subtask}__");
    let folder = desk.branch.file("research");
    let is_research =
        |name: &String| name.starts_with(&prefix) && name.strip_suffix(".md").is_some();
    if desk.names(&folder).iter().any(is_research) {
        return Ok(None);
    }
    Ok(Some(format!(
        "The actor is next for {subtask}, but step 2.2 was not closed and {folder} has no research on it. Save research and close 2.2 first, or say in the subtask why it needs none."
    )))
}

/// Returns the phase of a step; as in Python, a list or an object is a fault.
fn known_phase(step: &Json) -> Result<Option<&'static str>, Fault> {
    match step {
        Json::Text(step) => Ok(steps::phase(step)),
        Json::List(_) | Json::Object(_) => {
            Err(Fault::new(format!("a pending step is {}", step.kind())))
        }
        Json::Null | Json::Bool(_) | Json::Int(_) | Json::LargeInt(_) | Json::Float(_) => Ok(None),
    }
}

fn progress(state: &State, total: usize) -> Result<String, Fault> {
    Ok(format!("{}/{total}", state.int_after(key::SUBTASK_INDEX)?))
}

/// `check_circuit_breaker`: whether the workflow took more steps than one of its size should.
pub fn circuit_breaker(desk: Desk<'_>) -> Result<Reply, Fault> {
    let state = StateFile::read(desk)?.state;
    let taken = state.entries(key::COMPLETED_STEPS)?.len();
    let most = state.list(key::SEQUENCE)?.len() * state.step_order().len();
    let answer = Object::new()
        .with("tool_count", taken)
        .with("max_iterations", most)
        .with("triggered", taken >= most)
        .with("retry_count", state.get(key::RETRY_COUNT))
        .with("max_retries", state.get(key::MAX_RETRIES));
    Ok(Reply::of(answer))
}

/// `get_plan_progress`: the status of the plan's subtasks.
pub(crate) fn plan_progress(desk: Desk<'_>) -> Result<Reply, Fault> {
    let Some(progress) = briefing::plan_progress(desk)? else {
        return Ok(no_plan(desk.branch));
    };
    let pending = progress.pending();
    let subtasks = progress.subtasks.iter().map(|planned| {
        let subtask = Object::new().with("id", &planned.id);
        subtask.with("status", &planned.status)
    });
    let answer = Reply::success()
        .with("total", progress.subtasks.len())
        .with("completed_count", progress.completed().len())
        .with("pending_count", pending.len())
        .with("subtasks", subtasks.collect::<Vec<_>>())
        .with("completed", progress.completed())
        .with("pending", pending.clone())
        .with("suggested_next", pending.first().copied())
        .with("resume_briefing", Artifacts::read(desk)?.to_json());
    Ok(Reply::of(answer))
}

/// Returns the answer of a command that needs a plan.
pub(crate) fn no_plan(branch: &Branch) -> Reply {
    let path = branch.plan();
    Reply::error(format!("No plan found at {path}; `/map-plan` creates one."))
}
