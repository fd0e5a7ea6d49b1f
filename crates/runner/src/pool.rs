//! The pool of worktrees: a few that tasks use one after the other.
//!
//! A worktree of the pool is a folder with a number. Next to it are a kernel lock, which the worker
//! of the attempt in it holds, and a sealed record of whose files it holds. The record says "free"
//! only after all of its files are in a commit that has a ref; in every other state, and without a
//! record of ours, its files are saved before another task gets it.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_fs::{Content, Durability, Fingerprint, Lock, LockError};
use rekindle_wire::order::Order;
use rekindle_wire::slot::{SLOT_SCHEMA, SlotRecord};

use crate::Error;
use crate::binding::Binding;

/// The folder of the pool, next to the folders of workflows; no workflow's name is without a dash.
pub(crate) const FOLDER: &str = "pool";
/// The name of the worktree of checks.
const INTEGRATION: &str = ".integration";
/// The largest record.
const LARGEST_RECORD: u64 = 64 * 1024;

/// The pool of a project.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    project: Utf8PathBuf,
    root: Utf8PathBuf,
    binding: Binding,
}

/// One place in the pool, which may not have a worktree yet.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pool: Pool,
    name: String,
}

/// Whose files a worktree is about to hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct User<'a> {
    pub(crate) protocol: &'a str,
    pub(crate) workflow: &'a str,
    pub(crate) task: &'a str,
    pub(crate) attempt: u32,
}

impl<'a> User<'a> {
    /// Returns the attempt of an order.
    pub(crate) fn of(order: &'a Order) -> Self {
        Self {
            protocol: &order.protocol,
            workflow: &order.workflow,
            task: &order.task,
            attempt: order.attempt,
        }
    }
}

impl Pool {
    pub(crate) fn new(project: &Utf8Path, root: Utf8PathBuf, binding: Binding) -> Self {
        Self {
            project: project.to_owned(),
            root,
            binding,
        }
    }

    pub(crate) fn slot(&self, number: u32) -> Slot {
        self.named(&number.to_string())
    }

    /// Returns the slot of the worktree in which merged work is checked.
    pub(crate) fn integration(&self) -> Slot {
        self.named(INTEGRATION)
    }

    fn named(&self, name: &str) -> Slot {
        Slot {
            pool: self.clone(),
            name: name.to_owned(),
        }
    }

    /// Returns the slot of a worktree by the name of its folder.
    pub(crate) fn slot_at(&self, name: &str) -> Option<Slot> {
        let is_slot = name == INTEGRATION || name.parse().is_ok_and(|n: u32| n.to_string() == name);
        is_slot.then(|| self.named(name))
    }

    /// Returns the slots of tasks that exist, by number.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        let names = rekindle_fs::list_within(&self.project, &self.root).unwrap_or_default();
        let names = names.iter().filter_map(|name| name.to_str());
        let numbers = names.filter_map(slot_number);
        let numbers: std::collections::BTreeSet<u32> = numbers.collect();
        numbers
            .into_iter()
            .map(|number| self.slot(number))
            .collect()
    }
}

impl Slot {
    /// Returns its number, if tasks use it.
    pub(crate) fn number(&self) -> Option<u32> {
        self.name.parse().ok()
    }

    pub(crate) fn worktree(&self) -> Utf8PathBuf {
        self.pool.root.join(&self.name)
    }

    fn beside(&self, extension: &str) -> Utf8PathBuf {
        self.pool.root.join(format!("{}.{extension}", self.name))
    }

    pub(crate) fn lock_path(&self) -> Utf8PathBuf {
        self.beside("lock")
    }

    fn record_path(&self) -> Utf8PathBuf {
        self.beside("json")
    }

    /// Takes the slot for as long as the lock lives.
    pub(crate) fn hold(&self, purpose: &str, now: String) -> Result<Lock, LockError> {
        let path = self.lock_path();
        rekindle_fs::refuse_links(&self.pool.project, &path)?;
        Lock::acquire(&path, purpose, now)
    }

    /// Takes the slot as [`Slot::hold`] does; `None` if somebody has it.
    pub(crate) fn take(&self, purpose: &str, now: String) -> Result<Option<Lock>, Error> {
        match self.hold(purpose, now) {
            Ok(lock) => Ok(Some(lock)),
            Err(LockError::Held { .. }) => Ok(None),
            Err(error @ LockError::Unusable(_)) => Err(error.into()),
        }
    }

    /// Returns whose files the worktree holds, if that was recorded here.
    pub(crate) fn record(&self) -> Option<SlotRecord> {
        let path = self.record_path();
        let bytes = rekindle_fs::read_within(&self.pool.project, &path, LARGEST_RECORD).ok()??;
        let seal = self.pool.binding.seal(&path)?;
        let record: SlotRecord = serde_json::from_slice(&bytes).ok()?;
        (seal.is_on(&bytes) && record.schema == SLOT_SCHEMA).then_some(record)
    }

