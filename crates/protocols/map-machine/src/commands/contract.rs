//! Test contracts: a workflow pauses when its tests are written, and is resumed from there.

use rekindle_text::python_json::Object;
use rekindle_text::python_text::strip;

use super::{next::no_plan, restart};
use crate::blueprint;
use crate::briefing::Artifacts;
use crate::desk::Desk;
use crate::manifest::{self, Stage};
use crate::reply::{Fault, Reply};
use crate::state::{CONTRACT_READY, IN_PROGRESS, StateFile, key};

fn paths(desk: Desk<'_>, subtask: &str) -> [String; 2] {
    [
        desk.branch.file(&format!("test_contract_{subtask}.md")),
        desk.branch.file(&format!("test_handoff_{subtask}.json")),
    ]
}

fn missing(desk: Desk<'_>, paths: &[String]) -> Option<Reply> {
    let absent = paths.iter().filter(|path| !desk.exists(path));
    let absent: Vec<&str> = absent.map(String::as_str).collect();
    let error = || Reply::error(format!("These files are missing: {}.", absent.join(", ")));
    (!absent.is_empty()).then(error)
}

fn entry(desk: Desk<'_>, [contract, handoff]: &[String; 2]) -> Object {
    Object::new()
        .with("contract_path", contract)
        .with("handoff_path", handoff)
        .with("ready_at", desk.stamp())
}

/// `mark_contract_ready`: the tests are written and fail, and the workflow pauses.
pub(crate) fn ready(desk: Desk<'_>, subtask: &str) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(Reply::error(
            "There is no state; start a test-first workflow first.",
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
    let message = format!("The contract of {subtask} is ready; resume it with /map-task.");
    let answer = Reply::success()
        .with("workflow_status", CONTRACT_READY)
        .with("subtask_id", subtask)
        .with("contract_path", contract)
        .with("handoff_path", handoff)
        .with("message", message);
    Ok(Reply::of(answer).doing(file.saved()))
}

/// `resume_from_test_contract`: resumes one subtask at the actor, after its tests.
pub fn resume(desk: Desk<'_>, subtask: &str) -> Result<Reply, Fault> {
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
    let saved = restart::renewed(desk, &mut file)?;
    let state = &mut file.state;
    state.set(key::CURRENT_SUBTASK, subtask);
    state.set(key::SEQUENCE, vec![subtask]);
    state.enter("2.3", "ACTOR");
    state.set(key::COMPLETED_STEPS, done.to_vec());
    state.set(key::PENDING_STEPS, vec!["2.3", "2.4"]);
    state.set(key::PLAN_APPROVED, true);
    state.set(key::TDD_MODE, true);
    state.set(key::STATUS, IN_PROGRESS);
    state.set(key::CONTRACTS, Object::new().with(subtask, known));
    let [contract, handoff] = paths;
    let message = format!("{subtask} is resumed at the actor; its tests are written.");
    let answer = Reply::success()
        .with("message", message)
        .with("subtask_id", subtask)
        .with("next_phase", "ACTOR")
        .with("contract_path", contract)
        .with("handoff_path", handoff)
        .with("resume_briefing", Artifacts::read(desk)?.to_json());
    Ok(Reply::of(answer).doing(saved).doing(file.saved()))
}

/// `record_test_contract_handoff`: subtask, failing command, files, summary and notes of a test writer.
pub(crate) fn hand_over(desk: Desk<'_>, words: [&str; 5]) -> Result<Reply, Fault> {
    let [subtask, command, files, summary, notes] = words;
    let [contract_path, handoff_path] = paths(desk, subtask);
    if !desk.exists(&contract_path) {
        return Ok(Reply::error(format!("There is no {contract_path}.")));
    }
    let files = files.split(',').map(strip);
    let files: Vec<&str> = files.filter(|file| !file.is_empty()).collect();
    let command = Some(command).filter(|command| !command.is_empty());
    let summary = match summary {
        "" => "No summary was given.",
        summary => summary,
    };
    let file = Object::new()
        .with("subtask_id", subtask)
        .with("status", "contract_ready")
        .with("contract_path", &contract_path)
        .with("failing_test_command", command)
        .with("test_files", files.clone())
        .with("contract_summary", summary)
        .with("notes", notes)
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
            .with("subtask_id", subtask)
            .with("failing_test_command", command)
            .with("test_files", files)
            .with("contract_summary", summary),
    };
    let recorded = manifest::record(desk, stage)?;
    let answer = Reply::success()
        .with("contract_path", contract_path)
        .with("handoff_path", handoff_path)
        .with("manifest_path", manifest::path(desk))
        .with("subtask_id", subtask);
    Ok(Reply::of(answer).doing(written).doing(recorded))
}
