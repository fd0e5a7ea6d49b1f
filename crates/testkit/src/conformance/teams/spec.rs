//! What a case's `teams` object says.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Number, Value};

use super::super::case::present;

/// The wave as the crash left it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    pub(super) plan: Vec<PlanTask>,
    pub(super) tasks: Vec<Task>,
    #[serde(default)]
    pub(super) state: State,
    pub(super) dead_worker_timeout: Option<Number>,
    /// Waves whose gate is open.
    #[serde(default)]
    pub(super) open_gates: Vec<String>,
    #[serde(default)]
    pub(super) stray_worktrees: Vec<String>,
    #[serde(default)]
    pub(super) stray_folders: Vec<String>,
    /// Git has not been told to pass over the worker's own folders.
    #[serde(default)]
    pub(super) no_exclude: bool,
}

/// One task of `PLAN.md`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanTask {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) wave: Number,
    /// Path and operation.
    #[serde(default)]
    pub(super) files: Vec<(String, String)>,
    #[serde(default)]
    pub(super) deps: Vec<String>,
}

/// One task of the task list, with its worktree.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    /// Such as `phase-1:exec:wave-1:task-1`.
    #[serde(rename = "task")]
    pub(super) subject: String,
    /// The task of the plan that it is.
    pub(super) plan: String,
    pub(super) owner: Option<String>,
    #[serde(default = "pending")]
    pub(super) status: String,
    pub(super) stage: Option<String>,
    /// The heartbeat as written, whatever it is.
    #[serde(default, deserialize_with = "present")]
    pub(super) heartbeat: Option<Value>,
    /// Its age in minutes.
    pub(super) heartbeat_age: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    pub(super) sequence: Option<Value>,
    #[serde(default)]
    pub(super) change: Change,
    #[serde(default)]
    pub(super) worktree: Worktree,
    #[serde(default)]
    pub(super) worktree_lost: bool,
    #[serde(default)]
    pub(super) staged: bool,
    #[serde(default)]
    pub(super) commit: bool,
    #[serde(default)]
    pub(super) artifacts: Artifacts,
    pub(super) integrated: Option<Integrated>,
}

impl Task {
    /// Returns the task's name as a folder.
    pub(super) fn slug(&self) -> String {
        self.subject.replace(':', "-")
    }

    /// Returns the wave that the task's name says it belongs to.
    pub(super) fn wave(&self) -> &str {
        wave_of(&self.subject)
    }
}

/// Returns the wave in a name such as `phase-1:exec:wave-1:task-1`.
pub(super) fn wave_of(subject: &str) -> &str {
    subject.split(':').nth(2).unwrap_or_default()
}

/// What a worker did to the tree.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    #[serde(default)]
    pub(super) write: IndexMap<String, String>,
    #[serde(default)]
    pub(super) delete: Vec<String>,
    /// Old and new path.
    #[serde(default)]
    pub(super) rename: Vec<(String, String)>,
}

/// What stands where the worktree should.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Worktree {
    /// A worktree that git knows.
    #[default]
    Real,
    /// An empty folder.
    Hollow,
    /// Nothing.
    None,
}

/// What the worker left of its artifacts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Artifacts {
    #[default]
    None,
    /// The first of them.
    Partial,
    /// All, and the checks passed.
    Pass,
    /// All, and the checks failed.
    Fail,
}

/// How far the worker's change has come into the main tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Integrated {
    /// It is committed.
    Committed,
    /// Its first file is copied.
    Partial,
    /// Its first file is there with another content.
    Foreign,
}

/// What `STATE.md` says apart from the usual.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    /// Rows of the retry ledger.
    #[serde(default)]
    pub(super) ledger: Vec<Vec<String>>,
    /// The current step is not there.
    #[serde(default)]
    pub(super) corrupt: bool,
    pub(super) step: Option<String>,
    pub(super) step_status: Option<String>,
    #[serde(default)]
    pub(super) paused: bool,
    #[serde(default)]
    pub(super) pause_reason: String,
}

fn pending() -> String {
    "pending".to_owned()
}
