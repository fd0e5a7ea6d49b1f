//! What is noticed of a session, as findings.

use rekindle_agents::Preset;
use rekindle_model::{Code, Finding, Place, Session, Unsafe};
use rekindle_text::format_seconds;

/// Returns what is noticed of a session.
pub(crate) fn findings(session: &Session) -> Vec<Finding> {
    let reasons = session.reasons.iter();
    let mut found: Vec<Finding> = reasons.map(|reason| finding(session, *reason)).collect();
    if session.is_torn {
        let message = "the last line of the transcript is cut off; the rows before it count";
        found.push(
            Finding::new(Code::TranscriptTorn, message).at(Place::path(session.transcript.clone())),
        );
    }
    found
}

fn finding(session: &Session, reason: Unsafe) -> Finding {
    let id = &session.id;
    match reason {
        Unsafe::Held => {
            let pid = session.holder.as_ref().and_then(|holder| holder.pid);
            let who = pid.map_or_else(|| "a process".to_owned(), |pid| format!("process {pid}"));
            let is_server = session
                .holder
                .as_ref()
                .is_some_and(|holder| holder.is_server);
            let hint = if is_server {
                format!("`rekindle resume {id}` in a terminal joins it")
            } else {
                "go on in its own window, or end that program first".to_owned()
            };
            Finding::new(Code::SessionHeld, format!("{who} has the session open")).hint(hint)
        }
        Unsafe::MaybeHeld => {
            let message = "a running opencode may have the session open";
            Finding::new(Code::SessionMaybeHeld, message)
                .hint("go on in its own window, or end that program first")
        }
        Unsafe::FolderGone => {
            let folder = session.folder.as_ref();
            let folder = folder.map_or("unknown".to_owned(), |folder| format!("`{folder}`"));
            let message = format!("the session's folder is missing, or not yours: {folder}");
            Finding::new(Code::SessionFolderGone, message).hint(elsewhere(session))
        }
        Unsafe::Limited => {
            let until = session.until.map(format_seconds);
            let until = until.map_or("at an unknown time".to_owned(), |at| format!("at {at}"));
            let message = format!("a usage limit stopped the session; it ends {until}");
            Finding::new(Code::SessionLimited, message)
                .hint(format!("`rekindle resume {id} --wait` goes on then"))
        }
        Unsafe::Superseded => {
            let by = session
                .superseded_by
                .as_deref()
                .unwrap_or("another session");
            let message = format!("`{by}` continues the session");
            Finding::new(Code::SessionSuperseded, message)
                .hint(format!("look at it with `rekindle inspect {by}`"))
        }
        Unsafe::Unreadable => {
            let message = "no row of the session's transcript can be read";
            Finding::new(Code::TranscriptUnreadable, message)
                .at(Place::path(session.transcript.clone()))
        }
        Unsafe::LeftProcesses => {
            let named: Vec<String> = session
                .left
                .iter()
                .take(5)
                .map(|left| format!("process {} ({})", left.pid, left.program))
                .collect();
            let message = format!("what the session started still runs: {}", named.join(", "));
            Finding::new(Code::SessionLeftProcesses, message)
                .hint("look what they do, and end them if they are at the same work")
        }
    }
}

/// Returns how a session whose folder is gone can go on; nothing is guessed.
fn elsewhere(session: &Session) -> String {
    let id = &session.id;
    let can_move = Preset::of(session.agent).is_some_and(Preset::continues_anywhere);
    match (&session.add_worktree, can_move) {
        (Some(add), true) => format!(
            "`{add}` brings it back; `rekindle resume {id} --in-folder DIR` goes on in another folder"
        ),
        (Some(add), false) => format!("`{add}` brings it back"),
        (None, true) => format!("`rekindle resume {id} --in-folder DIR` goes on in another folder"),
        (None, false) => "make the folder again, with what was in it".to_owned(),
    }
}
