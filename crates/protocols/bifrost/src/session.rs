//! session.md, read leniently and edited in place.
//!
//! A section is found by the words of its heading, on any level, and may occur twice. Start at
//! [`Session::parse`].

mod blockers;
mod edit;
mod lines;
mod record;
mod restore;

use std::collections::BTreeMap;

use rekindle_text::{Document, Line, headings, prose};

pub(super) use self::lines::{Field, field, number_mark};
use self::lines::{heading_words, history_line, is_placeholder};
pub(super) use self::record::NewCheckpoint;
pub(super) use self::restore::{ActiveTask, RESTORED};

/// The file: its bytes and its structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Session {
    document: Document,
    text: String,
    lines: Vec<Line>,
    /// Whether a line is text: neither code nor a comment.
    is_prose: Vec<bool>,
    sections: Vec<Section>,
    /// The indexes of sections by the lowercase words of their headings.
    named: BTreeMap<String, Vec<usize>>,
}

/// The lines from a heading to the next, of any level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// The number of its signs.
    level: u8,
    /// The index of the heading's line.
    heading: usize,
    /// The index after the last line.
    end: usize,
}

/// One entry of the session history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HistoryEntry {
    /// The text, without its number.
    pub(super) text: String,
    /// The index of its line.
    at: usize,
    /// The index of its last line.
    last: usize,
}

const ACTIVE_FOCUS: &str = "active focus";
/// The field of the active focus that has the fields of a task below it.
const ACTIVE_TASK: &str = "active task";
/// The fields of the active focus about the feature.
const OF_FEATURE: [&str; 3] = ["feature", "phase", "status"];
const SESSION_HISTORY: &str = "session history";
/// How history entries start that are not about work.
const UPKEEP: [&str; 3] = ["Resume:", CONTEXT, CHECKPOINT];
/// How the entry of a compaction starts.
pub(super) const CONTEXT: &str = "Context: Compacted";
/// How the entry of an updated timestamp starts.
pub(super) const CHECKPOINT: &str = "Checkpoint: Timestamp";
/// The latest checkpoint with all that is known of it.
pub(super) const LATEST: &str = "latest checkpoint";
/// A line for each checkpoint, newest first.
pub(super) const HISTORY: &str = "checkpoint history";
/// The section of both, or of a plain list, oldest first.
pub(super) const CHECKPOINTS: &str = "recovery checkpoints";

