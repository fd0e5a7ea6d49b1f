//! What git is asked, and how it answers, as plain values that can be kept in a file.

use std::fmt;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::ReadError;

/// A question about the repository that a folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitQuestion {
    /// Where it is, and what is checked out in the folder.
    Repository,
    /// All its worktrees, the main one first.
    Worktrees,
    /// The commits that HEAD has, newest first; those of `after` and before it are left out.
    Commits {
        /// A commit.
        after: Option<String>,
    },
    /// Whether HEAD has this commit.
    Has {
        /// The commit.
        commit: String,
    },
    /// What the folder's files hold that a commit does not: staged or not, new files too.
    Changes {
        /// The commit.
        base: String,
    },
    /// What lies between two commits, without looking for renames.
    Between {
        /// The earlier one.
        from: String,
        /// The later one.
        to: String,
    },
    /// What the folder's index has that HEAD does not.
    Staged,
    /// The top of the worktree, and what git calls that which is checked out.
    HeadName,
    /// The commit that a name means.
    Commit {
        /// The name.
        name: String,
    },
    /// What `git status --porcelain` prints.
    PrintedStatus {
        /// Whether folders of untracked files are listed file by file.
        every_file: bool,
    },
    /// What `git diff --name-only` prints for a commit against the folder's files.
    PrintedNamesSince {
        /// The commit.
        base: String,
    },
    /// What `git diff-tree --name-only` prints for a commit.
    PrintedNamesIn {
        /// The commit.
        commit: String,
    },
    /// Those of some paths that git is told to ignore, one a line.
    PrintedIgnored {
        /// The paths.
        paths: Vec<String>,
    },
}

/// An answer; each question has its own kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitAnswer {
    /// To [`GitQuestion::Repository`].
    Repository(GitRepository),
    /// To [`GitQuestion::Worktrees`].
    Worktrees(Vec<GitWorktree>),
    /// To [`GitQuestion::Commits`].
    Commits(Vec<GitCommit>),
    /// To [`GitQuestion::Has`].
    Has(bool),
    /// To [`GitQuestion::Changes`], [`GitQuestion::Between`] and [`GitQuestion::Staged`], by path.
    Changes(Vec<GitChange>),
    /// To [`GitQuestion::HeadName`].
    HeadName(GitHeadName),
    /// To [`GitQuestion::Commit`].
    Commit(Option<String>),
    /// To the questions about what git prints.
    Printed(String),
}

/// Where a repository is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitRepository {
    /// The top of the worktree that the folder is in.
    pub top_level: Utf8PathBuf,
    /// The folder that all worktrees share.
    pub common_dir: Utf8PathBuf,
    /// The commit that is checked out; none on an unborn branch.
    pub head: Option<String>,
    /// The branch that is checked out, without `refs/heads/`.
    pub branch: Option<String>,
}

/// What is checked out, by git's own name for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitHeadName {
    /// The top of the worktree that the folder is in.
    pub top_level: Utf8PathBuf,
    /// The worktree's own git folder; a recording of an earlier release does not have it.
    #[serde(default)]
    pub git_dir: Option<Utf8PathBuf>,
    /// What `git rev-parse --abbrev-ref HEAD` prints; none while there is no commit, and for a name
    /// that is not UTF-8.
    pub name: Option<String>,
}

/// One worktree as git has it registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitWorktree {
    /// Where it is, or was.
    pub path: Utf8PathBuf,
    /// Its commit.
    pub head: Option<String>,
    /// Its branch without `refs/heads/`.
    pub branch: Option<String>,
    /// Why it is locked, perhaps an empty text.
    pub locked: Option<String>,
    /// Why git would forget it: mostly because its folder is gone.
    pub prunable: Option<String>,
}

