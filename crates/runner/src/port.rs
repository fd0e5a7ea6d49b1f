//! All that orchestrator and workers know of each other: the run's log and its claims.
//!
//! The port is small on purpose: claim a task under a fencing number, hold the
//! claim, tell whether one is held, append an event, read on from a position.
//! This is its first form, on files and kernel locks; a form on another
//! substrate has to offer these and nothing else, so nothing beside this module
//! may assume that a worker shares the disk's logs or the process table.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_fs::{Holder, Lock, LockError, Occupancy};
use rekindle_wire::order::{ORDER_SCHEMA, Order};

use crate::Error;

/// The claims and logs of one run, as files.
#[derive(Debug, Clone)]
pub(crate) struct FilePort {
    project: Utf8PathBuf,
    /// `.rekindle/runs/<workflow>/`.
    root: Utf8PathBuf,
}

/// A place in a log: everything before it has been read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position(usize);

/// Whether a worker holds its claim.
#[derive(Debug)]
pub(crate) enum Held {
    /// Nobody does: the worker has ended, or never began.
    Free,
    /// It does.
    By(Option<Holder>),
}

impl FilePort {
    pub(crate) fn new(project: &Utf8Path, runs: &Utf8Path, workflow_file: &str) -> Self {
        Self {
            project: project.to_owned(),
            root: runs.join(workflow_file),
        }
    }

    fn task_folder(&self, task: &str) -> Utf8PathBuf {
        self.root.join(crate::state_folder::encoded(task))
    }

    /// Returns the folder of an attempt: its order, its claim, what its agent printed.
    pub(crate) fn attempt_folder(&self, task: &str, attempt: u32) -> Utf8PathBuf {
        self.task_folder(task).join(attempt.to_string())
    }

    /// Returns where the order of an attempt stands.
    pub(crate) fn order_path(&self, task: &str, attempt: u32) -> Utf8PathBuf {
        self.attempt_folder(task, attempt).join("order.json")
    }

    fn claim_path(&self, task: &str, attempt: u32) -> Utf8PathBuf {
        self.attempt_folder(task, attempt).join("claim")
    }

    /// Claims a task under the order's fencing number; a number can be claimed once.
    pub(crate) fn claim(&self, order: &Order) -> Result<(), Error> {
        // Texts and numbers only: there is nothing in it that can not be written as JSON.
        let text = serde_json::to_vec_pretty(order).unwrap_or_default();
        let path = self.order_path(&order.task, order.attempt);
        let path = rekindle_fs::confine(&self.project, &path)?;
        Ok(rekindle_fs::create(&path, &text)?)
    }

    /// Returns the newest number under which a task was claimed.
    pub(crate) fn newest(&self, task: &str) -> u32 {
        newest(&self.task_folder(task))
    }

    /// Returns the tasks whose newest attempt is held by a worker, sorted.
    ///
    /// What can not be looked at is left out: this is for showing.
    pub(crate) fn tasks_at_work(&self) -> Vec<String> {
        let Ok(entries) = fs_err::read_dir(&self.root) else {
            return Vec::new();
        };
        let folders = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut tasks: Vec<String> = folders
            .filter_map(|folder| {
                let newest = newest(&self.root.join(&folder));
                let attempt = self.root.join(folder).join(newest.to_string());
                match Lock::probe(&attempt.join("claim")) {
                    Ok(Occupancy::Held(Some(_))) => {
                        Some(read_order(&attempt.join("order.json"))?.task)
                    }
                    // Without a holder who is alive, what the worker started ends just now.
                    Ok(Occupancy::Held(None) | Occupancy::Free) | Err(_) => None,
                }
            })
            .collect();
        tasks.sort();
        tasks
    }

    /// Reads the order of an attempt, if there is a whole one.
    pub(crate) fn order(&self, task: &str, attempt: u32) -> Option<Order> {
        read_order(&self.order_path(task, attempt))
    }

    /// Takes the claim of an attempt for as long as the returned lock lives.
    pub(crate) fn hold(&self, order: &Order, now: String) -> Result<Lock, LockError> {
        let purpose = format!("{} attempt {}", order.task, order.attempt);
        Lock::acquire(&self.claim_path(&order.task, order.attempt), &purpose, now)
    }

    /// Tells whether the worker of an attempt is alive.
    pub(crate) fn held(&self, task: &str, attempt: u32) -> Result<Held, Error> {
        Ok(match Lock::probe(&self.claim_path(task, attempt))? {
            Occupancy::Free => Held::Free,
            Occupancy::Held(holder) => Held::By(holder),
        })
    }

    /// Waits until the worker of an attempt has let go of its claim. Blocks.
    pub(crate) fn wait_released(&self, task: &str, attempt: u32) -> Result<(), Error> {
        Ok(Lock::wait(&self.claim_path(task, attempt))?)
    }

    /// Appends an event; when this returns it is on the disk.
    pub(crate) fn append(&self, log: &Utf8Path, record: &str) -> Result<(), Error> {
        crate::apply::append(&self.project, log, record)
    }

    /// Tells whether a log was written to in the time before `now`; one that is not there was not.
    pub(crate) fn written_within(&self, log: &Utf8Path, now: Timestamp, span: Duration) -> bool {
        let modified = fs_err::metadata(self.project.join(log)).and_then(|meta| meta.modified());
        let modified = modified.ok().and_then(|at| Timestamp::try_from(at).ok());
        modified.is_some_and(|at| now.duration_since(at).unsigned_abs() < span)
    }

    /// Returns the whole lines of a log after a position, and the position after them.
    pub(crate) fn read(&self, log: &Utf8Path, from: Position) -> (Vec<String>, Position) {
        let Ok(bytes) = fs_err::read(self.project.join(log)) else {
            return (Vec::new(), from);
        };
        let fresh = bytes.get(from.0..).unwrap_or_default();
        let Some(end) = fresh.iter().rposition(|&byte| byte == b'\n') else {
            return (Vec::new(), from);
        };
        let lines = fresh[..end].split(|&byte| byte == b'\n');
        let lines = lines
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect();
        (lines, Position(from.0 + end + 1))
    }
}

/// Returns the newest number in the folder of a task.
fn newest(task_folder: &Utf8Path) -> u32 {
    let Ok(entries) = fs_err::read_dir(task_folder) else {
        return 0;
    };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.max().unwrap_or(0)
}

/// Reads an order file, if it is a whole one of a form that is known.
pub(crate) fn read_order(path: &Utf8Path) -> Option<Order> {
    let bytes = fs_err::read(path).ok()?;
    let order: Order = serde_json::from_slice(&bytes).ok()?;
    (order.schema == ORDER_SCHEMA).then_some(order)
}
