//! Events of the engine for a front end.

use std::time::Duration;

use camino::Utf8Path;
use rekindle_model::{Kill, WorkflowId};

use super::{Scribe, Tally};

/// What happened in a run, and when.
#[derive(Debug)]
pub struct Event<'a> {
    /// The run.
    pub run: &'a WorkflowId,
    /// The time, as RFC 3339.
    pub at: String,
    /// What happened.
    pub progress: &'a Progress<'a>,
}

/// An event of the engine.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A worker of an earlier orchestrator was found at work.
    Adopted(&'a str, u32),
    /// The order of a task's last attempt was not written here, so it is ignored.
    Foreign(&'a str, u32),
    /// A worker was started.
    Started(&'a str, u32, Begin),
    /// A task's work is done and stays in its worktree for the protocol to land.
    Finished(&'a str, u32),
    /// A task's work is on the branch.
    Landed(&'a str, u32, &'a str, Change),
    /// An attempt failed.
    Failed(&'a str, u32, &'a str, After),
    /// A worker or agent was killed.
    Interrupted(&'a str, u32, Kill, After),
    /// A task was recorded as done, but its commit is not on the branch.
    Reopened(&'a str),
    /// The commit that an attempt delivered is no longer in the repository; the task is done again.
    DeliveryLost(&'a str, u32, &'a str),
    /// An agent has to wait.
    Limited(&'a str, u32, Duration),
    /// Commits are not signed although the user wants that, because it does not work unattended; why.
    Unsigned(&'a str),
    /// A person wants it to end: after the running attempts, or at once.
    Stopping(bool),
    /// The engine ends with an error while a worker is still running.
    StillAtWork(&'a StillAtWork),
}

impl Progress<'_> {
    /// Returns the task that it is about.
    pub fn task(&self) -> Option<&str> {
        match self {
            Self::Adopted(task, _)
            | Self::Foreign(task, _)
            | Self::Started(task, ..)
            | Self::Finished(task, _)
            | Self::Landed(task, ..)
            | Self::Failed(task, ..)
            | Self::Interrupted(task, ..)
            | Self::Reopened(task)
            | Self::DeliveryLost(task, ..)
            | Self::Limited(task, ..) => Some(task),
            Self::StillAtWork(left) => Some(&left.task),
            Self::Unsigned(_) | Self::Stopping(_) => None,
        }
    }

    /// Returns the number of the attempt that it is about.
    pub fn attempt(&self) -> Option<u32> {
        match self {
            Self::Adopted(_, attempt)
            | Self::Foreign(_, attempt)
            | Self::Started(_, attempt, _)
            | Self::Finished(_, attempt)
            | Self::Landed(_, attempt, ..)
            | Self::Failed(_, attempt, ..)
            | Self::Interrupted(_, attempt, ..)
            | Self::DeliveryLost(_, attempt, _)
            | Self::Limited(_, attempt, _) => Some(*attempt),
            Self::StillAtWork(left) => Some(left.attempt),
            Self::Reopened(_) | Self::Unsigned(_) | Self::Stopping(_) => None,
        }
    }

    /// Returns the commit that it is about.
    pub fn commit(&self) -> Option<&str> {
        match self {
            Self::Landed(_, _, commit, _) | Self::DeliveryLost(_, _, commit) => Some(commit),
            Self::Adopted(..)
            | Self::Foreign(..)
            | Self::Started(..)
            | Self::Finished(..)
            | Self::Failed(..)
            | Self::Interrupted(..)
            | Self::Reopened(_)
            | Self::Limited(..)
            | Self::Unsigned(_)
            | Self::Stopping(_)
            | Self::StillAtWork(_) => None,
        }
    }
}

/// A worker that is still running when the engine ends with an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StillAtWork {
    /// Its task.
    pub task: String,
    /// Its attempt.
    pub attempt: u32,
    /// Its process.
    pub pid: u32,
    /// Whether it was asked to end, because the run cannot continue.
    pub is_asked_to_end: bool,
}

/// What a task's work changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Files were added, changed or deleted.
    Something,
    /// No file was changed: there was nothing to do, or the agent did nothing.
    Nothing,
}

/// What a worker begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// The start of its agent.
    Start,
    /// The agent's session, in the worktree of the last attempt.
    Session,
    /// The checks: the agent has done its work before.
    Checks,
}

/// The consequence for a task whose attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// It is done again.
    Again,
    /// Its agent has done the work, which is checked and delivered.
    GoesOn,
    /// This orchestrator ends; the next resume repeats it.
    Resume,
    /// It needs a person.
    Person,
    /// The protocol decides, when all workers have ended.
    Protocol,
}

/// An observer of the engine.
pub trait Watcher {
    /// Reports an event.
    fn progress(&mut self, event: &Event<'_>);

    /// Warns that paths of the user's own checkout changed while agents were at work.
    fn checkout_changed(&mut self, paths: &[String]);

    /// Warns that a task landed without repositories that are in its worktree, which is kept for them.
    fn left_out(&mut self, left_out: &LeftOut<'_>);

    /// Shows the current state, about twice a second.
    fn view(&mut self, view: &RunView);
}

/// Tells a watcher what happens in one run.
pub struct Reporter<'a> {
    watcher: &'a mut dyn Watcher,
    run: &'a WorkflowId,
    scribe: &'a dyn Scribe,
}

impl<'a> Reporter<'a> {
    /// Returns one for the events of a run, with the times of its scribe.
    pub fn new(watcher: &'a mut dyn Watcher, run: &'a WorkflowId, scribe: &'a dyn Scribe) -> Self {
        Self {
            watcher,
            run,
            scribe,
        }
    }

    pub(crate) fn progress(&mut self, progress: &Progress<'_>) {
        self.watcher.progress(&Event {
            run: self.run,
            at: self.scribe.stamp(),
            progress,
        });
    }

    pub(crate) fn checkout_changed(&mut self, paths: &[String]) {
        self.watcher.checkout_changed(paths);
    }

    pub(crate) fn left_out(&mut self, left_out: &LeftOut<'_>) {
        self.watcher.left_out(left_out);
    }

    pub(crate) fn view(&mut self, view: &RunView) {
        self.watcher.view(view);
    }
}

/// The repositories that a task landed without.
#[derive(Debug)]
pub struct LeftOut<'a> {
    /// The task.
    pub task: &'a str,
    /// The worktree.
    pub worktree: &'a Utf8Path,
    /// The repositories in it, each shown on one line.
    pub repositories: &'a [String],
}

/// How a run goes at one moment, for a screen.
#[derive(Debug, Clone)]
pub struct RunView {
    /// How many tasks are how far.
    pub tally: Tally,
    /// Who is at work.
    pub workers: Vec<WorkerView>,
    /// Tasks that cannot start.
    pub held_back: Vec<HeldBack>,
    /// What the one who looks can do about it.
    pub steering: Steering,
    /// How long this rekindle has been looking at it.
    pub elapsed: Duration,
}

/// What the one who looks at a run can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steering {
    /// Stop it: this rekindle runs it.
    Running,
    /// Stop its workers too: a person asked it to stop.
    Stopping,
    /// Only look: another rekindle runs it.
    Watching,
}

/// A task that cannot start, for a line on a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    /// The task.
    pub task: String,
    /// Why, as what the task does: "waits for `T1`".
    pub why: String,
}

/// One worker, for a line on a screen.
#[derive(Debug, Clone)]
pub struct WorkerView {
    /// The task.
    pub task: String,
    /// What a person calls the task.
    pub title: String,
    /// The attempt.
    pub attempt: u32,
    /// How long it has been running.
    pub elapsed: Duration,
    /// How long ago its last heartbeat was.
    pub silent: Duration,
    /// The last line that its agent printed.
    pub last_line: String,
}
