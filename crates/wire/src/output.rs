//! The objects that commands print with `--json`.

use std::error::Error;

use rekindle_model::{Checkpoint, Code, Explanation, Finding, Request, Summary};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{AgentOut, Facts, QuestionOut};

/// `rekindle inspect --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Inspect {
    /// `rekindle.inspect/1`.
    pub schema: &'static str,
    /// The protocol.
    pub protocol: String,
    /// The chosen workflow's name, or null while none is chosen.
    pub id: Option<String>,
    /// Where it stands: nothing, choice, unknown, interrupted, waiting, blocked, corrupt, complete.
    pub state: String,
    /// What was noticed.
    pub findings: Vec<FindingOut>,
    /// The protocol's own facts.
    pub facts: Facts,
}

/// One finding.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FindingOut {
    /// The stable code.
    pub code: String,
    /// blocker, warning or note.
    pub severity: String,
    /// What is wrong.
    pub message: String,
    /// `path` or `path:line`, relative to the project.
    #[serde(rename = "where")]
    pub place: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// `rekindle status --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Status {
    /// `rekindle.status/1`.
    pub schema: &'static str,
    /// The project's folder.
    pub project: String,
    /// Every workflow, those that can be resumed first.
    pub workflows: Vec<WorkflowOut>,
    /// Those of them that somebody is at work on at this moment.
    pub at_work: Vec<AtWorkOut>,
    /// The command to type next, if there is one.
    pub next_command: Option<String>,
    /// How the last session of a coding agent here ended, where that is worth knowing.
    pub last_session: Option<LastSessionOut>,
}

/// Who is at work on a workflow at this moment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AtWorkOut {
    /// `protocol:name`.
    pub id: String,
    /// Another rekindle, or workers that one has left; a text for people.
    pub who: String,
}

/// How a session of a coding agent ended.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LastSessionOut {
    /// The program: claude, codex, gemini or opencode.
    pub agent: Option<String>,
    /// The session's id.
    pub session: Option<String>,
    /// When it was heard of last, UTC.
    pub at: Option<String>,
    /// running, died, open (died or still running), interrupted, limited or failed.
    pub state: String,
    /// One sentence.
    pub text: String,
    /// Processes that it started and that still run.
    pub processes: Vec<u32>,
}

/// One workflow in one line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkflowOut {
    /// `protocol:name`.
    pub id: String,
    /// Where it stands.
    pub state: String,
    /// The stage it is in.
    pub stage: String,
    /// Finished tasks.
    pub done: usize,
    /// All tasks, where that is known.
    pub total: Option<usize>,
    /// When something last happened, UTC.
    pub last_activity: Option<String>,
    /// What comes next.
    pub next: NextOut,
}

/// What comes next.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NextOut {
    /// The protocol's word.
    pub kind: String,
    /// One sentence.
    pub summary: String,
}

/// `rekindle resume --json`, `rollback --json`, `checkpoints --archive --json`, and `run --json` that was declined.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResumeOut {
    /// `rekindle.resume/1`.
    pub schema: &'static str,
    /// `protocol:name`, or null where nothing was chosen.
    pub id: Option<String>,
    /// `nothing`, `declined`, `done`, `waiting`, `blocked` or `agent_needed`.
    pub outcome: String,
    /// One sentence.
    pub summary: String,
    /// The text that the protocol prescribes, as it would stand on standard output.
    pub text: String,
    /// The agent's work that comes next, where no agent was started for it.
    pub agent: Option<AgentOut>,
    /// The question that is open.
    pub question: Option<QuestionOut>,
    /// What to do next.
    pub hints: Vec<String>,
    /// What was noticed when the resume began.
    pub findings: Vec<FindingOut>,
    /// Messages that only the host of the workflow can send.
    pub requests: Vec<RequestOut>,
    /// What an interrupted command had begun and was finished first, each a line with its path.
    pub finished: Vec<String>,
}

/// A message that only the host of a workflow can send.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequestOut {
    /// Who is to get it.
    pub recipient: String,
    /// The message, in the protocol's word, such as `shutdown_request`.
    pub request: String,
    /// Why it is due.
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

/// The last object of `rekindle run --json`, and of a resume of such a run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunOut {
    /// `rekindle.run/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// Tasks on the branch.
    pub landed: usize,
    /// Of these the tasks whose work changed nothing.
    pub unchanged: Vec<String>,
    /// Tasks that were left out.
    pub skipped: usize,
    /// Tasks that only a person can help, with reasons.
    pub blocked: Vec<String>,
    /// Tasks that are left.
    pub left: usize,
    /// All tasks.
    pub total: usize,
    /// Attempts that were started.
    pub attempts: u32,
    /// What the whole run has cost by what the agents said, in millionths of a dollar; null when none said it.
    pub cost_microdollars: Option<u64>,
    /// How many attempts told no cost; what they cost is not in `cost_microdollars`.
    pub attempts_without_cost: usize,
    /// The branch on which the tasks land.
    pub branch: String,
    /// The last commit of the branch.
    pub tip: String,
    /// Whether a person ended it.
    pub stopped: bool,
}

/// `rekindle clean --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CleanOut {
    /// `rekindle.clean/1`.
    pub schema: &'static str,
    /// Worktrees that were removed.
    pub removed: Vec<RemovedOut>,
    /// Worktrees that stay.
    pub kept: Vec<String>,
    /// Those of them that could not be removed.
    pub failed: Vec<NotRemovedOut>,
    /// Folders that belong to no task; each stays until it is named.
    pub orphans: Vec<OrphanOut>,
}

