//! Checkpoints, and the documents of a feature.

use rekindle_model::Checkpoint;
use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle checkpoints --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Checkpoints {
    /// `rekindle.checkpoints/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// Oldest first.
    pub checkpoints: Vec<CheckpointOut>,
}

/// One checkpoint.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckpointOut {
    /// Its name or number.
    pub name: String,
    /// When it was created, UTC.
    pub at: Option<String>,
    /// The message it was created with.
    pub note: String,
    /// Its place: a file, or a file and line.
    #[serde(rename = "where")]
    pub place: String,
    /// Whether a rollback to it is possible; null if the protocol has no rollback.
    pub valid: Option<bool>,
}

/// `rekindle validate --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ValidateOut {
    /// `rekindle.validate/1`.
    pub schema: &'static str,
    /// Whether every validator passed.
    pub valid: bool,
    /// The result of each validator.
    pub reports: Vec<ReportOut>,
}

/// The result of one validator.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReportOut {
    /// Whether it passed.
    pub valid: bool,
    /// The problems, one sentence each.
    pub faults: Vec<String>,
    /// The report as the protocol's script prints it.
    pub text: String,
}

/// `rekindle migrate --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MigrateOut {
    /// `rekindle.migrate/1`.
    pub schema: &'static str,
    /// `protocol:name` of the migrated workflow.
    pub id: Option<String>,
    /// `done`, `declined`, `nothing`, `mismatch` or `failed`.
    pub outcome: String,
    /// One sentence.
    pub summary: String,
    /// Remarks, one sentence each.
    pub notes: Vec<String>,
}

impl From<&Checkpoint> for CheckpointOut {
    fn from(checkpoint: &Checkpoint) -> Self {
        Self {
            name: checkpoint.name.clone(),
            at: checkpoint.at.map(rekindle_text::format_seconds),
            note: checkpoint.note.clone(),
            place: checkpoint.place.to_string(),
            valid: checkpoint.is_valid,
        }
    }
}
