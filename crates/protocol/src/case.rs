//! What a protocol concludes from one look at a project.

use camino::Utf8PathBuf;
use rekindle_model::{
    Assessment, Background, Command, History, Intent, LeftFolder, Permission, Plan, Step, Stop,
    StopKind, WorkflowDocument,
};
use rekindle_world::World;

use crate::capability::{CheckpointList, TaskList, TaskSource};

/// A judged project: what it means, and what can be done about it.
pub trait Case {
    /// Returns what the files mean.
    fn assessment(&self) -> &Assessment;

    /// Plans the next steps of the chosen workflow; `None` if no workflow is chosen.
    ///
    /// `world` is the one that was inspected; whatever is read now becomes part of the plan's digest.
    fn plan(&self, world: &dyn World, intent: &Intent) -> Option<Plan>;

    /// Returns what is said where no workflow can be chosen, if the protocol prescribes a text.
    fn refusal(&self) -> Option<&str> {
        None
    }

    /// Returns what belongs to the chosen workflow.
    fn belongings(&self) -> Belongings {
        Belongings::default()
    }

    /// Returns what the chosen workflow is for, what was decided in it and what failed.
    fn background(&self, _: &dyn World) -> Background {
        Background::default()
    }

    /// Returns the tasks of the chosen workflow, if the engine runs them.
    fn tasks(&self) -> Option<&dyn TaskSource> {
        None
    }

    /// Returns the chosen workflow as a list of tasks for a run, if it is one.
    fn list(&self) -> Option<&dyn TaskList> {
        None
    }

    /// Returns the checkpoints of the chosen workflow, if the protocol keeps some.
    fn checkpoints(&self) -> Option<&dyn CheckpointList> {
        None
    }

    /// Returns the past of the chosen workflow, if the protocol has tasks or checkpoints to show.
    ///
    /// `world` is the one that was inspected. Records are read again, since only a picture needs all of them.
    fn history(&self, _: &dyn World) -> Option<History> {
        None
    }
}

/// What belongs to a workflow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Belongings {
    /// The commands from the project's files that are run for it.
    pub commands: Vec<Command>,
    /// The folders outside the project that it may write to.
    pub roots: Vec<Utf8PathBuf>,
    /// The folders that it left outside the project.
    pub left_folders: Vec<LeftFolder>,
    /// Its documents inside the project, whether they exist or not.
    pub documents: Vec<WorkflowDocument>,
}

/// A workflow whose files cannot be followed: there is at most one thing to say about it.
#[derive(Debug)]
pub struct Unreadable {
    assessment: Assessment,
    says: Option<String>,
    roots: Vec<Utf8PathBuf>,
}

impl Unreadable {
    /// Returns a case about which there is nothing to say.
    pub fn new(assessment: Assessment) -> Self {
        Self {
            assessment,
            says: None,
            roots: Vec::new(),
        }
    }

    /// Adds the text that every plan prints before it stops.
    #[must_use]
    pub fn says(mut self, text: impl Into<String>) -> Self {
        self.says = Some(text.into());
        self
    }

    /// Adds the folders outside the project that it may write to.
    #[must_use]
    pub fn roots(mut self, roots: Vec<Utf8PathBuf>) -> Self {
        self.roots = roots;
        self
    }
}

impl Case for Unreadable {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, _: &dyn World, intent: &Intent) -> Option<Plan> {
        let text = self.says.clone()?;
        let id = self.assessment.workflows.first()?.id.clone();
        let reason = text.lines().next().unwrap_or_default();
        let mut plan = Plan::only(id, Stop::new(StopKind::BlockedAndSaid, reason));
        plan.permission = Permission::NotNeeded;
        if *intent == Intent::Open {
            plan.before_asking = text;
        } else {
            // The files were lost or damaged during the resume.
            let why = "the workflow's files cannot be followed";
            plan.steps.push(Step::print(text, why));
        }
        Some(plan)
    }

    fn belongings(&self) -> Belongings {
        Belongings {
            roots: self.roots.clone(),
            ..Belongings::default()
        }
    }
}
