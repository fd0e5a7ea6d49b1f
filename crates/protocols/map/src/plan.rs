//! `task_plan_<branch>.md`: subtasks and their statuses, as the peer finds them.
//!
//! The peer looks for a heading `### ST-001` and takes the next line `- **Status:** word` for its
//! status, however far down that is and whatever headings lie between. That is kept, since other
//! tools show the same numbers; [`Progress::strays`] says where it went wrong. One scan from top to
//! bottom finds what the peer's backtracking pattern finds in quadratic time.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use rekindle_text::python_text::{digit, is_space, is_word, split_lines, strip};

/// The line that says the status of a subtask.
const STATUS: &str = "- **Status:**";

/// A subtask and what the plan says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Its id as it is spelled.
    pub(crate) id: String,
    /// Its status; `unknown` where the plan has none at all.
    pub(crate) status: String,
}

/// What a plan says about its subtasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// In the plan's order; an id that stands there twice is listed twice.
    pub(crate) subtasks: Vec<Planned>,
    /// Headings without a status of their own, whose subtasks are hidden or have another's status.
    pub(crate) strays: Vec<String>,
}

impl Progress {
    /// Returns the ids of the subtasks that are complete.
    pub(crate) fn completed(&self) -> Vec<&str> {
        self.ids(|planned| planned.status == "complete")
    }

    /// Returns the ids of all others.
    pub(crate) fn pending(&self) -> Vec<&str> {
        self.ids(|planned| planned.status != "complete")
    }

    fn ids(&self, which: impl Fn(&&Planned) -> bool) -> Vec<&str> {
        let chosen = self.subtasks.iter().filter(which);
        chosen.map(|planned| planned.id.as_str()).collect()
    }
}

/// Returns the subtasks that have a status, in the peer's reading.
pub(crate) fn progress(plan: &str) -> Progress {
    let statuses = statuses(plan);
    let headings = headings(plan);
    let mut progress = Progress::default();
    let mut cursor = 0;
    let mut next = statuses.iter();
    let mut headings = headings.iter().peekable();
    while let Some(heading) = headings.next() {
        if heading.at < cursor {
            continue;
        }
        let Some(status) = next.find(|status| status.at >= heading.body) else {
            progress.strays.push(heading.id.to_owned());
            continue;
        };
        let hidden = |other: &&Heading<'_>| other.at < status.at;
        while let Some(other) = headings.next_if(hidden) {
            progress.strays.push(other.id.to_owned());
        }
        progress.subtasks.push(Planned {
            id: heading.id.to_owned(),
            status: status.word.to_owned(),
        });
        cursor = status.end;
    }
    progress
}

/// A heading of a subtask.
struct Heading<'a> {
    id: &'a str,
    /// Where its last three `#` stand.
    at: usize,
    /// Where the line after it begins.
    body: usize,
}

fn headings(plan: &str) -> Vec<Heading<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = find(plan, from, "###") {
        from = at + 1;
        let after = &plan[at + 3..];
        let rest = after.trim_start_matches(is_space);
        if rest.len() == after.len() {
            continue;
        }
        let Some(id) = id_at(rest) else { continue };
        let start = plan.len() - rest.len();
        if let Some(end) = find(plan, start, "\n") {
            let body = end + 1;
            found.push(Heading { id, at, body });
        }
    }
    found
}

/// A line that says a status.
struct StatusLine<'a> {
    word: &'a str,
    at: usize,
    /// Where the word ends, perhaps some lines further down.
    end: usize,
}

fn statuses(plan: &str) -> Vec<StatusLine<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = find(plan, from, STATUS) {
        from = at + STATUS.len();
        if at > 0 && !plan[..at].ends_with('\n') {
            continue;
        }
        let after = &plan[from..];
        let rest = after.trim_start_matches(is_space);
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if rest.len() < after.len() && length > 0 {
            let end = plan.len() - rest.len() + length;
            let word = &rest[..length];
            found.push(StatusLine { word, at, end });
        }
    }
    found
}

/// Returns what the subtasks of a plan are called; of two headings with one id the first counts.
pub(crate) fn titles(plan: &str) -> BTreeMap<String, String> {
    let mut titles = BTreeMap::new();
    for heading in headings(plan) {
        let line = plan[heading.at..].lines().next().unwrap_or_default();
        let title = line.split_once(heading.id).map_or("", |(_, rest)| rest);
        let title = strip(title.trim_start_matches([':', ' ', '\t', '—', '-']));
        if !title.is_empty() {
            titles
                .entry(heading.id.to_owned())
                .or_insert_with(|| title.to_owned());
        }
    }
    titles
}

/// Returns what a plan says about a subtask: from its heading to the next.
pub(crate) fn section<'a>(plan: &'a str, id: &str) -> Option<&'a str> {
    let heading = headings(plan).into_iter().find(|found| found.id == id)?;
    let rest = &plan[heading.body..];
    let next = rest.lines().scan(heading.body, |at, line| {
        let start = *at;
        *at += line.len() + 1;
        Some((start, line))
    });
    let mut next = next.filter(|(_, line)| line.starts_with('#') && !line.starts_with("####"));
    let end = next.next().map_or(plan.len(), |(start, _)| start);
    Some(strip(&plan[heading.at..end.max(heading.body)]))
}

