//! `task_plan_<branch>.md`: subtasks and their statuses, as MAP finds them.
//!
//! MAP takes the next line `- **Status:** word` after a heading `### ST-001` for its status, whatever
//! headings are between them. That is kept, because other tools show the same numbers;
//! [`Progress::strays`] has the headings where it goes wrong. One scan finds in linear time what MAP's
//! backtracking pattern finds.

use std::collections::BTreeMap;
use std::ops::Range;

use indexmap::IndexSet;
use rekindle_text::python_text::{digit, is_space, is_word, split_lines, strip};

/// The line that says the status of a subtask.
const STATUS: &str = "- **Status:**";

/// A subtask and its status in the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Its id.
    pub id: String,
    /// Its status; `unknown` if the plan has no status at all.
    pub status: String,
}

/// The statuses of a plan's subtasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// The subtasks in the plan's order, with duplicates.
    pub subtasks: Vec<Planned>,
    /// Headings without their own status; MAP hides them or shows another status.
    pub strays: Vec<String>,
}

impl Progress {
    /// Returns the ids of complete subtasks.
    pub fn completed(&self) -> Vec<&str> {
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

/// Returns the subtasks with a status, as MAP reads them.
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
    /// The position of its last three `#`.
    at: usize,
    /// The start of the next line.
    body: usize,
}

fn headings(plan: &str) -> Vec<Heading<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = find(plan, from, "###") {
        from = at + 1;
        if let Some(rest) = after_space(&plan[at + 3..])
            && let Some(id) = id_at(rest)
            && let Some(end) = find(plan, plan.len() - rest.len(), "\n")
        {
            let body = end + 1;
            found.push(Heading { id, at, body });
        }
    }
    found
}

/// A status line.
struct StatusLine<'a> {
    word: &'a str,
    at: usize,
    /// The end of the word, which may be on a later line.
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
        if let Some(word) = status_word(plan, from) {
            let (word, end) = (&plan[word.clone()], word.end);
            found.push(StatusLine { word, at, end });
        }
    }
    found
}

/// Returns the range of the word after white space at a position.
fn status_word(plan: &str, from: usize) -> Option<Range<usize>> {
    let rest = after_space(&plan[from..])?;
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let start = plan.len() - rest.len();
    (length > 0).then_some(start..start + length)
}

/// Returns the titles of subtasks; the first heading of an id counts.
pub fn titles(plan: &str) -> BTreeMap<String, String> {
    let mut titles = BTreeMap::new();
    for heading in headings(plan) {
        let line = plan[heading.at..].lines().next().unwrap_or_default();
        let title = line.split_once(heading.id).map_or("", |(_, rest)| rest);
        let title = strip(title.trim_start_matches([':', ' ', '\t', '—', '-']));
        if !title.is_empty() {
            let entry = titles.entry(heading.id.to_owned());
            entry.or_insert_with(|| title.to_owned());
        }
    }
    titles
}

/// Returns the section of a subtask: from its heading to the next.
pub fn section<'a>(plan: &'a str, id: &str) -> Option<&'a str> {
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

/// Returns the id at the start of a text.
fn id_at(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("ST-")?;
    let length = digits.find(|c| digit(c).is_none()).unwrap_or(digits.len());
    (length > 0).then(|| &text[.."ST-".len() + length])
}

/// Returns whether a text is exactly an id.
pub fn is_id(text: &str) -> bool {
    id_at(text) == Some(text)
}

/// Returns the unique ids in headings, first cells of tables and bullets.
pub(crate) fn listed_ids(plan: &str) -> Vec<String> {
    let listed = |line| in_heading(line).or(in_table(line)).or(in_bullet(line));
    let ids: IndexSet<&str> = split_lines(plan).filter_map(listed).collect();
    ids.into_iter().map(str::to_owned).collect()
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
    let cell = cell.trim_start_matches(is_space);
    let id = id_at(cell)?;
    let rest = &cell[id.len()..];
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

/// Returns the id at the start of a text, if it is a whole word.
fn whole_id(text: &str) -> Option<&str> {
    let id = id_at(text)?;
    let continues = text[id.len()..].chars().next().is_some_and(is_word);
    (!continues).then_some(id)
}

/// Returns the plan with another status of a subtask and no other change, or `None` if its status line
/// does not follow its heading.
pub fn with_status(plan: &str, id: &str, status: &str) -> Option<String> {
    let heading = format!("### {id}:");
    let mut changed = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(at) = find(plan, from, &heading) {
        from = at + heading.len();
        let Some(line) = line_after(plan, from) else {
            break;
        };
        if plan[line..].starts_with(STATUS)
            && let Some(word) = status_word(plan, line + STATUS.len())
        {
            changed.push_str(&plan[copied..word.start]);
            changed.push_str(status);
            copied = word.end;
            from = copied;
        }
    }
    changed.push_str(&plan[copied..]);
    (changed != plan).then_some(changed)
}

/// Returns the start of the next line.
fn line_after(plan: &str, from: usize) -> Option<usize> {
    let rest = plan.get(from..)?;
    let end = memchr::memchr2(b'\r', b'\n', rest.as_bytes())?;
    let is_crlf = rest[end..].starts_with("\r\n");
    Some(from + end + 1 + usize::from(is_crlf))
}

/// Returns the text of the first `## Goal` or `## Overview`, up to the next heading.
pub fn goal(plan: &str) -> Option<&str> {
    let headings = ["## Goal\n", "## Overview\n"];
    let starts = headings.iter().filter_map(|heading| {
        let at = find(plan, 0, heading)?;
        Some((at, at + heading.len()))
    });
    let (_, start) = starts.min()?;
    let end = find(plan, start, "\n##").unwrap_or(plan.len());
    Some(strip(&plan[start..end]))
}

/// Returns the first word after `## Current Phase`.
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
#[path = "task_plan_tests.rs"]
mod tests;
