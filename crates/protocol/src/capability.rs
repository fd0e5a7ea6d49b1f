//! What only some protocols can do.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_model::{
    AgentTask, Attempted, Before, Checkpoint, Finding, Happened, Moment, Plan, Settings, Step,
    Summary, Work,
};
use rekindle_world::World;

use crate::lists::task::Fields;

/// Finds open workflows in a time that does not grow with the number of finished ones.
pub trait Survey {
    /// Returns the open workflows.
    fn open(&self, world: &dyn World, known: &Known<'_>) -> Open;
}

/// What makes it unnecessary to read a workflow.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Workflows in which nothing has begun since this time need not be found.
    pub since: Timestamp,
    /// What an earlier look found to be finished.
    pub finished: &'a Finished,
}

/// With fewer new finished workflows a record of them saves less time than writing it takes.
pub const WORTH_RECORDING: usize = 64;

/// Finished workflows by name, each with the signs in its files by which the protocol knows it again.
pub type Finished = BTreeMap<String, String>;

/// The open workflows of a protocol, as far as they could be found quickly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Open {
    /// Workflows that are known to be open.
    pub workflows: Vec<Summary>,
    /// How many others were not read and may be open.
    pub unread: usize,
    /// All that are finished, if [`WORTH_RECORDING`] of them were not known; otherwise none.
    pub finished: Finished,
}

/// Keeps the logs of tasks that the engine runs.
pub trait Engine {
    /// Returns the line that records what happened to an attempt.
    fn record(
        &self,
        workflow: &str,
        actor: &str,
        task: &str,
        attempt: u32,
        happened: &Happened,
        at: Moment,
    ) -> String;

    /// Returns what a line of an attempt's log says, of which task and which attempt.
    fn heard(&self, line: &str) -> Option<(String, u32, Happened)>;

    /// Returns the time of a line, if the logs are ordered by time and not by position.
    fn heard_at(&self, line: &str) -> Option<Timestamp>;

    /// Returns the log of an attempt, relative to the project.
    fn attempt_log(&self, workflow: &str, actor: &str, task: &str, attempt: u32) -> Utf8PathBuf;

    /// Returns the folder with the logs of the workflow's orchestrators, relative to the project, if they keep some.
    fn orchestrator_logs(&self, workflow: &str) -> Option<Utf8PathBuf>;

    /// Returns the folders at the top of a project that hold the workflow's own files, which never land.
    fn own_folders(&self) -> &'static [&'static str];

    /// Returns the files that describe an attempt in the protocol's own worktree, each with its name.
    fn evidence(&self, attempted: &Attempted) -> Vec<(&'static str, String)>;

    /// Returns the host's own record of a task with what happened added, if the host keeps one.
    fn mirrored(&self, file: &[u8], happened: &Happened, at: Timestamp) -> Option<Vec<u8>>;
}

/// The tasks of a workflow for the engine.
pub trait TaskSource {
    /// Returns the tasks and how to run them; `None` if there is nothing for the engine.
    fn work(&self) -> Option<Work>;

    /// Returns what an agent is told for an attempt at a task, by its position in the work.
    fn brief(
        &self,
        world: &dyn World,
        task: usize,
        attempt: u32,
        before: Option<Before<'_>>,
    ) -> AgentTask;
}

/// The checkpoints of a workflow.
pub trait CheckpointList {
    /// Returns the checkpoints, oldest first.
    fn list(&self) -> Vec<Checkpoint>;

    /// Returns the checkpoints in the protocol's own words, if it prescribes some.
    fn timeline(&self) -> Option<String>;

    /// Plans to move old checkpoints to an archive; `None` if there is no archive.
    fn archive(&self) -> Option<Plan>;
}

/// The lists of a protocol whose tasks are marked in a file.
pub trait TaskMarks {
    /// Returns the file with a task marked as done; `None` if the task is not there as it was read.
    fn mark(&self, file: &[u8], task: &str, title: &str) -> Option<Vec<u8>>;

    /// Returns `theirs` with the marks that `base` has.
    fn with_marks_of(&self, base: &[u8], theirs: &[u8]) -> Vec<u8>;

    /// Returns the name of the list whose tasks are in a file, relative to the project.
    fn list_in(&self, world: &dyn World, path: &Utf8Path) -> Option<String>;
}

/// A list whose tasks a run can do.
pub trait TaskList {
    /// Returns what a person calls it.
    fn title(&self) -> &str;

    /// Returns the file with the tasks, relative to the project.
    fn source(&self) -> &Utf8Path;

    /// Returns the folder with its documents, relative to the project.
    fn folder(&self) -> &Utf8Path;

    /// Returns id and title of the tasks without a mark whose commits what is checked out has.
    fn unmarked(&self, world: &dyn World) -> Vec<(String, String)>;

    /// Returns whether there is no task in it at all, as in a file that was lost.
    fn is_blank(&self) -> bool;

    /// Returns whether the list still has a task that is to be done, or whose commit has landed.
    fn has(&self, task: &str, title: &str) -> bool;

    /// Returns the open tasks that agents can do without a person, in the order of the list.
    fn tasks(&self, world: &dyn World) -> Vec<ListedTask>;
}

/// A task of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedTask {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What an agent has to know.
    pub description: String,
    /// The open tasks that it needs.
    pub needs: Vec<String>,
    /// What else the list says of its work.
    pub fields: Fields,
}

