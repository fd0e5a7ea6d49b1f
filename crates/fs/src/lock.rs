//! Who may write: one kernel lock per workflow, and a text that says who holds it.
//!
//! The lock is the kernel's (`flock`), so it is free the moment its holder dies, however it dies. The
//! lock file is never deleted, since deleting it would let two processes lock two files of one name.
//! The text in it serves messages alone: that it is there means nothing, and nothing is decided by it.
//! So there is no "unlock" command, and none is needed.
//!
//! A child process does not keep the lock alive: the file is opened close-on-exec, as everything that
//! Rust's standard library opens, so a started program has no handle on it. Between machines that
//! share a disk the lock is as good as the file system's: see [`Lock::is_on_network_share`].

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::error::At as _;
use crate::folder::{ensure_dir, parent, still_leads_to};
use crate::{Error, Liveness, ProcessIdentity, disk, sole};

/// A [`Lock::probe`] of another process holds the lock for microseconds, and must not look like a holder.
const N_ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(2);
/// Commands that wait for each other last milliseconds; five seconds mean that one hangs.
const N_PATIENT_ATTEMPTS: u32 = 2500;

/// A lock that is held; dropping it frees it.
#[derive(Debug)]
#[must_use = "dropping the lock frees it"]
pub struct Lock {
    path: Utf8PathBuf,
    file: File,
}

/// What the holder of a lock says about itself.
///
/// In the lock file it is one JSON object with `"v":1`. An older or newer reader ignores fields that it
/// does not know, and takes a text that it cannot read for "held, by whom is unknown".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process that took the lock.
    pub process: ProcessIdentity,
    /// What it took it for, best as the command that was typed.
    pub purpose: String,
    /// When it took it, as RFC 3339.
    pub since: String,
}

/// Whether a lock is held at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occupancy {
    /// Nobody holds it.
    Free,
    /// Somebody does, who may not have said who.
    Held(Option<Holder>),
}

/// Why a lock could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process, or another part of this one, holds it.
    #[error("{}", describe(path, holder.as_deref()))]
    Held {
        /// The lock file.
        path: Utf8PathBuf,
        /// Who, if the text in the lock file says so credibly.
        holder: Option<Box<Holder>>,
    },
    /// The lock file itself cannot be used.
    #[error(transparent)]
    Unusable(#[from] Error),
}

impl Lock {
    /// Takes the lock without waiting, and writes down who has it, what for and since when.
    ///
    /// The lock file and its folder are made if missing; `now` is the time as RFC 3339. A path whose
    /// last part is a symbolic link, or a file with a second name, is refused: the text would overwrite
    /// somebody else's file.
    pub fn acquire(path: &Utf8Path, purpose: &str, now: String) -> Result<Self, LockError> {
        Self::acquire_with(path, purpose, now, N_ATTEMPTS, || thread::sleep(PAUSE))
    }

    /// Takes the lock as [`Lock::acquire`] does, but waits some seconds for others that hold it.
    pub fn acquire_patiently(
        path: &Utf8Path,
        purpose: &str,
        now: String,
    ) -> Result<Self, LockError> {
        Self::acquire_with(path, purpose, now, N_PATIENT_ATTEMPTS, || {
            thread::sleep(PAUSE);
        })
    }

    fn acquire_with(
        path: &Utf8Path,
        purpose: &str,
        now: String,
        n_attempts: u32,
        mut pause: impl FnMut(),
    ) -> Result<Self, LockError> {
        ensure_dir(parent(path))?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        for n_left in (0..n_attempts).rev() {
            let file = sole::open_to_write(&mut options, path, disk::open)?;
            match file.try_lock() {
                // Whoever cleans the folder between our opening and locking leaves us a lock on a
                // file that the next process will not find.
                Ok(()) if still_leads_to(path, &file).at("look at", path)? => {
                    let process = ProcessIdentity::current();
                    let holder = Holder {
                        process,
                        purpose: purpose.to_owned(),
                        since: now,
                    };
                    let lock = Self {
                        path: path.to_owned(),
                        file,
                    };
                    write_text(&lock.file, &holder).at("write", path)?;
                    return Ok(lock);
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if n_left == 0 => {
                    let holder = read_text(&file).map(Box::new);
                    return Err(LockError::Held {
                        path: path.to_owned(),
                        holder,
                    });
                }
                Err(TryLockError::WouldBlock) => pause(),
                Err(TryLockError::Error(error)) => return Err(error).at("lock", path)?,
            }
        }
        Err(Error::Replaced {
            path: path.to_owned(),
        }
        .into())
    }

    /// Tells whether and by whom the lock is held, and creates and changes nothing.
    ///
    /// The answer is about a moment that has passed when it arrives: use it for showing, and
    /// [`Lock::acquire`] for deciding. To ask, a shared lock is taken and let go at once; an `acquire`
    /// that meets it tries again and does not notice. A holder that has not yet written its text shows
    /// as held by an unknown.
    pub fn probe(path: &Utf8Path) -> Result<Occupancy, Error> {
        let file = match sole::open(OpenOptions::new().read(true), path, disk::open_as_it_is) {
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(Occupancy::Free);
            }
            other => other?,
        };
        match file.try_lock_shared() {
            Ok(()) => {
                file.unlock().at("unlock", path)?;
                Ok(Occupancy::Free)
            }
            Err(TryLockError::WouldBlock) => Ok(Occupancy::Held(read_text(&file))),
            Err(TryLockError::Error(error)) => Err(error).at("lock", path),
        }
    }

