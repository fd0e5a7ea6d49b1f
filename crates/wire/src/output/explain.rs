//! Explanations of tasks and findings.

use rekindle_model::Explanation;
use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle explain ID TASK --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Explained {
    /// `rekindle.explain/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// The task.
    pub task: String,
    /// Its state.
    pub verdict: String,
    /// The rule that decided its state.
    pub rule: String,
    /// What each source says, oldest first.
    pub said: Vec<SaidOut>,
    /// The number of older statements that are not listed.
    pub left_out: usize,
}

/// A statement of one source.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SaidOut {
    /// Its file and line.
    #[serde(rename = "where")]
    pub place: String,
    /// Its time, UTC.
    pub at: Option<String>,
    /// The statement.
    pub what: String,
    /// Whether it decided the state.
    pub decided: bool,
}

/// `rekindle explain CODE --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FindingPage {
    /// `rekindle.finding/1`.
    pub schema: &'static str,
    /// The code.
    pub code: String,
    /// blocker, warning or note.
    pub severity: String,
    /// What it means and what to do, as Markdown.
    pub page: String,
}

impl From<&Explanation> for Explained {
    fn from(explanation: &Explanation) -> Self {
        Self {
            schema: "rekindle.explain/1",
            id: explanation.id.to_string(),
            task: explanation.task.clone(),
            verdict: explanation.verdict.clone(),
            rule: explanation.rule.clone(),
            said: explanation
                .said
                .iter()
                .map(|said| SaidOut {
                    place: said.place.to_string(),
                    at: said.at.map(rekindle_text::format_seconds),
                    what: said.what.clone(),
                    decided: said.decided,
                })
                .collect(),
            left_out: explanation.left_out,
        }
    }
}
