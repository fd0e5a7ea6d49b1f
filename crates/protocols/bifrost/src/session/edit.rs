//! Changes of a session: each makes the edits that are meant and leaves every other byte alone.

use rekindle_text::{Edit, Line, Span};

use super::lines::{field, list_mark};
use super::{ACTIVE_FOCUS, HistoryEntry, SESSION_HISTORY, Session};
use crate::checkpoint::Checkpoints;
use crate::phase::Phase;

/// The most entries of the session history.
pub(crate) const MOST_ENTRIES: usize = 5;
/// The fields that an error adds to the active focus.
const ERROR_FIELDS: [&str; 3] = ["Error Type", "Recovery Strategy", "Recovery Action"];
const LAST_UPDATED: &str = "Last Updated";

/// An item of a list: the indexes of its first and last line.
pub(super) type Item = (usize, usize);

impl Session {
    /// Returns the session of a resumed feature, and the entries that leave its history.
    ///
    /// `said` has the new history entries without their numbers, newest first.
    pub(crate) fn resumed(&self, day: &str, said: &[String]) -> (Self, Vec<String>) {
        let session = self.with_focus("Status", "Resuming").without_error();
        let (session, cut) = session.with_history(said);
        (session.updated(day), cut)
    }

    /// Returns the session with another value in a field of the active focus.
    pub(crate) fn with_focus(&self, key: &str, value: &str) -> Self {
        if let Some((at, found)) = self.focus_field(key) {
            return self.with_value(at, found.value_at, found.value.len(), value);
        }
        let line = format!("- **{key}**: {value}");
        let fields = self
            .places(ACTIVE_FOCUS)
            .filter(|at| field(self.line(*at)).is_some_and(|field| field.indent == 0));
        if let Some(at) = fields.last() {
            return self.below(self.end_of_block(at), &[line]);
        }
        if let Some(section) = self.sections(ACTIVE_FOCUS).next() {
            return self.under_heading(section.heading, &line);
        }
        self.at_end(&["## 🎯 Active Focus".to_owned(), String::new(), line])
    }

    /// Returns the session with the phase of its checkpoint, if the active focus names another one.
    pub(crate) fn in_phase(&self, phase: Phase) -> Self {
        let said = self.focus("Phase").and_then(Phase::read);
        if said.is_none_or(|said| said == phase) {
            self.clone()
        } else {
            self.with_focus("Phase", phase.as_str())
        }
    }

    /// Returns the session with another time in the line of its latest checkpoint.
    pub(crate) fn with_time_of_latest(&self, when: &str) -> Self {
        let latest = Checkpoints::read(self).latest;
        let session = latest.and_then(|latest| {
            let (before, inside) = self.line(latest.line).split_once('(')?;
            let start = before.len() + 1 + inside.find(&latest.when)?;
            Some(self.with_value(latest.line, start, latest.when.len(), when))
        });
        session.unwrap_or_else(|| self.clone())
    }

    /// Returns the session without the fields of an error.
    fn without_error(&self) -> Self {
        let is_of_error = |at: &usize| {
            field(self.line(*at)).is_some_and(|field| {
                let mut keys = ERROR_FIELDS.iter();
                keys.any(|key| field.key.eq_ignore_ascii_case(key))
            })
        };
        let lines = self.places(ACTIVE_FOCUS).filter(is_of_error);
        let items: Vec<Item> = lines.map(|at| (at, self.end_of_block(at))).collect();
        self.without(&items)
    }

    /// Returns the session with new history entries on top, five in total, and the removed ones.
    fn with_history(&self, said: &[String]) -> (Self, Vec<String>) {
        let entries = self.history();
        if entries.is_empty() {
            let lines: Vec<String> = (1..)
                .zip(said)
                .map(|(n, text)| format!("{n}. {text}"))
                .collect();
            let Some(section) = self.sections(SESSION_HISTORY).next() else {
                let heading = ["### Session History (Last 5)".to_owned(), String::new()];
                let lines: Vec<String> = heading.into_iter().chain(lines).collect();
                return (self.at_end(&lines), Vec::new());
            };
            let session = self.under_heading(section.heading, &lines.join("\n"));
            return (session, Vec::new());
        }
        let n_kept = MOST_ENTRIES.saturating_sub(said.len()).min(entries.len());
        let (kept, cut) = entries.split_at(n_kept);
        let texts = cut.iter().map(|entry| self.entry_text(entry)).collect();
        let items = |entries: &[HistoryEntry], by: usize| -> Vec<Item> {
            let places = entries.iter();
            places
                .map(|entry| (entry.at + by, entry.last + by))
                .collect()
        };
        let session = self.edited(&self.on_top(&items(kept, 0), said));
        // Each new entry moves the following lines by one.
        let session = session.without(&items(cut, said.len()));
        (session, texts)
    }

    /// Returns the session with the day of its last change.
    pub(crate) fn updated(&self, day: &str) -> Self {
        let mut places = (0..self.lines.len()).filter(|at| self.is_prose.get(*at) == Some(&true));
        let found = places.find_map(|at| {
            let found = field(self.line(at))?;
            let is_it = found.key.eq_ignore_ascii_case(LAST_UPDATED);
            is_it.then_some((at, found.value_at, found.value.len()))
        });
        if let Some((at, start, len)) = found {
            return self.with_value(at, start, len, day);
        }
        let line = format!("**{LAST_UPDATED}**: {day}");
        match self.sections.first() {
            Some(title) => self.under_heading(title.heading, &line),
            None => self.at_end(&[line]),
        }
    }

