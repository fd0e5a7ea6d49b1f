//! Checkpoints: reading them, and choosing the one to resume from.
//!
//! Only the latest has fields; the phase and status of the others are inferred from their one line.
//! Ids have gaps and times are not always descending, so the order of the file counts.

mod lines;

use jiff::civil::DateTime;

use self::lines::{entries, starts_like_one, without_mark};
use super::next;
use super::phase::Phase;
use super::session::{self, Session};
use super::table::{CHOICES, Chosen, FAULTS, Fault, Known, Offer};

/// A checkpoint of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// `CP-007`, if readable.
    pub(super) id: Option<String>,
    /// When it was made, in the user's own time.
    pub(super) at: Option<DateTime>,
    /// The same as it is written.
    pub(super) when: String,
    pub(super) description: String,
    pub(super) fields: Fields,
    /// Whether a rollback made it the latest one.
    pub(super) is_restored: bool,
    /// The phase of the field or the description, else of the next older checkpoint.
    pub(super) phase: Option<Phase>,
    /// The index of its line in the session.
    pub(super) line: usize,
    /// The index of its last line.
    pub(super) last: usize,
}

/// The lines below a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) phase: Option<String>,
    pub(super) status: Option<String>,
    pub(super) context: Option<String>,
    /// The value and the items of a list below it.
    pub(super) artifacts: Vec<String>,
    pub(super) dependencies: Option<String>,
    pub(super) next: Option<String>,
}

/// All checkpoints of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Checkpoints {
    /// The one under the heading of the latest, else the newest of a plain list.
    pub(super) latest: Option<Entry>,
    /// Other entries under the same heading, if the latest was cut off.
    pub(super) beneath: Vec<Entry>,
    /// The history in the order of the file, newest first; or a plain list, turned around.
    pub(super) history: Vec<Entry>,
    /// Whether they are a plain list, oldest first, without a heading for the history.
    pub(super) is_plain: bool,
}

/// Which checkpoint is resumed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// The latest, or one that was named.
    Found(Box<Entry>),
    /// The session has no checkpoint.
    Nothing,
    /// The checkpoint cannot be read, and why.
    Corrupt(&'static str),
    /// None has the id that was asked for.
    Unknown,
}

impl Fields {
    /// Returns whether there are no fields, so that everything is inferred.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the fields that a checkpoint must have and this one has not.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let next = self.next.as_deref();
        let all = [
            ("Phase", self.phase.is_none()),
            ("Status", self.status.is_none()),
            ("Artifacts", self.artifacts.is_empty()),
            ("Dependencies", self.dependencies.is_none()),
            ("Next", next.is_none()),
            ("the end of Next", next.is_some_and(next::is_cut_off)),
        ];
        let missing = all.into_iter().filter(|(_, is_missing)| *is_missing);
        missing.map(|(name, _)| name).collect()
    }
}

impl Entry {
    /// Returns a checkpoint that nobody has written yet.
    pub(super) fn unwritten(phase: Option<Phase>) -> Self {
        Self {
            id: None,
            at: None,
            when: String::new(),
            description: String::new(),
            fields: Fields::default(),
            is_restored: false,
            phase,
            line: 0,
            last: 0,
        }
    }

    /// Returns the id as it is shown.
    pub(super) fn name(&self) -> &str {
        self.id.as_deref().unwrap_or("CP-???")
    }

    /// Returns whether one can go back to it.
    pub(super) fn is_valid(&self) -> bool {
        self.fault().is_none()
    }

    /// Returns why it cannot be used.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let fault = FAULTS.decide(Known {
            has_id: self.id.is_some(),
            is_dated: self.at.is_some(),
            has_phase: self.phase.is_some(),
        });
        (*fault != Fault::None).then_some(fault.as_str())
    }

    /// Returns whether its work is complete; in the implement phase that is a task.
    pub(super) fn is_complete(&self) -> bool {
        match &self.fields.status {
            Some(status) => has_word(status, "complete"),
            None => is_described_as_complete(&self.description),
        }
    }

    /// Returns whether it is a placeholder of the template.
    pub(super) fn is_template(&self) -> bool {
        self.when.contains('{')
    }

    /// Returns whether its line was cut off.
    fn is_torn(&self) -> bool {
        let is_whole = self.id.is_some() && self.at.is_some();
        !is_whole && !self.is_template()
    }

    /// Returns the recorded context utilization in whole percent.
    pub(super) fn context(&self) -> Option<u32> {
        let (before, _) = self.fields.context.as_deref()?.split_once('%')?;
        let before = before.trim_end();
        let is_of_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',');
        let n_number = before.bytes().rev().take_while(is_of_number).count();
        let number = before.get(before.len() - n_number..)?;
        number.split(['.', ',']).next()?.parse().ok()
    }

    /// Returns its first line.
    pub(super) fn shown(&self) -> String {
        format!("{} ({}): {}", self.name(), self.when, self.description)
    }
}

