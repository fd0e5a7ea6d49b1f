//! What an earlier rekindle had begun when it was killed: it stands in the journal of its workflow.

use rekindle_model::Summary;
use rekindle_runner::{Recovered, Runner, StateFolder};

use crate::face::{Face, News};
use crate::inspect::Planned;
use crate::{Error, Project, Query};

/// Finishes what was begun of a workflow, if anything was; returns whether it must be read anew.
///
/// The lock is held for that moment only: whoever reads the question next may take long.
///
/// # Errors
/// Another rekindle holds the workflow, an agent of an earlier one lives, or an effect fails.
pub(crate) fn finish(
    project: &Project,
    planned: &Planned,
    face: &mut dyn Face,
) -> Result<bool, Error> {
    let id = &planned.plan.id;
    if !StateFolder::of(project.folder()).is_unfinished(id)? {
        return Ok(false);
    }
    let (runner, recovered) = Runner::open(
        project.folder(),
        id,
        &format!("finish what was begun of {id}"),
        project.now(),
        project.reach(planned.roots.clone()),
    )
    .map_err(|error| Error::from_run(id, error))?;
    drop(runner);
    // Damage of the journal stays, and is told by whoever works with it next.
    let recovered = Recovered {
        damaged: 0,
        ..recovered
    };
    if recovered != Recovered::default() {
        face.tell(&News::Recovered(&recovered));
    }
    Ok(true)
}

/// Finds a workflow that is over, but was killed in the middle of its last step.
pub(crate) fn unfinished(project: &Project, over: &[Summary]) -> Result<Option<Query>, Error> {
    let folder = StateFolder::of(project.folder());
    for summary in over {
        if folder.is_unfinished(&summary.id)? {
            return Ok(Some(Query {
                protocol: Some(summary.id.protocol),
                name: Some(summary.id.name.clone()),
                ..Query::default()
            }));
        }
    }
    Ok(None)
}
