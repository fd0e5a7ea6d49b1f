//! The objects of `rekindle rescue`.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle rescue list --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Rescues {
    /// `rekindle.rescues/1`.
    pub schema: &'static str,
    /// The rescues, by workflow, task and number.
    pub rescues: Vec<RescueOut>,
}

/// `rekindle rescue show NAME --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RescueShown {
    /// `rekindle.rescue/1`.
    pub schema: &'static str,
    /// The rescue.
    #[serde(flatten)]
    pub rescue: RescueOut,
    /// The files that differ from `base`, by path, at most a thousand; all files if `base` is null.
    pub files: Vec<RescuedFileOut>,
    /// How many more files differ.
    pub left_out: usize,
    /// Commits of the worktree that no branch and no tag has, newest first, at most twenty.
    pub commits: Vec<RescuedCommitOut>,
    /// Whether there are more commits.
    pub more_commits: bool,
}

/// `rekindle rescue restore NAME --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RestoredOut {
    /// `rekindle.restored/1`.
    pub schema: &'static str,
    /// The ref of the rescue.
    pub name: String,
    /// The target folder, also if nothing was written.
    pub into: String,
    /// Whether it was written; false if the person declined.
    pub written: bool,
    /// The folder to compare with: paths in `into` are relative to it.
    pub compare_with: String,
}

/// One rescue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RescueOut {
    /// The full name of its ref.
    pub name: String,
    /// The workflow it was made for.
    pub workflow: String,
    /// The task it was made for.
    pub task: String,
    /// The number of the rescue among those of its task, from 1.
    pub number: u32,
    /// The commit with the files.
    pub commit: String,
    /// When it was made, UTC.
    pub made_at: Option<String>,
    /// The worktree it was made from, with control characters escaped.
    pub worktree: Option<String>,
    /// The branch that was checked out there, or null if there was none.
    pub branch: Option<String>,
    /// The commit that was checked out there, or null if there was none.
    pub base: Option<String>,
    /// A commit with the staged files, if they differ from `base` and from the files.
    pub index: Option<String>,
}

/// A file that differs from the base.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RescuedFileOut {
    /// The path from the top of the worktree; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// `added`, `modified`, `deleted` or `type_changed`.
    pub change: String,
    /// Whether it was untracked; null if unknown.
    pub untracked: Option<bool>,
    /// Its git mode in the base: 100644, 100755, 120000; null if it does not exist there.
    pub old_mode: Option<String>,
    /// Its mode in the rescue; null if deleted.
    pub mode: Option<String>,
}

/// A commit that no branch and no tag has.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RescuedCommitOut {
    /// Its id.
    pub commit: String,
    /// Its first line.
    pub subject: String,
}
