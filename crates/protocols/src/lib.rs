//! The five ways of keeping workflow state: a World in, an assessment and a plan out.
//!
//! A protocol is one module with the same few files: `layout` (where things
//! are), `read` (World to evidence), `assess` (evidence to verdict), `plan`
//! (verdict and intent to plan), `words` (the texts it must print). Nothing
//! here writes, and nothing here reads but through the [`World`] it is given.
//! To add one, read `agent_memory` and add a row to [`ALL`].

mod agent_memory;
mod bifrost;
mod happened;
mod kiln;
mod kiln_teams;
pub mod map;
mod prompt;
mod table;

pub use agent_memory::{Draft, draft};
pub use bifrost::{
    Migration, Validation, migration, validate_feature, validate_plan, validate_spec,
};
pub use table::Decision;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::{
    AgentTask, Assessment, Checkpoint, Explanation, Happened, Intent, Plan, ProtocolName, Settings,
    Work, WorkflowDocument,
};
use rekindle_world::World;

/// What is asked of a protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ask {
    /// The workflow that a person named, whole or by its beginning.
    pub name: Option<String>,
    /// A file with the host's task list, for protocols that have one, instead of the list on disk.
    pub tasks: Option<Utf8PathBuf>,
    /// The checkpoint to go back to, for protocols that can.
    pub checkpoint: Option<String>,
    /// With as little context as possible, for protocols that tell of it.
    pub fresh: bool,
    /// After the protocol's own validators, where it has some.
    pub validate: bool,
}

/// What a new run is made from, beside its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// How it is to be done.
    pub settings: Settings,
    /// The plan's file as it was named.
    pub source: String,
    /// The plan's text.
    pub text: String,
    /// Four characters that tell it from other runs of the same minute and title.
    pub short_id: String,
}

/// One way of keeping workflow state on disk.
pub trait Protocol: Sync {
    /// Returns its name.
    fn name(&self) -> ProtocolName;

    /// Returns whether the project has anything of it, at the cost of a look at one path.
    fn is_here(&self, world: &dyn World) -> bool;

    /// Returns the folder in which it keeps its workflows, relative to the project, where new ones
    /// are made as a whole.
    fn home(&self) -> Option<&'static str> {
        None
    }

    /// Returns whether a resume may name a checkpoint, ask for little context or for validation.
    fn resumes_from_checkpoints(&self) -> bool {
        false
    }

    /// Reads the evidence and judges it.
    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case>;

    /// Returns the line that records what happened to an attempt of the engine's.
    ///
    /// This and the next two are for protocols whose cases have [work](Case::work); of the others
    /// the engine runs nothing, so there are no attempts to tell of.
    fn record(
        &self,
        _workflow: &str,
        _actor: &str,
        _task: &str,
        _attempt: u32,
        _happened: &Happened,
        _at: Timestamp,
    ) -> String {
        String::new()
    }

    /// Returns what a line of an attempt's log says, of which task and which attempt.
    fn heard(&self, _line: &str) -> Option<(String, u32, Happened)> {
        None
    }

    /// Returns the log of an attempt, relative to the project.
    fn attempt_log(
        &self,
        _workflow: &str,
        _actor: &str,
        _task: &str,
        _attempt: u32,
    ) -> Utf8PathBuf {
        Utf8PathBuf::new()
    }

    /// Returns the host's own record of a task with what happened in it, for protocols that keep one.
    fn mirrored(&self, _file: &[u8], _happened: &Happened, _at: Timestamp) -> Option<Vec<u8>> {
        None
    }

    /// Tells why a task of a workflow is in its state, or `None` when there is no such task.
    fn explain(&self, world: &dyn World, ask: &Ask, task: &str) -> Option<Explanation>;
}

/// A judged project: what it means, and what can be done about it.
pub trait Case {
    /// Returns what the evidence means.
    fn assessment(&self) -> &Assessment;

    /// Returns what is to be done with the chosen workflow, or `None` when none is chosen.
    ///
    /// `world` is the one that was inspected; what a protocol looks at only now counts in its digest too.
    fn plan(&self, world: &dyn World, intent: &Intent) -> Option<Plan>;

    /// Returns the work of the chosen workflow, where its tasks are the engine's to run.
    fn work(&self) -> Option<Work> {
        None
    }

    /// Returns what an agent is told for an attempt at a task, by its place in the work; nobody asks
    /// where there is none.
    fn brief(
        &self,
        _world: &dyn World,
        _task: usize,
        attempt: u32,
        _trouble: Option<&str>,
    ) -> AgentTask {
        AgentTask {
            role: "worker",
            task: None,
            attempt,
            summary: String::new(),
            prompt: String::new(),
            checks: Vec::new(),
            by_hand: Vec::new(),
            seen: None,
        }
    }

    /// Returns the folders outside of the project that are the workflow's to write to.
    fn roots(&self) -> Vec<Utf8PathBuf> {
        Vec::new()
    }

    /// Returns what is said where no workflow can be chosen, where the protocol has words for it.
    fn refusal(&self) -> Option<&str> {
        None
    }

    /// Returns the checkpoints of the chosen workflow, oldest first.
    fn checkpoints(&self) -> Vec<Checkpoint> {
        Vec::new()
    }

    /// Returns the checkpoints in the protocol's own words, where it has some.
    fn timeline(&self) -> Option<String> {
        None
    }

    /// Returns what makes the record of the chosen workflow shorter without losing anything, where
    /// that is possible.
    fn archive(&self) -> Option<Plan> {
        None
    }

    /// Returns the documents of the chosen workflow that belong into the project, be they there or not.
    fn documents(&self) -> Vec<WorkflowDocument> {
        Vec::new()
    }
}

/// Every protocol that is built.
pub static ALL: &[&dyn Protocol] = &[
    &agent_memory::AgentMemory,
    &kiln::Kiln,
    &kiln_teams::KilnTeams,
    &bifrost::Bifrost,
    &map::Map,
];

/// Returns the protocol of a name.
pub fn find(name: ProtocolName) -> &'static dyn Protocol {
    match name {
        ProtocolName::AgentMemory => &agent_memory::AgentMemory,
        ProtocolName::Kiln => &kiln::Kiln,
        ProtocolName::KilnTeams => &kiln_teams::KilnTeams,
        ProtocolName::Bifrost => &bifrost::Bifrost,
        ProtocolName::Map => &map::Map,
    }
}

/// Returns the decisions of each protocol as its pages have them.
pub fn decisions() -> Vec<(ProtocolName, Vec<Decision>)> {
    vec![
        (ProtocolName::AgentMemory, agent_memory::table::decisions()),
        (ProtocolName::Kiln, kiln::table::decisions()),
        (ProtocolName::KilnTeams, kiln_teams::table::decisions()),
        (ProtocolName::Bifrost, bifrost::table::decisions()),
        (ProtocolName::Map, map::table::decisions()),
    ]
}
