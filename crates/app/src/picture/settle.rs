//! Completes a history with what only the present tells: who lives now.

use jiff::Timestamp;
use rekindle_model::{AttemptEnd, History, LastLife, LifeEnd, PastAttempt, PastTask, TaskState};

use crate::AtWork;

/// Ends what is over although no record says so, and derives the states of tasks from their attempts.
pub(super) fn settle(
    history: &mut History,
    at_work: Option<&AtWork>,
    last_life: Option<LastLife>,
    is_complete: bool,
    now: Timestamp,
) {
    let latest = history.latest;
    let is_held = at_work.is_some_and(AtWork::is_rekindle);
    if let Some(life) = history.lives.last_mut()
        && life.to.is_none()
        && !is_held
    {
        // A stamp is of whole seconds.
        let last_life = last_life.filter(|last| last.seen.as_second() >= life.from.as_second());
        let seen = match last_life {
            Some(last) => history.orchestrators.max(Some(last.seen)),
            None => latest,
        };
        life.to = Some(seen.unwrap_or(life.from).max(life.from));
        life.end = match (is_complete, last_life) {
            (true, _) => LifeEnd::Finished,
            (false, Some(last)) => last.end,
            (false, None) => LifeEnd::Interrupted,
        };
    }
    // Without orchestrators the protocol itself knows who is at work.
    let is_known = history.lives.is_empty();
    let torn = history.lives.last().and_then(|life| life.to);
    let alone: &[String] = match at_work {
        Some(AtWork::Workers(tasks)) => tasks,
        Some(AtWork::Rekindle(_)) | None => &[],
    };
    for attempt in &mut history.attempts {
        let task = history.tasks.get(attempt.task);
        let lives = |task: &PastTask| {
            alone.contains(&task.id) || (is_known && task.state == TaskState::Running)
        };
        let lives = is_held || task.is_some_and(lives);
        if attempt.end == AttemptEnd::Running && !lives {
            attempt.to = Some(last_sign(attempt, torn));
            attempt.end = AttemptEnd::Killed(None);
        }
    }
    // They are sorted by task and number, so the last one of a task decides.
    for attempt in &history.attempts {
        if let Some(task) = history.tasks.get_mut(attempt.task)
            && !task.state.is_over()
            && task.state != TaskState::NeedsPerson
        {
            task.state = state(attempt, is_held);
        }
    }
    // A limit whose end is not known, and a wait that nobody waits any more.
    for wait in &mut history.waits {
        if wait.to.is_none() {
            wait.to = Some(latest.unwrap_or(now).max(wait.from));
        }
    }
}

/// Returns when an attempt that is not there any more was last seen.
fn last_sign(attempt: &PastAttempt, torn: Option<Timestamp>) -> Timestamp {
    let sign = attempt.beats.last().copied().unwrap_or(attempt.from);
    torn.map_or(sign, |torn| torn.max(sign))
}

fn state(last: &PastAttempt, is_held: bool) -> TaskState {
    match last.end {
        AttemptEnd::Running => TaskState::Running,
        // Its landing is under way, or comes with the next resume.
        AttemptEnd::Delivered if is_held => TaskState::Running,
        AttemptEnd::Delivered | AttemptEnd::Killed(_) | AttemptEnd::Stopped => {
            TaskState::Interrupted
        }
        AttemptEnd::Failed(_) => TaskState::Failed,
        AttemptEnd::Limited => TaskState::Limited,
        // A record that says otherwise counts more: it was opened again.
        AttemptEnd::Done => TaskState::Open,
    }
}