/// A folder among the worktrees that belongs to no task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OrphanOut {
    /// Where it is.
    pub path: String,
    /// The task that it seems to be of.
    pub task: Option<String>,
    /// When it was first seen, where that is recorded.
    pub since: Option<String>,
}

/// A worktree that was removed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RemovedOut {
    /// Where it was.
    pub path: String,
    /// The ref that keeps what was in it; null when all of it is in history already.
    pub saved_as: Option<String>,
    /// Files and folders in it that were not kept, because git ignores them; control characters are escaped.
    pub not_kept: Vec<String>,
}

/// A worktree that could not be removed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NotRemovedOut {
    /// Where it is.
    pub path: String,
    /// Why it stays.
    pub reason: String,
    /// What to do about it.
    pub hint: String,
}

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
    /// The rule that decided.
    pub rule: String,
    /// What each source said, oldest first.
    pub said: Vec<SaidOut>,
    /// How many older things were said that are not listed.
    pub left_out: usize,
}

/// What one source said.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SaidOut {
    /// Where.
    #[serde(rename = "where")]
    pub place: String,
    /// When, UTC.
    pub at: Option<String>,
    /// What.
    pub what: String,
    /// Whether this decided.
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

/// `rekindle checkpoints --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Checkpoints {
    /// `rekindle.checkpoints/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// Oldest first.
    pub checkpoints: Vec<CheckpointOut>,
}

/// One checkpoint.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckpointOut {
    /// Its name or number.
    pub name: String,
    /// When it was made, UTC.
    pub at: Option<String>,
    /// What was said when it was made.
    pub note: String,
    /// Where it stands.
    #[serde(rename = "where")]
    pub place: String,
    /// Whether one can go back to it; null where the protocol knows no way back.
    pub valid: Option<bool>,
}

/// `rekindle validate --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ValidateOut {
    /// `rekindle.validate/1`.
    pub schema: &'static str,
    /// Whether every validator passed.
    pub valid: bool,
    /// What each validator found.
    pub reports: Vec<ReportOut>,
}

/// What one validator found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReportOut {
    /// Whether it passed.
    pub valid: bool,
    /// What is wrong, each a sentence.
    pub faults: Vec<String>,
    /// The report as the script prints it.
    pub text: String,
}

/// `rekindle migrate --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MigrateOut {
    /// `rekindle.migrate/1`.
    pub schema: &'static str,
    /// `protocol:name` of what was migrated.
    pub id: Option<String>,
    /// `done`, `declined`, `nothing`, `mismatch` or `failed`.
    pub outcome: String,
    /// One sentence.
    pub summary: String,
    /// What is worth knowing.
    pub notes: Vec<String>,
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
    /// What whoever told it should know, such as that an event of this type changes no state.
    pub notes: Vec<String>,
}

/// A line of `rekindle run --json` and `resume --json` while tasks go on in parallel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProgressOut {
    /// `rekindle.progress/1`.
    pub schema: &'static str,
    /// adopted, started, finished, landed, failed, interrupted, reopened, limited or stopping.
    pub event: &'static str,
    /// One sentence for people.
    pub text: String,
}

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

/// What any command prints with `--json` when it fails.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorOut {
    /// `rekindle.error/1`.
    pub schema: &'static str,
    /// What happened.
    pub error: ErrorBody,
}

/// What happened.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// The stable code, where it has one.
    pub code: Option<String>,
    /// One sentence.
    pub message: String,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What to do.
    pub hints: Vec<String>,
    /// The exit code.
    pub exit: u8,
}

impl ErrorBody {
    /// Returns what is said of an error: its own words, and those of every cause.
    pub fn new(error: &dyn Error, code: Option<Code>, hints: Vec<String>, exit: u8) -> Self {
        let causes = std::iter::successors(error.source(), |&error| error.source());
        Self {
            code: code.map(|code| code.to_string()),
            message: error.to_string(),
            causes: causes.map(ToString::to_string).collect(),
            hints,
            exit,
        }
    }
}

/// Turns a finding into what is printed.
pub fn finding(finding: &Finding) -> FindingOut {
    FindingOut {
        code: finding.code.to_string(),
        severity: finding.severity().as_str().to_owned(),
        message: finding.message.clone(),
        place: finding.place.as_ref().map(ToString::to_string),
        hint: finding.hint.clone(),
    }
}

/// Turns a summary into what is printed.
pub fn workflow(summary: &Summary) -> WorkflowOut {
    WorkflowOut {
        id: summary.id.to_string(),
        state: summary.state.as_str().to_owned(),
        stage: summary.stage.clone(),
        done: summary.progress.done,
        total: summary.progress.total,
        last_activity: summary.last_activity.map(rekindle_text::format_seconds),
        next: NextOut {
            kind: summary.next.kind.to_owned(),
            summary: summary.next.summary.clone(),
        },
    }
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

impl From<&Checkpoint> for CheckpointOut {
    fn from(checkpoint: &Checkpoint) -> Self {
        Self {
            name: checkpoint.name.clone(),
            at: checkpoint.at.map(rekindle_text::format_seconds),
            note: checkpoint.note.clone(),
            place: checkpoint.place.to_string(),
            valid: checkpoint.is_valid,
        }
    }
}
