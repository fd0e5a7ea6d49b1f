//! `defer_flaky_subtask`: records a flaky check, and the workflow continues.

use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::strip;

use super::advance;
use super::completion::{no_state, reasons};
use super::results;
use super::validate::take_out;
use crate::desk::Desk;
use crate::reply::{Fault, Reply};
use crate::state::{COMPLETE, NONDETERMINISTIC, State, StateFile, key};
use crate::triage::{self, Checked, POLICY};

/// The result of the work on a subtask.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The changed files.
    pub files: Vec<String>,
    /// One sentence about the work.
    pub summary: String,
    /// The commit of the work.
    pub commit: Option<String>,
}

/// `defer_flaky_subtask`.
pub(crate) fn defer(
    desk: Desk<'_>,
    subtask: &str,
    check_id: &str,
    triage_path: &str,
    outcome: &Outcome,
) -> Result<Reply, Fault> {
    let check_id = strip(check_id);
    if check_id.is_empty() {
        return Ok(Reply::error("Name the check with --check-id.").failing());
    }
    let mut file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(no_state(&file).failing());
    }
    if let Some(message) = refused(&file.state, subtask)? {
        return Ok(Reply::error(message).failing());
    }
    let checked = triage::validate(desk, triage_path)?;
    let found = match entry_of(&checked, check_id) {
        Ok(found) => found,
        Err(validation) => {
            let errors = validation.texts("errors").collect::<Vec<_>>().join("; ");
            let message = format!(
                "{subtask} cannot be deferred: {errors}. Run the check several times and record the results first."
            );
            let answer = Object::new()
                .with("status", "error")
                .with("message", message)
                .with("validation", validation);
            return Ok(Reply::of(answer).failing().doing(checked.action));
        }
    };
    let reason = found
        .text("reason")
        .unwrap_or("It passed and failed in repeated runs.");
    let number = |key: &str| found.get(key).cloned().unwrap_or_default();
    let [runs, passed, failed] = ["run_count", "pass_count", "fail_count"].map(number);
    let mut summary = strip(&outcome.summary).to_owned();
    if summary.is_empty() {
        summary = format!(
            "Deferred nondeterministic check {check_id}: {reason} ({} pass / {} fail over {} runs).",
            passed.to_line(),
            failed.to_line(),
            runs.to_line()
        );
    }
    let mut outcome = outcome.clone();
    outcome.summary = summary;
    let state = &mut file.state;
    let recorded = results::put(desk, state, subtask, NONDETERMINISTIC, &outcome)?;
    let command = found.get("command").cloned();
    let command = command.unwrap_or_else(|| "".into());
    let evidence = Object::new()
        .with("path", &checked.path)
        .with("check_id", check_id)
        .with("disposition", NONDETERMINISTIC)
        .with("run_count", runs)
        .with("pass_count", passed)
        .with("fail_count", failed)
        .with("reason", reason)
        .with("command", command);
    if let Some(Json::Object(result)) = state.map_mut(key::RESULTS)?.get_mut(subtask) {
        result.set("monitor_verdict_policy", POLICY);
        result.set("non_green_outcome", true);
        result.set("flaky_test_triage", evidence);
    }
    state.map_mut(key::SUBTASK_PHASES)?.set(subtask, COMPLETE);
    for step in ["2.3", "2.4"] {
        take_out(state, step)?;
        if !state.has_entry(key::COMPLETED_STEPS, step)? {
            state.list_mut(key::COMPLETED_STEPS)?.push(step.into());
        }
    }
    let why = Object::new()
        .with("kind", NONDETERMINISTIC)
        .with("reason", reason)
        .with("recorded_at", desk.stamp())
        .with("check_id", check_id);
    reasons(state)?.set(subtask, why);
    let closing = advance::close_subtask(desk, state)?;
    if closing.next_step.is_text(COMPLETE) {
        state.set(key::PENDING_STEPS, Vec::<Json>::new());
    }
    let result = state.map(key::RESULTS)?.get(subtask).cloned();
    let answer = Reply::success()
        .with("disposition", NONDETERMINISTIC)
        .with("subtask_id", subtask)
        .with("check_id", check_id)
        .with("monitor_verdict_policy", POLICY)
        .with("non_green_outcome", true)
        .with("triage_path", &checked.path)
        .with("recorded", result)
        .with("record_result", recorded);
    let answer = closing.add_to(answer);
    Ok(Reply::of(answer).doing(checked.action).doing(file.saved()))
}

fn refused(state: &State, subtask: &str) -> Result<Option<String>, Fault> {
    if !state.has_subtask(subtask)? {
        return Ok(Some(format!("The workflow has no subtask {subtask}.")));
    }
    if !state.is(key::CURRENT_SUBTASK, subtask) {
        let current = state.get(key::CURRENT_SUBTASK).to_line();
        return Ok(Some(format!(
            "Only the current subtask {current} can be deferred, not {subtask}."
        )));
    }
    if !state.is(key::PHASE, "MONITOR") && !state.is(key::PHASE, "ACTOR") {
        let phase = state.get(key::PHASE).to_line();
        return Ok(Some(format!(
            "A subtask can be deferred at the monitor or the actor, not in phase {phase}."
        )));
    }
    Ok(None)
}

/// Returns the last entry that calls a check flaky, or the report on why there is none.
fn entry_of(checked: &Checked, check_id: &str) -> Result<Object, Object> {
    if !checked.report.is_true("valid") {
        return Err(checked.report.clone());
    }
    let entries = checked.entries.iter().filter_map(Json::as_object);
    let mut matching = entries.filter(|entry| {
        entry.text("check_id") == Some(check_id)
            && entry.text("disposition") == Some(NONDETERMINISTIC)
    });
    matching.next_back().cloned().ok_or_else(|| {
        let error = format!("no entry calls {check_id} nondeterministic");
        Object::new()
            .with("valid", false)
            .with("errors", vec![error])
            .with("path", &checked.path)
            .with("validation", checked.report.clone())
    })
}
