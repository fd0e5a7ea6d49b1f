//! The result of `rekindle clean`.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle clean --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CleanOut {
    /// `rekindle.clean/1`.
    pub schema: &'static str,
    /// The removed worktrees.
    pub removed: Vec<RemovedOut>,
    /// The worktrees that were not removed.
    pub kept: Vec<String>,
    /// Those of them that could not be removed.
    pub failed: Vec<NotRemovedOut>,
    /// Folders that belong to no task; they are removed only if named.
    pub orphans: Vec<OrphanOut>,
}

/// A folder among the worktrees that belongs to no task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OrphanOut {
    /// Its path.
    pub path: String,
    /// The task that it seems to belong to.
    pub task: Option<String>,
    /// When it was first seen, if that is recorded.
    pub since: Option<String>,
}

/// A worktree that was removed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RemovedOut {
    /// Its path.
    pub path: String,
    /// The ref with its contents; null if all of it is in history already.
    pub saved_as: Option<String>,
    /// Files and folders that were not saved, because git ignores them; control characters are escaped.
    pub not_kept: Vec<String>,
}

/// A worktree that could not be removed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NotRemovedOut {
    /// Its path.
    pub path: String,
    /// Why it was not removed.
    pub reason: String,
    /// What to do about it.
    pub hint: String,
}
