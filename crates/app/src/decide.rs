//! What a person decides about a run: try failed tasks again, leave tasks out, cancel, stop.

use rekindle_model::{Intent, Report, Standing, Work, WorkTask, WorkflowId};
use rekindle_runner::{Asked, Urgency};

use crate::choose::{chosen, inspect_world};
use crate::inspect::plan_world;
use crate::lists::with_run;
use crate::report::event;
use crate::resume::refuse_held;
use crate::{Error, Face, Project, Query};

/// Who decides, as the log names it.
const ACTOR: &str = "person";

/// Which tasks a decision is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tasks {
    /// Every task that waits for a person.
    Blocked,
    /// These.
    Named(Vec<String>),
}

/// A decision about tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// They are tried again.
    Retry,
    /// They are left out.
    Skip,
}

impl Decision {
    /// Returns the event that records it.
    pub const fn event(self) -> &'static str {
        match self {
            Self::Retry => "task_ready",
            Self::Skip => "task_skipped",
        }
    }
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The workflow.
    pub id: WorkflowId,
    /// The tasks, in the order of the plan; none if no task waited for a person.
    pub tasks: Vec<String>,
}

/// Records a decision about tasks; nothing is recorded if one of them is unknown.
pub fn decide(
    project: &Project,
    query: &Query,
    decision: Decision,
    tasks: &Tasks,
) -> Result<Decided, Error> {
    let query = with_run(project, query)?;
    let planned = plan_world(&project.world(), &query, &Intent::Open)?;
    let id = planned.plan.id;
    let tasks = match (&planned.work, tasks) {
        (Some(work), Tasks::Blocked) => blocked(work),
        (None, Tasks::Blocked) => {
            return Err(Error::TaskNeeded {
                event: decision.event().to_owned(),
            });
        }
        (Some(work), Tasks::Named(names)) => known(&id, work, names)?,
        (None, Tasks::Named(names)) => names.clone(),
    };
    for task in &tasks {
        let report = Report {
            event: decision.event().to_owned(),
            actor: ACTOR.to_owned(),
            task: Some(task.clone()),
            details: None,
        };
        event(project, &Query::only(&id), report)?;
    }
    Ok(Decided { id, tasks })
}

fn blocked(work: &Work) -> Vec<String> {
    let is_blocked = |task: &&WorkTask| task.standing == Standing::Blocked;
    let blocked = work.tasks.iter().filter(is_blocked);
    blocked.map(|task| task.id.clone()).collect()
}

/// Returns the named tasks in the order of the plan.
fn known(id: &WorkflowId, work: &Work, names: &[String]) -> Result<Vec<String>, Error> {
    let is_known = |name: &&String| work.tasks.iter().any(|task| task.id == **name);
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        return Err(Error::UnknownTask {
            id: id.clone(),
            task: unknown.clone(),
        });
    }
    let is_named = |task: &&WorkTask| names.contains(&task.id);
    let named = work.tasks.iter().filter(is_named);
    Ok(named.map(|task| task.id.clone()).collect())
}

/// Cancels a workflow, if the person agrees; `None` if not. What has landed stays on its branch.
pub fn cancel(
    project: &Project,
    query: &Query,
    yes: bool,
    face: &mut dyn Face,
) -> Result<Option<WorkflowId>, Error> {
    let query = with_run(project, query)?;
    let planned = plan_world(&project.world(), &query, &Intent::Open)?;
    let id = planned.plan.id;
    refuse_held(project, &id)?;
    let text = match &planned.work {
        Some(work) => {
            let is_done = |task: &&WorkTask| task.standing == Standing::Done;
            let done = work.tasks.iter().filter(is_done).count();
            format!(
                "{id} will not go on; {done} of {} landed on `{}`, and that work stays.",
                rekindle_text::count(work.tasks.len(), "task"),
                work.settings.branch
            )
        }
        None => format!("{id} will not go on; its files stay."),
    };
    if !yes && !face.agree(&text).given()? {
        return Ok(None);
    }
    let report = Report {
        event: "run_cancelled".to_owned(),
        actor: ACTOR.to_owned(),
        task: None,
        details: Some(r#"{"reason":"cancelled by a person"}"#.to_owned()),
    };
    event(project, &Query::only(&id), report)?;
    Ok(Some(id))
}

/// Asks the processes that work on a workflow to end.
pub fn stop(
    project: &Project,
    query: &Query,
    urgency: Urgency,
) -> Result<(WorkflowId, Asked), Error> {
    let query = with_run(project, query)?;
    let inspected = inspect_world(&project.world(), &query)?;
    let id = chosen(&inspected, &query)?;
    let asked = project.state().ask_to_end(&id, urgency)?;
    Ok((id, asked))
}
