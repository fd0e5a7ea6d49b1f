//! Text for people. What comes from files is made safe for a terminal before it gets here or right here.
//!
//! Here is what all commands share; the rest is in a module for each family of commands.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use rekindle_app::LastSession;
use rekindle_model::{State, Summary};
use rekindle_text::{count, excerpt, printable};
use rekindle_wire::ErrorBody;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default();
const GOOD: Style = AnsiColor::Green.on_default();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// Writes to a text, which has no way to fail.
macro_rules! put {
    ($text:expr, $($arguments:tt)*) => {
        let _ = write!($text, $($arguments)*);
    };
}

// After the macro, which is known from here on.
mod config;
mod decide;
mod install;
mod logs;
mod outline;
mod overview;
mod prune;
mod rescue;
mod resume;
mod revision;
mod run;
mod sessions;
mod status;
mod table;
mod torture;

pub(crate) use config::{initiated, settings, warning};
pub(crate) use decide::{asked, decided, resume_of, verb_of};
pub(crate) use install::installation;
pub(crate) use logs::{failed_output, log, log_line};
pub(crate) use outline::{
    also_open, may_not_edit, no_identity, outline, preparing, uncommitted, waves,
};
pub(crate) use overview::{
    NOTHING, captured, checkpoints, choices, doctor, explanation, findings, inspection, muted,
    recorded,
};
pub(crate) use prune::{not_pruned, pruning};
pub(crate) use rescue::{made_at, rescue, rescue_hints, rescues, restored, restored_hints};
pub(crate) use resume::{
    agent_ended, agent_needed, agent_starts, applied, briefing, checking, commands, plan, question,
    recovered, stop, unanswered, watching,
};
pub(crate) use revision::{plan_changed, plan_taken_over, plan_unsound};
pub(crate) use run::{
    checkout_changed, cleaning, cost_untold, ending, event_of, left, left_out, not_kept,
    not_notified, progress, progress_word, stuck,
};
pub(crate) use sessions::{continued, sessions};
pub(crate) use status::{found_above, next_step, status};
pub(crate) use table::fitting;
pub(crate) use torture::{torture, torture_so_far};

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

pub(crate) fn failure(error: &ErrorBody) -> String {
    let message = printable(&error.message);
    let mut text = format!("{}: {message}\n", styled(ERROR, "error"));
    for cause in &error.causes {
        put!(text, "  cause: {}\n", printable(cause));
    }
    if !error.hints.is_empty() || error.code.is_some() {
        text.push('\n');
    }
    for hint in &error.hints {
        put!(text, "{}: {}\n", styled(NOTE, "hint"), printable(hint));
    }
    if let Some(code) = &error.code {
        put!(
            text,
            "{}: see `rekindle explain {code}`\n",
            styled(NOTE, "hint")
        );
    }
    text
}

/// Returns how long ago something was, in the largest unit that says enough.
pub(crate) fn age(at: Option<Timestamp>, now: Timestamp) -> String {
    let Some(at) = at else {
        return "age unknown".to_owned();
    };
    let ago = now.duration_since(at);
    let (n, unit) = match ago.as_secs() {
        ..=-60 => return "in the future".to_owned(),
        // Events of ours are stamped after all that came before them, which can be ahead of the clock.
        -59..60 => return "just now".to_owned(),
        secs @ 60..3600 => (secs / 60, "minute"),
        secs @ 3600..86_400 => (secs / 3600, "hour"),
        secs => (secs / 86_400, "day"),
    };
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {unit}{plural} ago")
}

fn state(state: State) -> String {
    let style = match state {
        State::Interrupted => WARNING,
        State::Waiting => NOTE,
        State::Blocked | State::Corrupt | State::Unknown => ERROR,
        State::Complete => GOOD,
        State::Nothing | State::Choice => Style::new(),
    };
    styled(style, state.as_str())
}

fn workflow(summary: &Summary, now: Timestamp) -> String {
    let (word, style) = status::worded(summary.view.condition);
    let stage = if summary.view.is_ours {
        String::new()
    } else {
        format!("{}, ", printable(&summary.stage))
    };
    format!(
        "{}  {}, {stage}{} tasks, {}\n",
        styled(STRONG, &excerpt(&summary.id.to_string(), 120)),
        styled(style, word),
        summary.progress,
        age(summary.last_activity, now),
    )
}

/// Returns how the last session of a coding agent ended, in a line of its own.
pub(crate) fn last_session(last: &LastSession) -> String {
    format!(
        "{}: {}\n",
        styled(NOTE, "note"),
        printable(&last.to_string())
    )
}

/// Returns a hint in a line of its own.
pub(crate) fn hint(hint: &str) -> String {
    format!("{}: {}\n", styled(NOTE, "hint"), printable(hint))
}
