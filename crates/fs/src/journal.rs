//! Intents and outcomes of rekindle's changes, so that the next process can recover after a crash.
//!
//! An intent is written before its first effect, with everything needed to finish it. Each step
//! that has taken effect is recorded, and so is the end. The next process that opens the journal
//! finishes or abandons the open intents. A record can be lost between effect and write, so every
//! step must be repeatable.
//!
//! The holder of the workflow's [`Lock`](crate::Lock) owns the journal; two writers at once would
//! use the same numbers. Only lines with our [`Seal`] count, since a journal can come with a clone
//! or a copy. Opening only reads; records are never changed or removed. `journal/record.rs` has the
//! line format.

mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::record::Entry;
use crate::error::At as _;
use crate::{Error, GuardedFile, Line, Log, Seal, disk};

/// The largest number that other JSON readers represent exactly.
const MAX_SEQ: u64 = 1 << 53;
/// A journal grows by some kilobytes with each plan; a larger one is not ours and is not read.
const LARGEST: u64 = 1 << 30;
/// A record holds the contents of the files that one plan changes.
const LONGEST: usize = 32 << 20;
/// The number of unusable lines that are reported.
const MOST_DAMAGE: usize = 1_000;

/// The intents and outcomes of one workflow, in one file of lines.
#[derive(Debug)]
pub struct Journal<T> {
    path: Utf8PathBuf,
    seal: Option<Seal>,
    log: Option<Log>,
    last_seq: u64,
    open: Vec<Open<T>>,
    /// Open intents with a body in an unknown form, and their lines.
    unreadable: BTreeMap<IntentId, usize>,
    /// Open intents in lines that were not written here.
    foreign: BTreeSet<IntentId>,
    damage: Vec<Damage>,
}

/// An intent without an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open<T> {
    /// Its number.
    pub id: IntentId,
    /// Everything needed to finish it.
    pub body: T,
    /// The steps that are known to have taken effect.
    pub steps_done: BTreeSet<u32>,
}

/// The number of an intent's first record: unique in its journal, and growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IntentId(u64);

/// How an intent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All its steps have taken effect.
    Completed,
    /// It will not be finished; its note explains why.
    Abandoned,
}

/// A line of the journal that could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// The number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub kind: DamageKind,
}

/// What is wrong with a line of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the intent that the line names")]
pub enum DamageKind {
    /// The last line is incomplete: its write was interrupted.
    Torn,
    /// The bytes are not those that were written.
    Checksum,
    /// The record has an unknown version.
    Version,
    /// The record was not written here: it came with a clone or copy, its folder was moved, or an
    /// older rekindle wrote it.
    Foreign,
    /// The number of the record cannot follow here: a copied or merged line.
    OutOfOrder,
    /// It continues an intent whose first record is lost.
    Orphan { id: IntentId },
    /// It starts an intent in an unknown form, and the intent has not ended.
    Body { id: IntentId },
}

/// The state while reading a journal.
#[derive(Debug, Default)]
struct Reading {
    n_lines: usize,
    /// How many records may be lost since the last valid one; their numbers must not be reused. A
    /// damaged line can be several that lost their line breaks.
    n_lost: usize,
}

impl<T> Open<T> {
    fn new(id: IntentId, body: T) -> Self {
        Self {
            id,
            body,
            steps_done: BTreeSet::new(),
        }
    }
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Reads the journal; a missing file counts as empty and is not created.
    ///
    /// Bad lines are not errors: see [`Journal::damage`]. `seal` is that of this file; without one
    /// no line counts, and none can be written.
    pub fn open(path: &Utf8Path, seal: Option<Seal>) -> Result<Self, Error> {
        let mut journal = Self::empty(path, seal);
        let Some(file) = GuardedFile::open(path)? else {
            return Ok(journal);
        };
        let to_sync = file.as_file().try_clone().at("open", path)?;
        let mut reading = Reading::default();
        file.lines(LARGEST, LONGEST, |line| {
            journal.read_line(&mut reading, &line);
        })?;
        journal.finish_reading(&reading);
        if !journal.open.is_empty() {
            // The writer may have died before its sync, so the record is made durable before
            // anything is finished because of it.
            disk::sync_data(&to_sync).at("sync", path)?;
        }
        Ok(journal)
    }

    /// Returns the intents without an end, oldest first.
    pub fn open_intents(&self) -> &[Open<T>] {
        &self.open
    }

    /// Returns the lines that could not be used, in order.
    ///
    /// After [`DamageKind::Checksum`] an ended intent may seem open; after [`DamageKind::Body`]
    /// only a newer rekindle can finish the intent.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Returns whether there are lines that were not written here.
    pub fn has_foreign_lines(&self) -> bool {
        let mut damage = self.damage.iter();
        damage.any(|damage| damage.kind == DamageKind::Foreign)
    }

    /// Returns how many open intents such lines have. None of them is ever carried out.
    pub fn n_foreign_intents(&self) -> usize {
        self.foreign.len()
    }

    /// Records a new intent durably; its effects may start when this returns.
    ///
    /// `at` is the time as RFC 3339. After an error do nothing: the intent may still be found open
    /// when the journal is read again.
    pub fn begin(&mut self, at: &str, body: &T) -> Result<IntentId, Error> {
        let id = IntentId(self.last_seq + 1);
        // A body that does not read back would be noticed only after the crash.
        let body: T = serde_json::to_vec(body)
            .and_then(|json| serde_json::from_slice(&json))
            .map_err(|source| self.not_encoded(source))?;
        self.note(Some(at), &Entry::Begin { id, body: &body })?;
        self.open.push(Open::new(id, body));
        Ok(id)
    }

