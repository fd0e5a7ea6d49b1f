//! What is said of a session in one line.

use rekindle_model::{Next, OpenKind, Session, SessionState};
use rekindle_text::format_seconds;

/// Returns what a session had in flight, after its state: "in `Bash: make`".
pub(crate) fn stage(session: &Session) -> String {
    if let (SessionState::Limited, Some(until)) = (session.state, session.until) {
        return format!("until {}", format_seconds(until));
    }
    let step = session.open.step.as_ref();
    match (session.open.kind, step) {
        (OpenKind::Tool, Some(step)) => format!("in `{step}`"),
        (OpenKind::Question | OpenKind::Permission, Some(step)) => format!("for `{step}`"),
        (OpenKind::Subagent, Some(step)) => format!("in a sub-agent: `{step}`"),
        (OpenKind::Error, Some(error)) => format!("by an error: {error}"),
        (OpenKind::Subagent, None) => "in a sub-agent".to_owned(),
        (OpenKind::Error, None) => "by an error".to_owned(),
        (OpenKind::Stopped, _) => "stopped by a person".to_owned(),
        (OpenKind::Limit, _) => "by a usage limit".to_owned(),
        (OpenKind::Turn | OpenKind::Tool | OpenKind::Question | OpenKind::Permission, _) => {
            "in the middle of a turn".to_owned()
        }
        (OpenKind::None, _) => "nothing in flight".to_owned(),
    }
}

/// Returns what comes next, in a sentence.
pub(crate) fn next(session: &Session) -> Next {
    let what = session
        .prompt
        .as_ref()
        .or(session.title.as_ref())
        .map_or_else(
            || "the conversation".to_owned(),
            |prompt| format!("\"{prompt}\""),
        );
    let unsafe_for = session.reasons.first().map(|reason| reason.clause());
    let (kind, summary) = match (session.state, unsafe_for) {
        (SessionState::Running, _) => ("wait", format!("{what} is being worked on")),
        (SessionState::Finished, _) => ("none", format!("nothing; {what} is answered")),
        (_, Some(reason)) => ("check", format!("{what} is not safe to continue: {reason}")),
        (SessionState::WaitingForPerson, None) => ("answer", format!("answer in {what}")),
        (SessionState::Interrupted | SessionState::Limited | SessionState::Unreadable, None) => {
            ("continue", format!("continue {what}"))
        }
    };
    Next::new(kind, summary)
}
