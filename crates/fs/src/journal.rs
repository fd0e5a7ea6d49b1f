//! What rekindle was about to do and what it did, so that a crash at any instant can be made good.
//!
//! An intent is written whole before its first effect: everything needed to finish it without the
//! process that began it. Each step that has taken effect is noted, and so is the end. Whoever opens
//! the journal next finds the intents without an end and finishes or abandons them. Since a note can
//! be lost with a crash between effect and note, every step must be one that can be done twice.
//!
//! The journal belongs to whoever holds the workflow's [`Lock`](crate::Lock); it is not itself a lock,
//! and two writers at once would take the same numbers. Only lines with our [`Seal`] count: a journal
//! can come with a clone or a copy, and then nothing in it was begun here. Opening only reads: the
//! file is made by the first write. Records are never changed or removed. The form of a line is in `journal/record.rs`.

mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::record::Entry;
use crate::error::At as _;
use crate::{Error, GuardedFile, Line, Log, Seal, disk};

/// What other readers of JSON can hold exactly, and far from where counting on would overflow.
const MAX_SEQ: u64 = 1 << 53;
/// A journal grows by some kilobytes with each plan; a larger one is not ours, and is not read.
const LARGEST: u64 = 1 << 30;
/// A record holds the contents of the files that one plan changes.
const LONGEST: usize = 32 << 20;
/// So many lines that could not be used are remembered, which is enough for any message.
const MOST_DAMAGE: usize = 1_000;

/// The intents and outcomes of one workflow, in one file of lines.
#[derive(Debug)]
pub struct Journal<T> {
    path: Utf8PathBuf,
    seal: Option<Seal>,
    log: Option<Log>,
    last_seq: u64,
    open: Vec<Open<T>>,
    /// Intents that were begun and not ended, but whose body is in a form we do not know.
    unreadable: BTreeMap<IntentId, usize>,
    /// Intents that lines of others begin and do not end.
    foreign: BTreeSet<IntentId>,
    damage: Vec<Damage>,
}

/// An intent that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open<T> {
    /// Its number.
    pub id: IntentId,
    /// All that is needed to finish it.
    pub body: T,
    /// The steps that are known to have taken effect.
    pub steps_done: BTreeSet<u32>,
}

/// The number of an intent, which is that of its first record: unique in its journal, and growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IntentId(u64);

/// How an intent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All its steps have taken effect.
    Completed,
    /// It will not be finished; the note says why.
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
pub enum DamageKind {
    /// The last line is unfinished: the crash that the journal is for. Its write never returned.
    Torn,
    /// The bytes are not those that were written.
    Checksum,
    /// The record is whole, but of a version that we do not know.
    Version,
    /// The record is whole, but was not written here: it came with a clone or a copy, its folder was
    /// moved, or an older rekindle wrote it.
    Foreign,
    /// The number of the record is not one that could follow here: a copied or merged line.
    OutOfOrder,
    /// It continues an intent whose beginning is lost.
    Orphan {
        /// The intent it names.
        id: IntentId,
    },
    /// It begins an intent in a form that we do not know, and the intent has not ended.
    Body {
        /// The intent; it can be ended.
        id: IntentId,
    },
}

/// Where the reading of a journal is.
#[derive(Debug, Default)]
struct Reading {
    n_lines: usize,
    /// How many records may have been lost since the last whole one. They had numbers too, which must
    /// not be given again; a broken line can be several that lost the breaks between them.
    n_lost: usize,
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Reads the journal; a file that is not there is an empty one, and is not made.
    ///
    /// Bad lines are not errors: see [`Journal::damage`]. An error means that the file cannot be read.
    /// `seal` is that of this file; without one no line counts, and none can be written.
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
            // The writer may have died between its write and its sync. Whoever now finishes the intent
            // stands on a record that a power cut could still take away, so it is made durable first.
            disk::sync_data(&to_sync).at("sync", path)?;
        }
        Ok(journal)
    }

    /// Returns the intents that have begun and not ended, oldest first.
    pub fn open_intents(&self) -> &[Open<T>] {
        &self.open
    }

    /// Returns the lines that could not be used when the journal was opened, in order.
    ///
    /// After [`DamageKind::Checksum`] an intent may seem open although it ended, and after
    /// [`DamageKind::Body`] there is one that only a newer rekindle can finish.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Returns whether lines were found that were not written here.
    pub fn has_foreign_lines(&self) -> bool {
        let mut damage = self.damage.iter();
        damage.any(|damage| damage.kind == DamageKind::Foreign)
    }

    /// Returns how many intents such lines begin and do not end. None of them is ever carried out.
    pub fn n_foreign_intents(&self) -> usize {
        self.foreign.len()
    }

    /// Writes down a new intent; when this returns, it is on the disk and its effects may begin.
    ///
    /// `at` is the time as RFC 3339. After an error nothing must be done: the intent may still turn up
    /// as open when the journal is read again, and can be finished or abandoned then.
    pub fn begin(&mut self, at: &str, body: &T) -> Result<IntentId, Error> {
        let id = IntentId(self.last_seq + 1);
        // A body that does not read back would be found out only after the crash.
        let body: T = serde_json::to_vec(body)
            .and_then(|json| serde_json::from_slice(&json))
            .map_err(|source| Error::Encode {
                path: self.path.clone(),
                source,
            })?;
        let intent = Open {
            id,
            body,
            steps_done: BTreeSet::new(),
        };
        self.note(
            Some(at),
            &Entry::Begin {
                id,
                body: &intent.body,
            },
        )?;
        self.open.push(intent);
        Ok(id)
    }

    /// Writes down that a step of an open intent has taken effect, unless that is known already.
    pub fn done(&mut self, id: IntentId, step: u32) -> Result<(), Error> {
        let index = self.index_of(id).ok_or_else(|| self.not_open(id))?;
        if self.open[index].steps_done.contains(&step) {
            return Ok(());
        }
        self.note(None, &Entry::<&T>::Done { id, step })?;
        self.open[index].steps_done.insert(step);
        Ok(())
    }

    /// Writes down that an open intent has ended; the note is for people.
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
        self.note(
            Some(at),
            &Entry::<&T>::End {
                id,
                outcome,
                note: note.to_owned(),
            },
        )?;
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
        let line = record::encode(seq, at, entry, seal).map_err(|source| Error::Encode {
            path: self.path.clone(),
            source,
        })?;
        // What could not be read back would be found out only after the crash.
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
        // Before the append: one that fails may have left its record in the file all the same, and
        // its number must not be given twice.
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
        // A whole record without its line break counts: the checksum proves it, and the next
        // append would turn it into an ordinary line anyway.
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
            Entry::Begin {
                id,
                body: Some(body),
            } => {
                self.open.push(Open {
                    id,
                    body,
                    steps_done: BTreeSet::new(),
                });
            }
            Entry::Begin { id, body: None } => {
                self.unreadable.insert(id, line);
            }
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

    /// Forgets an intent; returns whether there was one.
    fn close(&mut self, id: IntentId) -> bool {
        let n_before = self.open.len();
        self.open.retain(|open| open.id != id);
        self.unreadable.remove(&id).is_some() || self.open.len() < n_before
    }

    fn index_of(&self, id: IntentId) -> Option<usize> {
        self.open.iter().position(|open| open.id == id)
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