fn find(text: &str, from: usize, pattern: &str) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    memchr::memmem::find(rest, pattern.as_bytes()).map(|at| from + at)
}

/// Returns the id that a text begins with.
fn id_at(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("ST-")?;
    let length = digits.find(|c| digit(c).is_none()).unwrap_or(digits.len());
    (length > 0).then(|| &text[.."ST-".len() + length])
}

/// Returns whether a text is an id and nothing else.
pub(crate) fn is_id(text: &str) -> bool {
    id_at(text) == Some(text)
}

/// Returns the ids that stand in headings, first cells of tables and bullets, each once.
pub(crate) fn listed_ids(plan: &str) -> Vec<String> {
    let ids: IndexSet<&str> = split_lines(plan).filter_map(listed_id).collect();
    ids.into_iter().map(str::to_owned).collect()
}

fn listed_id(line: &str) -> Option<&str> {
    in_heading(line)
        .or_else(|| in_table(line))
        .or_else(|| in_bullet(line))
}

fn in_heading(line: &str) -> Option<&str> {
    let marks = line.trim_start_matches(is_space);
    let indent = line[..line.len() - marks.len()].chars().count();
    let text = marks.trim_start_matches('#');
    let level = marks.len() - text.len();
    (indent <= 3 && (1..=6).contains(&level)).then_some(())?;
    whole_id(after_space(text)?)
}

fn in_table(line: &str) -> Option<&str> {
    let cell = line.trim_start_matches(is_space).strip_prefix('|')?;
    let id = id_at(cell.trim_start_matches(is_space))?;
    let rest = &cell.trim_start_matches(is_space)[id.len()..];
    let ends = rest.trim_start_matches(is_space).starts_with('|');
    ends.then_some(id)
}

fn in_bullet(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(is_space).strip_prefix(['-', '*'])?;
    let text = after_space(text)?;
    let boxes = ["[ ]", "[x]", "[X]"];
    let unboxed = boxes.iter().find_map(|mark| text.strip_prefix(mark));
    whole_id(unboxed.map_or(text, |rest| rest.trim_start_matches(is_space)))
}

fn after_space(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(is_space);
    (rest.len() < text.len()).then_some(rest)
}

/// Returns the id that a text begins with, if the word ends with it.
fn whole_id(text: &str) -> Option<&str> {
    let id = id_at(text)?;
    let goes_on = text[id.len()..].chars().next().is_some_and(is_word);
    (!goes_on).then_some(id)
}

/// Returns the plan with another status for a subtask, or `None` where its heading and status line
/// do not stand one below the other. All other bytes stay.
pub(crate) fn with_status(plan: &str, id: &str, status: &str) -> Option<String> {
    let heading = format!("### {id}:");
    let mut changed = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(at) = find(plan, from, &heading) {
        from = at + heading.len();
        let Some(line) = line_after(plan, from) else {
            break;
        };
        let Some(after) = plan[line..].strip_prefix(STATUS) else {
            continue;
        };
        let rest = after.trim_start_matches(is_space);
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if rest.len() == after.len() || length == 0 {
            continue;
        }
        let word = plan.len() - rest.len();
        changed.push_str(&plan[copied..word]);
        changed.push_str(status);
        copied = word + length;
        from = copied;
    }
    changed.push_str(&plan[copied..]);
    (changed != plan).then_some(changed)
}

/// Returns where the next line begins; a line ends as it does for those who read the plan.
fn line_after(plan: &str, from: usize) -> Option<usize> {
    let rest = plan.get(from..)?;
    let end = memchr::memchr2(b'\r', b'\n', rest.as_bytes())?;
    let length = if rest[end..].starts_with("\r\n") {
        2
    } else {
        1
    };
    Some(from + end + length)
}

/// Returns the text of the first `## Goal` or `## Overview`, up to the next heading.
pub(crate) fn goal(plan: &str) -> Option<&str> {
    let headings = ["## Goal\n", "## Overview\n"];
    let starts = headings.iter().filter_map(|heading| {
        let at = find(plan, 0, heading)?;
        Some((at, at + heading.len()))
    });
    let (_, start) = starts.min()?;
    let end = find(plan, start, "\n##").unwrap_or(plan.len());
    Some(strip(&plan[start..end]))
}

/// Returns the first word below `## Current Phase`.
pub(crate) fn current_phase(plan: &str) -> Option<&str> {
    let heading = "## Current Phase\n";
    let mut from = 0;
    while let Some(at) = find(plan, from, heading) {
        from = at + heading.len();
        let word = plan[from..].split(is_space).next().unwrap_or_default();
        if !word.is_empty() {
            return Some(word);
        }
    }
    None
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
