//! What a front end is told while the engine runs.

use std::time::Duration;

use camino::Utf8Path;
use rekindle_model::Kill;

use super::Tally;

/// What happens while the engine runs.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A worker of an earlier orchestrator was found at work.
    Adopted(&'a str, u32),
    /// The order of a task's last attempt was not written here, so nothing of it is taken up.
    Foreign(&'a str, u32),
    /// A worker was started.
    Started(&'a str, u32),
    /// A task's work is done and stays in its worktree for the protocol to land.
    Finished(&'a str, u32),
    /// A task's work is on the branch.
    Landed(&'a str, &'a str, Change),
    /// An attempt failed.
    Failed(&'a str, u32, &'a str, After),
    /// A worker or agent was killed.
    Interrupted(&'a str, u32, Kill, After),
    /// A task was said to be done, but its commit is not on the branch.
    Reopened(&'a str),
    /// The commit that an attempt delivered is no longer in the repository; the task is done again.
    DeliveryLost(&'a str, u32, &'a str),
    /// An agent has to wait.
    Limited(&'a str, Duration),
    /// A person wants it to end: after what runs now, or at once.
    Stopping(bool),
    /// The engine ends with an error while a worker is at work.
    StillAtWork(&'a StillAtWork),
}

/// A worker that is at work when the engine ends with an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StillAtWork {
    /// Its task.
    pub task: String,
    /// Its attempt.
    pub attempt: u32,
    /// Its process.
    pub pid: u32,
    /// Whether it was asked to end, because the run cannot go on.
    pub is_asked_to_end: bool,
}

/// What a task's work did to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Some are new, other or gone.
    Something,
    /// All are as they were: there was nothing to do, or the agent did nothing.
    Nothing,
}

/// What follows for a task whose attempt came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// It is done again.
    Again,
    /// This orchestrator ends; the next resume does it again.
    Resume,
    /// It needs a person.
    Person,
    /// The protocol decides, when all workers have ended.
    Protocol,
}

/// Who is told what happens.
pub trait Watcher {
    /// Tells of something that happened.
    fn progress(&mut self, progress: &Progress<'_>);

    /// Warns that paths of the user's own checkout changed while agents were at work.
    fn checkout_changed(&mut self, paths: &[String]);

    /// Warns that a task landed without repositories that stand in its worktree, which stays for them.
    fn left_out(&mut self, left_out: &LeftOut<'_>);

    /// Shows how things stand, about twice a second.
    fn view(&mut self, tally: Tally, workers: &[WorkerView]);
}

/// What a task landed without.
#[derive(Debug)]
pub struct LeftOut<'a> {
    /// The task.
    pub task: &'a str,
    /// Where it still is.
    pub worktree: &'a Utf8Path,
    /// The repositories in it, each shown on one line.
    pub repositories: &'a [String],
}

/// One worker, for a line on a screen.
#[derive(Debug, Clone)]
pub struct WorkerView {
    /// The task.
    pub task: String,
    /// The attempt.
    pub attempt: u32,
    /// For how long it has been at work.
    pub elapsed: Duration,
    /// How long ago it last gave a sign of life.
    pub silent: Duration,
    /// The last line that its agent printed.
    pub last_line: String,
}
