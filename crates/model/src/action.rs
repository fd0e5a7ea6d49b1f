//! Effects: the closed list of what a plan can do to the world.
//!
//! Each can be repeated after a crash without harm. A relative path is below the project; an
//! absolute one must lie in a folder that the protocol names as its own.

use camino::Utf8PathBuf;

/// An effect on the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Appends one line to a log, which is made if it is not there.
    Append {
        /// The log.
        log: Utf8PathBuf,
        /// The record, one line of JSON without its line end.
        record: String,
    },
    /// Makes a file that is not there yet.
    Create {
        /// The file.
        path: Utf8PathBuf,
        /// What it holds.
        contents: Vec<u8>,
    },
    /// Changes a file that must still be what was read.
    Edit {
        /// The file.
        path: Utf8PathBuf,
        /// What was read.
        before: Vec<u8>,
        /// What it is to be.
        after: Vec<u8>,
    },
    /// Moves a folder with all that is in it to a place where nothing is.
    MoveFolder {
        /// Where it is.
        from: Utf8PathBuf,
        /// Where it goes; missing folders above it are made.
        to: Utf8PathBuf,
    },
    /// Moves a file that must still be what was read to a place where nothing is.
    MoveFile {
        /// Where it is.
        from: Utf8PathBuf,
        /// Where it goes; missing folders above it are made.
        to: Utf8PathBuf,
        /// What was read.
        contents: Vec<u8>,
    },
    /// Lands a worktree's files as one commit on the branch that is checked out in the project.
    Land(Landing),
    /// Ends a worker of ours that still holds a task, and all that it started.
    EndWorker {
        /// The task.
        task: String,
    },
    /// Only the program that the workflow lives in can do this; it is shown, not done.
    AskHost {
        /// Who is to be told, in the host's words.
        who: String,
        /// What, in the protocol's words (`shutdown_request`).
        what: String,
    },
    /// Prints text that the protocol prescribes on standard output.
    Print(String),
}

/// The files of a worktree that are to be one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    /// The task.
    pub task: String,
    /// The worktree, absolute.
    pub worktree: Utf8PathBuf,
    /// The commit that the worktree began with.
    pub base: String,
    /// The subject of the commit; a commit of this subject after `base` is the proof that it landed.
    pub subject: String,
    /// Folders at the worktree's top that take no part.
    pub leave_out: Vec<String>,
    /// What differs from `base`, by path.
    pub files: Vec<LandedFile>,
}

/// One path of a landing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LandedFile {
    /// The path as git has it, not always UTF-8.
    pub path: Vec<u8>,
    /// What `base` has there, as mode and content id; nothing for an addition.
    pub before: Option<(String, String)>,
    /// What is to be there; nothing for a deletion.
    pub after: Option<(String, String)>,
}
