//! The objects that exist only over MCP; all others are those of `--json`.
//!
//! The same rule holds: within a version keys are added, never changed or removed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::output::FindingOut;
use crate::plan::ThenOut;

/// The tool `brief`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Brief {
    /// `rekindle.brief/1`.
    pub schema: &'static str,
    /// `protocol:name`, or null if there is nothing to resume.
    pub id: Option<String>,
    /// The workflow's state.
    pub state: String,
    /// The summary; text from files is marked as data.
    pub text: String,
}

/// The tool `next_step`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NextStep {
    /// `rekindle.next_step/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// Steps that are due first, each as a reason: `resume` applies them, or, if the next step is for
    /// the agent, the agent reports them.
    pub due: Vec<String>,
    /// The findings, such as another session that is at work here.
    pub findings: Vec<FindingOut>,
    /// What comes next.
    pub then: ThenOut,
    /// What to do about it, one sentence each.
    pub hints: Vec<String>,
}

/// What a tool returns instead of an object that is too long: a piece of that object's text.
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
    /// Where the piece starts in the answer, in bytes.
    pub offset: usize,
    /// The `offset` of the next piece, or null if this is the last.
    pub next_offset: Option<usize>,
    /// The length of the whole answer in bytes; if it differs between pieces, the answer has changed.
    pub total: usize,
}
