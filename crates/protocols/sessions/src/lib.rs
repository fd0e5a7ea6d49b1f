//! sessions: conversations of Claude Code, Codex, opencode and Gemini CLI that were cut off.
//!
//! A session is a workflow of its own: it needs no framework and is found from any folder. `shelf`
//! finds transcripts, `read` has a reader for each program, `assess` decides by the table in `table`,
//! and `briefing` and `handover` are what an agent is given to read. Nothing writes to a transcript.

mod assess;
mod briefing;
mod facts;
mod handover;
mod history;
mod layout;
mod noticed;
mod plan;
mod read;
mod shelf;
mod story;
mod superseded;
mod table;
mod words;

use rekindle_model::{
    Assessment, Condition, Explanation, Fact, Finding, History, Intent, Plan, Progress,
    ProtocolName, Session, SessionState, State, Summary, View, WorkflowId,
};
use rekindle_protocol::capability::{Known, Open, Survey};
use rekindle_protocol::sessions::{Reach, Scope, SessionKeeper, Sessions as Found};
use rekindle_protocol::{Ask, Case, Decision, Protocol};
use rekindle_world::{GitAnswer, GitQuestion, World};

/// The name of the protocol; the ids of its workflows begin with `session:`.
pub(crate) const NAME: ProtocolName = ProtocolName::new("sessions");

/// The protocol itself; it has no state.
pub struct Sessions;

impl Protocol for Sessions {
    fn name(&self) -> ProtocolName {
        NAME
    }

    fn about(&self) -> &'static str {
        "Sessions of Claude Code, Codex, opencode and Gemini CLI, wherever they keep them"
    }

    fn is_here(&self, world: &dyn World) -> bool {
        layout::is_any(world)
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case> {
        let mut found = match &ask.name {
            Some(name) => shelf::named(world, name),
            None => shelf::survey(world, Scope::Project, Reach::Recent).sessions,
        };
        if ask.name.is_none() {
            found.retain(Session::is_listed);
        }
        Box::new(Looked::new(world, found, ask.name.is_some()))
    }

    fn explain(&self, _: &dyn World, _: &Ask, _: &str) -> Option<Explanation> {
        None
    }

    fn decisions(&self) -> Vec<Decision> {
        table::decisions()
    }

    fn survey(&self) -> Option<&dyn Survey> {
        Some(self)
    }

    fn sessions(&self) -> Option<&dyn SessionKeeper> {
        Some(self)
    }
}

impl Survey for Sessions {
    fn open(&self, world: &dyn World, _: &Known<'_>) -> Open {
        let found = shelf::survey(world, Scope::Project, Reach::Recent);
        let listed = found.sessions.iter().filter(|session| session.is_listed());
        Open {
            workflows: listed.map(summary).collect(),
            // Nobody would look for an old conversation.
            ..Open::default()
        }
    }
}

impl SessionKeeper for Sessions {
    fn survey(&self, world: &dyn World, scope: Scope, reach: Reach) -> Found {
        shelf::survey(world, scope, reach)
    }

    fn named(&self, world: &dyn World, name: &str) -> Vec<Session> {
        shelf::named(world, name)
    }

    fn findings(&self, session: &Session) -> Vec<Finding> {
        noticed::findings(session)
    }

    fn briefing(&self, world: &dyn World, session: &Session) -> String {
        briefing::briefing(session, &uncommitted(world, session))
    }

    fn handover(&self, world: &dyn World, session: &Session) -> Option<String> {
        let story = shelf::whole(world, session)?;
        Some(handover::page(
            session,
            &story,
            &uncommitted(world, session),
        ))
    }

    fn stage(&self, session: &Session) -> String {
        words::stage(session)
    }

    fn uncommitted(&self, world: &dyn World, session: &Session) -> Vec<String> {
        uncommitted(world, session)
    }

    fn listed_facts(&self, session: &Session, workflow: Option<&WorkflowId>) -> Fact {
        facts::listed(session, workflow)
    }

