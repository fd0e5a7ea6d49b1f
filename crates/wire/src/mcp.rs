//! The objects that exist only over MCP; all others are those of `--json`.
//!
//! The same rule holds: within a version keys are added, never changed or removed.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::output::{FindingOut, RequestOut};
use crate::plan::{CommandOut, QuestionOut};

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

/// The tool `plan`: what a resume would do, in short.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Proposal {
    /// `rekindle.proposal/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// The digest that `resume` takes.
    pub digest: String,
    /// The workflow in one line.
    pub workflow: String,
    /// Every file that is changed before the first step, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub changes: Vec<String>,
    /// The changes that an interrupted command started, which are completed first; each a line with its path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub unfinished: Vec<String>,
    /// What comes next.
    pub next: String,
    /// What is to be expected after that, each a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub ahead: Vec<String>,
    /// The question of the protocol with which it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionOut>,
    /// Every command that files of the project let run once a person agrees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub commands: Vec<CommandOut>,
    /// What was noticed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub findings: Vec<FindingOut>,
    /// Who is at work on it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_work: Option<String>,
    /// What to do about it, each a line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub hints: Vec<String>,
}

/// The tools `resume` and `next_step`: what comes next in a workflow that is resumed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Turn {
    /// `rekindle.turn/1`.
    pub schema: &'static str,
    /// `protocol:name`, or left out where nothing is to be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `step` (it is in `step`), `done`, `waiting` (for others) or `needs_person`.
    pub state: String,
    /// One sentence.
    pub summary: String,
    /// What the protocol prints for a person.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    pub text: String,
    /// The step to do now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<WorkOut>,
    /// The question that only a person can answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionOut>,
    /// What was noticed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub findings: Vec<FindingOut>,
    /// What only the host can send.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub requests: Vec<RequestOut>,
    /// The changes that an interrupted command started, which were completed first; each a line with its path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub finished: Vec<String>,
    /// What to do, each a line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub hints: Vec<String>,
}

/// A step for the caller.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkOut {
    /// Who is needed, in the protocol's words.
    pub who: String,
    /// The task, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Which attempt this is, where it is not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// What is to be done, whole.
    pub prompt: String,
    /// Commands that must succeed for the work to count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub checks: Vec<String>,
    /// How its end is reported.
    pub report: Vec<CallOut>,
}

/// A call of a tool.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CallOut {
    /// When it is due.
    pub when: String,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
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
    /// Where the piece starts in the answer, in bytes.
    pub offset: usize,
    /// The `offset` of the next piece, or null if this is the last.
    pub next_offset: Option<usize>,
    /// The length of the whole answer in bytes; if it differs between pieces, the answer has changed.
    pub total: usize,
}
