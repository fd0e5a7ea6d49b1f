//! The overview: a table of the workflows here, in the order in which they need a person.

use std::fmt::Write as _;

use anstyle::Style;
use rekindle_app::{AtWork, Folded, Line, Overview, Verb, Zone};
use rekindle_model::{Condition, Progress};
use rekindle_text::{excerpt, printable};

use super::table::{Cell, table};
use super::{ERROR, FAINT, GOOD, NOTE, NOTHING, STRONG, WARNING, age, hint, styled};

/// Returns the overview for a terminal that is so many columns wide.
pub(crate) fn status(overview: &Overview, zone: &Zone, width: usize, verbose: bool) -> String {
    let (lines, folded) = overview.lines();
    if lines.is_empty() {
        return format!("{NOTHING}{}", folded_line("", folded));
    }
    let header = ["ID", "STATE", "TASKS", "AGE", "TITLE"];
    let header = header.map(|name| Cell::styled(name, FAINT));
    let mut rows = vec![header.to_vec()];
    rows.extend(lines.iter().map(|line| row(line, overview, zone)));
    let text = table(&rows, width);
    let mut shown = text.lines();
    let mut text = String::new();
    put!(text, "{}\n", shown.next().unwrap_or_default());
    for (line, row) in lines.iter().zip(shown) {
        put!(text, "{row}\n");
        text.push_str(&details(line, verbose));
    }
    text.push_str(&folded_line("and ", folded));
    text
}

fn row(line: &Line<'_>, overview: &Overview, zone: &Zone) -> Vec<Cell> {
    let summary = line.summary;
    let id = excerpt(&line.short_id, 40);
    let (word, style) = timed(line.condition, zone);
    vec![
        Cell::styled(id, STRONG),
        Cell::styled(word, style),
        Cell::new(tasks(summary.progress)),
        Cell::new(age(summary.last_activity, overview.now)),
        Cell::new(title(line)),
    ]
}

/// Returns how many tasks are done; where nothing is known of them there is nothing to count.
fn tasks(progress: Progress) -> String {
    match progress {
        Progress {
            done: 0,
            total: None,
        } => "-".to_owned(),
        Progress { .. } => progress.to_string(),
    }
}

/// Returns what a person calls it, and its stage where that says something.
fn title(line: &Line<'_>) -> String {
    let summary = line.summary;
    let view = &summary.view;
    let name = (line.short_id != summary.id.name).then_some(&summary.id.name);
    let title = view
        .title
        .as_ref()
        .or(name)
        .map(|title| excerpt(title, 200));
    let stage = (!view.is_ours).then(|| excerpt(&summary.stage, 80));
    let parts = title.into_iter().chain(stage);
    parts.collect::<Vec<_>>().join(", ")
}

/// Returns what has to be known of a workflow beyond its row.
fn details(line: &Line<'_>, verbose: bool) -> String {
    let mut text = String::new();
    let summary = line.summary;
    if verbose {
        put!(text, "    {}\n", excerpt(&summary.id.to_string(), 200));
    }
    match line.at_work {
        // Without a resume their work does not land.
        Some(who @ AtWork::Workers(_)) => {
            put!(text, "    running: {}\n", excerpt(&who.to_string(), 300));
        }
        Some(who @ AtWork::Rekindle(_)) if verbose => {
            put!(text, "    running: {}\n", excerpt(&who.to_string(), 300));
        }
        Some(AtWork::Rekindle(_)) | None => {}
    }
    for session in &line.sessions {
        let (word, style) = worded(session.view.condition);
        put!(
            text,
            "    {}  {} {}\n",
            excerpt(&session.id.to_string(), 120),
            styled(style, word),
            excerpt(&session.stage, 80)
        );
    }
    if verbose && summary.state.is_open() {
        put!(text, "    next: {}\n", printable(&summary.next.summary));
    }
    text
}

fn folded_line(before: &str, folded: Folded) -> String {
    let Folded { finished, older } = folded;
    let what = match (finished, older) {
        (0, 0) => return String::new(),
        (finished, 0) => format!("{finished} finished"),
        (0, older) => format!("{older} older"),
        (finished, older) => format!("{finished} finished and {older} older"),
    };
    let them = if finished + older == 1 { "it" } else { "them" };
    let line = format!("{before}{what}: `rekindle status --all` lists {them}");
    format!("{}\n", styled(FAINT, &line))
}

/// Returns the state of a workflow in a person's words, with the time at which a limit ends, and its style.
fn timed(condition: Condition, zone: &Zone) -> (String, Style) {
    let (word, style) = worded(condition);
    match condition {
        Condition::Limited { until: Some(until) } => {
            let until = until.to_zoned(zone.get()).strftime("%H:%M");
            (format!("{word} (limit until {until})"), style)
        }
        Condition::Limited { until: None } => (format!("{word} (limit)"), style),
        Condition::Running
        | Condition::Interrupted
        | Condition::NeedsPerson
        | Condition::Ready
        | Condition::Drafting
        | Condition::Blocked
        | Condition::Unreadable
        | Condition::Complete => (word.to_owned(), style),
    }
}

/// Returns the state of a workflow in a person's words, and its style.
pub(super) fn worded(condition: Condition) -> (&'static str, Style) {
    let style = match condition {
        Condition::Running | Condition::Complete => GOOD,
        Condition::Interrupted => WARNING,
        Condition::NeedsPerson
        | Condition::Limited { .. }
        | Condition::Ready
        | Condition::Drafting => NOTE,
        Condition::Blocked | Condition::Unreadable => ERROR,
    };
    (condition.as_str(), style)
}

/// Returns the hint at the end of the overview: the one command to type next.
pub(crate) fn next_step(overview: &Overview) -> Option<String> {
    let next = overview.next_step.as_ref()?;
    let verb = match next.verb {
        Verb::Inspect => "see what blocks it with",
        Verb::Retry => "when the cause is fixed, try again with",
        Verb::Resume => "go on with",
    };
    Some(hint(&format!("{verb} `{}`", next.short_command())))
}

/// Returns the note that a command is about a project in a folder above the current one.
pub(crate) fn found_above(folder: &camino::Utf8Path) -> String {
    format!(
        "{}: the project is `{}`\n",
        styled(NOTE, "note"),
        printable(folder.as_str())
    )
}
