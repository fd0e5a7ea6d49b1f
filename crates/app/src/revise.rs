//! A plan file that was edited since its run was started: its changes are taken over before the resume.

use camino::Utf8Path;
use rekindle_git::{Program, Repo};
use rekindle_model::{Work, WorkflowId};
use rekindle_protocol::capability::{Revision, TaskList, TaskSource};
use rekindle_runner::Runner;
use rekindle_world::World as _;

use crate::choose::{chosen, inspect_world};
use crate::face::{Agreement, Enter, Face, News};
use crate::run::LARGEST_PLAN;
use crate::{Error, Options, Project, Query};

/// Whether changes of the plan file are taken over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UpdatePlan {
    /// As the person says, if one can be asked; else the old plan holds.
    #[default]
    Ask,
    /// They are.
    Yes,
}

/// Takes over what was edited in the plan file of a run, if the person agrees.
pub(crate) fn update_plan(
    project: &Project,
    query: &Query,
    options: &Options,
    face: &mut dyn Face,
) -> Result<(), Error> {
    let world = project.world();
    let inspected = inspect_world(&world, query)?;
    let id = chosen(&inspected, query)?;
    let work = inspected
        .case
        .tasks()
        .and_then(rekindle_protocol::capability::TaskSource::work);
    let Some(work) = work.filter(|_| id.protocol == rekindle_registry::starter().0) else {
        return Ok(());
    };
    let Some(plan) = work.settings.plan.clone() else {
        return Ok(());
    };
    let is_asked_for = options.update_plan == UpdatePlan::Yes;
    // What a person agreed to earlier is finished first.
    if !is_asked_for && project.state().is_unfinished(&id)? {
        return Ok(());
    }
    let found = revision(project, &id, &work, &plan)?;
    let Some(mut revision) = found else {
        return Ok(());
    };
    if let Some(findings) = revision.faults.take() {
        if is_asked_for {
            return Err(Error::BadPlan {
                path: plan,
                findings,
            });
        }
        face.tell(&News::PlanUnsound(&plan));
        return Ok(());
    }
    let can_ask = !options.yes && options.agreed_to.is_none();
    let agreement = match (is_asked_for, can_ask) {
        (true, _) => Agreement::Yes,
        (false, true) => {
            let text = offer(&plan, &revision);
            face.propose(&text, "Take the changes over?", Enter::No)
        }
        (false, false) => Agreement::No,
    };
    match agreement {
        Agreement::Yes => {
            let fresh = || self::revision(project, &id, &work, &plan);
            take_over(project, &id, (&plan, revision), &fresh, face)
        }
        Agreement::No | Agreement::Nobody => {
            face.tell(&News::PlanChanged(&plan, &revision));
            Ok(())
        }
    }
}

/// Leaves tasks out of a run that its list no longer has, or that are ticked there without a commit.
pub(crate) fn follow_list(
    project: &Project,
    run: &WorkflowId,
    list: &dyn TaskList,
    face: &mut dyn Face,
) -> Result<(), Error> {
    let world = project.world();
    let inspected = inspect_world(&world, &Query::only(run))?;
    let work = inspected.case.tasks().and_then(TaskSource::work);
    let Some(work) = work.filter(|_| !list.is_blank()) else {
        return Ok(());
    };
    // What a person agreed to earlier is finished first.
    if project.state().is_unfinished(run)? {
        return Ok(());
    }
    let tasks = work.tasks.iter();
    let gone = tasks.filter(|task| !list.has(&task.id, &task.title));
    let gone: Vec<String> = gone.map(|task| task.id.clone()).collect();
    let path = list.source();
    let Ok(bytes) = world.read(&project.folder().join(path), LARGEST_PLAN) else {
        return Ok(());
    };
    if gone.is_empty() {
        return Ok(());
    }
    let (_, starter) = rekindle_registry::starter();
    let revision = || {
        let at_work = at_work(project, run, &work)?;
        Ok(starter.leave_out(&world, &run.name, (path, &bytes), &gone, &at_work))
    };
    match revision()? {
        Some(found) => take_over(project, run, (path, found), &revision, face),
        None => Ok(()),
    }
}

/// Returns the tasks of a run with an attempt that is not over.
fn at_work(project: &Project, id: &WorkflowId, work: &Work) -> Result<Vec<String>, Error> {
    let program = Program::find(&project.search_path).map_err(Error::Git)?;
    let repo = Repo::at(&program, project.folder());
    let mut at_work = rekindle_runner::in_git(&repo, id, work).map_err(Error::Run)?;
    at_work.extend(project.state().tasks_at_work(id));
    Ok(at_work)
}

/// Compares a run with its plan file as it is now; a file that is gone is no change.
fn revision(
    project: &Project,
    id: &WorkflowId,
    work: &Work,
    plan: &Utf8Path,
) -> Result<Option<Revision>, Error> {
    let world = project.world();
    let Ok(bytes) = world.read(&project.folder().join(plan), LARGEST_PLAN) else {
        return Ok(None);
    };
    let (_, starter) = rekindle_registry::starter();
    let compare = |at_work: &[String]| starter.revise(&world, &id.name, (plan, &bytes), at_work);
    // Whether an attempt is not over is asked only where something differs.
    if compare(&[]).is_none() {
        return Ok(None);
    }
    Ok(compare(&at_work(project, id, work)?))
}

/// Writes the changes to the run's record, as the person saw them.
fn take_over(
    project: &Project,
    id: &WorkflowId,
    (plan, agreed): (&Utf8Path, Revision),
    revision: &dyn Fn() -> Result<Option<Revision>, Error>,
    face: &mut dyn Face,
) -> Result<(), Error> {
    let purpose = format!("take over {plan}");
    let reach = project.reach(Vec::new());
    let opened = Runner::open(&project.state(), id, &purpose, project.now(), reach);
    let (mut runner, recovered) = opened.map_err(|error| Error::from_run(id, error))?;
    if recovered != rekindle_runner::Recovered::default() {
        face.tell(&News::Recovered(&recovered));
    }
    let Some(fresh) = revision()? else {
        return Ok(());
    };
    let shown = |revision: &Revision| {
        let checks = revision.checks.clone();
        (revision.changes.clone(), revision.kept.clone(), checks)
    };
    if shown(&fresh) != shown(&agreed) || fresh.faults.is_some() {
        return Err(Error::Moved { id: id.clone() });
    }
    runner
        .apply(&fresh.steps, project.now(), face)
        .map_err(|error| Error::from_run(id, error))?;
    face.tell(&News::PlanTakenOver(plan, &fresh));
    Ok(())
}

/// Returns what a person decides on.
fn offer(plan: &Utf8Path, revision: &Revision) -> String {
    let mut lines = vec![format!("{plan} has changed:")];
    let changes = revision.changes.iter();
    lines.extend(changes.map(|change| format!("  {change}")));
    let kept = revision.kept.iter();
    lines.extend(kept.map(|kept| format!("  {kept}, so it stays as it is")));
    let checks = revision.checks.iter();
    lines.extend(checks.map(|check| format!("  new check: {check}")));
    lines.join("\n")
}
