//! Errors.

use std::error::Error;

use rekindle_model::{Code, Finding};
use schemars::JsonSchema;
use serde::Serialize;

use super::FindingOut;

/// What any command prints with `--json` when it fails.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorOut {
    /// `rekindle.error/1`.
    pub schema: &'static str,
    /// The error.
    pub error: ErrorBody,
}

/// The error.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// The stable code, if it has one.
    pub code: Option<String>,
    /// One sentence.
    pub message: String,
    /// The causes, outermost first.
    pub causes: Vec<String>,
    /// What to do.
    pub hints: Vec<String>,
    /// What is wrong with what was read, such as a plan.
    pub findings: Vec<FindingOut>,
    /// The exit code.
    pub exit: u8,
}

impl ErrorBody {
    /// Returns it with what is wrong with what was read.
    #[must_use]
    pub fn about<'f>(mut self, findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        self.findings = findings.into_iter().map(super::finding).collect();
        self
    }

    /// Returns the message of an error and those of all its causes.
    pub fn new(error: &dyn Error, code: Option<Code>, hints: Vec<String>, exit: u8) -> Self {
        let causes = std::iter::successors(error.source(), |&error| error.source());
        Self {
            code: code.map(|code| code.to_string()),
            message: error.to_string(),
            causes: causes.map(ToString::to_string).collect(),
            hints,
            findings: Vec::new(),
            exit,
        }
    }
}
