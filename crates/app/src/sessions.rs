//! Sessions of coding agents, of a project or of all folders.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rekindle_model::{Session, SessionState, WorkflowId};
use rekindle_protocol::sessions::{Reach, Scope, SessionCounts};
use rekindle_text::shell_word;
use rekindle_wire::{
    Facts, SessionContinuedOut, SessionCountsOut, SessionLeftOut, SessionsContinuedOut, SessionsOut,
};

use crate::beside::Beside;
use crate::{Continued, Project};

/// The sessions that are listed without `--all`.
pub const FIRST_SESSIONS: usize = 10;

/// Sessions of a project or of all folders.
#[derive(Debug)]
pub struct SessionList {
    /// Whose they are.
    pub scope: Scope,
    /// Those that are listed, the most urgent first.
    pub sessions: Vec<Session>,
    /// The workflows of other protocols that some of them worked on, by the ids of the sessions.
    pub workflows: BTreeMap<WorkflowId, WorkflowId>,
    /// How many there are of each kind.
    pub counts: SessionCounts,
    /// The time, for ages.
    pub now: Timestamp,
}

/// Lists sessions of coding agents.
///
/// With [`Reach::All`] every transcript is read, and finished and stale sessions are listed, too.
pub fn sessions(project: &Project, scope: Scope, reach: Reach) -> SessionList {
    let world = project.world();
    let (_, keeper) = rekindle_registry::sessions();
    let found = keeper.survey(&world, scope, reach);
    let mut sessions = found.sessions;
    if reach == Reach::Recent {
        sessions.retain(Session::is_listed);
    }
    let mut beside = Beside::new(project);
    let with_workflow = |session: &Session| Some((session.id.clone(), beside.of(session)?));
    SessionList {
        scope,
        workflows: sessions.iter().filter_map(with_workflow).collect(),
        sessions,
        counts: found.counts,
        now: project.now(),
    }
}

impl SessionList {
    /// Returns how many of the files that a session edited git calls changed.
    pub fn n_uncommitted(project: &Project, session: &Session) -> usize {
        let (_, keeper) = rekindle_registry::sessions();
        keeper.uncommitted(&project.world(), session).len()
    }

    /// Returns one command a line that continues each session in a terminal.
    pub fn commands(&self) -> String {
        let can_go_on =
            |session: &&Session| session.folder_exists && session.state != SessionState::Running;
        let sessions = self.sessions.iter().filter(can_go_on);
        sessions.filter_map(command).collect()
    }

    /// Returns the object of `sessions`.
    pub fn object(&self) -> SessionsOut {
        let (_, keeper) = rekindle_registry::sessions();
        let facts = self
            .sessions
            .iter()
            .map(|session| keeper.listed_facts(session, self.workflows.get(&session.id)));
        SessionsOut {
            schema: "rekindle.sessions/1",
            scope: match self.scope {
                Scope::Project => "project",
                Scope::Everywhere => "everywhere",
            }
            .to_owned(),
            sessions: facts.map(Facts).collect(),
            counts: counts(&self.counts),
        }
    }
}

impl Continued {
    /// Returns whether a session could not be continued.
    pub fn is_failure(&self) -> bool {
        self.ended.iter().any(|(_, stop)| stop.kind.is_blocked())
    }

    /// Returns the object of `resume --all`.
    pub fn object(&self) -> SessionsContinuedOut {
        let ended = self.ended.iter().map(|(id, stop)| SessionContinuedOut {
            id: id.to_string(),
            outcome: if stop.kind.is_blocked() {
                "blocked"
            } else {
                "done"
            }
            .to_owned(),
            summary: stop.reason.clone(),
        });
        let left = self.left.iter().map(|left| SessionLeftOut {
            id: left.id.to_string(),
            reason: left.reason.clone(),
        });
        SessionsContinuedOut {
            schema: "rekindle.sessions-continued/1",
            declined: self.is_declined,
            continued: ended.collect(),
            left: left.collect(),
        }
    }
}

/// Returns a line that continues a session in its folder, quoted for a shell.
fn command(session: &Session) -> Option<String> {
    let folder = session.folder.as_ref()?;
    let words: Vec<String> = session
        .interactive
        .iter()
        .map(|word| shell_word(word).into_owned())
        .collect();
    let is_known = !words.is_empty();
    is_known.then(|| {
        format!(
            "cd {} && {}\n",
            shell_word(folder.as_str()),
            words.join(" ")
        )
    })
}

fn counts(counts: &SessionCounts) -> SessionCountsOut {
    SessionCountsOut {
        interrupted: counts.of(SessionState::Interrupted),
        waiting_for_person: counts.of(SessionState::WaitingForPerson),
        limited: counts.of(SessionState::Limited),
        running: counts.of(SessionState::Running),
        unreadable: counts.of(SessionState::Unreadable),
        finished: counts.of(SessionState::Finished),
        stale: counts.stale,
        older: counts.older,
    }
}
