//! The objects of `rekindle rescue`.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle rescue list --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Rescues {
    /// `rekindle.rescues/1`.
    pub schema: &'static str,
    /// What was kept, by workflow, task and number.
    pub rescues: Vec<RescueOut>,
}

/// `rekindle rescue show NAME --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RescueShown {
    /// `rekindle.rescue/1`.
    pub schema: &'static str,
    /// What was kept.
    #[serde(flatten)]
    pub rescue: RescueOut,
    /// The files that differ from `base`, by path, at most a thousand; all files if `base` is null.
    pub files: Vec<RescuedFileOut>,
    /// How many more files differ.
    pub left_out: usize,
    /// Commits of the worktree that no branch and no tag has, newest first, at most twenty.
    pub commits: Vec<RescuedCommitOut>,
    /// Whether there are more of them.
    pub more_commits: bool,
}

/// `rekindle rescue restore NAME --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RestoredOut {
    /// `rekindle.restored/1`.
    pub schema: &'static str,
    /// The ref of the rescue.
    pub name: String,
    /// The folder that now has the files, or would have had them.
    pub into: String,
    /// Whether it was written; false when the person said no.
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
    /// Counts up from 1 for each task.
    pub number: u32,
    /// The commit that keeps the files.
    pub commit: String,
    /// When it was made, UTC.
    pub made_at: Option<String>,
    /// The worktree it was made from, with control characters escaped.
    pub worktree: Option<String>,
    /// The branch that was checked out there, or null where there was none.
    pub branch: Option<String>,
    /// The commit that was checked out there, or null where there was none yet.
    pub base: Option<String>,
    /// A commit with what was staged, where that is neither in `base` nor in the files.
    pub index: Option<String>,
}

/// A file that the base does not have like this.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RescuedFileOut {
    /// The path from the top of the worktree; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// `added`, `modified`, `deleted` or `type_changed`.
    pub change: String,
    /// Whether git did not track it; null where that is not known.
    pub untracked: Option<bool>,
    /// What git calls its mode in the base: 100644, 100755, 120000; null where it is not there.
    pub old_mode: Option<String>,
    /// Its mode in the rescue; null where it was deleted.
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
