//! What workers, scripts and people tell: events and checkpoints.

use camino::Utf8PathBuf;
use rekindle_model::{Action, Checkpoint, Intent, Plan, Report, WorkflowId};
use rekindle_runner::Output;

use crate::inspect::{chosen, inspect_world, plan_world};
use crate::{Error, Project, Query};

/// What was recorded, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The workflow.
    pub id: WorkflowId,
    /// The log, relative to the project.
    pub log: Utf8PathBuf,
    /// The line.
    pub record: String,
}

/// The checkpoints of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The workflow.
    pub id: WorkflowId,
    /// Oldest first.
    pub checkpoints: Vec<Checkpoint>,
}

/// Appends an event to a workflow's log.
pub fn event(project: &Project, query: &Query, report: Report) -> Result<Recorded, Error> {
    record(project, query, &Intent::Report(report))
}

/// Makes a checkpoint.
pub fn checkpoint(project: &Project, query: &Query, note: String) -> Result<Recorded, Error> {
    record(project, query, &Intent::Checkpoint { note })
}

/// Lists the checkpoints of a workflow.
pub fn checkpoints(project: &Project, query: &Query) -> Result<Kept, Error> {
    let inspected = inspect_world(&project.world(), query)?;
    let id = chosen(&inspected, query)?;
    let checkpoints = inspected.case.checkpoints();
    Ok(Kept { id, checkpoints })
}

fn record(project: &Project, query: &Query, intent: &Intent) -> Result<Recorded, Error> {
    struct Silent;
    impl Output for Silent {
        fn print(&mut self, _: &str) {}
    }

    let planned = plan_world(&project.world(), query, intent)?;
    let Plan { id, steps, .. } = &planned.plan;
    rekindle_runner::report(project.folder(), id, steps, &mut Silent).map_err(Error::Run)?;
    let mut lines = planned
        .plan
        .steps
        .into_iter()
        .filter_map(|step| match step.action {
            Action::Append { log, record } => Some((log, record)),
            Action::Create { .. }
            | Action::Edit { .. }
            | Action::MoveFolder { .. }
            | Action::Land(_)
            | Action::EndWorker { .. }
            | Action::AskHost { .. }
            | Action::Print(_) => None,
        });
    let (log, record) = lines.next_back().unwrap_or_default();
    Ok(Recorded {
        id: planned.plan.id,
        log,
        record,
    })
}
