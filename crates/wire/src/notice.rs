//! What a person's own command is told of a run, version 1.
//!
//! The object stands on one line on the command's standard input. New fields may be added; a reader ignores
//! those that it does not know.

use schemars::JsonSchema;
use serde::Serialize;

/// A notice about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Notice {
    /// `rekindle.notice/1`.
    pub schema: &'static str,
    /// `ended`, `needs_person` or `interrupted`.
    pub reason: &'static str,
    /// The run, `protocol:name`.
    pub run: String,
    /// The project's folder.
    pub project: String,
    /// What a person calls the run; empty if it has no title.
    pub title: String,
    /// Finished tasks.
    pub done: usize,
    /// All tasks, if known.
    pub total: Option<usize>,
    /// When it was noticed, as RFC 3339.
    pub at: String,
    /// One sentence for a person.
    pub text: String,
    /// The command to type next.
    pub command: String,
}
