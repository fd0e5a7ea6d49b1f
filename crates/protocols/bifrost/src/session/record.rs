//! New checkpoints in a session, and old ones taken out of it.

use super::edit::Item;
use super::lines::{is_placeholder, list_mark};
use super::{CHECKPOINTS, HISTORY, HistoryEntry, LATEST, Session};
use crate::checkpoint::{Checkpoints, Entry};
use crate::phase::Phase;

/// A checkpoint that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewCheckpoint {
    pub(crate) id: String,
    /// The minute, in the user's own time.
    pub(crate) when: String,
    pub(crate) description: String,
    pub(crate) phase: Phase,
    pub(crate) status: &'static str,
    pub(crate) context: u32,
    pub(crate) artifacts: String,
    pub(crate) dependencies: String,
    pub(crate) next: String,
}

impl NewCheckpoint {
    /// Returns the line of a list.
    pub(crate) fn line(&self) -> String {
        format!("**{}** ({}): {}", self.id, self.when, self.description)
    }

    /// Returns the line with the fields below it.
    fn block(&self) -> String {
        format!(
            "{}\n  - **Phase**: {}\n  - **Status**: {}\n  - **Context**: ~{}% utilization\n  \
             - **Artifacts**: {}\n  - **Dependencies**: {}\n  - **Next**: {}",
            self.line(),
            self.phase.as_str(),
            self.status,
            self.context,
            self.artifacts,
            self.dependencies,
            self.next
        )
    }
}

impl Session {
    /// Returns the session with a new latest checkpoint; the previous one stays in the history.
    ///
    /// The form of the session is kept: a plain list, a history with fields or one without.
    pub(crate) fn with_checkpoint(&self, new: &NewCheckpoint) -> Self {
        let before = Checkpoints::read(self);
        if before.is_plain {
            let last = before.history.iter().map(|entry| entry.last).max();
            // Without fields its phase would be inferred from its description.
            let block = format!("- {}", new.block());
            let lines: Vec<String> = block.split('\n').map(str::to_owned).collect();
            let session = self.below(last.unwrap_or_default(), &lines);
            // A rollback gave the list a latest checkpoint of its own.
            return if before.has_block() {
                session.with_latest(new)
            } else {
                session
            };
        }
        let with_fields = before.history.iter().any(|entry| !entry.fields.is_empty());
        let mut on_top = vec![if with_fields { new.block() } else { new.line() }];
        on_top.extend(self.lost(&before, with_fields));
        let session = self.with_history_of_checkpoints(&before, &on_top);
        session.with_latest(new)
    }

    /// Returns the session without these checkpoints of its history, the others numbered anew.
    pub(crate) fn without_checkpoints(&self, entries: &[&Entry]) -> Self {
        let items: Vec<Item> = entries.iter().map(|entry| self.item(entry)).collect();
        let session = self.without(&items);
        let left = Checkpoints::read(&session);
        // A plain list has no numbers.
        if left.is_plain {
            return session;
        }
        let items: Vec<Item> = left
            .history
            .iter()
            .map(|entry| session.item(entry))
            .collect();
        session.edited(&session.on_top(&items, &[]))
    }

    /// Returns the session with the newest history entries about work, and the removed ones.
    pub(crate) fn with_short_history(&self, most: usize) -> (Self, Vec<String>) {
        let history = self.history();
        let told = history.iter().filter(|entry| entry.is_work());
        let kept: Vec<usize> = told.take(most).map(|entry| entry.at).collect();
        let moved = history.iter().filter(|entry| !kept.contains(&entry.at));
        let moved: Vec<&HistoryEntry> = moved.collect();
        let texts = moved.iter().map(|entry| self.entry_text(entry)).collect();
        let items: Vec<Item> = moved.iter().map(|entry| (entry.at, entry.last)).collect();
        let session = self.without(&items);
        let left = session.history();
        let items: Vec<Item> = left.iter().map(|entry| (entry.at, entry.last)).collect();
        (session.edited(&session.on_top(&items, &[])), texts)
    }

