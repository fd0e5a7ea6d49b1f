//! Test contracts: a workflow that rests once its tests are written, and is taken up from there.

use rekindle_text::python_json::{Json, Object};

use super::next::no_plan;
use crate::blueprint;
use crate::briefing::Artifacts;
use crate::desk::Desk;
use crate::fault::Fault;
use crate::machine::restart;
use crate::manifest::{self, Stage};
use crate::reply::Reply;
use crate::state::{CONTRACT_READY, IN_PROGRESS, StateFile, key};

fn paths(desk: Desk<'_>, subtask: &str) -> [String; 2] {
    [
        desk.branch.file(&format!("test_contract_{subtask}.md")),
        desk.branch.file(&format!("test_handoff_{subtask}.json")),
    ]
}

fn missing(desk: Desk<'_>, paths: &[String]) -> Option<Reply> {
    let absent: Vec<&str> = paths
        .iter()
        .map(String::as_str)
        .filter(|path| !desk.exists(path))
        .collect();
    let absent = (!absent.is_empty()).then(|| absent.join(", "))?;
    Some(Reply::error(format!(
        "These files are not there: {absent}."
    )))
}

fn entry(desk: Desk<'_>, [contract, handoff]: &[String; 2]) -> Object {
    Object::new()
        .with("contract_path", contract)
        .with("handoff_path", handoff)
        .with("ready_at", desk.stamp())
}

/// `mark_contract_ready`: the tests are written and fail; work rests here.
pub(crate) fn ready(desk: Desk<'_>, subtask: &str) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(Reply::error(
            "There is no state; begin a test-first workflow first.",
        ));
    }
    let paths = paths(desk, subtask);
    if let Some(reply) = missing(desk, &paths) {
        return Ok(reply);
    }
    let state = &mut file.state;
    if let Some(current) = state.subtask().filter(|current| *current != subtask) {
        return Ok(Reply::error(format!(
            "The current subtask is {current}, not {subtask}."
        )));
    }
    state
        .map_mut(key::CONTRACTS)?
        .set(subtask, entry(desk, &paths));
    for key in [key::STATUS, key::STEP, key::PHASE] {
        state.set(key, CONTRACT_READY);
    }
    state.set(key::PENDING_STEPS, vec![CONTRACT_READY]);
    let [contract, handoff] = paths;
    let answer = Reply::success()
        .with("workflow_status", CONTRACT_READY)
        .with("subtask_id", subtask)
        .with("contract_path", contract)
        .with("handoff_path", handoff)
        .with(
            "message",
            format!("The contract of {subtask} is ready; take it up with /map-task."),
        );
    Ok(Reply::of(answer).doing(file.saved()))
}

/// `resume_from_test_contract`: one subtask, at the actor, with its tests written.
pub(crate) fn resume(desk: Desk<'_>, subtask: &str) -> Result<Reply, Fault> {
    let Some(plan) = desk.plan()? else {
        return Ok(no_plan(desk.branch));
    };
    let paths = paths(desk, subtask);
    if let Some(reply) = missing(desk, &paths) {
        return Ok(reply);
    }
    let ids = blueprint::planned_ids(desk, &plan)?;
    if !ids.iter().any(|id| id == subtask) {
        return Ok(restart::unknown(subtask, &ids));
    }
    let mut file = StateFile::read(desk)?;
    let known = file.state.map(key::CONTRACTS)?.get(subtask).cloned();
    let known = known.unwrap_or_else(|| entry(desk, &paths).into());
    let done = ["1.0", "1.5", "1.55", "1.56", "1.6", "2.2", "2.25", "2.26"];
    let kept = restart::renewed(desk, &mut file)?;
    let state = &mut file.state;
    state.set(key::CURRENT_SUBTASK, subtask);
    state.set(key::SEQUENCE, vec![subtask]);
    state.set(key::STEP, "2.3");
    state.set(key::PHASE, "ACTOR");
    state.set(key::COMPLETED_STEPS, done.to_vec());
    state.set(key::PENDING_STEPS, vec!["2.3", "2.4"]);
    state.set(key::PLAN_APPROVED, true);
    state.set(key::TDD_MODE, true);
    state.set(key::STATUS, IN_PROGRESS);
    state.set(key::CONTRACTS, Object::new().with(subtask, known));
    let [contract, handoff] = paths;
    let answer = Reply::success()
        .with(
            "message",
            format!("{subtask} is taken up at the actor, with its tests written."),
        )
        .with("subtask_id", subtask)
        .with("next_phase", "ACTOR")
        .with("contract_path", contract)
        .with("handoff_path", handoff)
        .with("resume_briefing", Artifacts::read(desk)?.to_json());
    Ok(Reply::of(answer).doing(kept).doing(file.saved()))
}

/// What a test writer hands over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Handoff {
    pub(crate) subtask: String,
    pub(crate) command: String,
    pub(crate) files: String,
    pub(crate) summary: String,
    pub(crate) notes: String,
}

/// `record_test_contract_handoff`.
pub(crate) fn hand_over(desk: Desk<'_>, handoff: &Handoff) -> Result<Reply, Fault> {
    let [contract_path, handoff_path] = paths(desk, &handoff.subtask);
    if !desk.exists(&contract_path) {
        return Ok(Reply::error(format!("There is no {contract_path}.")));
    }
    let files: Vec<&str> = handoff
        .files
        .split(',')
        .map(rekindle_text::python_text::strip)
        .filter(|file| !file.is_empty())
        .collect();
    let command = Some(handoff.command.as_str()).filter(|command| !command.is_empty());
    let summary = match handoff.summary.as_str() {
        "" => "No summary was given.",
        summary => summary,
    };
    let file = Object::new()
        .with("subtask_id", &handoff.subtask)
        .with("status", "contract_ready")
        .with("contract_path", &contract_path)
        .with("failing_test_command", command)
        .with("test_files", files.clone())
        .with("contract_summary", summary)
        .with("notes", &handoff.notes)
        .with("updated_at", desk.stamp());
    let written = desk.written(&handoff_path, format!("{}\n", file.to_lines()))?;
    let stage = Stage {
        name: "test_contract",
        status: "contract_ready",
        artifacts: vec![
            (contract_path.clone(), "test-contract"),
            (handoff_path.clone(), "test-handoff"),
        ],
        metadata: Object::new()
            .with("subtask_id", &handoff.subtask)
            .with("failing_test_command", command)
            .with("test_files", files)
            .with("contract_summary", summary),
    };
    let recorded = manifest::record(desk, stage)?;
    let answer = Reply::success()
        .with("contract_path", contract_path)
        .with("handoff_path", handoff_path)
        .with("manifest_path", manifest::path(desk))
        .with("subtask_id", Json::from(&handoff.subtask));
    Ok(Reply::of(answer).doing(written).doing(recorded))
}
