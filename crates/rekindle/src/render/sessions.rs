//! Sessions of coding agents, grouped by project.

use std::fmt::Write as _;

use rekindle_app::{Continued, FIRST_SESSIONS, Project, SessionList};
use rekindle_model::{Session, SessionState};
use rekindle_text::{excerpt, printable};

use super::{FAINT, GOOD, NOTE, STRONG, WARNING, age, styled};

/// Returns the list; with `all`, every session in it.
pub(crate) fn sessions(project: &Project, list: &SessionList, all: bool) -> String {
    let most = if all { usize::MAX } else { FIRST_SESSIONS };
    let shown: Vec<&Session> = list.sessions.iter().take(most).collect();
    let mut text = String::new();
    let mut told: Vec<&Session> = Vec::new();
    for first in &shown {
        if told.iter().any(|other| other.project == first.project) {
            continue;
        }
        told.push(first);
        put!(text, "{}\n", heading(first, &shown));
        for session in shown.iter().filter(|other| other.project == first.project) {
            put!(text, "  {}\n", line(project, list, session));
        }
    }
    if text.is_empty() {
        text.push_str("No interrupted sessions.\n");
    }
    text.push_str(&rest(list, shown.len()));
    text
}

/// Returns the name of a project, with its branch.
fn heading(session: &Session, all: &[&Session]) -> String {
    let Some(project) = &session.project else {
        return styled(STRONG, "unknown folder");
    };
    let name = project.file_name().unwrap_or("/");
    let is_twice = |other: &&&Session| {
        let other = other.project.as_deref();
        other != Some(project) && other.and_then(camino::Utf8Path::file_name) == Some(name)
    };
    let is_unique = all.iter().find(is_twice).is_none();
    let name = if is_unique { name } else { project.as_str() };
    let mut of_project = all.iter().filter(|other| other.project == session.project);
    let branch = of_project.find_map(|other| other.branch.as_deref());
    let branch = branch.map(printable);
    let gone = (!session.folder_exists).then_some("the folder is gone");
    let notes: Vec<&str> = branch.as_deref().into_iter().chain(gone).collect();
    let notes = if notes.is_empty() {
        String::new()
    } else {
        format!(" ({})", notes.join("; "))
    };
    format!("{}{notes}", styled(STRONG, &excerpt(name, 120)))
}

fn line(project: &Project, list: &SessionList, session: &Session) -> String {
    let mut line = format!(
        "{}   {}",
        excerpt(&session.id.to_string(), 120),
        standing(list, session)
    );
    let prompt = session.prompt.as_ref().or(session.title.as_ref());
    if let Some(prompt) = prompt {
        line.push_str(&format!("   \"{}\"", excerpt(prompt, 60)));
    }
    let mut notes = Vec::new();
    if let Some(todo) = &session.todo {
        notes.push(format!("todo {}/{}", todo.done, todo.total()));
    }
    match SessionList::n_uncommitted(project, session) {
        0 => {}
        1 => notes.push("1 file uncommitted".to_owned()),
        n => notes.push(format!("{n} files uncommitted")),
    }
    if !notes.is_empty() {
        line.push_str(&format!("   {}", styled(FAINT, &notes.join(", "))));
    }
    line
}

/// Returns the state of a session, since when, in what, and why it is not safe.
fn standing(list: &SessionList, session: &Session) -> String {
    let style = match session.state {
        SessionState::Interrupted => WARNING,
        SessionState::WaitingForPerson | SessionState::Limited => NOTE,
        SessionState::Unreadable => super::ERROR,
        SessionState::Running | SessionState::Finished => GOOD,
    };
    let word = styled(style, session.state.phrase());
    let ago = age(session.last_activity, list.now);
    let step = session.open.step.as_ref().map(|step| excerpt(step, 80));
    let mut text = match (session.state, step) {
        (SessionState::Limited, _) => match session.until {
            Some(until) => format!("{word} until {}", rekindle_text::format_seconds(until)),
            None => format!("{word}, it is not known until when"),
        },
        (SessionState::Interrupted, Some(step)) => format!("{word} {ago} in `{step}`"),
        (SessionState::WaitingForPerson, Some(step)) => format!("{word} {ago} for `{step}`"),
        (
            SessionState::Interrupted
            | SessionState::WaitingForPerson
            | SessionState::Running
            | SessionState::Unreadable
            | SessionState::Finished,
            _,
        ) => format!("{word} {ago}"),
    };
    let reasons: Vec<&str> = session
        .reasons
        .iter()
        .map(|reason| reason.clause())
        .collect();
    let is_told = matches!(session.state, SessionState::Limited | SessionState::Running);
    if !reasons.is_empty() && !is_told {
        text.push_str(&format!(", not safe: {}", reasons.join(", ")));
    }
    text
}

/// Returns how many sessions are not shown.
fn rest(list: &SessionList, n_shown: usize) -> String {
    let counts = &list.counts;
    let listed = list.sessions.len();
    let mut parts = Vec::new();
    if listed > n_shown {
        parts.push(format!("{} more", listed - n_shown));
    }
    let is_shown = |state: SessionState| list.sessions.iter().any(|one| one.state == state);
    let finished = counts.of(SessionState::Finished);
    if finished > 0 && !is_shown(SessionState::Finished) {
        parts.push(format!("{finished} finished"));
    }
    let is_stale = list.sessions.iter().any(|one| one.is_stale);
    let older = counts.older + if is_stale { 0 } else { counts.stale };
    if older > 0 {
        parts.push(format!("{older} older"));
    }
    if parts.is_empty() {
        return String::new();
    }
    format!("and {}: rekindle sessions --all\n", parts.join(", "))
}

/// Returns how sessions that were continued ended, and which were left alone.
pub(crate) fn continued(continued: &Continued) -> String {
    let mut text = String::new();
    for (_, stop) in &continued.ended {
        put!(text, "{}\n", printable(&stop.reason));
    }
    if continued.ended.is_empty() {
        text.push_str("No session was continued.\n");
    }
    for left in &continued.left {
        put!(text, "`{}` was left alone: {}\n", left.id, left.reason);
    }
    text
}
