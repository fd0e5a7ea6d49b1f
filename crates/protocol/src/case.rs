//! What a protocol concludes from one look at a project.

use camino::Utf8PathBuf;
use rekindle_model::{Assessment, Command, Intent, LeftFolder, Plan, WorkflowDocument};
use rekindle_world::World;

use crate::capability::{CheckpointList, TaskSource};

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

    /// Returns the tasks of the chosen workflow, if the engine runs them.
    fn tasks(&self) -> Option<&dyn TaskSource> {
        None
    }

    /// Returns the checkpoints of the chosen workflow, if the protocol keeps some.
    fn checkpoints(&self) -> Option<&dyn CheckpointList> {
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
    /// What is known of it.
    pub assessment: Assessment,
    /// The plan that says it; `None` where there is nothing to say.
    pub plan: Option<Plan>,
    /// The folders outside the project that are its own.
    pub roots: Vec<Utf8PathBuf>,
}

impl Case for Unreadable {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, _: &dyn World, _: &Intent) -> Option<Plan> {
        self.plan.clone()
    }

    fn belongings(&self) -> Belongings {
        Belongings {
            roots: self.roots.clone(),
            ..Belongings::default()
        }
    }
}
