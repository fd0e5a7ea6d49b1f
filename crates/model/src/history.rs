//! What happened to a workflow over time: who lived when, and what became of every attempt.
//!
//! A protocol reads it from its own records, for people who look back. No decision is made from it,
//! so a record that is missing or damaged leaves a gap and nothing more.

use jiff::Timestamp;

use crate::{FailureKind, Kill, Stage};

/// The past of a workflow, as far as its records tell it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// What the workflow is called; empty if it has no title.
    pub title: String,
    /// The branch on which its work lands, if there is one.
    pub branch: Option<String>,
    /// Its tasks, in the order of the plan.
    pub tasks: Vec<PastTask>,
    /// When an orchestrator was at work, oldest first.
    pub lives: Vec<Life>,
    /// When it waited for the end of a usage limit, oldest first.
    pub waits: Vec<Wait>,
    /// Every attempt, sorted by task and number.
    pub attempts: Vec<PastAttempt>,
    /// Other events worth showing, such as checkpoints, oldest first.
    pub marks: Vec<Milestone>,
    /// The newest event of anybody.
    pub latest: Option<Timestamp>,
    /// The newest event that only a living orchestrator causes.
    pub orchestrators: Option<Timestamp>,
}

/// A task and its present state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastTask {
    /// Its id.
    pub id: String,
    /// Its title; empty if it has none.
    pub title: String,
    /// Its state.
    pub state: TaskState,
    /// The tasks it needs, by their place in the plan.
    pub needs: Vec<usize>,
    /// Why it is in this state, in the record's words, where it says so.
    pub reason: Option<String>,
}

impl PastTask {
    /// Returns a task that needs no other, and of whose state nothing more is known.
    pub fn new(id: impl Into<String>, title: impl Into<String>, state: TaskState) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            state,
            needs: Vec::new(),
            reason: None,
        }
    }
}

/// The state of a task for people who look at all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskState {
    /// A person must decide before it can continue.
    NeedsPerson,
    /// It was cut off and is done again.
    Interrupted,
    /// Its last attempt failed; it is tried again.
    Failed,
    /// Somebody is at work on it.
    Running,
    /// It waits until its agent may be used again.
    Limited,
    /// Nothing of it was started.
    Open,
    /// It is left out.
    Skipped,
    /// It is done.
    Done,
}

impl TaskState {
    /// Returns the word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NeedsPerson => "needs_person",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::Running => "running",
            Self::Limited => "limited",
            Self::Open => "open",
            Self::Skipped => "skipped",
            Self::Done => "done",
        }
    }

    /// Returns whether nothing is left to do.
    pub const fn is_over(self) -> bool {
        match self {
            Self::Skipped | Self::Done => true,
            Self::NeedsPerson
            | Self::Interrupted
            | Self::Failed
            | Self::Running
            | Self::Limited
            | Self::Open => false,
        }
    }
}

/// A time in which one orchestrator was at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    /// Its beginning.
    pub from: Timestamp,
    /// Its last sign of life; `None` while it lives.
    pub to: Option<Timestamp>,
    /// How it ended.
    pub end: LifeEnd,
}

/// How the newest life of an orchestrator ended, as far as it could say so itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastLife {
    /// Its last sign of life.
    pub seen: Timestamp,
    /// How it ended.
    pub end: LifeEnd,
}

/// How the life of an orchestrator ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifeEnd {
    /// It has not.
    Alive,
    /// The workflow was complete.
    Finished,
    /// It ended by itself, such as after a Ctrl-C.
    Stopped,
    /// It was cut off; nobody knows why.
    Interrupted,
    /// The machine was restarted.
    Restarted,
}

impl LifeEnd {
    /// Returns the word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Finished => "finished",
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
            Self::Restarted => "restarted",
        }
    }

    /// Returns whether the orchestrator was cut off.
    pub const fn is_interruption(self) -> bool {
        match self {
            Self::Interrupted | Self::Restarted => true,
            Self::Alive | Self::Finished | Self::Stopped => false,
        }
    }
}

/// A time in which an agent could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// When the limit was met.
    pub from: Timestamp,
    /// When work went on, or is expected to go on.
    pub to: Option<Timestamp>,
}

/// One attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastAttempt {
    /// The task, by its place in the plan.
    pub task: usize,
    /// Its number, from 1.
    pub number: u32,
    /// Its beginning.
    pub from: Timestamp,
    /// Its end, or its last sign of life if it was killed; `None` while it runs.
    pub to: Option<Timestamp>,
    /// How it ended.
    pub end: AttemptEnd,
    /// When its work was delivered.
    pub delivered: Option<Timestamp>,
    /// When its work landed.
    pub landed: Option<Timestamp>,
    /// The commit of its work: as it landed, otherwise as it was delivered.
    pub commit: Option<String>,
    /// Its heartbeats, at most [`MOST_BEATS`] of them.
    pub beats: Vec<Timestamp>,
    /// What it was doing last.
    pub stage: Option<Stage>,
    /// Why it failed, in the record's words.
    pub reason: Option<String>,
    /// What it cost, in millionths of a dollar, where the agent told it.
    pub cost: Option<u64>,
}

/// More heartbeats of one attempt are thinned out.
pub const MOST_BEATS: usize = 120;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptEnd {
    /// It has not, as far as the record says.
    Running,
    /// It delivered its work, which has not landed.
    Delivered,
    /// Its work is done: it landed, where there is a branch.
    Done,
    /// It failed.
    Failed(FailureKind),
    /// Its worker or agent was killed; by whom and how, where that is known.
    Killed(Option<Kill>),
    /// Its agent met a usage limit.
    Limited,
    /// A person stopped it.
    Stopped,
}

impl AttemptEnd {
    /// Returns the word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Delivered => "delivered",
            Self::Done => "done",
            Self::Failed(_) => "failed",
            Self::Killed(_) => "killed",
            Self::Limited => "limited",
            Self::Stopped => "stopped",
        }
    }
}

/// An event worth showing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Milestone {
    /// Its time.
    pub at: Timestamp,
    /// What it is, in a few words.
    pub name: String,
}
