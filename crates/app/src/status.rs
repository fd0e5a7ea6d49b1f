//! What can be resumed here.

use rekindle_model::{Intent, State, StopKind, Summary, Then, WorkflowId};
use rekindle_protocol::Ask;
use rekindle_world::World;

use crate::last_session::last_session;
use crate::{AtWork, LastSession, Project, inspect};

/// Every workflow of a project.
#[derive(Debug)]
pub struct Overview {
    /// Those that can be resumed first.
    pub workflows: Vec<Summary>,
    /// Which of them somebody is at work on at this moment, and who.
    pub at_work: Vec<(WorkflowId, AtWork)>,
    /// The command to type next.
    pub next_command: Option<String>,
    /// How the last session of a coding agent here ended, where that is worth knowing.
    pub last_session: Option<LastSession>,
    /// The time, for ages.
    pub now: jiff::Timestamp,
}

/// Lists what every protocol keeps here.
pub fn status(project: &Project) -> Overview {
    let world = project.world();
    let (workflows, chosen) = inspect::survey(&world);
    let open: Vec<Summary> = workflows
        .iter()
        .filter(|summary| summary.state.is_open())
        .cloned()
        .collect();
    let at_work: Vec<(WorkflowId, AtWork)> = open
        .iter()
        // Who is at work is told where it can be known; what is open is told in any case.
        .filter_map(|summary| Some((summary.id.clone(), AtWork::on(project, &summary.id).ok()??)))
        .collect();
    let is_free = |summary: &&Summary| {
        let mut held = at_work.iter().filter(|(_, who)| who.is_rekindle());
        !held.any(|(id, _)| *id == summary.id)
    };
    let free = open.iter().filter(is_free);
    let first = free.min_by_key(|summary| urgency(summary.state));
    let next_command = match (first, open.len()) {
        (None, _) => None,
        // Where a resume would only stop, a look says why.
        (Some(first), _) if !goes_on(&world, first) => {
            let id = first.id.to_string();
            Some(format!(
                "rekindle inspect {}",
                rekindle_text::shell_word(&id)
            ))
        }
        // Without a name, the one of the checked out branch may be meant, which need not be open.
        (Some(only), 1) if chosen.contains(&only.id) => Some("rekindle resume".to_owned()),
        (Some(first), _) => {
            let id = first.id.to_string();
            Some(format!(
                "rekindle resume {}",
                rekindle_text::shell_word(&id)
            ))
        }
    };
    Overview {
        last_session: last_session(project, &open, project.own_session()),
        workflows,
        at_work,
        next_command,
        now: project.now(),
    }
}

/// Returns whether a resume would do anything but stop.
pub(crate) fn goes_on(world: &dyn World, summary: &Summary) -> bool {
    match summary.state {
        State::Corrupt => return false,
        State::Waiting | State::Blocked => {}
        State::Interrupted | State::Nothing | State::Choice | State::Unknown | State::Complete => {
            return true;
        }
    }
    let ask = Ask {
        name: Some(summary.id.name.clone()),
        alone: true,
        ..Ask::default()
    };
    let protocol = rekindle_registry::find(summary.id.protocol);
    let case = protocol.inspect(world, &ask);
    let is_blocked = case.assessment().blockers().next().is_some();
    let plan = case.plan(world, &Intent::Open);
    plan.is_some_and(|plan| match plan.then {
        Then::Stop(stop) => {
            !is_blocked && !stop.kind.is_blocked() && stop.kind != StopKind::Waiting
        }
        Then::Ask(question) => !is_blocked || question.is_about_a_blocker,
        Then::Agent(_) | Then::Workers | Then::Check(_) | Then::Again => !is_blocked,
    })
}

/// Returns a number by which what was broken off comes before what waits or can not go on.
fn urgency(state: State) -> u8 {
    match state {
        State::Interrupted => 0,
        State::Waiting => 1,
        State::Blocked => 2,
        State::Corrupt => 3,
        State::Nothing | State::Choice | State::Unknown | State::Complete => 4,
    }
}
