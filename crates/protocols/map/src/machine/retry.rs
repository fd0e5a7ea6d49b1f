//! The monitor said no: the actor tries again, from the second time on without what failed before.

use rekindle_model::Action;
use rekindle_text::python_json::Object;

use crate::desk::Desk;
use crate::fault::Fault;
use crate::feedback;
use crate::quarantine;
use crate::reply::Reply;
use crate::state::{State, StateFile, key};
use crate::table::{RETRIES, Rejection, Retry as Verdict};

/// `monitor_failed`: the current subtask goes back to the actor.
pub(crate) fn monitor_failed(desk: Desk<'_>, said: &str) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let state = &mut file.state;
    let from = ["MONITOR", "ACTOR", "APPLY", "TEST_WRITER"];
    if !from.iter().any(|phase| state.is(key::PHASE, phase)) {
        let phase = state.get(key::PHASE);
        let phase = phase
            .as_text()
            .map_or_else(|| phase.to_line(), str::to_owned);
        return Ok(Reply::error(format!(
            "In phase {phase} there is nothing that a monitor could have rejected; nothing was changed."
        )));
    }
    let count = state.int_after(key::RETRY_COUNT)?;
    let most = state.int(key::MAX_RETRIES)?;
    state.set(key::RETRY_COUNT, count);
    let verdict = *RETRIES.decide(Rejection::new(count, most));
    if verdict == Verdict::Exhausted {
        let answer = exhausted(count, most).with(
            "message",
            format!("All {most} retries are used up; a person has to decide."),
        );
        return Ok(Reply::of(answer).doing(file.saved()));
    }
    state.set(key::PENDING_STEPS, vec!["2.3", "2.4"]);
    state.set(key::STEP, "2.3");
    state.set(key::PHASE, "ACTOR");
    let subtask = state.subtask().map(str::to_owned);
    let name = format!("monitor_feedback_retry{count}.md");
    let title = format!("Monitor Feedback (retry {count})");
    let retry = Retry::new(desk, &name, &title, said)?;
    let retry = retry.isolated(desk, state, subtask.as_deref(), count, verdict)?;
    let answer = Object::new()
        .with("status", "retrying")
        .with("retry_count", count)
        .with("max_retries", most);
    let subtask = subtask.unwrap_or_else(|| "None".to_owned());
    let message = format!("Retry {count} of {most}: {subtask} is back at the actor.");
    Ok(Reply::of(retry.tell(answer, message))
        .doing(retry.actions)
        .doing(file.saved()))
}

/// `wave_monitor_failed`: one subtask of a wave goes back to the actor.
pub(crate) fn wave_monitor_failed(
    desk: Desk<'_>,
    subtask: &str,
    said: &str,
) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let state = &mut file.state;
    let counts = state.map(key::SUBTASK_RETRIES)?;
    let count = match counts.get(subtask) {
        None => 1,
        Some(rekindle_text::python_json::Json::Int(count)) => count.saturating_add(1),
        Some(other) => {
            let kind = other.kind();
            return Err(Fault::new(format!("the retries of {subtask} are {kind}")));
        }
    };
    state.map_mut(key::SUBTASK_RETRIES)?.set(subtask, count);
    let most = state.int(key::MAX_RETRIES)?;
    let verdict = *RETRIES.decide(Rejection::new(count, most));
    if verdict == Verdict::Exhausted {
        let answer = exhausted(count, most).with("subtask_id", subtask).with(
            "message",
            format!("All {most} retries of {subtask} are used up; a person has to decide."),
        );
        return Ok(Reply::of(answer).doing(file.saved()));
    }
    state.map_mut(key::SUBTASK_PHASES)?.set(subtask, "2.3");
    let name = format!("monitor_feedback_{subtask}_retry{count}.md");
    let title = format!("Monitor Feedback for {subtask} (retry {count})");
    let retry = Retry::new(desk, &name, &title, said)?;
    let retry = retry.isolated(desk, state, Some(subtask), count, verdict)?;
    let answer = Object::new()
        .with("status", "retrying")
        .with("subtask_id", subtask)
        .with("retry_count", count)
        .with("max_retries", most);
    let message = format!("Retry {count} of {most}: {subtask} is back at the actor.");
    Ok(Reply::of(retry.tell(answer, message))
        .doing(retry.actions)
        .doing(file.saved()))
}

fn exhausted(count: i64, most: i64) -> Object {
    Object::new()
        .with("status", Verdict::Exhausted.as_str())
        .with("retry_count", count)
        .with("max_retries", most)
}

/// What a retry leaves for the next attempt.
struct Retry {
    /// What the actor is to read.
    feedback: String,
    feedback_file: Option<String>,
    isolation: &'static str,
    quarantine: Option<String>,
    actions: Vec<Action>,
}

impl Retry {
    fn new(desk: Desk<'_>, name: &str, title: &str, said: &str) -> Result<Self, Fault> {
        let feedback = feedback::for_actor(said);
        let written = feedback::file(desk, name, title, &feedback)?;
        let (feedback_file, action) = written.unzip();
        Ok(Self {
            feedback,
            feedback_file,
            isolation: Verdict::Normal.as_str(),
            quarantine: None,
            actions: action.flatten().into_iter().collect(),
        })
    }

    fn isolated(
        mut self,
        desk: Desk<'_>,
        state: &mut State,
        subtask: Option<&str>,
        count: i64,
        verdict: Verdict,
    ) -> Result<Self, Fault> {
        let subtask = subtask.unwrap_or("workflow");
        let counter = if verdict == Verdict::Clean {
            let file = self.feedback_file.as_deref();
            let entry = quarantine::entry(desk, subtask, count, file, &self.feedback);
            let (path, action) = quarantine::add(desk, subtask, count, entry)?;
            self.actions.extend(action);
            state.map_mut(key::QUARANTINES)?.set(subtask, &path);
            self.quarantine = Some(path);
            key::CLEAN_RETRIES
        } else {
            key::CONTAMINATED_RETRIES
        };
        let counted = state.int_after(counter)?;
        state.set(counter, counted);
        self.isolation = verdict.as_str();
        state.map_mut(key::ISOLATION)?.set(subtask, self.isolation);
        Ok(self)
    }

    fn tell(&self, answer: Object, message: String) -> Object {
        answer
            .with("current_phase", "ACTOR")
            .with("feedback_file", self.feedback_file.clone())
            .with("retry_isolation", self.isolation)
            .with("retry_quarantine_path", self.quarantine.clone())
            .with("message", message)
    }
}
