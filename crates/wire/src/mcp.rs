//! The objects that only an agent gets, over MCP; all others are those of `--json`.
//!
//! They keep to the same rule: within a version keys are added, never changed or removed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::output::FindingOut;
use crate::plan::ThenOut;

/// The tool `brief`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Brief {
    /// `rekindle.brief/1`.
    pub schema: &'static str,
    /// `protocol:name`, or null where nothing is to be resumed.
    pub id: Option<String>,
    /// Where it stands.
    pub state: String,
    /// The briefing; what comes from files is marked as data in it.
    pub text: String,
}

/// The tool `next_step`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NextStep {
    /// `rekindle.next_step/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// What is due before, each as a reason: for `resume` to carry out, or, where a step is for the
    /// agent, for the agent to report.
    pub due: Vec<String>,
    /// What was noticed, such as another session that is at work here.
    pub findings: Vec<FindingOut>,
    /// What comes next.
    pub then: ThenOut,
    /// What to do about it, each a line.
    pub hints: Vec<String>,
}

/// What any tool answers instead of an object that is too long: a piece of that object's text.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Page {
    /// `rekindle.page/1`.
    pub schema: &'static str,
    /// The piece.
    pub piece: Piece,
}

/// A piece of an answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Piece {
    /// The piece of the answer's JSON.
    pub text: String,
    /// Where in the answer it begins, in bytes.
    pub offset: usize,
    /// What to give as `offset` for the next piece, or null where this is the last.
    pub next_offset: Option<usize>,
    /// How long the whole answer is, in bytes; another number than before means that it has changed.
    pub total: usize,
}
