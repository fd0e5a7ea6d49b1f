//! The record of a pooled worktree, version 1: whose files it holds.
//!
//! It is overwritten in its place, so a crash can leave a part of it. Without a valid seal, or with
//! another version, nothing is known about the worktree: its files are saved before it is used.

use serde::{Deserialize, Serialize};

/// The name and version of the format.
pub const SLOT_SCHEMA: &str = "rekindle.slot/1";

/// Whose files a pooled worktree holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRecord {
    /// [`SLOT_SCHEMA`].
    pub schema: String,
    /// The seal of this project; empty until sealed.
    #[serde(default)]
    pub seal: String,
    /// The protocol of the workflow that used it last.
    pub protocol: String,
    /// The workflow's name.
    pub workflow: String,
    /// The task.
    pub task: String,
    /// The attempt.
    pub attempt: u32,
    /// Whether everything in it that git does not ignore is kept elsewhere.
    pub is_free: bool,
    /// The fingerprint of the index as it was checked out, if it was kept.
    #[serde(default)]
    pub index: Option<String>,
    /// The fingerprint of the settings that only this worktree has, if it has some.
    #[serde(default)]
    pub settings: Option<String>,
    /// The fingerprint of the setup that was done in it, with the files that it depends on; none if
    /// it has to be done.
    #[serde(default)]
    pub setup: Option<String>,
}
