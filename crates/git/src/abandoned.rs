//! Locks and half-written files that a killed git left behind.
//!
//! git takes its locks away when it is asked to end, not when it is killed. They then stand in the
//! way of every git to come, and nothing in them tells whose they were. They are taken away where
//! that can be known: in a worktree whose last user is gone, as its caller says, and anywhere in what
//! runs share if no git that is as old as the lock is alive.

#![expect(
    clippy::disallowed_methods,
    reason = "locks of git's own, which git itself says to remove, and the table of processes"
)]

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::Error;
use crate::repo::{Layout, Repo};

/// What git locks in a worktree's own folder before it changes HEAD or the index.
const OF_A_WORKTREE: [&str; 3] = ["HEAD.lock", "index.lock", REFTABLE_LOCK];

/// The lock on all refs of a folder that keeps them in reftables.
const REFTABLE_LOCK: &str = "reftable/tables.list.lock";

/// What git says when it cannot take [`REFTABLE_LOCK`]; it does not say which one.
const REFTABLE_IS_LOCKED: &[u8] = b"cannot lock references";

/// The file of a linked worktree that git creates empty and fills a moment later. While it is empty,
/// every git that lists worktrees dies.
const COMMON_DIR: &str = "commondir";

/// What git writes into [`COMMON_DIR`]: the repository is two folders above `worktrees/<name>`.
const REPOSITORY_ABOVE: &str = "../..\n";

/// How long a living git is given to fill [`COMMON_DIR`], in pauses.
const FILLING_TRIES: u32 = 100;
const FILLING_PAUSE: Duration = Duration::from_millis(10);

/// No lock is taken away before it is that old: programs that are no git hold theirs for milliseconds.
const OLD_ENOUGH: Duration = Duration::from_secs(1);

/// What git calls those of its programs that never end by themselves.
const DAEMONS: [&[u8]; 3] = [b"fsmonitor--daemon", b"credential-cache--daemon", b"daemon"];
/// Linux counts the starts of processes in hundredths of a second, on every machine.
const TICKS: f64 = 100.0;

impl Repo {
    /// Takes away the lock that a git has stumbled over, by what it said, if it is abandoned; returns
    /// whether it did.
    ///
    /// The index and HEAD of the user's own checkout are never meant.
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

    /// Waits until the worktree that git failed to read, by what it said, is completely registered;
    /// returns whether git should be asked again.
    ///
    /// `git worktree add` may be at work next to us. If it was killed instead, or the machine lost
    /// power, git stays broken in the whole repository; `may_write` completes the file then.
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
            .map_err(|source| Error::Prepare {
                path: file.into(),
                source,
            })?;
        Ok(true)
    }
}

/// Takes away the locks on HEAD and index in the git folder of a worktree whose last user is gone.
pub(crate) fn break_locks_in(git_dir: &Utf8Path) -> Result<(), Error> {
    let mut locks = OF_A_WORKTREE.iter().map(|name| git_dir.join(name));
    locks.try_for_each(|lock| remove(&lock))
}

/// Returns the lock that git could not take; the words are the same since 1.6, and their language is
/// pinned.
fn named(said: &[u8]) -> Option<Utf8PathBuf> {
    let said = str::from_utf8(said).ok()?;
    let (_, rest) = said.split_once("Unable to create '")?;
    let (path, _) = rest.split_once("': File exists")?;
    let path = Utf8Path::new(path);
    (path.extension() == Some("lock")).then(|| path.to_owned())
}

/// Returns the file of a worktree that git could not read because it is empty.
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

/// Returns whether nobody is alive who could have made a lock.
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

/// Returns whether every living git has begun after a time; an error where processes can not be seen.
fn no_git_is_older_than(age: Duration) -> io::Result<bool> {
    let uptime = fs::read_to_string("/proc/uptime")?;
    let uptime: f64 = uptime
        .split_whitespace()
        .next()
        .and_then(|seconds| seconds.parse().ok())
        .ok_or_else(|| io::Error::other("no uptime"))?;
    for entry in fs::read_dir("/proc")? {
        let started = started(&entry?.path());
        // A hundredth is what both times are told by.
        if started.is_some_and(|started| uptime - started >= age.as_secs_f64() - 0.02) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns when a process was started, in seconds after the machine, if it is a git that is alive.
fn started(process: &Path) -> Option<f64> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // `pid (name) state …`; the name may hold anything.
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut fields = after.split_whitespace();
    let state = fields.next()?;
    let ticks: f64 = fields.nth(18)?.parse().ok()?;
    // Others have names that begin like it, such as the helper of a prompt that never ends.
    let is_git = name == "git" || name.starts_with("git-");
    (is_git && state != "Z" && !is_daemon(process)).then_some(ticks / TICKS)
}

/// Returns whether a git stays for as long as its user does, and changes no ref.
fn is_daemon(process: &Path) -> bool {
    fs::read(process.join("cmdline")).is_ok_and(|line| starts_daemon(&line))
}

/// Returns whether a command line is that of a daemon: by the program's own name, or by the first word
/// behind it. Any later word may be the name of a branch or of a file.
fn starts_daemon(line: &[u8]) -> bool {
    let words = line.split(|byte| *byte == 0).take(2);
    let mut names = words.map(|word| word.rsplit(|byte| *byte == b'/').next().unwrap_or(word));
    names.any(|name| DAEMONS.contains(&name.strip_prefix(b"git-").unwrap_or(name)))
}

fn remove(lock: &Utf8Path) -> Result<(), Error> {
    match rekindle_fault::change("git-break-lock").and_then(|()| fs::remove_file(lock)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::Prepare {
            path: lock.into(),
            source: error,
        }),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_known_by_its_name_and_not_by_what_it_is_about() {
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
