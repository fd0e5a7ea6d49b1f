//! What can be resumed here.

use rekindle_model::{State, Summary, WorkflowId};

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
        // A resume cannot repair damaged files; a look says which they are.
        (Some(first), _) if first.state == State::Corrupt => {
            Some(format!("rekindle inspect {}", first.id))
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
