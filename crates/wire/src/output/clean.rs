//! What `rekindle clean` did.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle clean --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CleanOut {
    /// `rekindle.clean/1`.
    pub schema: &'static str,
    /// Worktrees that were removed.
    pub removed: Vec<RemovedOut>,
    /// Worktrees that stay.
    pub kept: Vec<String>,
    /// Those of them that could not be removed.
    pub failed: Vec<NotRemovedOut>,
    /// Folders that belong to no task; each stays until it is named.
    pub orphans: Vec<OrphanOut>,
}

/// A folder among the worktrees that belongs to no task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OrphanOut {
    /// Where it is.
    pub path: String,
    /// The task that it seems to be of.
    pub task: Option<String>,
    /// When it was first seen, where that is recorded.
    pub since: Option<String>,
}

/// A worktree that was removed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RemovedOut {
    /// Where it was.
    pub path: String,
    /// The ref that keeps what was in it; null when all of it is in history already.
    pub saved_as: Option<String>,
    /// Files and folders in it that were not kept, because git ignores them; control characters are escaped.
    pub not_kept: Vec<String>,
}

/// A worktree that could not be removed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NotRemovedOut {
    /// Where it is.
    pub path: String,
    /// Why it stays.
    pub reason: String,
    /// What to do about it.
    pub hint: String,
}
