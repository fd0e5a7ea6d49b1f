//! Locks and incomplete files that a killed git left behind.
//!
//! A killed git does not remove its locks, which then block every later git. They are removed in a
//! worktree whose last user is gone, as its caller says, and in shared folders if no living git is
//! as old as the lock.

#![expect(
    clippy::disallowed_methods,
    reason = "locks that git itself says to remove, and the process table"
)]

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::Error;
use crate::repo::{Layout, Repo};

/// The locks on HEAD and index in a worktree's own folder.
const OF_A_WORKTREE: [&str; 3] = ["HEAD.lock", "index.lock", REFTABLE_LOCK];

/// The lock on all refs in reftables.
const REFTABLE_LOCK: &str = "reftable/tables.list.lock";

/// The message of git when [`REFTABLE_LOCK`] is taken; it does not name the file.
const REFTABLE_IS_LOCKED: &[u8] = b"cannot lock references";

/// A file of a linked worktree that git creates empty and fills a moment later. While it is empty,
/// every git that lists worktrees fails.
const COMMON_DIR: &str = "commondir";

/// The content of [`COMMON_DIR`]: the repository is two folders above `worktrees/<name>`.
const REPOSITORY_ABOVE: &str = "../..\n";

/// How long a living git may take to fill [`COMMON_DIR`].
const FILLING_TRIES: u32 = 100;
const FILLING_PAUSE: Duration = Duration::from_millis(10);

/// Locks must be this old: other programs hold theirs for milliseconds.
const OLD_ENOUGH: Duration = Duration::from_secs(1);

/// Subcommands of git that run forever.
const DAEMONS: [&[u8]; 3] = [b"fsmonitor--daemon", b"credential-cache--daemon", b"daemon"];
/// Clock ticks per second on Linux.
const TICKS: f64 = 100.0;

impl Repo {
    /// Removes the lock that git names in its message, if it is abandoned; returns whether it did.
    ///
    /// The index and HEAD of the user's own checkout are never touched.
    pub(crate) fn remove_abandoned(&self, said: &[u8]) -> bool {
        let mut ends = said.split(|byte| *byte == b'\n');
        let is_of_reftables = ends.any(|line| line.ends_with(REFTABLE_IS_LOCKED));
        let named = named(said).map(|lock| self.dir().join(lock));
        if named.is_none() && !is_of_reftables {
            return false;
        }
        let Ok(layout) = self.layout() else {
            return false;
        };
        let of_reftables = [&layout.common_dir, &layout.git_dir].map(|dir| dir.join(REFTABLE_LOCK));
        let locks = match named {
            Some(lock) => vec![lock],
            None => of_reftables.to_vec(),
        };
        locks
            .iter()
            .any(|lock| is_shared(&layout, lock) && is_abandoned(lock) && remove(lock).is_ok())
    }

    /// Waits until the worktree that git failed to read is completely registered; returns whether
    /// to run git again.
    ///
    /// `git worktree add` may be running. If it was killed, git stays broken in the whole
    /// repository; `may_write` completes the file then.
    pub(crate) fn await_registration(&self, said: &[u8], may_write: bool) -> bool {
        let Some(file) = unread_common_dir(said).map(|file| self.dir().join(file)) else {
            return false;
        };
        let is_empty = || file.symlink_metadata().is_ok_and(|found| found.len() == 0);
        for _ in 0..FILLING_TRIES {
            if !is_empty() {
                return true;
            }
            thread::sleep(FILLING_PAUSE);
        }
        may_write && self.complete_registration(&file).unwrap_or(false)
    }

    fn complete_registration(&self, file: &Utf8Path) -> Result<bool, Error> {
        let registry = self.common_dir()?.join("worktrees");
        let is_of_worktree = file
            .canonicalize_utf8()
            .is_ok_and(|file| file.parent().and_then(Utf8Path::parent) == Some(&*registry));
        if !is_of_worktree || !is_abandoned(file) {
            return Ok(false);
        }
        rekindle_fault::growth("git-complete-registration")
            .and_then(|()| fs::write(file, REPOSITORY_ABOVE))
            .map_err(Error::prepare(file))?;
        Ok(true)
    }
}

/// Removes the locks on HEAD and index of a worktree whose last user is gone.
pub(crate) fn break_locks_in(git_dir: &Utf8Path) -> Result<(), Error> {
    let mut locks = OF_A_WORKTREE.iter().map(|name| git_dir.join(name));
    locks.try_for_each(|lock| remove(&lock))
}

