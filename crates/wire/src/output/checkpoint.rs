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
    /// When it was made, UTC.
    pub at: Option<String>,
    /// What was said when it was made.
    pub note: String,
    /// Where it stands.
    #[serde(rename = "where")]
    pub place: String,
    /// Whether one can go back to it; null where the protocol knows no way back.
    pub valid: Option<bool>,
}

/// `rekindle validate --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ValidateOut {
    /// `rekindle.validate/1`.
    pub schema: &'static str,
    /// Whether every validator passed.
    pub valid: bool,
    /// What each validator found.
    pub reports: Vec<ReportOut>,
}

/// What one validator found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReportOut {
    /// Whether it passed.
    pub valid: bool,
    /// What is wrong, each a sentence.
    pub faults: Vec<String>,
    /// The report as the script prints it.
    pub text: String,
}

/// `rekindle migrate --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MigrateOut {
    /// `rekindle.migrate/1`.
    pub schema: &'static str,
    /// `protocol:name` of what was migrated.
    pub id: Option<String>,
    /// `done`, `declined`, `nothing`, `mismatch` or `failed`.
    pub outcome: String,
    /// One sentence.
    pub summary: String,
    /// What is worth knowing.
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
