//! Why git could not answer or act.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::id::ObjectId;
use crate::path::RepoPath;
use crate::program::Version;
use crate::refs::Expected;

/// System errors about the disk, as git prints them.
const OF_THE_DISK: [&str; 4] = [
    "No space left on device",
    "Disk quota exceeded",
    "Input/output error",
    "Read-only file system",
];

/// Why git could not answer or act.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the message of each variant explains its fields"
)]
pub enum Error {
    /// No executable `git` in any absolute folder of PATH.
    #[error(
        "`git` was not found on PATH (`{}`); install git {} or newer",
        .0.display(),
        Version::MINIMUM
    )]
    Missing(OsString),

    /// The first `git` on PATH is too old.
    #[error(
        "`{}` is git {found}, but {needed} or newer is needed (for `git merge-tree --write-tree`); \
         install a newer git or put it first on PATH",
        path.display()
    )]
    TooOld {
        path: PathBuf,
        found: Version,
        needed: Version,
    },

    /// The executable called `git` is not git.
    #[error("`{} version` answered `{answer}`, which is not a git version", path.display())]
    NotGit { path: PathBuf, answer: String },

    /// The process could not be started or waited for.
    #[error("cannot run `{}`", path.display())]
    Run { path: PathBuf, source: io::Error },

    /// git exited with an error; `args` are without the settings of every run, `stderr` is its end.
    #[error("`git {}` in `{dir}` ended with {status}: {}", args.join(" "), stderr.trim())]
    Failed {
        args: Vec<String>,
        dir: Utf8PathBuf,
        status: ExitStatus,
        stderr: String,
    },

    /// git ran too long and was stopped, with everything it had started.
    #[error("`git {}` in `{dir}` did not end within {limit:?} and was stopped", args.join(" "))]
    TimedOut {
        args: Vec<String>,
        dir: Utf8PathBuf,
        limit: Duration,
    },

    /// git succeeded, but its output does not match its manual.
    #[error("`git {}` in `{dir}` printed something unexpected: {what}", args.join(" "))]
    Unexpected {
        args: Vec<String>,
        dir: Utf8PathBuf,
        what: String,
    },

    /// The folder is not in a repository, or the repository of this worktree is gone.
    #[error("`{0}` is not in a git repository")]
    NotARepository(Utf8PathBuf),

    /// The folder is a bare repository, whose settings may have come with a clone.
    #[error(
        "`{0}` looks like a bare git repository; rekindle uses only repositories that have a `.git`"
    )]
    Bare(Utf8PathBuf),

    /// `core.worktree` of the repository names another folder.
    #[error(
        "the repository of `{dir}` is configured for the worktree `{top_level}`, which is another \
         folder; see `git -C '{dir}' config core.worktree`"
    )]
    Elsewhere {
        dir: Utf8PathBuf,
        top_level: Utf8PathBuf,
    },

    /// A partial clone lacks objects, which rekindle does not fetch.
    #[error(
        "`git {}` in `{dir}` needs objects that this partial clone has not fetched, and rekindle does \
         not use the network; run `git -C '{dir}' fetch --refetch --no-filter` first",
        args.join(" ")
    )]
    NotFetched { args: Vec<String>, dir: Utf8PathBuf },

    /// The index has an unresolved merge.
    #[error(
        "`{dir}` has unresolved merge conflicts in {}; resolve or abort the merge first, `git -C \
         '{dir}' status` shows how",
        list(paths)
    )]
    Conflicted {
        dir: Utf8PathBuf,
        paths: Vec<RepoPath>,
    },

    /// git refuses a repository that another user owns.
    #[error("the repository of `{0}` belongs to another user, and git does not work in it")]
    OfAnotherUser(Utf8PathBuf),

    /// The folder does not exist.
    #[error("there is no folder `{0}`")]
    NoSuchFolder(Utf8PathBuf),

    /// The folder is not the top of a worktree.
    ///
    /// A worktree without its `.git` file looks like this inside another repository, where git
    /// would destroy work.
    #[error("`{dir}` is not the top of a worktree; git takes it for a part of `{top_level}`")]
    NotTopLevel {
        dir: Utf8PathBuf,
        top_level: Utf8PathBuf,
    },

    /// The worktree has files that git should not store; nothing was saved.
    #[error("`{dir}` holds files that are too large for git: {}", list(paths))]
    TooLarge {
        dir: Utf8PathBuf,
        paths: Vec<RepoPath>,
    },

    /// A folder is not the expected linked worktree; nothing was changed.
    #[error("`{dir}` is not a worktree of this repository: {what}")]
    NotOurWorktree { dir: Utf8PathBuf, what: String },

    /// Objects that were just stored are gone, as after a concurrent `git gc --prune=now`.
    #[error("{what} is no longer complete in the repository; was `git gc --prune=now` run?")]
    Lost { what: String },

    /// Repositories inside the worktree, or changed submodules, would be deleted with it.
    #[error(
        "`{dir}` holds other repositories, which no backup can keep: {}",
        list(paths)
    )]
    Nested {
        dir: Utf8PathBuf,
        paths: Vec<RepoPath>,
    },

    /// A ref was not where the caller had seen it; nothing was changed.
    #[error("`{name}` was expected {expected}, but {}", found_words(found.as_ref()))]
    RefMoved {
        name: String,
        expected: Expected,
        found: Option<ObjectId>,
    },

    /// The name does not start with `refs/`.
    #[error("`{0}` is not the full name of a ref")]
    BadRefName(String),

    /// The text is not a full object id.
    #[error("`{0}` is not a full object id")]
    BadObjectId(String),

    /// A commit message that would not read back.
    #[error("{reason}: `{text}`")]
    BadMessage { text: String, reason: &'static str },

    /// The path of the repository is not UTF-8.
    #[error("the path `{}` is not UTF-8", .0.display())]
    NotUtf8(PathBuf),

    /// A rescue is restored only into an empty or new folder.
    #[error("`{0}` is not an empty folder")]
    Occupied(Utf8PathBuf),

    /// A temporary file or the folder to restore into could not be created.
    #[error("cannot prepare `{}`", path.display())]
    Prepare { path: PathBuf, source: io::Error },
}

