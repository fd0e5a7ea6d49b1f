//! The interface between orchestrator and workers: the run's log and its claims.
//!
//! The port is small on purpose: claim a task under a fencing number, hold the
//! claim, check whether one is held, append an event, read on from a position.
//! This form uses files and kernel locks; a form for another
//! substrate has to offer the same functions, so nothing outside this module
//! may assume that a worker shares the disk's logs or the process table.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_fs::{GuardedFile, Holder, Lock, LockError, Occupancy};
use rekindle_model::MOST_ATTEMPTS;
use rekindle_wire::order::{ORDER_SCHEMA, Order};

use crate::binding::Binding;
use crate::{Error, StillAtWork, process_tree};

/// The names of an attempt's files.
const ORDER: &str = "order.json";
const CLAIM: &str = "claim";
/// The largest order: it contains a prompt, and a prompt is cut.
const LARGEST_ORDER: u64 = 16 * 1024 * 1024;
/// The largest log of an attempt: it has events and one heartbeat each half minute.
const LARGEST_LOG: u64 = 256 * 1024 * 1024;

/// The claims and logs of one run, as files.
#[derive(Debug, Clone)]
pub(crate) struct FilePort {
    project: Utf8PathBuf,
    /// `.rekindle/runs/<workflow>/`.
    root: Utf8PathBuf,
    binding: Binding,
}

/// A position in a log: everything before it has been read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position(usize);

/// The tasks that may have been claimed.
#[derive(Debug)]
pub(crate) struct Begun(BTreeSet<String>);

impl Begun {
    /// Returns whether a task may have been claimed.
    pub(crate) fn has(&self, task: &str) -> bool {
        self.0.contains(&crate::state_folder::encoded(task))
    }
}

/// Whether a worker holds its claim.
#[derive(Debug)]
pub(crate) enum Held {
    /// Nobody does: the worker has ended, or never started.
    Free,
    /// It does.
    By(Option<Holder>),
}

impl FilePort {
    pub(crate) fn new(project: &Utf8Path, root: Utf8PathBuf, binding: Binding) -> Self {
        Self {
            project: project.to_owned(),
            root,
            binding,
        }
    }

    pub(crate) fn task_folder(&self, task: &str) -> Utf8PathBuf {
        self.root.join(crate::state_folder::encoded(task))
    }

    /// Returns the folder of an attempt: its order, its claim, what its agent printed.
    pub(crate) fn attempt_folder(&self, task: &str, attempt: u32) -> Utf8PathBuf {
        self.task_folder(task).join(attempt.to_string())
    }

    /// Returns the path of an attempt's order.
    pub(crate) fn order_path(&self, task: &str, attempt: u32) -> Utf8PathBuf {
        self.attempt_folder(task, attempt).join(ORDER)
    }

    /// Returns the file of what workers with this name said before they ended with an error; no task's
    /// folder begins with a dot.
    pub(crate) fn errors(&self, actor: &str) -> Utf8PathBuf {
        let name = format!("{}.log", crate::state_folder::encoded(actor));
        self.root.join(".workers").join(name)
    }

    fn claim_path(&self, task: &str, attempt: u32) -> Utf8PathBuf {
        self.attempt_folder(task, attempt).join(CLAIM)
    }

    /// Claims a task under the order's fencing number; a number can be claimed once.
    pub(crate) fn claim(&self, order: &Order) -> Result<(), Error> {
        // Texts and numbers only: all of it can be written as JSON.
        let text = serde_json::to_string(order).unwrap_or_default();
        let path = self.order_path(&order.task, order.attempt);
        let text = self.binding.sealing(&path)?.stamp(&text);
        rekindle_fs::refuse_links(&self.project, &path)?;
        Ok(rekindle_fs::create(&path, text.as_bytes())?)
    }

    /// Returns which tasks may have been claimed: thousands of others need not be looked at one by one.
    pub(crate) fn begun(&self) -> Begun {
        Begun(self.list(&self.root).into_iter().collect())
    }

    /// Returns the newest number under which a task was claimed.
    ///
    /// A folder without an order of ours does not count, unless a worker holds its claim.
    pub(crate) fn newest(&self, task: &str) -> u32 {
        self.newest_in(&self.task_folder(task))
            .map_or(0, |(number, _)| number)
    }

    /// Returns the newest attempt in the folder of a task, with its order if it is complete.
    fn newest_in(&self, task_folder: &Utf8Path) -> Option<(u32, Option<Order>)> {
        self.numbers(task_folder)
            .into_iter()
            .rev()
            .find_map(|number| {
                let folder = task_folder.join(number.to_string());
                let order = self.read_order(&folder.join(ORDER));
                let order = order.filter(|order| order.attempt == number);
                let is_held = || matches!(self.probe(&folder.join(CLAIM)), Ok(Occupancy::Held(_)));
                (order.is_some() || is_held()).then_some((number, order))
            })
    }

    /// Returns the numbers of attempts by their folders, ascending.
    fn numbers(&self, task_folder: &Utf8Path) -> Vec<u32> {
        let names = self.list(task_folder);
        let numbers = names.iter().filter_map(|name| attempt_number(name));
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        numbers
    }