impl Checkpoints {
    /// Reads the checkpoints of a session.
    pub(super) fn read(session: &Session) -> Self {
        let mut history = entries(session, session.places(session::HISTORY));
        let under_latest = session.places_by_section(session::LATEST);
        let (latest, mut beneath) = latest_of(
            under_latest
                .map(|places| entries(session, places))
                .collect(),
        );
        let listed = entries(session, session.places(session::CHECKPOINTS));
        let is_plain = history.is_empty() && !listed.is_empty();
        if is_plain {
            history = listed;
            history.reverse();
        }
        // Starts with the oldest, so that each entry can inherit the phase of the one before it.
        let mut older = None;
        for entry in history.iter_mut().rev() {
            entry.phase = entry.phase.or(older);
            older = entry.phase;
        }
        // After a rollback the latest is not the newest, so its own line in the history comes
        // first.
        let inherit = |entry: &mut Entry| {
            let is_own = |older: &&Entry| older.id.is_some() && older.id == entry.id;
            let own = history.iter().find(is_own);
            let before = own.or_else(|| history.iter().find(|older| older.id != entry.id));
            entry.phase = entry.phase.or_else(|| before?.phase);
        };
        beneath.iter_mut().for_each(inherit);
        let latest = match latest {
            Some(mut latest) => {
                inherit(&mut latest);
                Some(latest)
            }
            None if is_plain => newest(&history),
            None => None,
        };
        Self {
            latest,
            beneath,
            history,
            is_plain,
        }
    }

    /// Finds the checkpoint that is meant.
    pub(super) fn choose(&self, wanted: Option<&str>) -> Choice {
        let all = || self.under_latest().chain(&self.history);
        let found = match wanted {
            Some(wanted) => {
                let wanted = canonical(wanted);
                let is_it = |entry: &&Entry| entry.id.as_ref() == Some(&wanted);
                // The history may have a readable line for a damaged block.
                let mut readable = all().filter(is_it).filter(|entry| entry.is_valid());
                readable.next().or_else(|| all().find(is_it))
            }
            None => self.latest.as_ref(),
        };
        let chosen = CHOICES.decide(Offer {
            has_any: all().next().is_some(),
            is_named: wanted.is_some(),
            is_found: found.is_some(),
            is_fit: found.is_some_and(Entry::is_valid),
        });
        match (chosen, found) {
            (Chosen::Found, Some(entry)) => Choice::Found(Box::new(entry.clone())),
            (Chosen::Unfit, Some(entry)) => Choice::Corrupt(entry.fault().unwrap_or_default()),
            (Chosen::Nothing, _) => Choice::Nothing,
            (Chosen::Unknown, _) => Choice::Unknown,
            (Chosen::Found | Chosen::Unfit, None) | (Chosen::Empty, _) => {
                Choice::Corrupt("its section is empty")
            }
        }
    }

    /// Returns the entries under the heading of the latest.
    fn under_latest(&self) -> impl Iterator<Item = &Entry> {
        self.latest.iter().chain(&self.beneath)
    }

    /// Returns every checkpoint once, newest first.
    pub(super) fn all(&self) -> Vec<&Entry> {
        // A readable block says more than the line in the history.
        let block_of = |entry: &Entry| {
            let mut blocks = self.under_latest();
            blocks.find(|block| block.is_valid() && block.id == entry.id)
        };
        let is_listed = |block: &&Entry| {
            let mut history = self.history.iter();
            history.any(|entry| {
                let is_same = block.is_valid() && entry.id == block.id;
                is_same || entry.line == block.line
            })
        };
        let unlisted = self.under_latest().filter(|block| !is_listed(block));
        let mut all: Vec<&Entry> = unlisted.collect();
        for entry in &self.history {
            let entry = block_of(entry).unwrap_or(entry);
            if !all.iter().any(|known| known.line == entry.line) {
                all.push(entry);
            }
        }
        all
    }