fn list(paths: &[RepoPath]) -> String {
    let names: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    names.join(", ")
}

fn found_words(found: Option<&ObjectId>) -> String {
    match found {
        Some(id) => format!("is at {id}"),
        None => "does not exist".to_owned(),
    }
}

impl Error {
    /// Returns a function that turns a system error into [`Error::Prepare`].
    pub(crate) fn prepare<E: Into<io::Error>>(path: impl Into<PathBuf>) -> impl FnOnce(E) -> Self {
        let path = path.into();
        move |source| Self::Prepare {
            path,
            source: source.into(),
        }
    }

    /// Returns [`Error::Unexpected`] for a call of git in a folder.
    pub(crate) fn unexpected(args: &[&str], dir: &Utf8Path, what: &str) -> Self {
        Self::Unexpected {
            args: args.iter().map(ToString::to_string).collect(),
            dir: dir.to_owned(),
            what: what.to_owned(),
        }
    }

    /// Returns whether git was killed, not started or could not write, which says nothing about the
    /// repository.
    pub fn is_of_the_machine(&self) -> bool {
        if let Self::Failed { status, stderr, .. } = self {
            let is_of_the_disk = OF_THE_DISK.iter().any(|words| stderr.contains(words));
            return status.signal().is_some() || is_of_the_disk;
        }
        matches!(self, Self::Run { .. } | Self::Prepare { .. })
    }

    /// Returns what git itself said, as a clause, or the whole error if it said nothing.
    pub fn said(&self) -> String {
        let Self::Failed { stderr, .. } = self else {
            return self.to_string();
        };
        let lines = stderr.lines().map(str::trim);
        let plain = |line: &&str| !line.is_empty() && !line.starts_with("hint:");
        let last: Vec<&str> = lines.filter(plain).collect();
        match last.first() {
            Some(first) => first.trim_start_matches("error: ").to_owned(),
            None => self.to_string(),
        }
    }

    /// Returns the command by which a user trusts a repository of another user.
    pub fn trust_command(&self) -> Option<String> {
        let Self::OfAnotherUser(dir) = self else {
            return None;
        };
        let dir = dir.as_str().replace('\'', r"'\''");
        Some(format!("git config --global --add safe.directory '{dir}'"))
    }

    /// Returns whether there is no repository or folder to ask.
    pub fn is_no_repository(&self) -> bool {
        matches!(
            self,
            Self::NotARepository { .. } | Self::NoSuchFolder { .. } | Self::Bare { .. }
        )
    }
}
