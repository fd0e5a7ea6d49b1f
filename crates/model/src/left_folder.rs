//! Folders that a workflow left outside of the project.

use camino::Utf8PathBuf;
use jiff::Timestamp;

/// A folder that a workflow left outside of the project, and that can be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftFolder {
    /// Where it is.
    pub path: Utf8PathBuf,
    /// The task that it was made for, where one is known.
    pub task: Option<String>,
    /// Why it can go.
    pub kind: LeftKind,
}

/// Why a folder that was left can go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftKind {
    /// What was done in it has landed, and its evidence is in the project.
    Landed,
    /// It belongs to no task. Only a person knows what it is, so it goes only if they name it.
    Orphaned {
        /// When it was first seen, where that is recorded.
        since: Option<Timestamp>,
    },
}
