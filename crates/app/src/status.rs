//! What can be resumed here.

use rekindle_model::Summary;

use crate::{Project, inspect};

/// Every workflow of a project.
#[derive(Debug)]
pub struct Overview {
    /// Those that can be resumed first.
    pub workflows: Vec<Summary>,
    /// The command to type next.
    pub next_command: Option<String>,
    /// The time, for ages.
    pub now: jiff::Timestamp,
}

/// Lists what every protocol keeps here.
pub fn status(project: &Project) -> Overview {
    let world = project.world();
    let workflows = inspect::all(&world);
    let mut open = workflows.iter().filter(|summary| summary.state.is_open());
    let next_command = match (open.next(), open.next()) {
        (None, _) => None,
        (Some(_), None) => Some("rekindle resume".to_owned()),
        (Some(first), Some(_)) => Some(format!("rekindle resume {}", first.id)),
    };
    Overview {
        workflows,
        next_command,
        now: project.now(),
    }
}
