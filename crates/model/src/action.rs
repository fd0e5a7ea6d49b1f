//! Effects: the closed list of what a plan can do to the world.
//!
//! Each can be repeated after a crash without harm. A relative path is below the project; an
//! absolute one must be in a folder that belongs to the protocol.

use camino::Utf8PathBuf;

/// An effect on the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Appends one line to a log, which is created if it is missing.
    Append {
        /// The log.
        log: Utf8PathBuf,
        /// The record, one line of JSON without its line end.
        record: String,
    },
    /// Creates a file.
    Create {
        /// The file.
        path: Utf8PathBuf,
        /// Its contents.
        contents: Vec<u8>,
    },
    /// Changes a file, if its contents are still those that were read.
    Edit {
        /// The file.
        path: Utf8PathBuf,
        /// The old contents.
        before: Vec<u8>,
        /// The new contents.
        after: Vec<u8>,
    },
    /// Moves a folder to a path that does not exist.
    MoveFolder {
        /// The old path.
        from: Utf8PathBuf,
        /// The new path; missing parent folders are created.
        to: Utf8PathBuf,
    },
    /// Moves a file to a path that does not exist, if its contents are still those that were read.
    MoveFile {
        /// The old path.
        from: Utf8PathBuf,
        /// The new path; missing parent folders are created.
        to: Utf8PathBuf,
        /// The contents.
        contents: Vec<u8>,
    },
    /// Lands a worktree's files as one commit on the project's checked-out branch.
    Land(Landing),
    /// Ends one of our workers that still holds a task, with all its processes.
    EndWorker {
        /// The task.
        task: String,
    },
    /// A request that only the host program can carry out; it is shown, not done.
    AskHost {
        /// The recipient, in the host's words.
        who: String,
        /// The message, in the protocol's words (`shutdown_request`).
        what: String,
    },
    /// Prints text that the protocol prescribes on standard output.
    Print(String),
}

/// The files of a worktree that become one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    /// The task.
    pub task: String,
    /// The worktree, absolute.
    pub worktree: Utf8PathBuf,
    /// The base commit of the worktree.
    pub base: String,
    /// The subject of the commit; a commit of this subject after `base` is the proof that it landed.
    pub subject: String,
    /// Top-level folders of the worktree that are left out.
    pub leave_out: Vec<String>,
    /// The differences from `base`, by path.
    pub files: Vec<LandedFile>,
}

/// One path of a landing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LandedFile {
    /// The path as git has it, not always UTF-8.
    pub path: Vec<u8>,
    /// The mode and content id in `base`; none for an addition.
    pub before: Option<(String, String)>,
    /// The new mode and content id; none for a deletion.
    pub after: Option<(String, String)>,
}
