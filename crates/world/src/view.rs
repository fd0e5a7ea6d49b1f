//! The trait [`World`] and its answers.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::{
    DatabaseQuestion, DatabaseRow, GitAnswer, GitQuestion, ProcessAnswer, ProcessQuestion,
};

/// What a path is, without following a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A socket, pipe or device: nothing to read.
    Other,
}

/// Metadata of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// What it is.
    pub kind: Kind,
    /// Its length in bytes, 0 for folders.
    pub len: u64,
}

/// Metadata and modification time of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// What it is, without following a link.
    pub meta: Meta,
    /// When it was last written; not every world knows.
    pub modified: Option<Timestamp>,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The name; one that is not UTF-8 has replacement characters and cannot be opened.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// Owner and permissions of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ownership {
    /// Whose it is.
    pub owner: Owner,
    /// Its permission bits, the sticky bit among them.
    pub mode: u32,
}

/// Whose a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// The current user.
    Me,
    /// The superuser.
    Root,
    /// Another user.
    Other,
}

/// Which end of a file is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The first bytes.
    Head,
    /// The last bytes.
    Tail,
}

/// Why something could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum ReadError {
    /// The path is missing, or not of the requested kind.
    #[error("it does not exist")]
    NotFound,
    /// The user may not read it.
    #[error("permission denied")]
    Denied,
    /// It is larger than the limit.
    #[error("{len} bytes long, over the limit of {limit}")]
    #[expect(missing_docs, reason = "the message explains the fields")]
    TooLarge { len: u64, limit: u64 },
    /// Any other error of the system.
    #[error("{0}")]
    Failed(String),
}

impl From<std::io::Error> for ReadError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the open list of error kinds of std"
    )]
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::InvalidFilename => Self::NotFound,
            ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl ReadError {
    /// Returns whether the path is simply not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound)
    }
}

/// All questions that a protocol may ask. All paths are absolute; nothing here writes.
pub trait World {
    /// Returns the project's folder.
    fn project(&self) -> &Utf8Path;

    /// Returns the time, which is fixed while one question is answered.
    fn now(&self) -> Timestamp;

    /// Returns the user's time zone, for files that keep local times.
    fn zone(&self) -> TimeZone;

    /// Returns an environment variable that a protocol names (`HOME`, `KILN_WORKTREE_ROOT`).
    fn variable(&self, name: &str) -> Option<String>;

    /// Returns what a path is, without following a last link.
    fn stat(&self, path: &Utf8Path) -> Result<Meta, ReadError>;

    /// Returns metadata of many paths, in their order, using all cores.
    fn look_at_each(&self, paths: &[Utf8PathBuf]) -> Vec<Option<Seen>> {
        let look = |path: &Utf8PathBuf| {
            Some(Seen {
                meta: self.stat(path).ok()?,
                modified: self.modified(path),
            })
        };
        paths.iter().map(look).collect()
    }

    /// Lists a folder, sorted by name.
    fn list(&self, folder: &Utf8Path) -> Result<Vec<Entry>, ReadError>;

    /// Returns the path with all links resolved.
    fn resolve(&self, path: &Utf8Path) -> Result<Utf8PathBuf, ReadError>;

    /// Reads a whole file of at most `limit` bytes.
    fn read(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, ReadError>;

    /// Passes a file to `sink` in pieces, so that its length costs no memory.
    ///
    /// A file of more than 1 GiB is [`ReadError::TooLarge`], since it would take too long.
    fn stream(&self, path: &Utf8Path, sink: &mut dyn FnMut(&[u8])) -> Result<(), ReadError>;

    /// Reads at most `most` bytes at one end of a file, however long it is.
    fn read_end(&self, path: &Utf8Path, end: End, most: usize) -> Result<Vec<u8>, ReadError> {
        let mut kept = Vec::new();
        self.stream(path, &mut |piece| match end {
            End::Head => {
                let room = most.saturating_sub(kept.len()).min(piece.len());
                kept.extend_from_slice(&piece[..room]);
            }
            End::Tail => {
                kept.extend_from_slice(piece);
                let surplus = kept.len().saturating_sub(most);
                kept.drain(..surplus);
            }
        })?;
        Ok(kept)
    }

    /// Returns the owner and permissions of a path, without following a last link.
    fn ownership(&self, path: &Utf8Path) -> Result<Ownership, ReadError>;

    /// Returns when a file was last written, following links; not every world knows.
    ///
    /// It is recorded, but a changed time alone does not count as a change of the world.
    fn modified(&self, path: &Utf8Path) -> Option<Timestamp>;

    /// Asks git about the repository of a folder; [`ReadError::NotFound`] where there is none.
    fn git(&self, folder: &Utf8Path, question: &GitQuestion) -> Result<GitAnswer, ReadError>;

    /// Asks git about several folders, in parallel where that is faster; answers are in order.
    fn git_of_each(
        &self,
        questions: &[(Utf8PathBuf, GitQuestion)],
    ) -> Vec<Result<GitAnswer, ReadError>> {
        let each = questions.iter();
        each.map(|(folder, question)| self.git(folder, question))
            .collect()
    }

    /// Queries a SQLite database of another program without changing anything.
    fn database(
        &self,
        path: &Utf8Path,
        question: &DatabaseQuestion,
    ) -> Result<Vec<DatabaseRow>, ReadError>;

    /// Asks about the processes of this machine; [`ReadError::NotFound`] where there are none to see.
    fn processes(&self, question: &ProcessQuestion) -> Result<ProcessAnswer, ReadError>;

    /// Returns whether there is a file at the path (a link to one counts).
    fn is_file(&self, path: &Utf8Path) -> bool {
        let mut found = self.stat(path);
        if found.as_ref().is_ok_and(|meta| meta.kind == Kind::Link) {
            found = self.resolve(path).and_then(|target| self.stat(&target));
        }
        found.is_ok_and(|meta| meta.kind == Kind::File)
    }
}
