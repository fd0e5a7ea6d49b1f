//! Exclusive writing: one kernel lock per workflow, and a text that names its holder.
//!
//! The lock is the kernel's (`flock`), so it is free the moment its holder dies, and no "unlock"
//! command is needed. The lock file is never deleted, since then two processes could lock two files
//! of one name. Its text is only for messages, and for [`LastLife`]: who works for long stamps it, so
//! that the next one knows when it died.
//!
//! The file is opened close-on-exec, so a child process does not hold the lock. Between machines
//! that share a disk the lock is as good as the file system's: see [`Lock::is_on_network_share`].

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::error::At as _;
use crate::folder::{ensure_dir, parent, still_leads_to};
use crate::last_life::{LastLife, Life};
use crate::{Error, Liveness, ProcessIdentity, disk, sole};

/// A [`Lock::probe`] of another process holds the lock for microseconds and must not look like a
/// holder.
const N_ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(2);
/// Commands hold the lock for milliseconds; five seconds mean that one hangs.
const N_PATIENT_ATTEMPTS: u32 = 2500;

/// A held lock; dropping it frees it.
#[derive(Debug)]
#[must_use = "dropping the lock frees it"]
pub struct Lock {
    path: Utf8PathBuf,
    file: File,
    holder: Holder,
    /// The life that was stamped here last, as it was found.
    before: Option<Life>,
    /// The newest stamp of this holder.
    stamped: Mutex<Option<String>>,
    /// Whether another process holds it now.
    is_handed_over: bool,
}

/// The holder of a lock, as written in the lock file.
///
/// It is one JSON object with `"v":1`. A reader ignores unknown fields and takes an unreadable text
/// for an unknown holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process that took the lock.
    pub process: ProcessIdentity,
    /// Its purpose, preferably the command that was typed.
    pub purpose: String,
    /// When it took the lock, as RFC 3339.
    pub since: String,
}

/// Whether a lock is held at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occupancy {
    /// Nobody holds it.
    Free,
    /// Somebody holds it, perhaps unknown.
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
        /// The holder, if the text in the lock file names a living one.
        holder: Option<Box<Holder>>,
    },
    /// The lock file itself cannot be used.
    #[error(transparent)]
    Unusable(#[from] Error),
}

impl Lock {
    /// Takes the lock without waiting, and writes down holder, purpose and time (RFC 3339).
    ///
    /// Creates the lock file and its folder if missing. Refuses a symbolic link or a file with a
    /// second name, since the text would overwrite another file.
    pub fn acquire(path: &Utf8Path, purpose: &str, now: String) -> Result<Self, LockError> {
        Self::acquire_with(path, purpose, now, N_ATTEMPTS, || thread::sleep(PAUSE))
    }

    /// Takes the lock as [`Lock::acquire`] does, but waits some seconds for another holder.
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
                // If the folder was cleaned meanwhile, the next process would not find the file we
                // locked.
                Ok(()) if still_leads_to(path, &file).at("look at", path)? => {
                    let holder = Holder {
                        process: ProcessIdentity::current(),
                        purpose: purpose.to_owned(),
                        since: now,
                    };
                    let before = Life::read(&whole_text(&file));
                    let text = Text::of(Some(&holder), None, before.as_ref());
                    let text = text.line().at("write", path)?;
                    disk::overwrite(&file, &text).at("write", path)?;
                    return Ok(Self {
                        path: path.to_owned(),
                        file,
                        holder,
                        before,
                        stamped: Mutex::new(None),
                        is_handed_over: false,
                    });
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
        Err(Error::Replaced(path.to_owned()).into())
    }