    /// Returns an entry of the session history with the lines that belong to it.
    pub(super) fn entry_text(&self, entry: &HistoryEntry) -> String {
        let more = (entry.at + 1..=entry.last).map(|at| self.line(at).to_owned());
        let lines: Vec<String> = [entry.text.clone()].into_iter().chain(more).collect();
        lines.join("\n")
    }

    /// Returns a checkpoint as it is written, with its fields but without its number.
    pub(crate) fn written(&self, entry: &Entry) -> String {
        let lines: Vec<&str> = (entry.line..=entry.last).map(|at| self.line(at)).collect();
        let text = lines.join("\n");
        let text = text.trim();
        text.get(list_mark(text)..).unwrap_or(text).to_owned()
    }

    /// Returns the previous latest checkpoint, if the history does not have it.
    fn lost(&self, before: &Checkpoints, with_fields: bool) -> Option<String> {
        let latest = before.latest.as_ref()?;
        let is_listed = |entry: &Entry| entry.id.is_some() && entry.id == latest.id;
        if before.history.iter().any(is_listed) {
            return None;
        }
        let written = self.written(latest);
        let first = written.lines().next().map(str::to_owned);
        if with_fields { Some(written) } else { first }
    }

    pub(super) fn with_history_of_checkpoints(
        &self,
        before: &Checkpoints,
        on_top: &[String],
    ) -> Self {
        let items: Vec<Item> = before
            .history
            .iter()
            .map(|entry| self.item(entry))
            .collect();
        if !items.is_empty() {
            return self.edited(&self.on_top(&items, on_top));
        }
        let numbered = (1..).zip(on_top);
        let lines: Vec<String> = numbered.map(|(n, text)| format!("{n}. {text}")).collect();
        let lines = lines.join("\n");
        if let Some(section) = self.sections(HISTORY).next() {
            return self.under_heading(section.heading, &lines);
        }
        let heading = "#### Checkpoint History".to_owned();
        let section = self.sections(LATEST).next();
        let section = section.or_else(|| self.sections(CHECKPOINTS).next());
        let mut all = vec![heading, String::new()];
        all.extend(lines.split('\n').map(str::to_owned));
        let Some(section) = section else {
            let title = "### Recovery Checkpoints".to_owned();
            let all: Vec<String> = [title, String::new()].into_iter().chain(all).collect();
            return self.at_end(&all);
        };
        let says = |at: &usize| !self.line(*at).trim().is_empty();
        let last = (section.heading..section.end).rfind(says);
        let all: Vec<String> = [String::new()].into_iter().chain(all).collect();
        self.below(last.unwrap_or(section.heading), &all)
    }

    /// Replaces the block of the latest checkpoint, or adds it under its heading.
    fn with_latest(&self, new: &NewCheckpoint) -> Self {
        let Some(section) = self.sections(LATEST).next() else {
            return self.with_latest_section(&new.block());
        };
        let heading = section.heading;
        if let Some(latest) = Checkpoints::read(self).latest {
            let above = latest.line.saturating_sub(1);
            let lines: Vec<String> = new.block().split('\n').map(str::to_owned).collect();
            return self.without(&[self.item(&latest)]).below(above, &lines);
        }
        let says_nothing = |at: &usize| is_placeholder(self.line(*at));
        let empty = self.places(LATEST).filter(says_nothing);
        let items: Vec<Item> = empty.map(|at| (at, at)).collect();
        self.without(&items).under_heading(heading, &new.block())
    }

    /// Returns the session with a section for the latest checkpoint above the history or below a
    /// plain list.
    pub(super) fn with_latest_section(&self, block: &str) -> Self {
        const HEADING: &str = "#### Latest Checkpoint";
        if let Some(history) = self.sections(HISTORY).next() {
            return self.above(history.heading, &format!("{HEADING}\n\n{block}\n\n"));
        }
        let Some(section) = self.sections(CHECKPOINTS).last() else {
            return self.clone();
        };
        let says = |at: &usize| !self.line(*at).trim().is_empty();
        let last = (section.heading..section.end).rfind(says);
        let mut lines = vec![String::new(), HEADING.to_owned(), String::new()];
        lines.extend(block.split('\n').map(str::to_owned));
        self.below(last.unwrap_or(section.heading), &lines)
    }

    fn item(&self, entry: &Entry) -> Item {
        (entry.line, entry.last)
    }
}
