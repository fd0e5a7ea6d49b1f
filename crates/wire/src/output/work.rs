//! The output of runs, resumes and reports.

use rekindle_model::Request;
use schemars::JsonSchema;
use serde::Serialize;

use super::FindingOut;
use crate::{AgentOut, QuestionOut};

/// `rekindle resume --json`, `rollback --json`, `checkpoints --archive --json`, and `run --json` that was declined.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResumeOut {
    /// `rekindle.resume/1`.
    pub schema: &'static str,
    /// `protocol:name`, or null if nothing was chosen.
    pub id: Option<String>,
    /// `nothing`, `declined`, `done`, `waiting`, `blocked` or `agent_needed`.
    pub outcome: String,
    /// One sentence.
    pub summary: String,
    /// The text that the protocol prescribes, as it is printed on standard output.
    pub text: String,
    /// The agent's next step, if no agent was started for it.
    pub agent: Option<AgentOut>,
    /// The open question.
    pub question: Option<QuestionOut>,
    /// What to do next.
    pub hints: Vec<String>,
    /// The findings at the start of the resume.
    pub findings: Vec<FindingOut>,
    /// Messages that only the host of the workflow can send.
    pub requests: Vec<RequestOut>,
    /// What was finished for an interrupted command first, one line each, with its path.
    pub finished: Vec<String>,
}

/// A message that only the host of a workflow can send.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequestOut {
    /// The recipient.
    pub recipient: String,
    /// The message, in the protocol's word, such as `shutdown_request`.
    pub request: String,
    /// The reason.
    pub why: String,
}

impl From<&Request> for RequestOut {
    fn from(request: &Request) -> Self {
        Self {
            recipient: request.recipient.clone(),
            request: request.request.clone(),
            why: request.why.clone(),
        }
    }
}

/// `rekindle retry --json`, and the same of `skip`, `cancel` and `stop`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DecidedOut {
    /// Always `rekindle.decided/1`.
    pub schema: &'static str,
    /// The workflow.
    pub id: String,
    /// `task_ready`, `task_skipped`, `run_cancelled`, `asked_to_stop`, `left_to_finish` or `not_at_work`.
    pub event: String,
    /// The tasks it is about.
    pub tasks: Vec<String>,
}

/// The last object of `rekindle run --json`, and of a resume of such a run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunOut {
    /// `rekindle.run/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// Tasks that have landed on the branch.
    pub landed: usize,
    /// Landed tasks whose work changed nothing.
    pub unchanged: Vec<String>,
    /// Skipped tasks.
    pub skipped: usize,
    /// Tasks that need a person, with reasons.
    pub blocked: Vec<String>,
    /// Remaining tasks.
    pub left: usize,
    /// All tasks.
    pub total: usize,
    /// Attempts that this command started.
    pub attempts: u32,
    /// Attempts of the whole run, those of earlier commands too.
    pub all_attempts: usize,
    /// What the whole run has cost by what the agents said, in millionths of a dollar; null when none said it.
    pub cost_microdollars: Option<u64>,
    /// The number of attempts without a reported cost; their cost is not in `cost_microdollars`.
    pub attempts_without_cost: usize,
    /// The branch on which the tasks land.
    pub branch: String,
    /// The last commit of the branch.
    pub tip: String,
    /// Whether a person stopped it.
    pub stopped: bool,
    /// Why the agent did not start; null if it did.
    pub cannot_start: Option<String>,
}

/// `rekindle event --json`, `heartbeat --json`, `checkpoint --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EventOut {
    /// `rekindle.event/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// The log it was appended to, relative to the project.
    pub log: String,
    /// The line that was appended.
    pub record: String,
    /// Remarks, such as that an event of this type changes no state.
    pub notes: Vec<String>,
}

/// A line of `rekindle run --json`, `resume --json` and `attach --json` while tasks run in parallel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProgressOut {
    /// `rekindle.progress/1`.
    pub schema: &'static str,
    /// adopted, foreign, started, finished, landed, failed, interrupted, reopened, `delivery_lost`, limited, unsigned, stopping or `still_at_work`.
    pub event: &'static str,
    /// The run, `protocol:name`.
    pub run: String,
    /// When it happened, as RFC 3339.
    pub at: String,
    /// The task; null if it is about the run as a whole.
    pub task: Option<String>,
    /// The number of the attempt; null if it is not about one.
    pub attempt: Option<u32>,
    /// The commit on the branch (landed) or the one that is gone (`delivery_lost`); otherwise null.
    pub commit: Option<String>,
    /// One sentence for people.
    pub text: String,
}
