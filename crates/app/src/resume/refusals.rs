//! Why a resume is refused: what it was agreed to has changed, something blocks it, or somebody else is
//! at work.

use rekindle_model::{Then, WorkflowId};
use rekindle_runner::{Recovered, Runner};

use super::Options;
use crate::face::Face;
use crate::inspect::{Inspected, Planned};
use crate::{Error, Fate, Project, Query};

/// Refuses a plan that was used, or that would no longer do what a person agreed to.
pub(super) fn refuse_moved(
    planned: &Planned,
    anew: &Planned,
    runner: &Runner,
    recovered: &Recovered,
) -> Result<(), Error> {
    let id = planned.plan.id.clone();
    // A plan is carried out once: the first process that gets the lock uses it.
    if runner.opened_at() != planned.position {
        return Err(Error::Spent { id });
    }
    // Workers that are alive go on writing all the time, so another digest alone is no reason to stop.
    if !recovered.has_changed_the_world()
        && anew.with_position(planned.position) != planned.digest
        && !crate::meaning::is_same(planned, anew)
    {
        return Err(Error::Moved { id });
    }
    Ok(())
}

/// Refuses any plan but the one that was agreed to before.
pub(super) fn refuse_another(planned: &Planned, options: &Options) -> Result<(), Error> {
    match &options.agreed_to {
        Some(digest) if *digest != planned.digest => {
            let id = planned.plan.id.clone();
            Err(Error::Moved { id })
        }
        Some(_) | None => Ok(()),
    }
}

/// Says in a protocol's own words why no workflow is chosen, where none is.
pub(super) fn refuse_unchosen(
    inspected: &Inspected,
    query: &Query,
    face: &mut dyn Face,
) -> Result<(), Error> {
    let chosen = crate::inspect::chosen(inspected, query);
    if let (Err(_), Some(words)) = (&chosen, inspected.case.refusal()) {
        face.print(words);
    }
    chosen.map(|_| ())
}

pub(crate) fn refuse_blocked(planned: &Planned) -> Result<(), Error> {
    // A question about the very thing that is in the way is how it gets out of it.
    if let Then::Ask(question) = &planned.plan.then
        && question.is_about_a_blocker
    {
        return Ok(());
    }
    let reasons: Vec<String> = planned
        .assessment
        .blockers()
        .map(|finding| match &finding.hint {
            Some(hint) => format!("{}; {hint}", finding.message),
            None => finding.message.clone(),
        })
        .collect();
    if reasons.is_empty() {
        return Ok(());
    }
    Err(Error::Blocked {
        id: planned.plan.id.clone(),
        reasons,
    })
}

/// Refuses a workflow that another rekindle works on, and names that one.
pub(crate) fn refuse_held(project: &Project, id: &WorkflowId) -> Result<(), Error> {
    let folder = project.state();
    let rekindle_fs::Occupancy::Held(holder) = folder.holder(id)? else {
        return Ok(());
    };
    let path = folder.lock(id);
    let holder = holder.map(Box::new);
    Err(Error::Held {
        id: id.clone(),
        source: rekindle_fs::LockError::Held { path, holder },
    })
}

/// Refuses what can not be taken up now: something blocks it, or it would be done beside somebody else.
///
/// Where a person is asked, they decide about a session that is at work here. Otherwise it is in the
/// way: it could be at the very task that is about to be done again.
pub(super) fn refuse_to_begin(
    project: &Project,
    planned: &Planned,
    options: &Options,
) -> Result<(), Error> {
    // What was begun may be the very thing that is in the way; it is looked at again when it is finished.
    if !planned.is_unfinished {
        refuse_blocked(planned)?;
    }
    let Some(last) = planned.last_session.as_ref() else {
        return Ok(());
    };
    // Of a session without a process it is not known whether it is the one that calls us.
    let (Fate::Running(Some(pid)) | Fate::Open(_, Some(pid))) = last.fate else {
        return Ok(());
    };
    if !options.is_agreed_for(&planned.plan) {
        return Ok(());
    }
    // Where another rekindle has it, that one is named and not its agent.
    refuse_held(project, &planned.plan.id)?;
    Err(Error::SessionAlive {
        id: planned.plan.id.clone(),
        message: last.to_string(),
        pid,
    })
}