    /// Returns the names in a folder of ours; none if it cannot be listed or is reached through a link.
    fn list(&self, folder: &Utf8Path) -> Vec<String> {
        let names = rekindle_fs::list_within(&self.project, folder).unwrap_or_default();
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        names.collect()
    }

    /// Reads an order that was written here.
    fn read_order(&self, path: &Utf8Path) -> Option<Order> {
        let bytes = rekindle_fs::read_within(&self.project, path, LARGEST_ORDER).ok()??;
        self.binding.seal(path).filter(|seal| seal.is_on(&bytes))?;
        parse_order(&bytes)
    }

    /// Returns every task whose newest attempt is held by a worker, with that attempt and its holder,
    /// sorted.
    ///
    /// Unreadable folders are left out: this is for display.
    pub(crate) fn at_work(&self) -> Vec<(String, u32, Holder)> {
        let folders = self.list(&self.root).into_iter();
        let mut found: Vec<(String, u32, Holder)> = folders
            .filter_map(|folder| {
                let folder = self.root.join(folder);
                let (number, order) = self.newest_in(&folder)?;
                let claim = folder.join(number.to_string()).join(CLAIM);
                match self.probe(&claim) {
                    Ok(Occupancy::Held(Some(holder))) => Some((order?.task, number, holder)),
                    // Without a living holder, the worker's last process is ending just now.
                    Ok(Occupancy::Held(None) | Occupancy::Free) | Err(_) => None,
                }
            })
            .collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }

    /// Returns every order that was written here, and whether a worker holds its claim.
    pub(crate) fn orders(&self) -> Vec<(Order, bool)> {
        let mut found = Vec::new();
        for folder in self.list(&self.root) {
            let folder = self.root.join(folder);
            for number in self.numbers(&folder) {
                let folder = folder.join(number.to_string());
                let Some(order) = self.read_order(&folder.join(ORDER)) else {
                    continue;
                };
                let claim = self.probe(&folder.join(CLAIM));
                found.push((order, matches!(claim, Ok(Occupancy::Held(Some(_))))));
            }
        }
        found
    }

    /// Returns all running workers, sorted by task; each process is known to be the worker.
    pub(crate) fn workers(&self) -> Vec<StillAtWork> {
        let is_worker = |left: &StillAtWork| {
            let order = self.order_path(&left.task, left.attempt);
            process_tree::is_worker(left.pid, &order)
        };
        let found = self.at_work().into_iter();
        found
            .map(|(task, attempt, holder)| StillAtWork {
                task,
                attempt,
                pid: holder.process.pid,
                is_asked_to_end: false,
            })
            .filter(is_worker)
            .collect()
    }

    fn probe(&self, claim: &Utf8Path) -> Result<Occupancy, rekindle_fs::Error> {
        rekindle_fs::refuse_links(&self.project, claim)?;
        Lock::probe(claim)
    }

    /// Reads the order of an attempt, if it is complete, for this very attempt, and written here.
    pub(crate) fn order(&self, task: &str, attempt: u32) -> Option<Order> {
        self.read_order(&self.order_path(task, attempt))
            .filter(|order| order.task == task && order.attempt == attempt)
    }

    /// Returns the number and the order of a task's last attempt, if that order was not written here.
    pub(crate) fn foreign(&self, task: &str) -> Option<(u32, Utf8PathBuf)> {
        let newest = self.numbers(&self.task_folder(task)).pop()?;
        let path = self.order_path(task, newest);
        let is_there = path.symlink_metadata().is_ok();
        (is_there && self.read_order(&path).is_none()).then_some((newest, path))
    }

    /// Takes the claim of an attempt for as long as the returned lock lives.
    pub(crate) fn hold(&self, order: &Order, now: String) -> Result<Lock, LockError> {
        let purpose = format!("{} attempt {}", order.task, order.attempt);
        let claim = self.claim_path(&order.task, order.attempt);
        rekindle_fs::refuse_links(&self.project, &claim)?;
        Lock::acquire(&claim, &purpose, now)
    }

    /// Returns whether the worker of an attempt is alive.
    pub(crate) fn held(&self, task: &str, attempt: u32) -> Result<Held, Error> {
        Ok(match self.probe(&self.claim_path(task, attempt))? {
            Occupancy::Free => Held::Free,
            Occupancy::Held(holder) => Held::By(holder),
        })
    }

    /// Waits until the worker of an attempt has released its claim. Blocks.
    pub(crate) fn wait_released(&self, task: &str, attempt: u32) -> Result<(), Error> {
        Ok(Lock::wait(&self.claim_path(task, attempt))?)
    }

    /// Appends an event; when this returns it is on the disk.
    pub(crate) fn append(&self, log: &Utf8Path, record: &str) -> Result<(), Error> {
        crate::apply::append(&self.project, log, record)
    }

