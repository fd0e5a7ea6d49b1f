//! The objects that commands print with `--json`.

mod checkpoint;
mod clean;
mod config;
mod explain;
mod failure;
mod logs;
mod outline;
mod picture;
mod prune;
mod upkeep;
mod work;

use rekindle_model::{Condition, Finding, Summary};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Facts;

pub use self::checkpoint::{CheckpointOut, Checkpoints, MigrateOut, ReportOut, ValidateOut};
pub use self::clean::{CleanOut, NotRemovedOut, OrphanOut, RemovedOut};
pub use self::config::{ConfigFileOut, ConfigOut, InitOut, SettingOut};
pub use self::explain::{Explained, FindingPage, SaidOut};
pub use self::failure::{ErrorBody, ErrorOut};
pub use self::logs::{LogOut, LogsOut};
pub use self::outline::{OutlineOut, OutlineTaskOut};
pub use self::picture::{
    DiffOut, LifeOut, MarkOut, NeedOut, OutputOut, Picture, PictureAttempt, PictureCounts,
    PictureTask, ReportPage, TaskDetail, WaitOut, WhyOut,
};
pub use self::prune::{NotPrunedOut, PruneOut, PrunedOut};
pub use self::upkeep::{CheckOut, Doctor, TextOut};
pub use self::work::{DecidedOut, EventOut, ProgressOut, RequestOut, ResumeOut, RunOut};

/// `rekindle inspect --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Inspect {
    /// `rekindle.inspect/1`.
    pub schema: &'static str,
    /// The protocol.
    pub protocol: String,
    /// The chosen workflow's name, or null if none is chosen.
    pub id: Option<String>,
    /// The state: nothing, choice, unknown, interrupted, waiting, blocked, corrupt, complete.
    pub state: String,
    /// The findings.
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
    /// All workflows, resumable ones first.
    pub workflows: Vec<WorkflowOut>,
    /// The workflows that somebody is working on right now.
    pub at_work: Vec<AtWorkOut>,
    /// The command to run next, if there is one.
    pub next_command: Option<String>,
    /// How the last session of a coding agent here ended, if that matters.
    pub last_session: Option<LastSessionOut>,
}

/// Who is working on a workflow right now.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AtWorkOut {
    /// `protocol:name`.
    pub id: String,
    /// Another rekindle, or workers whose rekindle has ended; a text for people.
    pub who: String,
}

/// How a session of a coding agent ended.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LastSessionOut {
    /// The program: claude, codex, gemini or opencode.
    pub agent: Option<String>,
    /// The session's id.
    pub session: Option<String>,
    /// Its last known activity, UTC.
    pub at: Option<String>,
    /// running, died, open (died or still running), interrupted, limited or failed.
    pub state: String,
    /// One sentence.
    pub text: String,
    /// Processes that it started and that are still running.
    pub processes: Vec<u32>,
}

/// A summary of one workflow.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkflowOut {
    /// `protocol:name`.
    pub id: String,
    /// The state.
    pub state: String,
    /// The same in a person's words, with who is at work: `running`, `interrupted`, `needs you`, `waiting`, `ready`, `drafting`, `blocked`, `unreadable` or `complete`.
    pub condition: &'static str,
    /// When the usage limit ends that it waits for, UTC; null if it waits for none, or that is unknown.
    pub waiting_until: Option<String>,
    /// The current stage.
    pub stage: String,
    /// Finished tasks.
    pub done: usize,
    /// All tasks, if known.
    pub total: Option<usize>,
    /// The last activity, UTC.
    pub last_activity: Option<String>,
    /// The next action.
    pub next: NextOut,
    /// The workflow of another protocol that it worked on, where it is a session of a coding agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worked_on: Option<String>,
}

/// The next action.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NextOut {
    /// The protocol's word for it.
    pub kind: String,
    /// One sentence.
    pub summary: String,
}

/// Converts a finding to its output form.
pub fn finding(finding: &Finding) -> FindingOut {
    FindingOut {
        code: finding.code.to_string(),
        severity: finding.severity().as_str().to_owned(),
        message: finding.message.clone(),
        place: finding.place.as_ref().map(ToString::to_string),
        hint: finding.hint.clone(),
    }
}

/// Converts a summary to its output form.
pub fn workflow(summary: &Summary, condition: Condition) -> WorkflowOut {
    WorkflowOut {
        id: summary.id.to_string(),
        state: summary.word().to_owned(),
        condition: condition.as_str(),
        waiting_until: condition.until().map(rekindle_text::format_seconds),
        stage: summary.stage.clone(),
        done: summary.progress.done,
        total: summary.progress.total,
        last_activity: summary.last_activity.map(rekindle_text::format_seconds),
        next: NextOut {
            kind: summary.next.kind.to_owned(),
            summary: summary.next.summary.clone(),
        },
        worked_on: None,
    }
}
