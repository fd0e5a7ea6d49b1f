//! The objects that only an agent gets, over MCP; all others are those of `--json`.
//!
//! They keep to the same rule: within a version keys are added, never changed or removed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::output::ThenOut;

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
    /// Why each effect is due that rekindle has to carry out before; `resume` does that.
    pub due: Vec<String>,
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
    pub page: PageBody,
}

/// A piece of an answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PageBody {
    /// The piece of the answer's JSON.
    pub text: String,
    /// Where in the answer it begins, in bytes.
    pub offset: usize,
    /// What to give as `offset` for the next piece, or null where this is the last.
    pub next_offset: Option<usize>,
    /// How long the whole answer is, in bytes; another number than before means that it has changed.
    pub total: usize,
}