    /// Waits until nobody holds the lock. Blocks, for as long as the holder lives.
    pub fn wait(path: &Utf8Path) -> Result<(), Error> {
        let file = match sole::open(OpenOptions::new().read(true), path, disk::open_as_it_is) {
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(());
            }
            other => other?,
        };
        file.lock_shared().at("wait for", path)?;
        file.unlock().at("unlock", path)
    }

    /// Returns the lock file.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Checks that the lock still keeps others out.
    ///
    /// It no longer does when somebody deleted the lock file (`git clean -fdx`): the next process makes
    /// a new one and locks that. Gives [`Error::Replaced`] then; ask before every step that matters.
    pub fn verify(&self) -> Result<(), Error> {
        if still_leads_to(&self.path, &self.file).at("look at", &self.path)? {
            Ok(())
        } else {
            Err(Error::Replaced {
                path: self.path.clone(),
            })
        }
    }

    /// Returns whether the lock file is on a share (NFS, SMB), where other machines may not see the lock.
    pub fn is_on_network_share(&self) -> bool {
        is_on_network_share(&self.file)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Nobody is to be named for a lock that is free. A kill skips this, and then the named
        // process is gone, which readers of the text check.
        disk::empty(&self.file).ok();
        // Closing would do, but for a child that another thread is just starting: it shares the
        // open file until its `exec`, and an explicit unlock is for all who share it.
        self.file.unlock().ok();
    }
}

/// A lock of another program's, held; dropping it frees it.
///
/// Its file is never made and nothing is written into it.
#[derive(Debug)]
#[must_use = "dropping the lock frees it"]
pub struct ForeignLock {
    _file: File,
}

impl ForeignLock {
    /// Takes the lock if its file is there, waiting some seconds for others that hold it.
    pub fn acquire(path: &Utf8Path) -> Result<Option<Self>, LockError> {
        let file = match sole::open(
            OpenOptions::new().read(true).write(true),
            path,
            disk::open_as_it_is,
        ) {
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            other => other?,
        };
        for _ in 0..N_PATIENT_ATTEMPTS {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(error).at("lock", path)?,
            }
        }
        Err(LockError::Held {
            path: path.to_owned(),
            holder: None,
        })
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text is a file's, so it may hold anything, control sequences of a terminal included.
        let printable = |text: &str| text.replace(char::is_control, "\u{fffd}");
        write!(
            f,
            "process {} (`{}`) on `{}` since {}",
            self.process.pid,
            printable(&self.purpose),
            printable(&self.process.host),
            printable(&self.since)
        )
    }
}

fn describe(path: &Utf8Path, holder: Option<&Holder>) -> String {
    match holder {
        Some(holder) => format!("the run is held by {holder}; lock file `{path}`"),
        None => format!(
            "the run is held by another process that has not said who it is; lock file `{path}`"
        ),
    }
}

#[derive(Serialize)]
struct Text<'a> {
    v: u32,
    #[serde(flatten)]
    holder: &'a Holder,
}

fn write_text(file: &File, holder: &Holder) -> io::Result<()> {
    let mut text = serde_json::to_vec(&Text { v: 1, holder })?;
    text.push(b'\n');
    // Not synced: after a power cut nobody holds the lock.
    disk::overwrite(file, &text)
}

/// Reads who holds the lock; a text that is torn or names a dead process says nothing.
fn read_text(file: &File) -> Option<Holder> {
    // Far more than any text of ours, and an end for a file that is not ours.
    let mut text = vec![0; 64 * 1024];
    let n_read = file.read_at(&mut text, 0).ok()?;
    let holder: Holder = serde_json::from_slice(text.get(..n_read)?).ok()?;
    (holder.process.is_alive() != Liveness::Gone).then_some(holder)
}

#[cfg(target_os = "linux")]
fn is_on_network_share(file: &File) -> bool {
    // NFS, SMB, SMB2, CIFS. Compared as text because the type of the field differs between platforms.
    rustix::fs::fstatfs(file).is_ok_and(|system| {
        matches!(
            format!("{:x}", system.f_type).as_str(),
            "6969" | "517b" | "fe534d42" | "ff534d42"
        )
    })
}

#[cfg(not(target_os = "linux"))]
fn is_on_network_share(_file: &File) -> bool {
    false
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
