//! What every protocol can do.

use camino::Utf8PathBuf;
use rekindle_model::{Explanation, LastLife, OfferKind, ProtocolName};
use rekindle_world::World;

use crate::capability::{Engine, Migrator, Starter, Survey, TaskMarks, Validator};
use crate::sessions::SessionKeeper;
use crate::{Case, Decision};

/// One way of keeping workflow state on disk.
pub trait Protocol: Sync {
    /// Returns its name.
    fn name(&self) -> ProtocolName;

    /// Returns what it keeps and where, as one line for documentation.
    fn about(&self) -> &'static str;

    /// Returns whether the project has anything of it, at the cost of a look at one path.
    fn is_here(&self, world: &dyn World) -> bool;

    /// Reads the project and judges it. Malformed files become findings.
    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case>;

    /// Explains why a task of a workflow is in its state; `None` if there is no such task.
    fn explain(&self, world: &dyn World, ask: &Ask, task: &str) -> Option<Explanation>;

    /// Returns its decisions for the documentation.
    fn decisions(&self) -> Vec<Decision>;

    /// Returns whether the workflows of every other protocol come first where no workflow is named.
    fn gives_way(&self) -> bool {
        false
    }

    /// Finds sessions of coding agents in every folder.
    fn sessions(&self) -> Option<&dyn SessionKeeper> {
        None
    }

    /// Returns the beginnings of the paths of its files, by which it is known cheaply that a session
    /// worked on it; one that begins with `/` is a part of the path.
    fn folders(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the beginnings of the commands with which an agent works on it.
    fn commands(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the options of a resume that it understands.
    fn options(&self) -> &'static [ResumeOption] {
        &[]
    }

    /// Finds open workflows without reading finished ones.
    fn survey(&self) -> Option<&dyn Survey> {
        None
    }

    /// Runs tasks of a workflow on the engine.
    fn engine(&self) -> Option<&dyn Engine> {
        None
    }

    /// Marks the tasks of its lists.
    fn marks(&self) -> Option<&dyn TaskMarks> {
        None
    }

    /// Starts new workflows from a plan.
    fn starter(&self) -> Option<&dyn Starter> {
        None
    }

    /// Validates documents of a workflow.
    fn validator(&self) -> Option<&dyn Validator> {
        None
    }

    /// Migrates files of an older layout.
    fn migrator(&self) -> Option<&dyn Migrator> {
        None
    }
}

/// What a protocol is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ask {
    /// The workflow that a person named, in full or by its beginning.
    pub name: Option<String>,
    /// The offers of the protocol that a person accepted.
    pub accepted: Vec<OfferKind>,
    /// Whether only the workflow of exactly this name matters; the others need not be read.
    pub alone: bool,
    /// Whether all are to be listed, even those that a list otherwise only counts.
    pub all: bool,
    /// The options that a person gave, each with its value; a flag has an empty one.
    pub options: Vec<(ResumeOption, String)>,
    /// What sessions of coding agents in the project were doing, the newest first; only lists of tasks
    /// look at it.
    pub sessions: Vec<Doing>,
    /// How the last rekindle that worked on it ended, where that is known; a record of it is for people.
    pub last_life: Option<LastLife>,
}

/// What a session of a coding agent was doing when it was last heard of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doing {
    /// The first line of its last prompt.
    pub prompt: Option<String>,
    /// The files that it edited, relative to the project.
    pub touched: Vec<Utf8PathBuf>,
    /// The entry of its own to-do list that is in progress.
    pub step: Option<String>,
}

impl Ask {
    /// Returns the value of an option, if it was given.
    pub fn option(&self, option: ResumeOption) -> Option<&str> {
        let mut given = self.options.iter();
        let found = given.find(|(given, _)| *given == option)?;
        Some(&found.1)
    }

    /// Returns whether a flag was given.
    pub fn has(&self, flag: ResumeOption) -> bool {
        self.option(flag).is_some()
    }

    /// Returns the request with an option added.
    #[must_use]
    pub fn with(mut self, option: ResumeOption, value: impl Into<String>) -> Self {
        self.options.push((option, value.into()));
        self
    }
}

/// An option of a resume that only some protocols understand, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResumeOption(pub &'static str);

impl ResumeOption {
    /// Reads the host's task list from this file.
    pub const TASKS: Self = Self("--tasks");
    /// Resumes from this checkpoint.
    pub const CHECKPOINT: Self = Self("--checkpoint");
    /// Resumes with as little context as possible.
    pub const FRESH: Self = Self("--fresh");
    /// Validates before it resumes.
    pub const VALIDATE: Self = Self("--validate");
    /// Also does tasks that are open only below one that is marked as done.
    pub const INCLUDE_MARKED: Self = Self("--include-marked");
    /// Works in the checkout, one task at a time and without commits.
    pub const IN_PLACE: Self = Self("--in-place");
}