/// A run that does the tasks of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOfList {
    /// The run.
    pub name: String,
    /// The list, `protocol:name`.
    pub list: String,
    /// The branch on which it lands.
    pub branch: String,
}

/// Starts new workflows from a plan.
pub trait Starter {
    /// Returns the folder that new workflows are created in, relative to the project.
    fn home(&self) -> &'static str;

    /// Reads a plan file.
    fn draft(&self, path: &Utf8Path, bytes: &[u8]) -> Box<dyn Draft>;

    /// Takes the tasks of a list as a plan.
    fn listed(&self, path: &Utf8Path, title: &str, tasks: Vec<ListedTask>) -> Box<dyn Draft>;

    /// Returns the runs that do tasks of a list, oldest first.
    fn runs_of_lists(&self, world: &dyn World) -> Vec<RunOfList>;

    /// Compares a run with the plan file that it was started from, as it is now; tasks `at_work` stay as
    /// they are. `None` if the run has all of it.
    fn revise(
        &self,
        world: &dyn World,
        run: &str,
        plan: (&Utf8Path, &[u8]),
        at_work: &[String],
    ) -> Option<Revision>;

    /// Leaves tasks out of a run that its list no longer has; `list` is the file as it is now, and tasks
    /// `at_work` stay as they are. `None` if none of them is left to be done.
    fn leave_out(
        &self,
        world: &dyn World,
        run: &str,
        list: (&Utf8Path, &[u8]),
        tasks: &[String],
        at_work: &[String],
    ) -> Option<Revision>;
}

/// What a plan file that was edited means for the run that was started from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// What the run can take over, one clause for each task ("`T002`: checks, needs").
    pub changes: Vec<String>,
    /// What stays in the run although the file says otherwise, and why.
    pub kept: Vec<String>,
    /// The commands among the checks that the run does not have yet.
    pub checks: Vec<String>,
    /// Why nothing of the file can be taken over, if that is so; no finding if it has no tasks.
    pub faults: Option<Vec<Finding>>,
    /// The effects that take it over.
    pub steps: Vec<Step>,
}

/// A plan file that was read, from which a workflow can be started.
pub trait Draft {
    /// Returns the plan's title.
    fn title(&self) -> &str;

    /// Returns what is wrong with the plan or worth knowing about it.
    fn findings(&self) -> &[Finding];

    /// Returns the number of tasks.
    fn n_tasks(&self) -> usize;

    /// Returns the tasks, in the order of the plan.
    fn tasks(&self) -> Vec<DraftTask>;

    /// Returns the checks of the tasks, each with the number of tasks that it is for.
    fn checks(&self) -> Vec<(&str, usize)>;

    /// Returns the name that the new workflow gets.
    fn workflow(&self, now: Timestamp, short_id: &str) -> String;

    /// Returns the folder of the workflow, relative to the project.
    fn folder(&self, workflow: &str) -> Utf8PathBuf;

    /// Returns the log of the first session, relative to the project.
    fn log(&self, workflow: &str, now: Timestamp) -> Utf8PathBuf;

    /// Returns the workflow's name and its files, relative to its folder.
    fn files(&self, new: &NewRun, now: Timestamp) -> (String, Vec<(Utf8PathBuf, String)>);
}

/// A task of a plan file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftTask {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The ids of the tasks it needs.
    pub needs: Vec<String>,
    /// Whether the plan leaves it out.
    pub is_skipped: bool,
}

/// What a new run is made from, besides its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// How it is to be done.
    pub settings: Settings,
    /// The name of the plan file, as it was given.
    pub source: String,
    /// The plan's text.
    pub text: String,
    /// Four characters that distinguish runs of the same minute and title.
    pub short_id: String,
}

/// Validates documents of a workflow.
pub trait Validator {
    /// Validates the documents of a workflow; an error says why it cannot be one.
    fn workflow(&self, world: &dyn World, name: &str) -> Result<Vec<Validation>, Finding>;

    /// Validates a specification; without a text it is missing.
    fn spec(&self, path: &str, text: Option<&str>) -> Validation;

    /// Validates a plan; without a text it is missing.
    fn plan(&self, path: &str, text: Option<&str>, has_rules: bool) -> Validation;
}

/// What a validation found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    /// The file, as it was named.
    pub path: String,
    /// Whether it passed.
    pub is_valid: bool,
    /// The report, as the protocol's own script prints it.
    pub report: String,
    /// What is wrong, each in one sentence.
    pub faults: Vec<String>,
}

/// Migrates files of an older layout.
pub trait Migrator {
    /// Plans the migration of the workflow that is named, or of the current one.
    fn migration(&self, world: &dyn World, name: Option<&str>) -> Migration;
}

/// What a migration would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Migration {
    /// It is possible.
    Plan {
        /// The effects.
        plan: Box<Plan>,
        /// What is worth knowing, each a sentence.
        notes: Vec<String>,
    },
    /// There is nothing to migrate, or no workflow to migrate it to.
    Nothing {
        /// The workflow, if the name can be one.
        workflow: Option<String>,
        /// Why, in a sentence.
        reason: String,
    },
    /// The old files belong to another workflow.
    Mismatch {
        /// Why, in a sentence.
        reason: String,
    },
}