    /// Returns the edits that add items on top of a list and renumber it.
    pub(super) fn on_top(&self, items: &[Item], new: &[String]) -> Vec<Edit> {
        let eol = self.document.eol();
        let numbered = (1..).zip(new);
        let top: Vec<String> = numbered
            .map(|(number, text)| {
                // An entry with fields is followed by a blank line.
                let gap = if text.contains('\n') { eol } else { "" };
                format!("{number}. {}{eol}{gap}", text.replace('\n', eol))
            })
            .collect();
        let mut edits = Vec::new();
        for (place, (at, _)) in items.iter().enumerate() {
            let Some(line) = self.lines.get(*at) else {
                continue;
            };
            let text = self.line(*at);
            let rest = text.trim_start();
            let (blanks, _) = text.split_at(text.len() - rest.len());
            let mark = format!("{}. ", new.len() + place + 1);
            let mark = if place == 0 {
                // New ones are indented as the list is.
                let above = top.iter().map(|new| format!("{new}{blanks}"));
                above.collect::<String>() + &mark
            } else {
                mark
            };
            let start = line.content.start + blanks.len();
            let span = Span::new(start, start + list_mark(rest));
            edits.push(Edit::replace(&self.document, span, mark));
        }
        edits
    }

    /// Returns the session without these lines.
    pub(super) fn without(&self, items: &[Item]) -> Self {
        let lines = items.iter().filter_map(|(at, last)| {
            let (first, last) = (self.lines.get(*at)?, self.lines.get(*last)?);
            Some(Span::new(first.full.start, last.full.end))
        });
        let edits: Vec<Edit> = lines
            .map(|span| Edit::replace(&self.document, span, ""))
            .collect();
        self.edited(&edits)
    }

    /// Returns the index of the last line that is indented further than this one.
    pub(super) fn end_of_block(&self, at: usize) -> usize {
        let indent = |at: usize| {
            let line = self.line(at);
            let rest = line.trim_start();
            (!rest.is_empty()).then_some(line.len() - rest.len())
        };
        let own = indent(at);
        let below = (at + 1..self.lines.len()).take_while(|next| indent(*next) > own);
        below.last().unwrap_or(at)
    }

    /// Replaces the value of a field.
    pub(super) fn with_value(&self, at: usize, start: usize, len: usize, value: &str) -> Self {
        let edit = self.value_edit(at, start, len, value);
        edit.map_or_else(|| self.clone(), |edit| self.edited(&[edit]))
    }

    /// Returns the edit that replaces a part of a line, or puts a value behind the colon of a field.
    pub(super) fn value_edit(
        &self,
        at: usize,
        start: usize,
        len: usize,
        value: &str,
    ) -> Option<Edit> {
        let start = self.lines.get(at)?.content.start + start;
        let span = Span::new(start, start + len);
        let value = if len == 0 {
            format!(" {value}")
        } else {
            value.to_owned()
        };
        Some(Edit::replace(&self.document, span, value))
    }

    /// Puts a line below a heading, with a blank line on both sides.
    pub(super) fn under_heading(&self, heading: usize, line: &str) -> Self {
        let is_blank = |at: usize| self.lines.get(at).is_none() || self.line(at).trim().is_empty();
        let mut lines = Vec::new();
        let above = if is_blank(heading + 1) && self.lines.get(heading + 1).is_some() {
            heading + 1
        } else {
            lines.push(String::new());
            heading
        };
        lines.extend(line.split('\n').map(str::to_owned));
        if !is_blank(above + 1) {
            lines.push(String::new());
        }
        self.below(above, &lines)
    }

    /// Puts lines at the end of the file, behind a blank line.
    pub(super) fn at_end(&self, lines: &[String]) -> Self {
        let Some(last) = self.lines.len().checked_sub(1) else {
            let eol = self.document.eol();
            let text = lines.join(eol) + eol;
            return self.edited(&[Edit::insert(self.bytes().len(), text)]);
        };
        let gap = (!self.line(last).trim().is_empty()).then(String::new);
        let lines: Vec<String> = gap.into_iter().chain(lines.iter().cloned()).collect();
        self.below(last, &lines)
    }

    /// Puts whole lines above a line.
    pub(super) fn above(&self, at: usize, text: &str) -> Self {
        let text = text.replace('\n', self.document.eol());
        match self.lines.get(at) {
            Some(line) => self.edited(&[Edit::insert(line.content.start, text)]),
            None => self.clone(),
        }
    }

    pub(super) fn below(&self, at: usize, lines: &[String]) -> Self {
        let line: Option<&Line> = self.lines.get(at);
        match line {
            Some(line) => self.edited(&[self.document.insert_below(*line, lines)]),
            None => self.clone(),
        }
    }

    /// Makes edits; those of this module fit by how they are made, and others would change nothing.
    pub(super) fn edited(&self, edits: &[Edit]) -> Self {
        let document = self.document.apply(edits).ok();
        let session = document.and_then(|document| Self::parse(document.into_bytes()));
        session.unwrap_or_else(|| self.clone())
    }
}
