//! A run as it is decided on: what is left, who does it, where it lands.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle run --dry-run --json`, and `outline` of `rekindle plan --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OutlineOut {
    /// Always `rekindle.outline/1`.
    pub schema: &'static str,
    /// What the run is called; empty if it has no title.
    pub title: String,
    /// The agent's command; null if no agent is named anywhere.
    pub agent: Option<String>,
    /// How many workers at once.
    pub jobs: usize,
    /// The branch on which the work lands.
    pub branch: String,
    /// The commands that prepare a new worktree.
    pub setup: Vec<String>,
    /// The commands that run before a worktree is removed.
    pub teardown: Vec<String>,
    /// The commands that check the work.
    pub checks: Vec<String>,
    /// What the run has cost so far, in millionths of a dollar; null if no agent said it.
    pub cost_microdollars: Option<u64>,
    /// The limit of costs, in millionths of a dollar.
    pub max_cost_microdollars: Option<u64>,
    /// The tasks, in the order of the plan.
    pub tasks: Vec<OutlineTaskOut>,
}

/// A task of an outline.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OutlineTaskOut {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The ids of the tasks it needs.
    pub needs: Vec<String>,
    /// `left`, `again`, `at_work`, `finished`, `blocked`, `skipped` or `done`.
    pub state: String,
    /// How many attempts there were.
    pub attempts: u32,
    /// The wave in which it can run, from 1; null if nothing is left of it or it never can.
    pub wave: Option<usize>,
}
