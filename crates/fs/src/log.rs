//! Files that only grow by complete lines: event logs, and the journal.
//!
//! Several processes may append to one log. Each append takes the file's kernel lock, writes one
//! line in one system call, and syncs. Existing bytes never change: an incomplete line of another
//! writer is closed with a line break, so that the next record is on its own line. A writer that
//! ignores the lock (a shell with `>>`) can break its own line this way, but not ours.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::At as _;
use crate::folder::{ensure_dir, parent, still_leads_to, sync_parent};
use crate::{Error, GuardedFile, Line, disk, sole};

/// Ten seconds in all. An append takes milliseconds; a writer that holds the lock longer was
/// stopped.
const N_ATTEMPTS: u32 = 2_000;
const PAUSE: Duration = Duration::from_millis(5);
/// A larger log is not searched, since that would look like a hang.
const LARGEST: u64 = 4 << 30;

/// An open file of lines, to append to.
#[derive(Debug)]
pub struct Log {
    path: Utf8PathBuf,
    file: File,
}

/// How the log ended before an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a torn tail is worth a finding"]
pub enum Tail {
    /// It was empty or ended with a line break.
    Whole,
    /// Its last line was unfinished; it has been closed with a line break.
    Torn,
}

impl Log {
    /// Creates an empty log and its missing folders durably; gives [`Error::Exists`] when the name
    /// is taken.
    pub fn create(path: &Utf8Path) -> Result<Self, Error> {
        Self::open_with(path, OpenOptions::new().create_new(true))
    }

    /// Opens a log, or creates it with its missing folders durably.
    ///
    /// Gives [`Error::Link`] for a link and [`Error::SeveralNames`] for a file with a second name.
    pub fn open(path: &Utf8Path) -> Result<Self, Error> {
        Self::open_with(path, OpenOptions::new().create(true))
    }

    /// Returns the path under which the log was opened.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Returns whether a log has a record as one complete line, so that it is not appended again
    /// after a crash; a missing log has none.
    pub fn holds(path: &Utf8Path, record: &[u8]) -> Result<bool, Error> {
        let Some(file) = GuardedFile::open(path)? else {
            return Ok(false);
        };
        let mut is_there = false;
        // One byte more for the line break.
        file.lines(LARGEST, record.len() + 1, |line| {
            if let Line::Whole(line) = line {
                is_there |= line.strip_suffix(b"\n").unwrap_or(line) == record;
            }
        })?;
        Ok(is_there)
    }

    /// Appends one record as a line, durably.
    ///
    /// Gives [`Error::LineBreak`], [`Error::Replaced`] or [`Error::Busy`] without writing anything.
    /// After [`Error::Io`] (a full disk) the record may be in the file partly, or without being
    /// durable; the next append is safe in either case.
    pub fn append(&mut self, record: &[u8]) -> Result<Tail, Error> {
        if record.contains(&b'\n') {
            return Err(Error::LineBreak(self.path.clone()));
        }
        self.lock()?;
        let appended = self.append_locked(record);
        let unlocked = self.file.unlock().at("unlock", &self.path);
        let tail = appended?;
        unlocked?;
        Ok(tail)
    }

    fn open_with(path: &Utf8Path, options: &mut OpenOptions) -> Result<Self, Error> {
        ensure_dir(parent(path))?;
        options.read(true).append(true);
        let file = sole::open_to_write(options, path, disk::open)?;
        // Also for an existing file, whose creator may have died before this.
        sync_parent(path)?;
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    fn lock(&self) -> Result<(), Error> {
        for _ in 0..N_ATTEMPTS {
            match self.file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(TryLockError::Error(error)) => return Err(error).at("lock", &self.path),
            }
        }
        Err(Error::Busy(self.path.clone()))
    }

    fn append_locked(&mut self, record: &[u8]) -> Result<Tail, Error> {
        if !still_leads_to(&self.path, &self.file).at("look at", &self.path)? {
            return Err(Error::Replaced(self.path.clone()));
        }
        // It may have got a second name since it was opened.
        sole::check(&self.file.metadata().at("look at", &self.path)?, &self.path)?;
        let tail = self.tail().at("read the end of", &self.path)?;
        let mut line = Vec::with_capacity(record.len() + 2);
        if tail == Tail::Torn {
            line.push(b'\n');
        }
        line.extend_from_slice(record);
        line.push(b'\n');
        self.write_once(&line).at("append to", &self.path)?;
        disk::sync_data(&self.file).at("sync", &self.path)?;
        Ok(tail)
    }

    fn tail(&self) -> io::Result<Tail> {
        let length = self.file.metadata()?.len();
        let Some(last) = length.checked_sub(1) else {
            return Ok(Tail::Whole);
        };
        let mut byte = [0];
        self.file.read_exact_at(&mut byte, last)?;
        Ok(if byte == *b"\n" {
            Tail::Whole
        } else {
            Tail::Torn
        })
    }

    /// Writes in one system call, so that readers and writers without our lock see all or nothing.
    fn write_once(&self, line: &[u8]) -> io::Result<()> {
        loop {
            match disk::write(&self.file, line) {
                Ok(n_written) if n_written == line.len() => return Ok(()),
                // The rest could land after another line. The piece stays, and the next append
                // closes it.
                Ok(n_written) => {
                    let message = format!("only {n_written} of {} bytes were written", line.len());
                    return Err(io::Error::new(io::ErrorKind::StorageFull, message));
                }
                // A signal before the first byte: nothing was written.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
pub(crate) mod tests;