    /// Records that a step of an open intent has taken effect, unless that is known already.
    pub fn done(&mut self, id: IntentId, step: u32) -> Result<(), Error> {
        let index = self.index_of(id).ok_or_else(|| self.not_open(id))?;
        if self.open[index].steps_done.contains(&step) {
            return Ok(());
        }
        self.note(None, &Entry::<&T>::Done { id, step })?;
        self.open[index].steps_done.insert(step);
        Ok(())
    }

    /// Records that an open intent has ended; the note is for people.
    pub fn end(
        &mut self,
        id: IntentId,
        at: &str,
        outcome: Outcome,
        note: &str,
    ) -> Result<(), Error> {
        if self.index_of(id).is_none() && !self.unreadable.contains_key(&id) {
            return Err(self.not_open(id));
        }
        let note = note.to_owned();
        self.note(Some(at), &Entry::End { id, outcome, note })?;
        self.close(id);
        self.damage
            .retain(|damage| damage.kind != DamageKind::Body { id });
        Ok(())
    }

    fn note(&mut self, at: Option<&str>, entry: &Entry<&T>) -> Result<(), Error> {
        let seq = self.last_seq + 1;
        let Some(seal) = &self.seal else {
            return Err(Error::NoKeyPlace);
        };
        let line = record::encode(seq, at, entry, seal);
        let line = line.map_err(|source| self.not_encoded(source))?;
        // A line that is too long would be noticed only after the crash.
        if line.len() >= LONGEST {
            return Err(Error::TooLarge {
                path: self.path.clone(),
                len: line.len() as u64,
                limit: LONGEST as u64,
            });
        }
        let log = match &mut self.log {
            Some(log) => log,
            None => self.log.insert(Log::open(&self.path)?),
        };
        // Before the append: a failed one may have left its record in the file, and its number must
        // not be reused.
        self.last_seq = seq;
        // A torn tail was reported as damage when the journal was opened.
        let _tail = log.append(line.as_bytes())?;
        Ok(())
    }

    fn empty(path: &Utf8Path, seal: Option<Seal>) -> Self {
        Self {
            path: path.to_owned(),
            seal,
            log: None,
            last_seq: 0,
            open: Vec::new(),
            unreadable: BTreeMap::new(),
            foreign: BTreeSet::new(),
            damage: Vec::new(),
        }
    }

    fn read_line(&mut self, reading: &mut Reading, line: &Line<'_>) {
        reading.n_lines += 1;
        let (line, length) = match *line {
            Line::Whole(line) => (line, line.len()),
            Line::Long { beginning, length } => (beginning, length),
        };
        let record = line.strip_suffix(b"\n").unwrap_or(line);
        if record.is_empty() {
            return;
        }
        let result = record::decode(record, self.seal.as_ref()).and_then(|(seq, entry)| {
            let is_own = !matches!(entry, Entry::Begin { id, .. } if id.0 != seq);
            if seq <= self.last_seq || seq > MAX_SEQ || !is_own {
                return Err(DamageKind::OutOfOrder);
            }
            self.last_seq = seq;
            reading.n_lost = 0;
            self.apply(reading.n_lines, entry)
        });
        // A complete record without its line break counts: the checksum proves it, and the next
        // append adds the break.
        if let Err(kind) = result {
            let is_torn = kind == DamageKind::Checksum && record.len() == length;
            let kind = if is_torn { DamageKind::Torn } else { kind };
            if kind == DamageKind::Foreign {
                self.count_foreign(record);
            }
            if self.damage.len() < MOST_DAMAGE {
                let line = reading.n_lines;
                self.damage.push(Damage { line, kind });
            }
            reading.n_lost += 1 + length / record::MIN_LENGTH;
        }
    }

    fn finish_reading(&mut self, reading: &Reading) {
        for (&id, &line) in &self.unreadable {
            let kind = DamageKind::Body { id };
            self.damage.push(Damage { line, kind });
        }
        self.damage.sort_by_key(|damage| damage.line);
        self.last_seq += reading.n_lost as u64;
    }

    fn apply(&mut self, line: usize, entry: Entry<Option<T>>) -> Result<(), DamageKind> {
        match entry {
            Entry::Begin { id, body } => match body {
                Some(body) => self.open.push(Open::new(id, body)),
                None => drop(self.unreadable.insert(id, line)),
            },
            Entry::Done { id, step } => match self.index_of(id) {
                Some(index) => {
                    self.open[index].steps_done.insert(step);
                }
                None if self.unreadable.contains_key(&id) => {}
                None => return Err(DamageKind::Orphan { id }),
            },
            Entry::End { id, .. } => {
                if !self.close(id) {
                    return Err(DamageKind::Orphan { id });
                }
            }
        }
        Ok(())
    }

    fn count_foreign(&mut self, record: &[u8]) {
        match record::foreign_entry(record) {
            Some(Entry::Begin { id, .. }) => {
                self.foreign.insert(id);
            }
            Some(Entry::End { id, .. }) => {
                self.foreign.remove(&id);
            }
            Some(Entry::Done { .. }) | None => {}
        }
    }

    /// Closes an intent; returns whether it was open.
    fn close(&mut self, id: IntentId) -> bool {
        let n_before = self.open.len();
        self.open.retain(|open| open.id != id);
        self.unreadable.remove(&id).is_some() || self.open.len() < n_before
    }

    fn index_of(&self, id: IntentId) -> Option<usize> {
        self.open.iter().position(|open| open.id == id)
    }

    fn not_encoded(&self, source: serde_json::Error) -> Error {
        Error::Encode {
            path: self.path.clone(),
            source,
        }
    }

    fn not_open(&self, id: IntentId) -> Error {
        Error::NotOpen {
            path: self.path.clone(),
            id,
        }
    }
}

impl fmt::Display for IntentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