impl Session {
    /// Reads a text; `None` if it is not UTF-8.
    pub(super) fn parse(bytes: Vec<u8>) -> Option<Self> {
        let text = String::from_utf8(bytes.clone()).ok()?;
        // A file that was cut off by a crash of the system often ends in these.
        if text.contains('\0') {
            return None;
        }
        let document = Document::new(bytes);
        let lines: Vec<Line> = document.lines().collect();
        let mut is_prose = vec![false; lines.len()];
        for line in prose(&text) {
            if let Some(is_prose) = is_prose.get_mut(line.number - 1) {
                *is_prose = true;
            }
        }
        let headings = headings(&text);
        let ends = headings.iter().skip(1).map(|next| next.line - 1);
        let sections: Vec<Section> = headings
            .iter()
            .zip(ends.chain([lines.len()]))
            .map(|(heading, end)| Section {
                level: heading.level,
                heading: heading.line - 1,
                end,
            })
            .collect();
        let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, heading) in headings.iter().enumerate() {
            let words = heading_words(text.get(heading.text.range()).unwrap_or_default());
            named.entry(words).or_default().push(place);
        }
        Some(Self {
            document,
            text,
            lines,
            is_prose,
            sections,
            named,
        })
    }

    /// Returns the bytes of the file.
    pub(super) fn bytes(&self) -> &[u8] {
        self.document.as_bytes()
    }

    /// Returns a line without its end.
    pub(super) fn line(&self, at: usize) -> &str {
        let line = self.lines.get(at);
        line.and_then(|line| self.text.get(line.content.range()))
            .unwrap_or_default()
    }

    /// Returns the indexes of the text lines in the sections with a name.
    pub(super) fn places(&self, name: &str) -> impl Iterator<Item = usize> {
        self.places_by_section(name).flatten()
    }

    /// Returns the same, each section of the name by itself.
    pub(super) fn places_by_section(
        &self,
        name: &str,
    ) -> impl Iterator<Item = impl Iterator<Item = usize>> {
        self.sections(name).map(|section| self.text_of(section))
    }

    /// Returns the indexes of all lines in code or comments.
    pub(super) fn hidden(&self) -> impl Iterator<Item = usize> {
        let all = self.is_prose.iter().enumerate();
        all.filter(|(_, is_prose)| !**is_prose).map(|(at, _)| at)
    }

    fn text_of(&self, section: &Section) -> impl Iterator<Item = usize> + use<'_> {
        (section.heading + 1..section.end)
            .filter(|at| self.is_prose.get(*at).is_some_and(|is_prose| *is_prose))
    }

    fn sections(&self, name: &str) -> impl Iterator<Item = &Section> {
        let places = self.named.get(name).into_iter().flatten();
        places.filter_map(|place| self.sections.get(*place))
    }

    /// Returns the value of a field of the active focus.
    pub(super) fn focus(&self, key: &str) -> Option<&str> {
        let (_, field) = self.focus_field(key)?;
        Some(field.value).filter(|value| !value.is_empty())
    }

    /// Finds the field with the least indent; fields below the active task belong to the task.
    fn focus_field(&self, key: &str) -> Option<(usize, Field<'_>)> {
        let is_features = OF_FEATURE.iter().any(|own| own.eq_ignore_ascii_case(key));
        let mut task_indent = usize::MAX;
        let mut found: Option<(usize, Field<'_>)> = None;
        for at in self.places(ACTIVE_FOCUS) {
            let Some(field) = field(self.line(at)) else {
                continue;
            };
            if field.key.eq_ignore_ascii_case(ACTIVE_TASK) {
                task_indent = field.indent;
            } else if field.indent <= task_indent {
                task_indent = usize::MAX;
            }
            let is_other = is_features && field.indent > task_indent;
            let is_nearer = found.is_none_or(|(_, known)| field.indent < known.indent);
            if field.key.eq_ignore_ascii_case(key) && !is_other && is_nearer {
                found = Some((at, field));
            }
        }
        found
    }

    /// Returns the lines of a section without placeholders.
    pub(super) fn points(&self, name: &str) -> Vec<String> {
        self.places(name)
            .map(|at| without_bullet(self.line(at)).to_owned())
            .filter(|text| !text.is_empty() && !is_placeholder(text))
            .collect()
    }

    /// Returns what the session has of decisions, those of earlier phases first.
    pub(super) fn decisions(&self) -> Vec<String> {
        let sections = [
            "from spec",
            "from plan",
            "from tasks",
            "architectural decisions",
            "design choices",
        ];
        sections.iter().flat_map(|name| self.points(name)).collect()
    }

    /// Returns the entries of the session history, newest first.
    pub(super) fn history(&self) -> Vec<HistoryEntry> {
        let mut entries: Vec<HistoryEntry> = Vec::new();
        let mut is_open = false;
        // From here on a line is indented so far that it belongs to the entry above it.
        let mut inside = usize::MAX;
        for at in self.places(SESSION_HISTORY) {
            let line = self.line(at);
            let rest = line.trim_start();
            let indent = line.len() - rest.len();
            let entry = history_line(rest).filter(|_| indent < inside);
            if let Some((n_mark, text)) = entry {
                let text = text.trim().to_owned();
                entries.push(HistoryEntry { text, at, last: at });
                is_open = true;
                inside = indent + n_mark.max(2);
            } else if indent == 0 || rest.is_empty() {
                is_open = false;
                // Lines indented below a user's own line belong to it.
                if !rest.is_empty() && !entries.is_empty() {
                    inside = 1;
                }
            } else if let Some(entry) = entries.last_mut().filter(|_| is_open) {
                entry.last = at;
            }
        }
        entries
    }
}

impl HistoryEntry {
    /// Returns the day it is of, as it is written.
    pub(super) fn day(&self) -> Option<&str> {
        let inside = self.text.strip_prefix("**")?;
        inside.get(..10)
    }

    /// Returns whether it is about a resume.
    pub(super) fn is_resume(&self) -> bool {
        self.said().starts_with("Resume:")
    }

    /// Returns whether it is about work.
    pub(super) fn is_work(&self) -> bool {
        let said = self.said();
        !UPKEEP.iter().any(|kind| said.starts_with(kind))
    }

    /// Returns the text without its day.
    pub(super) fn said(&self) -> &str {
        let behind = self.text.strip_prefix("**").and_then(|rest| {
            let (_, rest) = rest.split_once("**")?;
            Some(rest.trim_start_matches([' ', '-', '–', '—', ':']))
        });
        behind.unwrap_or(&self.text)
    }
}

fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    let line = line
        .strip_prefix("- ")
        .or(line.strip_prefix("* "))
        .unwrap_or(line);
    line.trim()
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
