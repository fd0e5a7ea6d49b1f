//! Who is working on a workflow right now.

use std::fmt;

use rekindle_agents::traces::Lives;
use rekindle_fs::Occupancy;
use rekindle_model::WorkflowId;
use rekindle_runner::{Event, Progress};

use crate::{Error, Face, Project};

/// The most tasks that are listed.
const MOST_TASKS: usize = 5;

/// Who is working on a workflow right now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AtWork {
    /// A rekindle holds it; the text describes the holder, if known.
    Rekindle(Option<String>),
    /// Workers continue these tasks, although the rekindle that started them has ended.
    Workers(Vec<String>),
}

impl AtWork {
    /// Finds out who is at work, without creating or disturbing anything.
    pub(crate) fn on(
        project: &Project,
        id: &WorkflowId,
    ) -> Result<Option<Self>, rekindle_fs::Error> {
        let folder = project.state();
        if let Occupancy::Held(holder) = folder.holder(id)? {
            return Ok(Some(Self::Rekindle(
                holder.map(|holder| holder.to_string()),
            )));
        }
        let tasks = folder.tasks_at_work(id);
        Ok((!tasks.is_empty()).then_some(Self::Workers(tasks)))
    }

    /// Returns whether a resume would be refused; it continues with workers whose rekindle has ended.
    pub(crate) fn is_rekindle(&self) -> bool {
        match self {
            Self::Rekindle(_) => true,
            Self::Workers(_) => false,
        }
    }
}

/// Returns who is at work on a workflow at this moment, without making or disturbing anything.
pub fn at_work(project: &Project, id: &WorkflowId) -> Result<Option<AtWork>, Error> {
    Ok(AtWork::on(project, id)?)
}

/// Refuses to change a workflow beside a rekindle that is at work on it, unless that one started us.
///
/// What a worker or its tools report belongs to the work that is going on.
///
/// # Errors
/// `Held`, with who it is.
pub fn refuse_beside(project: &Project, id: &WorkflowId) -> Result<(), Error> {
    let is_its_worker = |name: &str| {
        let named = project.variables.get(name);
        named.is_some_and(|named| *named == id.to_string() || *named == id.name)
    };
    if ["REKINDLE_WORKFLOW", "REKINDLE_RUN"]
        .into_iter()
        .any(is_its_worker)
    {
        return Ok(());
    }
    let world = project.world();
    let ancestors = Lives::new(&world).ancestors();
    match project.state().holder(id)? {
        Occupancy::Held(Some(holder)) if ancestors.contains(&holder.process.pid) => Ok(()),
        Occupancy::Free | Occupancy::Held(_) => crate::resume::refuse_held(project, id),
    }
}

impl fmt::Display for AtWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rekindle(Some(holder)) => f.write_str(holder),
            Self::Rekindle(None) => f.write_str("another process"),
            Self::Workers(tasks) => {
                let named: Vec<String> = tasks
                    .iter()
                    .take(MOST_TASKS)
                    .map(|task| format!("`{task}`"))
                    .collect();
                let worker = if tasks.len() == 1 {
                    "a worker"
                } else {
                    "workers"
                };
                write!(f, "{worker} at {}", named.join(", "))?;
                match tasks.len().saturating_sub(MOST_TASKS) {
                    0 => {}
                    more => write!(f, " and {more} more")?,
                }
                let them = if tasks.len() == 1 { "it" } else { "them" };
                write!(
                    f,
                    "; the rekindle that started {them} has ended, and a resume continues with {them}"
                )
            }
        }
    }
}

/// Reports the workers that are still running when a resume ends with an error.
///
/// If another rekindle holds the workflow, the error names it, and the workers are its own.
pub(crate) fn report_workers(
    project: &Project,
    id: &WorkflowId,
    error: &Error,
    face: &mut dyn Face,
) {
    if matches!(error, Error::Held { .. }) {
        return;
    }
    let at = rekindle_text::format_seconds(project.now());
    let mut report = |left: &_| {
        face.progress(&Event {
            run: id,
            at: at.clone(),
            progress: &Progress::StillAtWork(left),
        });
    };
    project.state().report_workers(id, &mut report);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_named_by_their_tasks_and_many_are_counted() {
        let tasks = |n: usize| AtWork::Workers((1..=n).map(|n| format!("T{n}")).collect());
        let said = |n: usize| tasks(n).to_string();
        assert!(
            said(1).starts_with("a worker at `T1`; the rekindle that started it"),
            "{}",
            said(1)
        );
        assert!(
            said(2).starts_with("workers at `T1`, `T2`; the rekindle that started them"),
            "{}",
            said(2)
        );
        assert!(
            said(7).contains("`T5` and 2 more; the rekindle that"),
            "{}",
            said(7)
        );
        assert!(!tasks(1).is_rekindle());
    }
}