/// One commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitCommit {
    /// Its id.
    pub id: String,
    /// Its first parent.
    pub parent: Option<String>,
    /// Its first line.
    pub subject: String,
}

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitChange {
    /// Where it is now; for a deletion, where it was.
    pub path: GitPath,
    /// Where it was before, when it was moved.
    pub from: Option<GitPath>,
    /// What was there; nothing for an addition.
    pub before: Option<GitEntry>,
    /// What is there; nothing for a deletion.
    pub after: Option<GitEntry>,
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitEntry {
    /// git's word for the kind of file, in octal digits.
    pub mode: String,
    /// The id of its content.
    pub id: String,
}

/// A path inside a repository: bytes with `/` between, not always UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Spelled", into = "Spelled")]
pub struct GitPath(Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Spelled {
    Text(String),
    Bytes(Vec<u8>),
}

impl GitPath {
    /// Takes the bytes as they are.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether this is the folder or lies below it.
    pub fn is_within(&self, folder: &Self) -> bool {
        self.0
            .strip_prefix(folder.0.as_slice())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

impl From<&str> for GitPath {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<Spelled> for GitPath {
    fn from(spelled: Spelled) -> Self {
        match spelled {
            Spelled::Text(text) => Self::new(text),
            Spelled::Bytes(bytes) => Self(bytes),
        }
    }
}

impl From<GitPath> for Spelled {
    fn from(path: GitPath) -> Self {
        match String::from_utf8(path.0) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Bytes(error.into_bytes()),
        }
    }
}

/// On one line, whatever it holds.
impl fmt::Display for GitPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.0);
        f.write_str(&rekindle_text::printable(&text))
    }
}

impl fmt::Debug for GitPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

impl GitAnswer {
    /// Returns the answer to [`GitQuestion::Repository`].
    pub fn repository(self) -> Result<GitRepository, ReadError> {
        if let Self::Repository(repository) = self {
            return Ok(repository);
        }
        Err(self.mismatch())
    }

    /// Returns the answer to [`GitQuestion::Worktrees`].
    pub fn worktrees(self) -> Result<Vec<GitWorktree>, ReadError> {
        if let Self::Worktrees(worktrees) = self {
            return Ok(worktrees);
        }
        Err(self.mismatch())
    }

    /// Returns the answer to [`GitQuestion::Commits`].
    pub fn commits(self) -> Result<Vec<GitCommit>, ReadError> {
        if let Self::Commits(commits) = self {
            return Ok(commits);
        }
        Err(self.mismatch())
    }

    /// Returns the answer to [`GitQuestion::Has`].
    pub fn has(self) -> Result<bool, ReadError> {
        if let Self::Has(has) = self {
            return Ok(has);
        }
        Err(self.mismatch())
    }

    /// Returns the answer to the questions about changes.
    pub fn changes(self) -> Result<Vec<GitChange>, ReadError> {
        if let Self::Changes(changes) = self {
            return Ok(changes);
        }
        Err(self.mismatch())
    }

    /// Returns the answer to [`GitQuestion::HeadName`].
    pub fn head_name(self) -> Result<GitHeadName, ReadError> {
        if let Self::HeadName(head) = self {
            return Ok(head);
        }
        Err(self.mismatch())
    }

    /// Returns the answer to [`GitQuestion::Commit`].
    pub fn commit(self) -> Result<Option<String>, ReadError> {
        if let Self::Commit(commit) = self {
            return Ok(commit);
        }
        Err(self.mismatch())
    }

    /// Returns the answer to the questions about what git prints.
    pub fn printed(self) -> Result<String, ReadError> {
        if let Self::Printed(text) = self {
            return Ok(text);
        }
        Err(self.mismatch())
    }

    /// Only a recording that was edited by hand can have an answer of another kind.
    fn mismatch(&self) -> ReadError {
        ReadError::Failed(format!("git's recorded answer is {self:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_back_from_a_file_even_when_it_is_no_text() {
        for bytes in [b"src/a b.rs".to_vec(), b"\xff\n".to_vec()] {
            let path = GitPath::new(bytes);
            let text = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<GitPath>(&text).unwrap(), path);
        }
    }
}
