//! The changes of a rollback: the latest checkpoint, the active focus and open errors.
//!
//! The caller saves the old session. Newer checkpoints stay in the history with all their fields.

use rekindle_text::Edit;

use super::edit::Item;
use super::lines::{Field, field, is_placeholder};
use super::{ACTIVE_FOCUS, ACTIVE_TASK, LATEST, Session};
use crate::checkpoint::{Checkpoints, Entry};

/// The field of a restored checkpoint.
pub(crate) const RESTORED: &str = "Restored";
/// The fields of a checkpoint.
const FIELDS: [&str; 7] = [
    "Phase",
    "Status",
    "Context",
    "Artifacts",
    "Dependencies",
    "Next",
    RESTORED,
];

/// The fields of the active task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActiveTask {
    pub(crate) id: String,
    pub(crate) description: String,
    pub(crate) progress: String,
}

impl Session {
    /// Returns the session with a checkpoint as its latest one, and a field with what it replaced.
    pub(crate) fn with_restored(&self, chosen: &Entry, replaced: &str) -> Self {
        let own = without_restored(&self.written(chosen));
        let block = format!("{own}\n  - **{RESTORED}**: {replaced}");
        let mut session = self.without_latest().with_latest_block(&block);
        // The history gets the previous latest checkpoints, newest on top.
        let blocks = Checkpoints::blocks(self).into_iter().rev();
        for entry in blocks.filter(|entry| entry.id.is_some() && !entry.is_template()) {
            let text = without_restored(&self.written(&entry));
            session = session.with_kept(&entry, &text);
        }
        session
    }

    /// Returns the session with nothing of a checkpoint under the headings of the latest.
    fn without_latest(&self) -> Self {
        let is_of_checkpoint = |at: &usize| {
            let line = self.line(*at);
            let is_field = field(line).is_some_and(|field| is_any_of(&field, &FIELDS));
            is_field || is_placeholder(line)
        };
        let blocks = Checkpoints::blocks(self);
        let blocks: Vec<Item> = blocks
            .iter()
            .map(|entry| (entry.line, entry.last))
            .collect();
        let inside = |at: usize| {
            blocks
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&at))
        };
        let left_over = self.places(LATEST).filter(is_of_checkpoint);
        let left_over = left_over.filter(|at| !inside(*at)).map(|at| (at, at));
        let items: Vec<Item> = blocks.iter().copied().chain(left_over).collect();
        self.without(&items)
    }

    fn with_latest_block(&self, block: &str) -> Self {
        match self.sections(LATEST).next() {
            Some(section) => self.under_heading(section.heading, block),
            None => self.with_latest_section(block),
        }
    }

    /// Returns the session with a checkpoint in its history, with the fields that it had as the latest.
    fn with_kept(&self, entry: &Entry, text: &str) -> Self {
        let now = Checkpoints::read(self);
        let Some(known) = now.history.iter().find(|known| known.id == entry.id) else {
            if now.is_plain {
                let last = now.history.iter().map(|entry| entry.last).max();
                return self.below(last.unwrap_or_default(), &lines(&format!("- {text}")));
            }
            return self.with_history_of_checkpoints(&now, &[text.to_owned()]);
        };
        if !known.fields.is_empty() || entry.fields.is_empty() {
            return self.clone();
        }
        let fields: Vec<String> = lines(text).split_off(1);
        self.below(known.last, &fields)
    }

    /// Returns the session in which every open error is resolved for this reason.
    pub(crate) fn with_errors_resolved(&self, reason: &str) -> Self {
        let said = format!("Resolved ({reason})");
        let blockers = self.blockers();
        let open = blockers.iter().filter(|blocker| !blocker.is_resolved());
        let edits = open.filter_map(|blocker| {
            if let Some(at) = blocker.status_at {
                let len = blocker.status.as_deref().map_or(0, str::len);
                let start = self.line(at).trim_end().len().checked_sub(len)?;
                return self.value_edit(at, start, len, &said);
            }
            let line = self.line(blocker.at);
            let indent = line.len() - line.trim_start().len();
            let status = format!("{:indent$}  - **Status**: {said}", "");
            let line = self.lines.get(blocker.at)?;
            Some(self.document.insert_below(*line, &[status]))
        });
        self.edited(&edits.collect::<Vec<Edit>>())
    }

    /// Returns the session with another active task, if it names one, and without other fields of
    /// the old task.
    pub(crate) fn with_active_task(&self, task: &ActiveTask) -> Self {
        let value = |key: &str| match key.to_lowercase().as_str() {
            "task id" => Some(task.id.as_str()),
            "description" => Some(task.description.as_str()),
            "progress" => Some(task.progress.as_str()),
            _ => None,
        };
        let is_task = |at: &usize| {
            field(self.line(*at)).is_some_and(|field| field.key.eq_ignore_ascii_case(ACTIVE_TASK))
        };
        let Some(parent) = self.places(ACTIVE_FOCUS).find(is_task) else {
            let has = |key: &&&str| self.focus(key).is_some();
            let keys = ["Task ID", "Progress"];
            let known = keys.iter().filter(has);
            return known.fold(self.clone(), |session, key| {
                session.with_focus(key, value(key).unwrap_or_default())
            });
        };
        let edit_of = |at: usize, field: &Field<'_>, value: &str| {
            self.value_edit(at, field.value_at, field.value.len(), value)
        };
        let mut edits = Vec::new();
        let own = field(self.line(parent)).filter(|field| !field.value.is_empty());
        edits.extend(own.and_then(|field| edit_of(parent, &field, &task.id)));
        let mut others: Vec<Item> = Vec::new();
        for at in parent + 1..=self.end_of_block(parent) {
            let known = field(self.line(at)).and_then(|field| Some((field, value(field.key)?)));
            match known {
                Some((field, value)) => edits.extend(edit_of(at, &field, value)),
                None => others.push((at, at)),
            }
        }
        // The edits above do not move lines.
        self.edited(&edits).without(&others)
    }
}

fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

/// Returns a checkpoint without the line that an earlier rollback added.
fn without_restored(text: &str) -> String {
    let is_own = |line: &&str| !field(line).is_some_and(|field| is_any_of(&field, &[RESTORED]));
    text.split('\n')
        .filter(is_own)
        .collect::<Vec<_>>()
        .join("\n")
}

fn is_any_of(field: &Field<'_>, keys: &[&str]) -> bool {
    keys.iter().any(|key| field.key.eq_ignore_ascii_case(key))
}