    /// Returns whether a log was written to in the time before `now`; a missing log was not.
    pub(crate) fn written_within(&self, log: &Utf8Path, now: Timestamp, span: Duration) -> bool {
        let modified = self.open_log(log).and_then(|log| log.metadata().ok());
        let modified = modified.and_then(|meta| Timestamp::try_from(meta.modified().ok()?).ok());
        modified.is_some_and(|at| now.duration_since(at).unsigned_abs() < span)
    }

    /// Returns the whole lines of a log after a position, and the position after them.
    pub(crate) fn read(&self, log: &Utf8Path, from: Position) -> (Vec<String>, Position) {
        let fresh = self.open_log(log);
        let fresh = fresh.and_then(|log| log.bytes_from(from.0 as u64, LARGEST_LOG).ok());
        let Some(fresh) = fresh else {
            return (Vec::new(), from);
        };
        let Some(end) = fresh.iter().rposition(|&byte| byte == b'\n') else {
            return (Vec::new(), from);
        };
        let lines = fresh[..end].split(|&byte| byte == b'\n');
        let lines = lines
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect();
        (lines, Position(from.0 + end + 1))
    }

    /// Opens a log that an order names, if it is one of the project's: an order can come from anybody.
    ///
    /// The folders of a workflow may be links, as far as they stay in the project.
    fn open_log(&self, log: &Utf8Path) -> Option<GuardedFile> {
        let folder = rekindle_fs::confine(&self.project, log.parent()?).ok()?;
        GuardedFile::open(&folder.join(log.file_name()?)).ok()?
    }
}

/// Returns the attempt number in a folder's name.
fn attempt_number(name: &str) -> Option<u32> {
    let number = name.parse().ok()?;
    // Another spelling, such as `+1` or `01`, is none of ours.
    ((1..=MOST_ATTEMPTS).contains(&number) && number.to_string() == name).then_some(number)
}

/// Reads an order file, if it is complete and its format is known; its origin is not checked.
pub(crate) fn read_order(path: &Utf8Path) -> Option<Order> {
    parse_order(&GuardedFile::open(path).ok()??.bytes(LARGEST_ORDER).ok()?)
}

fn parse_order(bytes: &[u8]) -> Option<Order> {
    let order: Order = serde_json::from_slice(bytes).ok()?;
    (order.schema == ORDER_SCHEMA).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_can_have_been_counted_up_to_are_attempts() {
        for (name, expected) in [
            ("1", Some(1)),
            ("12", Some(12)),
            ("1000000", Some(MOST_ATTEMPTS)),
            ("1000001", None),
            ("4294967295", None),
            ("4294967296", None),
            ("0", None),
            ("01", None),
            ("+1", None),
            ("-1", None),
            ("1 ", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(attempt_number(name), expected, "{name}");
        }
    }

    #[test]
    fn a_folder_without_an_order_of_ours_is_not_an_attempt() {
        let folder = tempfile::tempdir().unwrap();
        let project = Utf8Path::from_path(folder.path()).unwrap();
        let runs = project.join(".rekindle/runs/agent-memory-x");
        let key = project.join("home/key");
        let port = FilePort::new(project, runs, Binding::new(project, Some(&key)));
        assert_eq!(port.newest("T1"), 0);
        let order = |attempt: u32, of: u32| {
            let text = format!(
                r#"{{"seal":"","schema":"{ORDER_SCHEMA}","protocol":"agent-memory","workflow":"x","task":"T1",
                "attempt":{of},"actor":"a","log":"log","project":"/p","worktree":"/w","base":"b","token":"",
                "agent":{{"program":"true","arguments":[],"variables":[],"input":""}},"checks":[],
                "stream":"plain","git":["git",[2,50,0]],"common_dir":"/c","tracked":[],"timeout":null}}"#
            );
            let path = port.order_path("T1", attempt);
            let sealed = port.binding.sealing(&path).unwrap().stamp(&text);
            let text = if attempt == 6 { text } else { sealed };
            rekindle_fs::create(&path, text.as_bytes()).unwrap();
        };
        order(2, 2);
        // One without a seal.
        order(6, 6);
        order(7, 2);
        order(MOST_ATTEMPTS + 1, MOST_ATTEMPTS + 1);
        for empty in ["9", "4294967295"] {
            rekindle_fs::ensure_dir(&port.task_folder("T1").join(empty)).unwrap();
        }
        std::os::unix::fs::symlink("/dev/zero", port.task_folder("T1").join("9/order.json"))
            .unwrap();
        std::os::unix::fs::symlink("2", port.task_folder("T1").join("8")).unwrap();
        assert_eq!(port.newest("T1"), 2);
        assert_eq!(port.order("T1", 2).unwrap().attempt, 2);
        for attempt in [1, 6, 7, 8, 9] {
            assert!(port.order("T1", attempt).is_none(), "{attempt}");
        }
        // Somebody holds its claim, whatever became of its order.
        let claim = port.claim_path("T1", 11);
        let _lock = Lock::acquire(&claim, "test", "2026-01-20T12:00:00Z".to_owned()).unwrap();
        assert_eq!(port.newest("T1"), 11);
    }
}
