//! Which step is next, with and without going there; the circuit breaker.

use rekindle_text::python_json::{Json, Object};

use super::advance::{self, BLOCKED, Found};
use crate::desk::Desk;
use crate::fault::Fault;
use crate::layout::Branch;
use crate::reply::Reply;
use crate::state::{COMPLETE, CONTRACT_READY, State, StateFile, WORKFLOW_COMPLETE, key};
use crate::steps;

/// `peek_current_step`: the step that is due, without any change.
pub(crate) fn peek(desk: Desk<'_>) -> Result<Reply, Fault> {
    let state = StateFile::read(desk)?.state;
    let subtask = state.get(key::CURRENT_SUBTASK);
    let special = |word: &str, is_complete: bool| {
        Reply::of(
            Object::new()
                .with("step_id", word)
                .with("phase", word)
                .with("is_complete", is_complete)
                .with("current_subtask", subtask),
        )
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

/// `get_next_step`: the step that is due; what needs nobody is skipped, and the cursor is set.
pub(crate) fn next(desk: Desk<'_>) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let state = &mut file.state;
    if state.is(key::STATUS, WORKFLOW_COMPLETE) {
        return Ok(Reply::of(all_done()));
    }
    if state.is(key::STATUS, CONTRACT_READY) {
        return at_contract(file);
    }
    skip_what_needs_nobody(state)?;
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
                    .with("instruction", "Every subtask that is left waits for another one. Look at the dependencies in blueprint.json and at subtask_results: record a result that is missing, or mend the dependencies.")
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
    state.set(key::STEP, &step);
    state.set(key::PHASE, phase);
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
        .with(
            "instruction",
            "Every subtask is done. Verify the whole before it is handed over.",
        )
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
            "The test contract is written down and work rests here. Take the subtask up with /map-task.",
        )
        .with("is_complete", false)
        .with("current_subtask", state.get(key::CURRENT_SUBTASK))
        .with("subtask_progress", progress(state, total)?);
    Ok(Reply::of(answer).doing(file.saved()))
}

/// Takes the choice of a mode, and without test-first mode its two steps, off the list.
fn skip_what_needs_nobody(state: &mut State) -> Result<(), Fault> {
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

/// Returns a warning if the actor is next although nobody has looked at the code for this subtask.
fn unresearched(desk: Desk<'_>, state: &State, step: &str) -> Result<Option<String>, Fault> {
    if step != "2.3" {
        return Ok(None);
    }
    if state.has_entry(key::COMPLETED_STEPS, "2.2")? {
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
        "The actor is next for {subtask}, but step 2.2 was not closed and {folder} has nothing about it. Save research and close 2.2 first, or say in the subtask why it needs none."
    )))
}

/// Returns the phase of a step as a state has it; what can be no key of a table is a fault.
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

/// `check_circuit_breaker`: whether more steps were taken than a workflow of this size has.
pub(crate) fn circuit_breaker(desk: Desk<'_>) -> Result<Reply, Fault> {
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

/// `get_plan_progress`: what the plan says of its subtasks.
pub(crate) fn plan_progress(desk: Desk<'_>) -> Result<Reply, Fault> {
    use crate::briefing::{self, Artifacts};
    let Some(progress) = briefing::plan_progress(desk)? else {
        return Ok(no_plan(desk.branch));
    };
    let pending = progress.pending();
    let subtasks = progress.subtasks.iter().map(|planned| {
        Object::new()
            .with("id", &planned.id)
            .with("status", &planned.status)
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

/// Returns the answer to whatever needs a plan where there is none.
pub(crate) fn no_plan(branch: &Branch) -> Reply {
    Reply::error(format!(
        "No plan found at {}; `/map-plan` makes one.",
        branch.plan()
    ))
}
