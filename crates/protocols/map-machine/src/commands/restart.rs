//! New states: for a task, from a plan, for one subtask of a plan.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};

use super::completion::{put_away, put_away_name};
use super::next::no_plan;
use super::waves;
use crate::briefing::Artifacts;
use crate::desk::{Desk, Document};
use crate::reply::{Fault, Reply};
use crate::state::{IN_PROGRESS, State, StateFile, key};
use crate::{blueprint, layout, steps};

/// Replaces the state by a new one.
///
/// MAP discards the old state; here one with results is saved under the name that `archive` or `abandon`
/// would give it.
pub(super) fn renewed(desk: Desk<'_>, file: &mut StateFile) -> Result<Vec<Action>, Fault> {
    // A state that cannot be judged is not called complete.
    let is_complete = file.is_there() && file.state.is_complete().unwrap_or(false);
    let has_work = file.is_there() && has_work(&file.state);
    file.state = State::fresh(desk.started_at());
    let how = match (is_complete, has_work) {
        (true, _) => "completed",
        (false, true) => "abandoned",
        (false, false) => return Ok(Vec::new()),
    };
    let path = put_away_name(desk, how);
    let before = file.bytes().unwrap_or_default();
    let before = String::from_utf8_lossy(before).into_owned();
    Ok(desk.written(&path, before)?.into_iter().collect())
}

/// Returns whether a state has results that the plan does not have.
fn has_work(state: &State) -> bool {
    let work = [
        key::RESULTS,
        key::COMPLETION_REASONS,
        key::RETRY_COUNT,
        key::SUBTASK_INDEX,
        key::SUBTASK_RETRIES,
        key::CLEAN_RETRIES,
        key::CONTAMINATED_RETRIES,
    ];
    work.iter().any(|key| state.get(*key).is_truthy())
}

/// `initialize`: creates a state, and saves the previous one if it has results.
pub(crate) fn initialize(desk: Desk<'_>, task: &str) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let mut archived = None;
    let mut actions = Vec::new();
    if file.is_there() && file.state.is_complete()? {
        let to = put_away_name(desk, "completed");
        actions.push(put_away(&file, to.clone()));
        archived = Some(to);
        file = file.moved_away(desk);
    } else {
        actions = renewed(desk, &mut file)?;
    }
    let mut answer = Object::new()
        .with("status", "initialized")
        .with("state_file", file.path())
        .with("task", task)
        .with("branch", desk.branch.as_str());
    if let Some(archived) = archived {
        answer.set("archived_prior", archived);
    }
    Ok(Reply::of(answer).doing(actions).doing(file.saved()))
}

/// Returns the answer about a subtask that the plan does not have.
pub(super) fn unknown(subtask: &str, ids: &[String]) -> Reply {
    let known = ids.join(", ");
    Reply::error(format!("The plan has no {subtask}; it has {known}."))
}

fn no_ids(desk: Desk<'_>) -> Reply {
    let path = desk.branch.plan();
    Reply::error(format!("{path} lists no subtask such as ST-001."))
}

/// `resume_from_plan`: starts after the steps that made the plan.
pub(crate) fn from_plan(desk: Desk<'_>) -> Result<Reply, Fault> {
    let Some(plan) = desk.plan()? else {
        return Ok(no_plan(desk.branch));
    };
    let ids = blueprint::planned_ids(desk, &plan)?;
    let Some(first) = ids.first() else {
        return Ok(no_ids(desk));
    };
    let contracts = contracts_found(desk)?;
    let mut file = StateFile::read(desk)?;
    let saved = renewed(desk, &mut file)?;
    let state = &mut file.state;
    state.set(key::CURRENT_SUBTASK, first);
    state.set(key::SEQUENCE, ids.clone());
    state.enter("1.6", "INIT_STATE");
    state.set(key::COMPLETED_STEPS, &steps::STANDARD[..4]);
    state.set(key::PENDING_STEPS, &steps::STANDARD[4..]);
    state.set(key::PLAN_APPROVED, true);
    state.set(key::STATUS, IN_PROGRESS);
    let waves_status = if desk.exists(&desk.branch.file(layout::BLUEPRINT)) {
        match waves::computed(desk, None) {
            Ok(Ok(computed)) => {
                waves::put(state, &computed);
                "success"
            }
            Ok(Err(_)) | Err(_) => "error",
        }
    } else {
        "skipped"
    };
    let answer = Reply::success()
        .with("message", "Resumed from the plan, at INIT_STATE.")
        .with("subtask_sequence", ids.clone())
        .with("current_subtask_id", first)
        .with("aag_contracts_found", contracts)
        .with("next_phase", "INIT_STATE")
        .with("waves_computed", waves_status)
        .with("resume_briefing", Artifacts::read(desk)?.to_json());
    Ok(Reply::of(answer).doing(saved).doing(file.saved()))
}

/// Counts the contracts in the state, else in the blueprint.
fn contracts_found(desk: Desk<'_>) -> Result<usize, Fault> {
    for name in [layout::STATE, layout::BLUEPRINT] {
        let path = desk.branch.file(name);
        let Document::Value(value) = desk.json(&path)? else {
            continue;
        };
        let Some(object) = value.as_object() else {
            let kind = value.kind();
            return Err(Fault::new(format!("`{path}` holds {kind}, not an object")));
        };
        let count = match object.get("aag_contracts") {
            None => 0,
            Some(Json::Object(found)) => found.len(),
            Some(Json::List(found)) => found.len(),
            Some(Json::Text(found)) => found.chars().count(),
            Some(other) if !other.is_truthy() => 0,
            Some(other) => {
                let kind = other.kind();
                return Err(Fault::new(format!("`aag_contracts` of `{path}` is {kind}")));
            }
        };
        if count > 0 {
            return Ok(count);
        }
    }
    Ok(0)
}

/// `resume_single_subtask`: starts one subtask of a plan at its research.
pub(crate) fn single(desk: Desk<'_>, subtask: &str, is_tdd: bool) -> Result<Reply, Fault> {
    let Some(plan) = desk.plan()? else {
        return Ok(no_plan(desk.branch));
    };
    let ids = blueprint::planned_ids(desk, &plan)?;
    if ids.is_empty() {
        return Ok(no_ids(desk));
    }
    if !ids.iter().any(|id| id == subtask) {
        return Ok(unknown(subtask, &ids));
    }
    let mut file = StateFile::read(desk)?;
    let saved = renewed(desk, &mut file)?;
    let state = &mut file.state;
    state.set(key::CURRENT_SUBTASK, subtask);
    state.set(key::SEQUENCE, vec![subtask]);
    state.enter("2.2", "RESEARCH");
    state.set(key::COMPLETED_STEPS, &steps::STANDARD[..5]);
    state.set(key::PENDING_STEPS, steps::of_subtask(is_tdd));
    state.set(key::PLAN_APPROVED, true);
    state.set(key::TDD_MODE, is_tdd);
    state.set(key::STATUS, IN_PROGRESS);
    let mode = if is_tdd { "test-first" } else { "plain" };
    let answer = Reply::success()
        .with("message", format!("{subtask} starts at RESEARCH, {mode}."))
        .with("subtask_id", subtask)
        .with("tdd_mode", is_tdd)
        .with("all_subtasks_in_plan", ids)
        .with("next_phase", "RESEARCH")
        .with("resume_briefing", Artifacts::read(desk)?.to_json());
    Ok(Reply::of(answer).doing(saved).doing(file.saved()))
}