    /// Returns whether and by whom the lock is held, without creating or changing anything.
    ///
    /// For display only: the answer may be outdated when it arrives. It takes a shared lock for a
    /// moment; an `acquire` that meets it tries again.
    pub fn probe(path: &Utf8Path) -> Result<Occupancy, Error> {
        let Some(file) = open_existing(OpenOptions::new().read(true), path)? else {
            return Ok(Occupancy::Free);
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

    /// Blocks until nobody holds the lock.
    pub fn wait(path: &Utf8Path) -> Result<(), Error> {
        let Some(file) = open_existing(OpenOptions::new().read(true), path)? else {
            return Ok(());
        };
        file.lock_shared().at("wait for", path)?;
        file.unlock().at("unlock", path)
    }

    /// Returns the lock file.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Checks that the lock still excludes others; call it before every step that matters.
    ///
    /// Gives [`Error::Replaced`] when the lock file was deleted (`git clean -fdx`): the next
    /// process would lock a new one.
    pub fn verify(&self) -> Result<(), Error> {
        if still_leads_to(&self.path, &self.file).at("look at", &self.path)? {
            Ok(())
        } else {
            Err(Error::Replaced(self.path.clone()))
        }
    }

    /// Writes down that the holder lives at a time (RFC 3339), so that the time of its death is known.
    ///
    /// All stamps should be of one length: the text is then replaced at once, and no reader finds half
    /// of it.
    pub fn stamp(&self, now: &str) -> Result<(), Error> {
        let text = Text::of(Some(&self.holder), Some(now), None);
        let text = text.line().at("write", &self.path)?;
        disk::write_over(&self.file, &text).at("write", &self.path)?;
        let mut stamped = self.stamped.lock().unwrap_or_else(PoisonError::into_inner);
        *stamped = Some(now.to_owned());
        Ok(())
    }

    /// Returns the last life that was stamped here before this holder took the lock.
    pub fn last_life(&self) -> Option<LastLife> {
        self.before.as_ref().map(Life::judge)
    }

    /// Returns the last life that was stamped in a lock file that nobody holds.
    pub fn last_life_at(path: &Utf8Path) -> Result<Option<LastLife>, Error> {
        let Some(file) = open_existing(OpenOptions::new().read(true), path)? else {
            return Ok(None);
        };
        match file.try_lock_shared() {
            Ok(()) => {
                let life = Life::read(&whole_text(&file));
                file.unlock().at("unlock", path)?;
                Ok(life.as_ref().map(Life::judge))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).at("lock", path),
        }
    }

    /// Gives the lock to a process that is started with this file as its standard input: the lock is
    /// free when that process ends, or at once if it is not started.
    pub fn hand_over(mut self) -> Result<File, Error> {
        let file = self.file.try_clone().at("hand over", &self.path)?;
        self.is_handed_over = true;
        Ok(file)
    }

    /// Returns whether this process was given the lock as its standard input.
    pub fn is_inherited(path: &Utf8Path) -> bool {
        let input = io::stdin().as_fd().try_clone_to_owned().map(File::from);
        input.is_ok_and(|file| still_leads_to(path, &file).unwrap_or(false))
    }

    /// Returns whether the lock file is on a network share (NFS, SMB), where other machines may not
    /// see the lock.
    pub fn is_on_network_share(&self) -> bool {
        is_on_network_share(&self.file)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.is_handed_over {
            return;
        }
        // A free lock names no holder. A kill skips this; readers then find that the process is
        // gone.
        let stamped = self.stamped.get_mut();
        let stamped = stamped.unwrap_or_else(PoisonError::into_inner).take();
        let life = stamped.map(Life::released).or(self.before.take());
        let text = life.and_then(|life| Text::of(None, None, Some(&life)).line().ok());
        match text {
            Some(text) => disk::overwrite(&self.file, &text).ok(),
            None => disk::empty(&self.file).ok(),
        };
        // A child that another thread is starting shares the open file until its `exec`; an
        // explicit unlock covers it, closing would not.
        self.file.unlock().ok();
    }
}

/// A held lock of another program; dropping it frees it. Its file is never created or written.
#[derive(Debug)]
#[must_use = "dropping the lock frees it"]
pub struct ForeignLock {
    _file: File,
}

impl ForeignLock {
    /// Takes the lock if its file exists, waiting some seconds for another holder.
    pub fn acquire(path: &Utf8Path) -> Result<Option<Self>, LockError> {
        let Some(file) = open_existing(OpenOptions::new().read(true).write(true), path)? else {
            return Ok(None);
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
        // The file may contain anything, including control sequences.
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

/// Opens a lock file without creating it; `None` if it does not exist.
fn open_existing(options: &mut OpenOptions, path: &Utf8Path) -> Result<Option<File>, Error> {
    match sole::open(options, path, disk::open_as_it_is) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
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

/// The text of a lock file, for those who write it.
#[derive(Serialize)]
struct Text<'a> {
    v: u32,
    #[serde(flatten)]
    holder: Option<&'a Holder>,
    /// The holder's newest sign of life.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<&'a str>,
    /// The life before, until somebody stamps a newer one.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<&'a Life>,
}

impl<'a> Text<'a> {
    fn of(holder: Option<&'a Holder>, seen: Option<&'a str>, last: Option<&'a Life>) -> Self {
        Self {
            v: 1,
            holder,
            seen,
            last,
        }
    }

    /// Returns it as bytes. Not synced when it is written: after a power cut nobody holds the lock.
    fn line(&self) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// Reads the text as far as ours can be long: the file may be anybody's.
fn whole_text(file: &File) -> Vec<u8> {
    let mut text = vec![0; 64 * 1024];
    let n_read = file.read_at(&mut text, 0).unwrap_or_default();
    text.truncate(n_read);
    text
}

/// Reads the holder; an incomplete text or one that names a dead process counts as none.
fn read_text(file: &File) -> Option<Holder> {
    let holder: Holder = serde_json::from_slice(&whole_text(file)).ok()?;
    (holder.process.is_alive() != Liveness::Gone).then_some(holder)
}

#[cfg(target_os = "linux")]
fn is_on_network_share(file: &File) -> bool {
    // NFS, SMB, SMB2, CIFS, as text because the type of the field differs between platforms.
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