/// Returns the lock that git could not take; the message is the same since 1.6.
fn named(said: &[u8]) -> Option<Utf8PathBuf> {
    let said = str::from_utf8(said).ok()?;
    let (_, rest) = said.split_once("Unable to create '")?;
    let (path, _) = rest.split_once("': File exists")?;
    let path = Utf8Path::new(path);
    (path.extension() == Some("lock")).then(|| path.to_owned())
}

/// Returns the empty file of a worktree that git could not read.
fn unread_common_dir(said: &[u8]) -> Option<Utf8PathBuf> {
    let said = str::from_utf8(said).ok()?;
    let (_, rest) = said.split_once("failed to read ")?;
    let (path, _) = rest.split_once(": Success")?;
    let path = Utf8Path::new(path);
    (path.file_name() == Some(COMMON_DIR)).then(|| path.to_owned())
}

/// Returns whether a lock is on a ref, or in the own folder of a linked worktree.
fn is_shared(layout: &Layout, lock: &Utf8Path) -> bool {
    lock.strip_prefix(&layout.common_dir).is_ok_and(|inside| {
        inside == "packed-refs.lock"
            || inside == REFTABLE_LOCK
            || inside.starts_with("refs")
            || inside.starts_with("worktrees")
    })
}

/// Returns whether no living process can have created a lock.
fn is_abandoned(lock: &Utf8Path) -> bool {
    let age = || {
        lock.metadata()
            .and_then(|found| found.modified())
            .ok()?
            .elapsed()
            .ok()
    };
    let Some(young) = age() else {
        return false;
    };
    thread::sleep(OLD_ENOUGH.saturating_sub(young));
    age().is_some_and(|age| no_git_is_older_than(age).unwrap_or(false))
}

/// Returns whether every living git started after a time; an error where processes are hidden.
fn no_git_is_older_than(age: Duration) -> io::Result<bool> {
    let uptime = fs::read_to_string("/proc/uptime")?;
    let uptime: f64 = uptime
        .split_whitespace()
        .next()
        .and_then(|seconds| seconds.parse().ok())
        .ok_or_else(|| io::Error::other("no uptime"))?;
    for entry in fs::read_dir("/proc")? {
        let started = started(&entry?.path());
        // Both times are precise to a hundredth of a second.
        if started.is_some_and(|started| uptime - started >= age.as_secs_f64() - 0.02) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns when a living git was started, in seconds after boot.
fn started(process: &Path) -> Option<f64> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // `pid (name) state …`; the name may contain anything.
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut fields = after.split_whitespace();
    let state = fields.next()?;
    let ticks: f64 = fields.nth(18)?.parse().ok()?;
    // Other programs start with `git` too, such as the helper of a shell prompt.
    let is_git = name == "git" || name.starts_with("git-");
    (is_git && state != "Z" && !is_daemon(process)).then_some(ticks / TICKS)
}

/// Returns whether a git is a daemon, which changes no ref.
fn is_daemon(process: &Path) -> bool {
    fs::read(process.join("cmdline")).is_ok_and(|line| starts_daemon(&line))
}

/// Returns whether a command line starts a daemon, by the program's name or the first word after
/// it. Later words may be names of branches or files.
fn starts_daemon(line: &[u8]) -> bool {
    let words = line.split(|byte| *byte == 0).take(2);
    let mut names = words.map(|word| word.rsplit(|byte| *byte == b'/').next().unwrap_or(word));
    names.any(|name| DAEMONS.contains(&name.strip_prefix(b"git-").unwrap_or(name)))
}

fn remove(lock: &Utf8Path) -> Result<(), Error> {
    match rekindle_fault::change("git-break-lock").and_then(|()| fs::remove_file(lock)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(Error::prepare(lock)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_recognized_by_its_subcommand_only() {
        for (line, is_daemon) in [
            ("git\0fsmonitor--daemon\0run\0", true),
            ("/usr/bin/git\0credential-cache--daemon\0/s\0", true),
            ("/usr/lib/git-core/git-daemon\0--export-all\0", true),
            ("git\0daemon\0", true),
            ("git\0fetch\0origin\0daemon\0", false),
            ("git\0-C\0daemon\0gc\0", false),
            ("git\0update-ref\0refs/heads/daemon\0", false),
            ("git-daemon-helper\0", false),
            ("", false),
        ] {
            assert_eq!(starts_daemon(line.as_bytes()), is_daemon, "{line:?}");
        }
    }
}
