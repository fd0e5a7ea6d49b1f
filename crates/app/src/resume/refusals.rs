//! Reasons to refuse a resume: the confirmed plan has changed, something blocks it, or somebody else is
//! at work.

use rekindle_model::{Then, WorkflowId};
use rekindle_runner::{Recovered, Runner};

use super::Terms;
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
    // A plan is applied once: the first process that gets the lock uses it.
    if runner.opened_at() != planned.position {
        return Err(Error::Spent { id });
    }
    // Living workers write all the time, so a different digest alone is no reason to stop.
    if !recovered.has_changed_the_world()
        && anew.with_position(planned.position) != planned.digest
        && !crate::meaning::is_same(planned, anew)
    {
        return Err(Error::Moved { id });
    }
    Ok(())
}

/// Refuses any plan except the confirmed one.
pub(super) fn refuse_another(planned: &Planned, terms: Terms<'_>) -> Result<(), Error> {
    match &terms.options.agreed_to {
        Some(digest) if *digest != planned.digest => {
            let id = planned.plan.id.clone();
            Err(Error::Moved { id })
        }
        Some(_) | None => Ok(()),
    }
}

/// Reports in the protocol's words why no workflow is chosen, if it has such words.
pub(super) fn refuse_unchosen(
    inspected: &Inspected,
    query: &Query,
    face: &mut dyn Face,
) -> Result<(), Error> {
    let chosen = crate::choose::chosen(inspected, query);
    if let (Err(_), Some(words)) = (&chosen, inspected.case.refusal()) {
        face.print(words);
    }
    chosen.map(|_| ())
}

pub(crate) fn refuse_blocked(planned: &Planned) -> Result<(), Error> {
    // A question about a blocker is how it is resolved.
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

/// Refuses a workflow that another rekindle holds, and names that one.
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

/// Refuses a workflow that is blocked, or on which somebody else is working.
///
/// If a person is asked, they decide about a session that is at work here. Otherwise it blocks the
/// resume: it could be doing the task that is about to be repeated.
pub(super) fn refuse_to_begin(
    project: &Project,
    planned: &Planned,
    terms: Terms<'_>,
) -> Result<(), Error> {
    // Unfinished steps may be the blocker; it is checked again when they are finished.
    if !planned.is_unfinished {
        refuse_blocked(planned)?;
    }
    let Some(last) = planned.last_session.as_ref() else {
        return Ok(());
    };
    // A session without a process may be the caller.
    let (Fate::Running(Some(pid)) | Fate::Open(_, Some(pid))) = last.fate else {
        return Ok(());
    };
    if !terms.is_agreed_for(&planned.plan) {
        return Ok(());
    }
    // If another rekindle holds it, that one is named and not its agent.
    refuse_held(project, &planned.plan.id)?;
    Err(Error::SessionAlive {
        id: planned.plan.id.clone(),
        message: last.to_string(),
        pid,
    })
}