    /// Records that somebody is about to write into the worktree.
    pub(crate) fn used_by(&self, user: User<'_>, found: Found) -> Result<(), Error> {
        let record = record_of(user, found);
        self.write(&record, Durability::Synced)
    }

    /// Records that another attempt at the same task goes on in the worktree as it is.
    pub(crate) fn kept_by(&self, attempt: u32, record: SlotRecord) -> Result<(), Error> {
        let record = SlotRecord {
            attempt,
            is_free: false,
            seal: String::new(),
            ..record
        };
        self.write(&record, Durability::Synced)
    }

    /// Records that the setup was done in the worktree; if a crash loses that, it is done again.
    pub(crate) fn set_up(&self, setup: &str) -> Result<(), Error> {
        match self.record() {
            Some(record) => {
                let setup = Some(setup.to_owned());
                let seal = String::new();
                let record = SlotRecord {
                    setup,
                    seal,
                    ..record
                };
                self.write(&record, Durability::Lazy)
            }
            None => Ok(()),
        }
    }

    /// Records that the worktree is as checked out, and that nobody has to save what comes into it.
    pub(crate) fn free_for(&self, user: User<'_>, found: Found) -> Result<(), Error> {
        self.free(record_of(user, found))
    }

    /// Records that all files of the worktree are kept elsewhere; after a crash it may look used.
    pub(crate) fn free(&self, record: SlotRecord) -> Result<(), Error> {
        let record = SlotRecord {
            is_free: true,
            seal: String::new(),
            ..record
        };
        self.write(&record, Durability::Lazy)
    }

    /// Forgets a worktree that was removed. The lock file stays: somebody may wait for it.
    pub(crate) fn forget(&self) -> Result<(), Error> {
        let path = self.record_path();
        rekindle_fs::refuse_links(&self.pool.project, &path)?;
        let now = Content::read(&path)?;
        Ok(rekindle_fs::remove(&path, &now)?)
    }

    /// Returns whether its record was written in the time before `now`.
    pub(crate) fn is_younger(&self, now: Timestamp, span: Duration) -> bool {
        let found = self.record_path().symlink_metadata().ok();
        let at = found.and_then(|found| Timestamp::try_from(found.modified().ok()?).ok());
        at.is_some_and(|at| now.duration_since(at).unsigned_abs() < span)
    }

    fn write(&self, record: &SlotRecord, durability: Durability) -> Result<(), Error> {
        // Texts, numbers and a flag only: all of it can be written as JSON.
        let text = serde_json::to_string(record).unwrap_or_default();
        let path = self.record_path();
        let text = self.pool.binding.sealing(&path)?.stamp(&text);
        rekindle_fs::refuse_links(&self.pool.project, &path)?;
        Ok(rekindle_fs::write_sealed(&path, &text, durability)?)
    }
}

/// What is known about a worktree that was just brought to a commit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// The index as it was checked out, if it was kept.
    pub(crate) index: Option<Fingerprint>,
    /// The settings that only this worktree has.
    pub(crate) settings: Option<Fingerprint>,
    /// The setup that was done in it.
    pub(crate) setup: Option<String>,
}

fn record_of(user: User<'_>, found: Found) -> SlotRecord {
    SlotRecord {
        schema: SLOT_SCHEMA.to_owned(),
        seal: String::new(),
        protocol: user.protocol.to_owned(),
        workflow: user.workflow.to_owned(),
        task: user.task.to_owned(),
        attempt: user.attempt,
        is_free: false,
        index: found.index.as_ref().map(Fingerprint::to_hex),
        settings: found.settings.as_ref().map(Fingerprint::to_hex),
        setup: found.setup,
    }
}

/// Returns the number in the name of a slot's worktree, lock or record.
fn slot_number(name: &str) -> Option<u32> {
    let stem = name
        .strip_suffix(".lock")
        .or_else(|| name.strip_suffix(".json"))
        .unwrap_or(name);
    let number: u32 = stem.parse().ok()?;
    (number.to_string() == stem).then_some(number)
}

/// Reads a fingerprint of a record; one that cannot be read is unknown.
pub(crate) fn fingerprint(text: Option<&String>) -> Option<Fingerprint> {
    text?.parse().ok()
}

/// Returns whether a record is of the task of this user.
pub(crate) fn is_of(record: &SlotRecord, user: User<'_>) -> bool {
    let of_record = (&*record.protocol, &*record.workflow, &*record.task);
    of_record == (user.protocol, user.workflow, user.task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_numbers_are_slots() {
        for (name, number) in [
            ("0", Some(0)),
            ("12", Some(12)),
            ("3.lock", Some(3)),
            ("3.json", Some(3)),
            ("03", None),
            ("+1", None),
            ("1.left-1", None),
            (".integration", None),
            ("x.lock", None),
        ] {
            assert_eq!(slot_number(name), number, "{name}");
        }
    }
}
