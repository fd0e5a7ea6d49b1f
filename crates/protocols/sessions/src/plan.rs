//! What a resume of a session would do.

use rekindle_model::{AgentTask, OpenKind, Plan, Session, SessionState, Stop, StopKind, Then};

/// Returns what a resume would do: its own program goes on, or a person has to answer.
pub(crate) fn plan(session: &Session, briefing: &str) -> Plan {
    let id = &session.id;
    let what = session.prompt.as_deref().unwrap_or("the conversation");
    let then: Then = match session.state {
        SessionState::Interrupted | SessionState::Limited => {
            AgentTask::new("agent", format!("continue \"{what}\""), briefing).into()
        }
        SessionState::WaitingForPerson => {
            let reason = match (session.open.kind, &session.open.step) {
                (OpenKind::Stopped, _) | (_, None) => "a person stopped the turn".to_owned(),
                (_, Some(step)) => format!("the session asked: {step}"),
            };
            Stop::new(StopKind::Waiting, reason)
                .hint(format!("answer in its own program: `rekindle resume {id}`"))
                .into()
        }
        SessionState::Running => {
            Stop::new(StopKind::OthersAtWork, "a process has the session open").into()
        }
        SessionState::Unreadable => {
            Stop::new(StopKind::Blocked, "the session cannot be read").into()
        }
        SessionState::Finished => {
            Stop::new(StopKind::Done, "the last turn of the session is over").into()
        }
    };
    let mut plan = Plan::new(id.clone(), Vec::new(), then);
    let folder = session.folder.as_ref();
    plan.ahead.extend(
        folder.map(|folder| format!("`{}` goes on in `{folder}`", session.interactive.join(" "))),
    );
    plan
}
