//! What can be resumed here.

use rekindle_model::Summary;

use crate::last_session::last_session;
use crate::{LastSession, Project, inspect};

/// Every workflow of a project.
#[derive(Debug)]
pub struct Overview {
    /// Those that can be resumed first.
    pub workflows: Vec<Summary>,
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
    let next_command = match open.as_slice() {
        [] => None,
        // Without a name, the one of the checked out branch may be meant, which need not be open.
        [only] if chosen.contains(&only.id) => Some("rekindle resume".to_owned()),
        [first, ..] => Some(format!("rekindle resume {}", first.id)),
    };
    Overview {
        last_session: last_session(project, &open, project.own_session()),
        workflows,
        next_command,
        now: project.now(),
    }
}
