//! What the agent of a session is told when it is continued.
//!
//! It goes into the conversation of a model, and most of it comes from a transcript, so every such text
//! is one line with an origin, and the prompt is quoted.

use rekindle_model::{OpenKind, Session};
use rekindle_text::format_seconds;

/// The most names in a list.
const MOST_NAMES: usize = 10;

/// How every briefing begins.
const BEGINNING: &str = "This session was ";
/// What its first line ends with.
const GOES_ON: &str = "rekindle continues it now.";
/// What stands before the prompt.
const QUOTES: &str = "The last prompt was (quoted, not new):";

/// Returns the briefing of a session; `uncommitted` are its files that git calls changed.
pub(crate) fn briefing(session: &Session, uncommitted: &[String]) -> String {
    let mut lines = vec![cut_off(session)];
    lines.extend(in_flight(session));
    lines.extend(still_running(session));
    lines.extend(standing(session, uncommitted));
    if let Some(prompt) = &session.prompt {
        lines.push(QUOTES.to_owned());
        lines.push(format!("> {prompt}"));
    }
    lines.push("Look at the state of the files first, then go on with that.".to_owned());
    lines.join("\n") + "\n"
}

/// Returns the prompt of a person in a text that may be a briefing: the one that it quotes. A briefing
/// of which the end is missing has none.
pub(crate) fn prompt_of(text: &str) -> Option<&str> {
    if !(text.starts_with(BEGINNING) && text.contains(GOES_ON)) {
        return Some(text);
    }
    let (_, quoted) = text.split_once(&format!("\n{QUOTES}\n> "))?;
    quoted.lines().next()
}

/// Says how the session ended.
fn cut_off(session: &Session) -> String {
    let at = session.last_activity.map(format_seconds);
    let at = at.map_or_else(String::new, |at| format!(" at {at}"));
    let why = match session.open.kind {
        OpenKind::Limit => {
            return format!("{BEGINNING}stopped{at} by a usage limit, which is over. {GOES_ON}");
        }
        OpenKind::Error => "an error ended the turn",
        OpenKind::Stopped => "a person stopped the turn",
        OpenKind::None
        | OpenKind::Tool
        | OpenKind::Turn
        | OpenKind::Question
        | OpenKind::Permission
        | OpenKind::Subagent => "the program was killed and did not end the turn",
    };
    format!("{BEGINNING}cut off{at}; {why}. {GOES_ON}")
}

/// Says what was in flight.
fn in_flight(session: &Session) -> Option<String> {
    let step = session.open.step.as_deref().map(inline);
    let unknown = "Its outcome is unknown: check whether it took effect before you repeat it.";
    match (session.open.kind, step) {
        (OpenKind::Tool | OpenKind::Question | OpenKind::Permission, Some(step)) => {
            let others = session.open.calls.saturating_sub(1);
            let others = match others {
                0 => String::new(),
                1 => " and another call".to_owned(),
                n => format!(" and {n} other calls"),
            };
            Some(format!("In flight: {step}{others}. {unknown}"))
        }
        (OpenKind::Error, Some(error)) => Some(format!("The error was: {error}.")),
        // This program writes a call only when it has ended.
        (OpenKind::Turn, _) if session.agent == "gemini" => {
            Some(format!("In flight: a tool may have run. {unknown}"))
        }
        (
            OpenKind::None
            | OpenKind::Tool
            | OpenKind::Turn
            | OpenKind::Question
            | OpenKind::Permission
            | OpenKind::Limit
            | OpenKind::Error
            | OpenKind::Stopped
            | OpenKind::Subagent,
            _,
        ) => None,
    }
}

/// Says what still runs, and which sub-agents were cut off.
fn still_running(session: &Session) -> Option<String> {
    let mut parts = Vec::new();
    if !session.left.is_empty() {
        let named: Vec<String> = session
            .left
            .iter()
            .take(MOST_NAMES)
            .map(|left| format!("process {} ({})", left.pid, left.program))
            .collect();
        parts.push(format!("Still running from then: {}.", named.join(", ")));
    }
    for one in session.subagents.iter().take(MOST_NAMES) {
        let about = one.about.as_deref().or(one.kind.as_deref());
        let name = about.map_or(String::new(), |about| format!(" \"{about}\""));
        let place = one.step.as_deref().map(inline);
        let place = place.map_or("its turn".to_owned(), |step| step);
        parts.push(format!(
            "Sub-agent{name} was cut off in {place}; its result never arrived."
        ));
    }
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Says what is left to do and what has changed.
fn standing(session: &Session, uncommitted: &[String]) -> Option<String> {
    let mut parts = Vec::new();
    let open = session.todo.as_ref().map(|todo| todo.open.as_slice());
    if let Some(open) = open.filter(|open| !open.is_empty()) {
        parts.push(format!("Open in the task list: {}.", names(open, "; ")));
    }
    if !uncommitted.is_empty() {
        let files = names(uncommitted, ", ");
        parts.push(format!("Changed and not committed: {files}."));
    }
    if let Some(branch) = &session.branch {
        parts.push(format!("Branch {branch}."));
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn names(names: &[String], between: &str) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    let more = names.len() - shown.len();
    let shown = shown.join(between);
    if more == 0 {
        shown
    } else {
        format!("{shown}{between}and {more} more")
    }
}

/// Returns a text as it is in a sentence: between backticks, which it cannot close.
fn inline(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}
