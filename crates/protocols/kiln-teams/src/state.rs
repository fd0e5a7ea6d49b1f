//! `.kiln/STATE.md`: the orchestrator's state of the phase, and the ledger of retries.
//!
//! Reading follows kiln's own hook: the first line `- **Name:** value` counts. People edit the file
//! too, so it is read leniently and edited in spans: every other byte is kept. Start at [`StateFile`].

mod ledger;
mod page;
mod table;

use jiff::Timestamp;
use rekindle_text::markdown::line::{Field, bold_field, list_item};
use rekindle_text::{Edit, Span, parse_instant};

pub(super) use self::ledger::{LedgerRow, NewRow};
use self::page::Page;

/// The file, as lines and as its ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StateFile {
    page: Page,
    ledger: Vec<LedgerRow>,
}

impl StateFile {
    /// Reads any bytes; unknown content is kept.
    pub(super) fn parse(bytes: Vec<u8>) -> Self {
        let page = Page::parse(bytes);
        let ledger = ledger::rows(&page);
        Self { page, ledger }
    }

    /// Returns the bytes of the file.
    pub(super) fn bytes(&self) -> &[u8] {
        self.page.document.as_bytes()
    }

    /// Returns the value of the first field of a name; `None` if it is empty.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let (_, field) = self.find(name)?;
        Some(field.value).filter(|value| !value.is_empty())
    }

    /// Returns the number of the current phase.
    pub(super) fn phase(&self) -> Option<u32> {
        self.phase_parts()?.0.parse().ok()
    }

    /// Returns the title of the current phase.
    pub(super) fn phase_title(&self) -> Option<&str> {
        let (_, rest) = self.phase_parts()?;
        let title = rest.trim_start_matches([' ', '\t', '—', '–', '-', ':', '*']);
        Some(title).filter(|title| !title.is_empty())
    }

    /// Returns the current step in lower case.
    pub(super) fn step(&self) -> Option<String> {
        self.word("Current Step")
    }

    /// Returns the status of the current step in lower case.
    pub(super) fn step_status(&self) -> Option<String> {
        self.word("Step Status")
    }

    /// Returns whether a newer Kiln wrote the file: by its first heading, or by fields that only newer
    /// ones have if the heading is unknown.
    pub(super) fn is_newer(&self) -> bool {
        let mut headings = self
            .page
            .lines
            .iter()
            .filter_map(|line| self.page.heading(line));
        let title = headings.find(|(level, _)| *level == 1);
        match title
            .map(|(_, words)| words.trim().to_lowercase())
            .as_deref()
        {
            Some("project state") => return false,
            Some("kiln state" | "kiln v3 state" | "state") => return true,
            Some(_) | None => {}
        }
        let is_ours = self.field("Current Step").is_some()
            || self.field("Step Status").is_some()
            || self.page.find_heading("Phase Progress").is_some();
        let is_theirs = |line: &str| {
            let line = line.trim_start_matches(['-', '*', ' ']);
            let name = line.split(':').next().unwrap_or_default();
            let name = name.trim_matches(['*', ' ']).to_ascii_lowercase();
            matches!(name.as_str(), "active_slice" | "schema_version" | "stage")
                && line.contains(':')
        };
        let mut lines = self
            .page
            .lines
            .iter()
            .filter_map(|line| self.page.shown(line));
        !is_ours && lines.any(is_theirs)
    }

    /// Returns whether the phase, its step or its status is missing.
    pub(super) fn is_corrupt(&self) -> bool {
        let is_text = !self.bytes().contains(&0);
        !is_text || self.phase().is_none() || self.step().is_none() || self.step_status().is_none()
    }

    /// Returns whether a person paused the work.
    pub(super) fn is_paused(&self) -> bool {
        matches!(self.word("Paused").as_deref(), Some("true" | "yes"))
    }

    /// Returns why the work was paused.
    pub(super) fn pause_reason(&self) -> Option<&str> {
        self.field("Pause Reason")
    }

    /// Returns the name of the team whose task list holds the tasks.
    pub(super) fn team(&self) -> Option<&str> {
        let name = plain(self.field("Team Name")?);
        Some(name).filter(|name| !is_nothing(name))
    }

    /// Returns the tasks that are listed as active, from the line itself or the list below it.
    pub(super) fn active_tasks(&self) -> Vec<String> {
        let Some((at, field)) = self.find("Active Task IDs") else {
            return Vec::new();
        };
        let mut tasks: Vec<&str> = field.value.split(',').collect();
        for line in self.page.lines.iter().skip(at + 1) {
            if line.is_hidden || self.page.is_blank(line) {
                continue;
            }
            let text = self
                .page
                .shown(line)
                .filter(|text| text.starts_with([' ', '\t']));
            let item = text.and_then(|text| text.trim().strip_prefix(['-', '*', '+']));
            match item.filter(|item| item.starts_with([' ', '\t']) && !item.contains("**")) {
                Some(item) => tasks.push(item),
                None => break,
            }
        }
        let names = tasks
            .into_iter()
            .map(|task| plain(task).trim_matches(['[', ']', '"']));
        let names = names.map(str::trim).filter(|name| !is_nothing(name));
        names.map(str::to_owned).collect()
    }

    /// Returns when the orchestrator last did something.
    pub(super) fn last_activity(&self) -> Option<Timestamp> {
        parse_instant(plain(self.field("Last Activity")?))
    }

    /// Returns the ledger of retries in order, each task once.
    pub(super) fn ledger(&self) -> &[LedgerRow] {
        &self.ledger
    }

    /// Returns the file with another value in a field; `None` if there is no such field.
    ///
    /// Only the value is replaced. An empty one is set after a single blank; line ends in the new
    /// value become blanks.
    pub(super) fn with_field(&self, name: &str, value: &str) -> Option<Self> {
        let (at, field) = self.find(name)?;
        let value = value.replace(['\n', '\r'], " ");
        let value = value.trim();
        let line = self.page.lines.get(at)?;
        let start = line.shown.start + field.value_at;
        let (end, new) = if field.value.is_empty() {
            let is_commented = line.shown.end < line.line.content.end;
            let after = if is_commented { " " } else { "" };
            (line.shown.end, format!(" {value}{after}"))
        } else {
            (start + field.value.len(), value.to_owned())
        };
        let span = Span::new(start, end);
        Some(self.edited(&[Edit::replace(&self.page.document, span, new)]))
    }

    /// Returns the file with another value in a field, or unchanged if there is no such field.
    pub(super) fn with_known_field(&self, name: &str, value: &str) -> Self {
        self.with_field(name, value).unwrap_or_else(|| self.clone())
    }

    /// Returns the file with a row in the ledger, which is created if it is missing.
    ///
    /// A task has one row. An existing row keeps its unknown columns.
    pub(super) fn with_retry(&self, row: &NewRow<'_>) -> Self {
        self.edited(&ledger::upsert(&self.page, row))
    }

    /// Returns the file with another next action in a task's row of the ledger, if there is one.
    pub(super) fn with_next_action(&self, plan_task: &str, action: &str) -> Self {
        self.edited(&ledger::next_action(&self.page, plan_task, action))
    }

    /// Makes edits whose spans were just found, so they cannot be refused.
    fn edited(&self, edits: &[Edit]) -> Self {
        match self.page.document.apply(edits) {
            Ok(document) => Self::parse(document.into_bytes()),
            Err(_) => self.clone(),
        }
    }

    fn find(&self, name: &str) -> Option<(usize, Field<'_>)> {
        let lines = self.page.lines.iter().enumerate();
        lines
            .filter_map(|(at, line)| Some((at, field(self.page.shown(line)?)?)))
            .find(|(_, field)| field.key == name)
    }

    /// Returns a value that is one of a few words.
    fn word(&self, name: &str) -> Option<String> {
        let word = self
            .field(name)?
            .replace(['*', '`'], "")
            .trim()
            .to_lowercase();
        Some(word).filter(|word| !word.is_empty())
    }

    fn phase_parts(&self) -> Option<(&str, &str)> {
        let value = plain(self.field("Phase")?);
        let n_digits = value.bytes().take_while(u8::is_ascii_digit).count();
        value.split_at_checked(n_digits)
    }
}

/// Reads a line `- **Name:** value`.
fn field(line: &str) -> Option<Field<'_>> {
    let is_item = list_item(line).is_some_and(|item| item.starts_with("**"));
    bold_field(line).filter(|_| is_item)
}

/// Returns a value without bold and code marks.
fn plain(value: &str) -> &str {
    value.trim_matches(|c: char| c.is_whitespace() || "*`".contains(c))
}

fn is_nothing(value: &str) -> bool {
    let is_named = ["none", "null", "n/a"]
        .iter()
        .any(|name| value.eq_ignore_ascii_case(name));
    is_named || value.trim_matches(['-', '–', '—']).is_empty()
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