    /// Returns every checkpoint under the headings of the latest, in the order of the file.
    pub(super) fn blocks(session: &Session) -> Vec<Entry> {
        entries(session, session.places(session::LATEST))
    }

    /// Returns whether an entry is the latest one itself, not another line with its id.
    pub(super) fn is_latest(&self, entry: &Entry) -> bool {
        let latest = self.latest.as_ref();
        latest.is_some_and(|latest| (&latest.id, latest.line) == (&entry.id, entry.line))
    }

    /// Returns whether the latest one is outside the history.
    pub(super) fn has_block(&self) -> bool {
        let latest = self.latest.as_ref();
        latest.is_some_and(|latest| self.history.iter().all(|entry| entry.line != latest.line))
    }

    /// Returns the history in the order of the file.
    pub(super) fn in_file_order(&self) -> Vec<&Entry> {
        let mut history: Vec<&Entry> = self.history.iter().collect();
        history.sort_by_key(|entry| entry.line);
        history
    }

    /// Returns the number that no checkpoint has and that comes after all of them.
    pub(super) fn next_number(&self, archived: &str) -> u32 {
        let known = self.under_latest().chain(&self.history);
        let numbers = known.filter_map(|entry| entry.id.as_deref()?.strip_prefix("CP-"));
        let archived = archived.lines().filter_map(|line| {
            let rest = without_mark(line).strip_prefix("**CP-")?;
            rest.split("**").next()
        });
        let numbers = numbers
            .chain(archived)
            .filter_map(|n| n.parse::<u32>().ok());
        numbers.max().unwrap_or(0).saturating_add(1)
    }
}

/// Returns the newest of a list that is oldest last; of those of the same minute, the last written.
fn newest(newest_first: &[Entry]) -> Option<Entry> {
    let readable = newest_first.iter().filter(|entry| entry.at.is_some());
    // The last of equals in this order is the first in the list.
    let newest = readable.rev().max_by_key(|entry| entry.at);
    newest.or(newest_first.first()).cloned()
}

/// Returns the latest of the entries under its headings, and the other entries if it was cut off.
///
/// Placeholders do not count. New entries are added on top, so a torn first entry is the latest;
/// otherwise the newest is.
fn latest_of(mut sections: Vec<Vec<Entry>>) -> (Option<Entry>, Vec<Entry>) {
    let mut all = sections.iter().flatten();
    if all.any(|entry| !entry.is_template()) {
        for entries in &mut sections {
            entries.retain(|entry| !entry.is_template());
        }
    }
    let mut on_top = sections.iter().filter_map(|entries| entries.first());
    let torn = on_top.find(|entry| entry.is_torn()).cloned();
    let mut all = sections.into_iter().flatten().collect::<Vec<_>>();
    if torn.is_none() {
        return (newest(&all), Vec::new());
    }
    all.retain(|entry| Some(entry) != torn.as_ref());
    (torn, all)
}

/// Returns the index of the first line in code or a comment that looks like a checkpoint.
pub(super) fn hidden(session: &Session) -> Option<usize> {
    session
        .hidden()
        .find(|at| starts_like_one(session.line(*at)))
}

/// Returns an id as it is written, however it was typed: `cp-3` and `3` are `CP-003`.
fn canonical(typed: &str) -> String {
    let upper = typed.trim().to_ascii_uppercase();
    let digits = upper.strip_prefix("CP-").unwrap_or(&upper);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        format!("CP-{digits:0>3}")
    } else {
        upper
    }
}

fn is_described_as_complete(description: &str) -> bool {
    let words = description.to_lowercase();
    let goes_on = ["research", "in progress", "initialized", "starting"];
    let is_over = has_word(&words, "complete") || has_word(&words, "validated");
    is_over && !goes_on.iter().any(|word| words.contains(word))
}

/// Returns whether a text has a word that starts with `word`.
fn has_word(text: &str, word: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|found| {
        let head = found.get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
    })
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;
