//! Sessions of coding agents, which belong to no project: they are found from any folder.

use rekindle_model::{Fact, Finding, Session, SessionState, WorkflowId};
use rekindle_world::World;

/// Finds sessions of coding agents on this machine.
pub trait SessionKeeper: Sync {
    /// Returns the sessions of a scope, in the order in which they are listed.
    fn survey(&self, world: &dyn World, scope: Scope, reach: Reach) -> Sessions;

    /// Returns the sessions that a name means: none, one, or several if it is ambiguous.
    fn named(&self, world: &dyn World, name: &str) -> Vec<Session>;

    /// Returns what was noticed of a session.
    fn findings(&self, session: &Session) -> Vec<Finding>;

    /// Returns what the agent of a session is told when it is continued.
    fn briefing(&self, world: &dyn World, session: &Session) -> String;

    /// Returns the page that hands a session over to another program; `None` if it cannot be read now.
    fn handover(&self, world: &dyn World, session: &Session) -> Option<String>;

    /// Returns what a session had in flight, as a clause.
    fn stage(&self, session: &Session) -> String;

    /// Returns those of the files that a session edited that git calls changed.
    fn uncommitted(&self, world: &dyn World, session: &Session) -> Vec<String>;

    /// Returns the facts of a session for a list; `workflow` is the one of another protocol that it
    /// worked on.
    fn listed_facts(&self, session: &Session, workflow: Option<&WorkflowId>) -> Fact;

    /// Returns the facts of a session with the workflow of another protocol that it worked on.
    fn facts_with(&self, facts: Fact, workflow: &WorkflowId) -> Fact;
}

/// Whose sessions are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those of the project.
    Project,
    /// Those of all folders.
    Everywhere,
}

/// How far back sessions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Those that changed in the last week, at most the newest 400.
    Recent,
    /// All of them.
    All,
}

/// Sessions of a scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sessions {
    /// Those that were read, the most urgent first.
    pub sessions: Vec<Session>,
    /// How many there are of each kind.
    pub counts: SessionCounts,
}

/// How many sessions there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// By state, without stale ones that are not finished.
    pub by_state: [usize; SessionState::ALL.len()],
    /// Not finished, and silent for a week.
    pub stale: usize,
    /// Not read.
    pub older: usize,
}

impl SessionCounts {
    /// Counts a session.
    pub fn add(&mut self, session: &Session) {
        if session.is_stale && session.state != SessionState::Finished {
            self.stale += 1;
            return;
        }
        let mut states = SessionState::ALL.iter();
        if let Some(at) = states.position(|state| *state == session.state) {
            self.by_state[at] += 1;
        }
    }

    /// Returns how many sessions are in a state.
    pub fn of(&self, state: SessionState) -> usize {
        let mut both = SessionState::ALL.iter().zip(self.by_state);
        both.find(|(other, _)| **other == state)
            .map_or(0, |(_, n)| n)
    }
}
