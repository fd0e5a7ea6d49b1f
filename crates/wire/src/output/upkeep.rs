//! What `doctor` saw, and plain texts.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle doctor --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Doctor {
    /// `rekindle.doctor/1`.
    pub schema: &'static str,
    /// Whether nothing is wrong.
    pub healthy: bool,
    /// What was looked at.
    pub checks: Vec<CheckOut>,
}

/// One thing that the doctor looked at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckOut {
    /// What.
    pub name: String,
    /// ok, note or problem.
    pub verdict: String,
    /// What was seen.
    pub seen: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// `rekindle completions --json`, `man --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TextOut {
    /// `rekindle.text/1`.
    pub schema: &'static str,
    /// The text as it would stand on standard output.
    pub text: String,
}