    fn facts_with(&self, facts: Fact, workflow: &WorkflowId) -> Fact {
        facts::with_workflow(facts, Some(workflow))
    }
}

/// What was looked at.
struct Looked {
    assessment: Assessment,
    /// The session that is chosen, and what its agent is told.
    chosen: Option<(Session, String)>,
}

impl Looked {
    /// Judges what was found: the only session is chosen.
    fn new(world: &dyn World, mut found: Vec<Session>, is_named: bool) -> Self {
        let workflows: Vec<Summary> = found.iter().map(summary).collect();
        if let (Some(session), true) = (found.pop(), found.is_empty()) {
            let changed = uncommitted(world, &session);
            let assessment = Assessment {
                id: Some(session.id.clone()),
                state: session.state.state(),
                workflows,
                findings: noticed::findings(&session),
                facts: facts::facts(&session, &changed),
            };
            let told = briefing::briefing(&session, &changed);
            return Self {
                assessment,
                chosen: Some((session, told)),
            };
        }
        let state = match (workflows.is_empty(), is_named) {
            (false, _) => State::Choice,
            (true, true) => State::Unknown,
            (true, false) => State::Nothing,
        };
        let assessment = Assessment {
            id: None,
            state,
            workflows,
            findings: Vec::new(),
            facts: Fact::Null,
        };
        Self {
            assessment,
            chosen: None,
        }
    }
}

impl Case for Looked {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, _: &dyn World, intent: &Intent) -> Option<Plan> {
        match intent {
            Intent::Open | Intent::GoOn { .. } => {}
            Intent::Settle { .. }
            | Intent::Answer { .. }
            | Intent::Checked { .. }
            | Intent::Finish { .. }
            | Intent::Checkpoint { .. }
            | Intent::Report(_) => return None,
        }
        let (session, told) = self.chosen.as_ref()?;
        Some(plan::plan(session, told))
    }

    fn history(&self, world: &dyn World) -> Option<History> {
        let (session, _) = self.chosen.as_ref()?;
        Some(history::history(session, &shelf::whole(world, session)?))
    }
}

/// Returns a session in one line.
fn summary(session: &Session) -> Summary {
    let todo = session.todo.as_ref();
    let progress = Progress {
        done: todo.map_or(0, |todo| todo.done),
        total: todo.map(rekindle_model::TodoList::total),
    };
    let state = session.state.state();
    let title = session.prompt.as_ref().or(session.title.as_ref());
    let mut view = View::of(state).titled(title.cloned().unwrap_or_default());
    view.word = Some(session.state.as_str());
    view.touched = session.touched_paths().collect();
    view.condition = match session.state {
        SessionState::Interrupted => Condition::Interrupted,
        SessionState::WaitingForPerson => Condition::NeedsPerson,
        SessionState::Limited => Condition::Limited {
            until: session.until,
        },
        SessionState::Running => Condition::Running,
        SessionState::Unreadable => Condition::Unreadable,
        SessionState::Finished => Condition::Complete,
    };
    Summary {
        id: session.id.clone(),
        state,
        stage: words::stage(session),
        progress,
        last_activity: session.last_activity,
        next: words::next(session),
        view,
    }
}

/// Returns those of the edited files of a session that git calls changed.
fn uncommitted(world: &dyn World, session: &Session) -> Vec<String> {
    let Some(project) = session.project.as_ref().filter(|_| session.folder_exists) else {
        return Vec::new();
    };
    if session.touched.is_empty() {
        return Vec::new();
    }
    let question = GitQuestion::PrintedStatus { every_file: true };
    let Ok(GitAnswer::Printed(status)) = world.git(project, &question) else {
        return Vec::new();
    };
    let changed: Vec<&str> = status.lines().filter_map(|line| line.get(3..)).collect();
    let is_changed = |path: &&String| {
        changed.iter().any(|line| {
            let new = line.rsplit(" -> ").next().unwrap_or(line);
            new.trim_matches('"') == path.as_str()
        })
    };
    session.touched.iter().filter(is_changed).cloned().collect()
}

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod scene_tests;
