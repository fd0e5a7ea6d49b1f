//! A workflow whose steps the caller does itself, one after the other.
//!
//! [`resume`](super::resume()) with `Options::does_steps` hands out the first step. The caller does
//! it and calls [`advance`] with its result, which records it, does the bookkeeping that is due, and
//! hands out the next step, until the workflow is done or a person is needed. The lock is held for
//! each call and not in between, so that a person can look and intervene at any time.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use rekindle_model::{AgentTask, Ended, Intent, Then, WorkflowId};
use rekindle_runner::{Recovered, Runner};

use super::session::Session;
use super::{Options, Outcome, Resumed, Terms, refuse_held};
use crate::face::{Face, News};
use crate::inspect::plan_world;
use crate::{Error, Project, Query, records};

/// A workflow that was resumed by a caller who does its steps.
#[derive(Debug, Clone)]
pub struct Handed {
    /// The workflow.
    pub id: WorkflowId,
    /// The step that was handed out; none while something else must happen first.
    pub task: Option<AgentTask>,
    /// The log that this resume writes.
    pub(super) log: Utf8PathBuf,
}

/// Who can be asked while a workflow goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// A person, by the face.
    Person,
    /// Nobody.
    Nobody,
}

/// Continues a workflow whose step the caller did.
///
/// `ended` is the result of the step. Without one the evidence is read again: a caller that does
/// not know its step any more gets it again, and one whose result is already on disk gets the next.
///
/// # Errors
/// As [`resume`](super::resume()); the result was then not recorded.
pub fn advance(
    project: &Project,
    handed: &Handed,
    ended: Option<Ended>,
    person: Asks,
    face: &mut dyn Face,
) -> Result<Resumed, Error> {
    refuse_held(project, &handed.id)?;
    let query = Query::only(&handed.id);
    let world = project.world();
    let go_on = || Intent::GoOn {
        log: handed.log.clone(),
    };
    let planned = plan_world(&world, &query, &go_on())?;
    if let (None, Some(task), Then::Agent(next)) = (&ended, &handed.task, &planned.plan.then)
        && is_same_step(task, next)
    {
        let outcome = Outcome::AgentNeeded(task.clone());
        let mut resumed = Resumed::plain(Some(handed.id.clone()), outcome);
        resumed.handed = Some(handed.clone());
        return Ok(resumed);
    }
    let purpose = format!("continue {}", handed.id);
    let reach = project.reach(planned.roots);
    let (runner, recovered) =
        Runner::open(&project.state(), &handed.id, &purpose, project.now(), reach)
            .map_err(|error| Error::from_run(&handed.id, error))?;
    if recovered != Recovered::default() {
        face.tell(&News::Recovered(&recovered));
    }
    let succeeded = handed
        .task
        .clone()
        .filter(|_| ended == Some(Ended::Succeeded));
    let intent = match (ended, &handed.task) {
        (Some(ended), Some(task)) => Intent::Settle {
            log: handed.log.clone(),
            task: task.clone(),
            ended,
        },
        (Some(_) | None, _) => go_on(),
    };
    // The yes to the resume holds for what follows from it, as on the command line.
    let options = Options {
        yes: true,
        steps: Some(person),
        ..Options::default()
    };
    let mut session = Session {
        project,
        query,
        terms: Terms {
            options: &options,
            engine: None,
        },
        runner,
        face,
        last_success: succeeded,
        is_engines: false,
        watched: None,
        asked: BTreeSet::new(),
        warned: BTreeSet::new(),
        idle_rounds: 0,
        are_workers_reported: false,
        handed: None,
        _branch: None,
    };
    let plan = session.plan(&intent)?;
    let outcome = session.run(plan)?;
    Ok(Resumed {
        handed: session.handed,
        finished: records::finished(&recovered),
        ..Resumed::plain(Some(handed.id.clone()), outcome)
    })
}

/// Returns whether two steps are the same work, even if their prompts differ.
fn is_same_step(a: &AgentTask, b: &AgentTask) -> bool {
    (a.role, &a.task) == (b.role, &b.task)
}
