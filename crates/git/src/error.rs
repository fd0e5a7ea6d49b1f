//! Why git could not answer or act.
//!
//! Variants are the cases a caller tells apart; every command, folder and ref is a field.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use camino::Utf8PathBuf;

use crate::id::ObjectId;
use crate::path::RepoPath;
use crate::program::Version;
use crate::refs::Expected;

/// What the system says of a disk, as git hands it on.
const OF_THE_DISK: [&str; 4] = [
    "No space left on device",
    "Disk quota exceeded",
    "Input/output error",
    "Read-only file system",
];

/// Why git could not answer or act.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No executable `git` in any absolute folder of PATH.
    #[error(
        "`git` was not found on PATH (`{}`); install git {} or newer",
        searched.display(),
        Version::MINIMUM
    )]
    Missing {
        /// The PATH that was searched.
        searched: OsString,
    },

    /// The first `git` on PATH is older than we can work with.
    #[error(
        "`{}` is git {found}, but {needed} or newer is needed (for `git merge-tree --write-tree`); \
         install a newer git or put it first on PATH",
        path.display()
    )]
    TooOld {
        /// The executable.
        path: PathBuf,
        /// What it says it is.
        found: Version,
        /// [`Version::MINIMUM`].
        needed: Version,
    },

    /// The executable called `git` does not answer `git version` as git does.
    #[error("`{} version` answered `{answer}`, which is no git version", path.display())]
    NotGit {
        /// The executable.
        path: PathBuf,
        /// What it printed.
        answer: String,
    },

    /// The process could not be started or waited for.
    #[error("cannot run `{}`", path.display())]
    Run {
        /// The executable.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// git ended with an error.
    #[error("`git {}` in `{dir}` ended with {status}: {}", args.join(" "), stderr.trim())]
    Failed {
        /// Its arguments, without the `-c` settings that every run has.
        args: Vec<String>,
        /// Where it ran.
        dir: Utf8PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// The end of what it wrote to standard error, at most 8 KiB.
        stderr: String,
    },

    /// git did not end in time and was stopped, with everything it had started.
    #[error("`git {}` in `{dir}` did not end within {limit:?} and was stopped", args.join(" "))]
    TimedOut {
        /// Its arguments, without the `-c` settings that every run has.
        args: Vec<String>,
        /// Where it ran.
        dir: Utf8PathBuf,
        /// The time it was given.
        limit: Duration,
    },

    /// git ended well, but its output is not what its manual says.
    #[error("`git {}` in `{dir}` printed something unexpected: {what}", args.join(" "))]
    Unexpected {
        /// Its arguments, without the `-c` settings that every run has.
        args: Vec<String>,
        /// Where it ran.
        dir: Utf8PathBuf,
        /// What was wrong with the output.
        what: String,
    },

    /// The folder is in no repository, or the repository of this worktree is gone.
    #[error("`{dir}` is not in a git repository")]
    NotARepository {
        /// The folder.
        dir: Utf8PathBuf,
    },

    /// The folder itself is a bare repository, and its settings may have come with a clone.
    #[error(
        "`{dir}` looks like a bare git repository; rekindle uses only repositories that have a `.git`"
    )]
    Bare {
        /// The folder.
        dir: Utf8PathBuf,
    },

    /// The settings of the repository (`core.worktree`) name a worktree that is somewhere else.
    #[error(
        "the repository of `{dir}` is configured for the worktree `{top_level}`, which is another \
         folder; see `git -C '{dir}' config core.worktree`"
    )]
    Elsewhere {
        /// The folder that was given.
        dir: Utf8PathBuf,
        /// The worktree git would have worked on.
        top_level: Utf8PathBuf,
    },

    /// A partial clone lacks objects, and they are not fetched.
    #[error(
        "`git {}` in `{dir}` needs objects that this partial clone has not fetched, and rekindle does \
         not use the network; run `git -C '{dir}' fetch --refetch --no-filter` first",
        args.join(" ")
    )]
    NotFetched {
        /// Its arguments, without the settings that every run has.
        args: Vec<String>,
        /// Where it ran.
        dir: Utf8PathBuf,
    },

    /// The index has both sides of a merge that nobody has resolved.
    #[error(
        "`{dir}` has unresolved merge conflicts in {}; resolve or abort the merge first, `git -C \
         '{dir}' status` shows how",
        list(paths)
    )]
    Conflicted {
        /// The folder.
        dir: Utf8PathBuf,
        /// The files.
        paths: Vec<RepoPath>,
    },

    /// git refuses to work in what somebody else could have prepared.
    #[error("the repository of `{dir}` belongs to another user, and git does not work in it")]
    OfAnotherUser {
        /// The folder.
        dir: Utf8PathBuf,
    },

    /// The folder does not exist.
    #[error("there is no folder `{dir}`")]
    NoSuchFolder {
        /// The folder.
        dir: Utf8PathBuf,
    },

    /// A destructive step was asked for in a folder that is not the top of a worktree.
    ///
    /// A worktree whose `.git` file is gone looks like this when it lies inside another
    /// repository: git would find that one and destroy work there.
    #[error("`{dir}` is not the top of a worktree; git takes it for a part of `{top_level}`")]
    NotTopLevel {
        /// The folder that was given.
        dir: Utf8PathBuf,
        /// The worktree git would have worked on.
        top_level: Utf8PathBuf,
    },

    /// The worktree holds files that git should not take in; nothing of it was saved.
    #[error(
        "`{dir}` holds files that are too large for git: {}",
        paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
    )]
    TooLarge {
        /// The worktree.
        dir: Utf8PathBuf,
        /// The files.
        paths: Vec<RepoPath>,
    },

    /// A folder is not the linked worktree that it should be, so nothing in it was changed.
    #[error("`{dir}` is not a worktree of this repository: {what}")]
    NotOurWorktree {
        /// The folder.
        dir: Utf8PathBuf,
        /// What is wrong with it.
        what: String,
    },

    /// Objects that were just stored are gone, as after `git gc --prune=now` at the same time.
    #[error("{what} is no longer complete in the repository; was `git gc --prune=now` run?")]
    Lost {
        /// The commit, in words.
        what: String,
    },

    /// Repositories inside the worktree, or changed submodules, would be deleted with it.
    #[error(
        "`{dir}` holds other repositories, which no rescue can keep: {}",
        list(paths)
    )]
    Nested {
        /// The worktree.
        dir: Utf8PathBuf,
        /// The repositories in it.
        paths: Vec<RepoPath>,
    },

    /// A ref was not where the caller had seen it, so nothing was changed.
    #[error("`{name}` was expected {expected}, but {}", found_words(found.as_ref()))]
    RefMoved {
        /// The ref.
        name: String,
        /// What the caller expected.
        expected: Expected,
        /// Where it is now.
        found: Option<ObjectId>,
    },

    /// The name does not start with `refs/`.
    #[error("`{name}` is not the full name of a ref")]
    BadRefName {
        /// The name.
        name: String,
    },

    /// The text is no full object id.
    #[error("`{text}` is not a full object id")]
    BadObjectId {
        /// The text.
        text: String,
    },

    /// A commit message that could not be read back as it was meant.
    #[error("{reason}: `{text}`")]
    BadMessage {
        /// The part of the message.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },

    /// The path of the repository is not UTF-8.
    #[error("the path `{}` is not UTF-8", path.display())]
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },

    /// A rescue is only restored into an empty or new folder.
    #[error("`{dir}` is not an empty folder")]
    Occupied {
        /// The folder.
        dir: Utf8PathBuf,
    },

    /// A temporary file, or the folder to restore into, could not be made.
    #[error("cannot prepare `{}`", path.display())]
    Prepare {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
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
    /// Whether git was killed, could not be started, or could not write to the disk, which says
    /// nothing about what it was asked.
    pub fn is_of_the_machine(&self) -> bool {
        if let Self::Failed { status, stderr, .. } = self {
            let is_of_the_disk = OF_THE_DISK.iter().any(|words| stderr.contains(words));
            return status.signal().is_some() || is_of_the_disk;
        }
        matches!(self, Self::Run { .. } | Self::Prepare { .. })
    }

    /// What a person can type who trusts a repository that belongs to another user.
    pub fn trust_command(&self) -> Option<String> {
        let Self::OfAnotherUser { dir } = self else {
            return None;
        };
        let dir = dir.as_str().replace('\'', r"'\''");
        Some(format!("git config --global --add safe.directory '{dir}'"))
    }

    /// Whether there is no repository to ask, or not even the folder.
    pub fn is_no_repository(&self) -> bool {
        matches!(
            self,
            Self::NotARepository { .. } | Self::NoSuchFolder { .. } | Self::Bare { .. }
        )
    }
}
