//! The result of `doctor`, and plain texts.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle doctor --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Doctor {
    /// `rekindle.doctor/1`.
    pub schema: &'static str,
    /// Whether there is no problem.
    pub healthy: bool,
    /// The checks.
    pub checks: Vec<CheckOut>,
}

/// One check.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckOut {
    /// Its subject.
    pub name: String,
    /// ok, note or problem.
    pub verdict: String,
    /// Its result.
    pub seen: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// `rekindle completions --json`, `man --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TextOut {
    /// `rekindle.text/1`.
    pub schema: &'static str,
    /// The text as it is printed on standard output.
    pub text: String,
}
