//! The result of a call of the engine.

use super::{Cost, Tally};

/// The result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The progress.
    pub tally: Tally,
    /// Tasks that landed and changed nothing, in plan order; those of earlier orchestrators too.
    pub unchanged: Vec<String>,
    /// Tasks that need a person.
    pub given_up: Vec<GivenUp>,
    /// Whether a person ended it.
    pub stopped: bool,
    /// Whether it ended because the cost limit was reached.
    pub over_budget: bool,
    /// Why the agent did not start, so that no attempt could succeed.
    pub cannot_start: Option<String>,
    /// How many attempts were started by this orchestrator.
    pub attempts: u32,
    /// How many attempts the whole run has had, by all orchestrators.
    pub all_attempts: usize,
    /// What the whole run has cost, by what the agents said.
    pub cost: Cost,
    /// The branch on which its tasks land.
    pub branch: String,
    /// The last commit of the branch.
    pub tip: String,
}

/// A task that needs a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// Its id.
    pub task: String,
    /// The reason.
    pub reason: String,
    /// Dependencies that it will not get.
    pub behind: Option<Skipped>,
}

/// A skipped task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its id.
    pub task: String,
    /// Whether the plan itself skips it, which no event can change.
    pub by_plan: bool,
}
