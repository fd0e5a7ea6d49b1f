//! Rejections: the actor tries again, from the second time on without the failed context.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};

use crate::desk::Desk;
use crate::reply::{Fault, Reply};
use crate::state::{State, StateFile, key};
use crate::table::{RETRIES, Rejection, Retry as Verdict};
use crate::{feedback, quarantine};

/// `monitor_failed`: sends the current subtask back to the actor.
pub fn monitor_failed(desk: Desk<'_>, feedback: &str) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let state = &mut file.state;
    let from = ["MONITOR", "ACTOR", "APPLY", "TEST_WRITER"];
    if !from.iter().any(|phase| state.is(key::PHASE, phase)) {
        let phase = state.get(key::PHASE).to_plain_text();
        return Ok(Reply::error(format!(
            "A monitor cannot reject work in phase {phase}; nothing was changed."
        )));
    }
    let count = state.int_after(key::RETRY_COUNT)?;
    state.set(key::RETRY_COUNT, count);
    retry(desk, file, None, count, feedback)
}

/// `wave_monitor_failed`: sends one subtask of a wave back to the actor.
pub fn wave_monitor_failed(desk: Desk<'_>, subtask: &str, feedback: &str) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let state = &mut file.state;
    let count = match state.map(key::SUBTASK_RETRIES)?.get(subtask) {
        None => 1,
        Some(Json::Int(count)) => count.saturating_add(1),
        Some(other) => {
            let kind = other.kind();
            return Err(Fault::new(format!("the retries of {subtask} are {kind}")));
        }
    };
    state.map_mut(key::SUBTASK_RETRIES)?.set(subtask, count);
    retry(desk, file, Some(subtask), count, feedback)
}

/// Decides about a rejection and sends the current subtask, or that of a wave, back to the actor.
fn retry(
    desk: Desk<'_>,
    mut file: StateFile,
    wave: Option<&str>,
    count: i64,
    feedback: &str,
) -> Result<Reply, Fault> {
    let state = &mut file.state;
    let most = state.int(key::MAX_RETRIES)?;
    let verdict = *RETRIES.decide(Rejection::new(count, most));
    let answer = answer(verdict, wave, count, most);
    let (of, for_, infix) = match wave {
        Some(id) => (format!(" of {id}"), format!(" for {id}"), format!("{id}_")),
        None => (String::new(), String::new(), String::new()),
    };
    if verdict == Verdict::Exhausted {
        let message = format!("All {most} retries{of} are used up; a person has to decide.");
        return Ok(Reply::of(answer.with("message", message)).doing(file.saved()));
    }
    if let Some(subtask) = wave {
        state.map_mut(key::SUBTASK_PHASES)?.set(subtask, "2.3");
    } else {
        state.set(key::PENDING_STEPS, vec!["2.3", "2.4"]);
        state.enter("2.3", "ACTOR");
    }
    let subtask = wave.or(state.subtask()).map(str::to_owned);
    let name = format!("monitor_feedback_{infix}retry{count}.md");
    let title = format!("Monitor Feedback{for_} (retry {count})");
    let written = written(desk, &name, &title, feedback)?;
    let id = subtask.as_deref().unwrap_or("workflow");
    let (answer, actions) = isolate(desk, state, id, (count, verdict), answer, written)?;
    let subtask = subtask.as_deref().unwrap_or("None");
    let message = format!("Retry {count} of {most}: {subtask} is back at the actor.");
    let reply = Reply::of(answer.with("message", message)).doing(actions);
    Ok(reply.doing(file.saved()))
}

/// Returns the head of the answer; the keys of the two verdicts have different orders in MAP.
fn answer(verdict: Verdict, subtask: Option<&str>, count: i64, most: i64) -> Object {
    let is_over = verdict == Verdict::Exhausted;
    let status = if is_over {
        verdict.as_str()
    } else {
        "retrying"
    };
    let mut answer = Object::new().with("status", status);
    if let (Some(subtask), false) = (subtask, is_over) {
        answer.set("subtask_id", subtask);
    }
    answer.set("retry_count", count);
    answer.set("max_retries", most);
    if let (Some(subtask), true) = (subtask, is_over) {
        answer.set("subtask_id", subtask);
    }
    answer
}

/// The feedback for the actor, and the file and effect that save it.
type Written = (String, Option<String>, Option<Action>);

fn written(desk: Desk<'_>, name: &str, title: &str, feedback: &str) -> Result<Written, Fault> {
    let feedback = feedback::for_actor(feedback);
    let (path, action) = feedback::file(desk, name, title, &feedback)?.unzip();
    Ok((feedback, path, action.flatten()))
}

/// Records how the next attempt is isolated from failed ones, in the state and in the answer.
fn isolate(
    desk: Desk<'_>,
    state: &mut State,
    subtask: &str,
    (count, verdict): (i64, Verdict),
    answer: Object,
    (feedback, file, action): Written,
) -> Result<(Object, Vec<Action>), Fault> {
    let mut actions = Vec::from_iter(action);
    let mut quarantine = None;
    let mut counter = key::CONTAMINATED_RETRIES;
    if verdict == Verdict::Clean {
        let entry = quarantine::entry(desk, subtask, count, file.as_deref(), &feedback);
        let (path, action) = quarantine::add(desk, subtask, count, entry)?;
        actions.extend(action);
        state.map_mut(key::QUARANTINES)?.set(subtask, &path);
        quarantine = Some(path);
        counter = key::CLEAN_RETRIES;
    }
    state.set(counter, state.int_after(counter)?);
    let isolation = verdict.as_str();
    state.map_mut(key::ISOLATION)?.set(subtask, isolation);
    let answer = answer
        .with("current_phase", "ACTOR")
        .with("feedback_file", file)
        .with("retry_isolation", isolation)
        .with("retry_quarantine_path", quarantine);
    Ok((answer, actions))
}
