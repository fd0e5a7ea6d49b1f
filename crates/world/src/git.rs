//! Questions to git and its answers, as plain values that can be recorded in a file.

use std::fmt;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::ReadError;

/// A question about the repository that a folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    missing_docs,
    reason = "each field is a commit, a name or a path, as it says"
)]
pub enum GitQuestion {
    /// Its paths, and what is checked out in the folder.
    Repository,
    /// All its worktrees, the main one first.
    Worktrees,
    /// The commits of HEAD, newest first, without `after` and its ancestors.
    Commits { after: Option<String> },
    /// Whether HEAD contains this commit.
    Has { commit: String },
    /// Differences between the folder's files and a commit, new files included.
    Changes { base: String },
    /// Differences between two commits, without renames.
    Between { from: String, to: String },
    /// Differences between the folder's index and HEAD.
    Staged,
    /// The top of the worktree, and git's name of what is checked out.
    HeadName,
    /// The commit that a name means.
    Commit { name: String },
    /// What `git status --porcelain` prints; `every_file` lists folders of untracked files file by
    /// file.
    PrintedStatus { every_file: bool },
    /// What `git diff --name-only` prints for a commit against the folder's files.
    PrintedNamesSince { base: String },
    /// What `git diff-tree --name-only` prints for a commit.
    PrintedNamesIn { commit: String },
    /// Those of some paths that git ignores, one per line.
    PrintedIgnored { paths: Vec<String> },
    /// The commits of HEAD and of all branches that touched some paths below the folder, and what is not committed there.
    Touched { paths: Vec<String> },
    /// The commits since a time, in seconds since 1970, that have a trailer: those of HEAD, or of all branches too.
    Trailed {
        /// The trailer.
        trailer: String,
        /// The time.
        since: i64,
        /// Whether only those of HEAD are meant.
        of_head: bool,
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
    /// To [`GitQuestion::Touched`] and [`GitQuestion::Trailed`].
    Touched(GitTouched),
}

/// What happened at and below some paths, relative to the folder that was asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitTouched {
    /// The commits of HEAD that touched them, newest first.
    pub commits: Vec<GitTouch>,
    /// The files that differ from what is committed, new ones included.
    pub uncommitted: Vec<GitPath>,
}

/// A commit that touched a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitTouch {
    /// When it was committed, in seconds since 1970.
    pub at: i64,
    /// The first line of its message.
    #[serde(default)]
    pub subject: String,
    /// Its trailers.
    pub trailers: Vec<(String, String)>,
    /// The files that it changed.
    pub paths: Vec<GitPath>,
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

/// The name of what is checked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitHeadName {
    /// The top of the worktree that the folder is in.
    pub top_level: Utf8PathBuf,
    /// The worktree's own git folder; missing in recordings of earlier releases.
    #[serde(default)]
    pub git_dir: Option<Utf8PathBuf>,
    /// What `git rev-parse --abbrev-ref HEAD` prints; none without a commit, and for a name that is
    /// not UTF-8.
    pub name: Option<String>,
}

/// A registered worktree.
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
    /// Why git would forget it: mostly because its folder is missing.
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

/// A file at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitEntry {
    /// Its mode in octal digits.
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

    /// Returns whether this is the folder or below it.
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

/// Shows the path on one line.
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

/// Defines a method for each kind of answer that returns it, or an error for another kind.
macro_rules! answers {
    ($($(#[$doc:meta])* $name:ident: $variant:ident => $value:ty;)*) => {
        impl GitAnswer {
            $($(#[$doc])*
            pub fn $name(self) -> Result<$value, ReadError> {
                if let Self::$variant(value) = self {
                    return Ok(value);
                }
                Err(self.mismatch())
            })*
        }
    };
}

answers! {
    /// Returns the answer to [`GitQuestion::Repository`].
    repository: Repository => GitRepository;
    /// Returns the answer to [`GitQuestion::Worktrees`].
    worktrees: Worktrees => Vec<GitWorktree>;
    /// Returns the answer to [`GitQuestion::Commits`].
    commits: Commits => Vec<GitCommit>;
    /// Returns the answer to [`GitQuestion::Has`].
    has: Has => bool;
    /// Returns the answer to the questions about changes.
    changes: Changes => Vec<GitChange>;
    /// Returns the answer to [`GitQuestion::HeadName`].
    head_name: HeadName => GitHeadName;
    /// Returns the answer to [`GitQuestion::Commit`].
    commit: Commit => Option<String>;
    /// Returns the answer to the questions about what git prints.
    printed: Printed => String;
    /// Returns the answer to [`GitQuestion::Touched`].
    touched: Touched => GitTouched;
}

impl GitAnswer {
    /// Only a recording edited by hand has an answer of another kind.
    fn mismatch(&self) -> ReadError {
        ReadError::Failed(format!("git's recorded answer is {self:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_text_reads_back_from_json() {
        for bytes in [b"src/a b.rs".to_vec(), b"\xff\n".to_vec()] {
            let path = GitPath::new(bytes);
            let text = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<GitPath>(&text).unwrap(), path);
        }
    }
}
