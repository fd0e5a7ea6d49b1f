//! The turns of a session for people who look at all of them.

use rekindle_model::{
    AttemptEnd, History, PastAttempt, PastTask, Session, SessionState, TaskState,
};

use crate::story::Story;

/// Returns the turns of a session: all but the last are over.
pub(crate) fn history(session: &Session, story: &Story) -> History {
    let last = story.turns.len().saturating_sub(1);
    let mut history = History {
        title: session.title.clone().unwrap_or_default(),
        latest: story.last_activity,
        ..History::default()
    };
    for (place, turn) in story.turns.iter().enumerate() {
        let (state, end) = if place == last {
            present(session.state)
        } else {
            (TaskState::Done, AttemptEnd::Done)
        };
        let id = (place + 1).to_string();
        history.tasks.push(PastTask::new(id, &turn.prompt, state));
        history.attempts.extend(turn.from.map(|from| PastAttempt {
            task: place,
            number: 1,
            from,
            to: turn.to.filter(|_| end != AttemptEnd::Running),
            end,
            delivered: None,
            landed: None,
            commit: None,
            beats: Vec::new(),
            stage: None,
            reason: None,
            cost: None,
        }));
    }
    history
}

fn present(state: SessionState) -> (TaskState, AttemptEnd) {
    match state {
        SessionState::Finished => (TaskState::Done, AttemptEnd::Done),
        SessionState::WaitingForPerson => (TaskState::NeedsPerson, AttemptEnd::Stopped),
        SessionState::Limited => (TaskState::Limited, AttemptEnd::Limited),
        SessionState::Running => (TaskState::Running, AttemptEnd::Running),
        SessionState::Interrupted | SessionState::Unreadable => {
            (TaskState::Interrupted, AttemptEnd::Killed(None))
        }
    }
}
