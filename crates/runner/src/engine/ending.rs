//! How a call of the engine ended.

use super::{Cost, Tally};

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// How far it is.
    pub tally: Tally,
    /// Tasks that landed and changed nothing, in plan order; those of earlier orchestrators too.
    pub unchanged: Vec<String>,
    /// Tasks that only a person can help.
    pub given_up: Vec<GivenUp>,
    /// Whether a person ended it.
    pub stopped: bool,
    /// Whether it ended because the money is used up.
    pub over_budget: bool,
    /// How many attempts were started by this orchestrator.
    pub attempts: u32,
    /// What the whole run has cost, by what the agents said.
    pub cost: Cost,
    /// The branch on which its tasks land.
    pub branch: String,
    /// The last commit of the branch.
    pub tip: String,
}

/// A task that only a person can help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// Its id.
    pub task: String,
    /// Why.
    pub reason: String,
    /// What it needs and will not get.
    pub behind: Option<Skipped>,
}

/// A task that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its id.
    pub task: String,
    /// Whether the plan itself leaves it out, which no event can change.
    pub by_plan: bool,
}
