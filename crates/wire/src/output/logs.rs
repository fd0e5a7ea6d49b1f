//! What agents and checks printed.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle logs --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LogsOut {
    /// `rekindle.logs/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// One for each task that was asked for, sorted by task.
    pub attempts: Vec<LogOut>,
}

/// The output of one attempt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LogOut {
    /// The task.
    pub task: String,
    /// The attempt.
    pub attempt: u32,
    /// Whether its worker is alive.
    pub at_work: bool,
    /// The file.
    pub path: String,
    /// What a person reads of the output; with `--verbose` each line as it was printed.
    pub lines: Vec<String>,
}
