//! The result of `rekindle prune`.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle prune --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PruneOut {
    /// `rekindle.prune/1`.
    pub schema: &'static str,
    /// What was removed.
    pub removed: Vec<PrunedOut>,
    /// What was left, since it is not merged; it is removed only by its name.
    pub kept: Vec<PrunedOut>,
    /// What could not be removed.
    pub failed: Vec<NotPrunedOut>,
}

/// Records of a run, a branch or a backup.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PrunedOut {
    /// `run`, `branch` or `backup`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Why it was removed, or why not.
    pub why: String,
    /// The commit of a branch or backup, by which it can be brought back while git has it.
    pub commit: Option<String>,
}

/// Something that could not be removed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NotPrunedOut {
    /// `run`, `branch` or `backup`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The reason.
    pub reason: String,
}
