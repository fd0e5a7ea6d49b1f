//! The picture of a workflow: what happened when, as data that is painted elsewhere.

use schemars::JsonSchema;
use serde::Serialize;

use super::{FindingOut, SaidOut};

/// What happened to a workflow, for those who paint it (`rekindle report --json`).
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Picture {
    /// `rekindle.picture/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// What the workflow is called; its name if it has no title.
    pub title: String,
    /// running, or its state: interrupted, waiting, blocked, corrupt, complete.
    pub state: String,
    /// The state in a person's words.
    pub word: String,
    /// What happened, in sentences.
    pub story: Vec<String>,
    /// When the picture was made, UTC.
    pub now: String,
    /// Seconds that the local time is ahead of UTC at that moment.
    pub utc_offset: i32,
    /// The branch on which its work lands.
    pub branch: Option<String>,
    /// When an orchestrator was at work, oldest first.
    pub lives: Vec<LifeOut>,
    /// When it waited for the end of a usage limit, oldest first.
    pub waits: Vec<WaitOut>,
    /// Other events worth showing, oldest first.
    pub marks: Vec<MarkOut>,
    /// The tasks, in the order of the plan.
    pub tasks: Vec<PictureTask>,
    /// What a person has to decide or do.
    pub needs_person: Vec<NeedOut>,
    /// The findings.
    pub findings: Vec<FindingOut>,
    /// What there is of everything.
    pub counts: PictureCounts,
}

/// A time in which an orchestrator was at work.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LifeOut {
    /// Its beginning, UTC.
    pub from: String,
    /// Its end, or its last sign of life; null while it lives.
    pub to: Option<String>,
    /// alive, finished, stopped, interrupted, restarted (the machine was).
    pub end: String,
}

/// A time of waiting for the end of a usage limit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WaitOut {
    /// When the limit was met, UTC.
    pub from: String,
    /// When work went on, or is expected to go on.
    pub to: Option<String>,
}

/// An event worth showing.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MarkOut {
    /// Its time, UTC.
    pub at: String,
    /// What it is.
    pub name: String,
}

/// A task of a picture.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PictureTask {
    /// Its id.
    pub id: String,
    /// Its title; empty if it has none.
    pub title: String,
    /// done, running, `needs_person`, interrupted, failed, limited, open, skipped.
    pub state: String,
    /// The state in a person's words, such as `waits for T011`.
    pub word: String,
    /// Why it is in this state, where the record says so.
    pub reason: Option<String>,
    /// The tasks it needs, by their place in the list, from 0.
    pub needs: Vec<usize>,
    /// Its column in a drawing of the graph, from 0.
    pub layer: usize,
    /// Its row in that column, from 0.
    pub place: usize,
    /// What its attempts cost, where agents told it.
    pub cost_microdollars: Option<u64>,
    /// Its attempts, oldest first; two of them never overlap.
    pub attempts: Vec<PictureAttempt>,
    /// The findings that name it, by their place in the list, from 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub findings: Vec<usize>,
}

/// An attempt of a picture.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PictureAttempt {
    /// Its number, from 1.
    pub number: u32,
    /// Its beginning, UTC.
    pub from: String,
    /// Its end, or its last sign of life if it was killed; null while it runs.
    pub to: Option<String>,
    /// running, delivered, done, failed, killed, limited, stopped.
    pub end: String,
    /// When its work was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<String>,
    /// When its work landed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landed: Option<String>,
    /// The commit of its work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The backup of what it left behind, as `rekindle rescue show` takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
    /// Heartbeats, in seconds after its beginning; many are thinned out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub beats: Vec<u32>,
    /// What it did last: implementing or verifying.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Why it failed, or how it was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it cost, where its agent told it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_microdollars: Option<u64>,
}

/// Something that a person has to decide or do.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NeedOut {
    /// The task, if it is about one.
    pub task: Option<String>,
    /// What it is, one sentence.
    pub text: String,
    /// The command that helps.
    pub command: Option<String>,
}

/// How many there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PictureCounts {
    /// Tasks.
    pub tasks: usize,
    /// Tasks that are done.
    pub done: usize,
    /// Tasks at which somebody is at work.
    pub running: usize,
    /// Tasks that need a person.
    pub needs_person: usize,
    /// Tasks that were cut off, failed or met a limit, and are tried again.
    pub again: usize,
    /// Tasks of which nothing was started.
    pub open: usize,
    /// Tasks that are left out.
    pub skipped: usize,
    /// Attempts.
    pub attempts: usize,
    /// Attempts that were killed.
    pub killed: usize,
    /// Attempts that failed.
    pub failed: usize,
    /// Attempts that met a usage limit.
    pub limited: usize,
    /// How often the orchestrator was interrupted.
    pub interruptions: usize,
    /// Times of waiting for the end of a usage limit.
    pub limits: usize,
    /// Seconds from the first event to the last, or to now while it runs.
    pub seconds: i64,
    /// Seconds of these in which no orchestrator lived.
    pub seconds_alone: i64,
    /// What all attempts cost, where agents told it, in millionths of a dollar.
    pub cost_microdollars: Option<u64>,
    /// Attempts whose agent did not tell its cost.
    pub cost_unknown: usize,
}

/// What a report page shows: the picture, and what there is to read about its tasks.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReportPage {
    /// `rekindle.report/1`.
    pub schema: &'static str,
    /// The picture.
    pub picture: Picture,
    /// What there is to read, for some of the tasks.
    pub details: Vec<TaskDetail>,
}

/// What there is to read about a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TaskDetail {
    /// The task, by its place in the list, from 0.
    pub task: usize,
    /// Why it is in its state.
    pub why: Option<WhyOut>,
    /// The last lines that its last attempt printed, with secrets masked; only if they were asked for.
    pub output: Option<OutputOut>,
    /// What its work changed, with secrets masked.
    pub diff: Option<DiffOut>,
}

/// Why a task is in its state.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WhyOut {
    /// The rule that decided.
    pub rule: String,
    /// What each source says, oldest first.
    pub said: Vec<SaidOut>,
    /// The number of older statements that are not listed.
    pub left_out: usize,
}

/// What an attempt printed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OutputOut {
    /// The attempt.
    pub attempt: u32,
    /// The last lines.
    pub lines: Vec<String>,
    /// How many lines before them are not here.
    pub left_out: usize,
}

/// What a commit changed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DiffOut {
    /// The commit.
    pub commit: String,
    /// The changes in unified form.
    pub text: String,
    /// Whether the rest is not here.
    pub is_cut: bool,
}
