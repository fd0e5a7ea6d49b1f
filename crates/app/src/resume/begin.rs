//! The start of a resume: finish interrupted steps, ask the person, lock the workflow.

use rekindle_model::{
    Code, Command, CommandSource, Destination, Finding, Intent, Offer, OfferKind, Permission,
    Severity, Stop, StopKind, Then, Work,
};
use rekindle_runner::{Recovered, Runner};

use super::refusals::{refuse_another, refuse_blocked, refuse_held, refuse_moved, refuse_to_begin};
use super::{Outcome, Resumed, Terms};
use crate::engine::{EngineOptions, hold_branch, refuse_missing};
use crate::face::{Agreement, Briefing, Enter, Face, News};
use crate::inspect::{Planned, plan_world};
use crate::records;
use crate::{Error, Outline, Project, Query};

/// How a resume starts.
pub(super) enum Start {
    /// It ended before the workflow was resumed.
    Over(Box<Resumed>),
    Begun(Box<Begun>),
}

impl Start {
    fn over(planned: &Planned, finished: Vec<String>, outcome: Outcome) -> Self {
        Self::Over(Box::new(Resumed::of(planned, finished, outcome)))
    }
}

/// A workflow that is locked, with a plan that was made under the lock.
pub(super) struct Begun {
    pub(super) query: Query,
    pub(super) runner: Runner,
    pub(super) anew: Planned,
    /// Finished steps of an interrupted command, one line each.
    pub(super) finished: Vec<String>,
    pub(super) branch: Option<rekindle_fs::Lock>,
}

/// Asks the person if needed, and locks the workflow.
pub(super) fn begin(
    project: &Project,
    mut query: Query,
    planned: Planned,
    terms: Terms<'_>,
    face: &mut dyn Face,
) -> Result<Start, Error> {
    let planned = planned.with_records(project);
    refuse_another(&planned, terms)?;
    let (planned, mut finished) = finish_begun(project, &query, planned, face)?;
    let mut planned = planned.beside_sessions(project);
    let id = planned.plan.id.clone();
    // The first text of a protocol is printed before anybody is asked.
    if !planned.plan.before_asking.is_empty() {
        face.print(&planned.plan.before_asking);
    }
    match &planned.plan.then {
        Then::Stop(stop) if planned.plan.steps.is_empty() && !terms.stays_for(stop) => {
            if let Some(work) = &planned.work
                && work.destination == Destination::Branch
            {
                refuse_missing(project, &id, work)?;
            }
            // Without the tasks of others nothing may be left, but not everything is done.
            let mut findings = planned.assessment.findings.iter();
            if findings.any(|finding| finding.code == Code::OtherProjectTask) {
                refuse_blocked(&planned)?;
            }
            note_while_waiting(project, &planned, stop, face)?;
            let outcome = Outcome::Stopped(stop.clone());
            return Ok(Start::over(&planned, finished, outcome));
        }
        // A plan that only asks is a question already; a confirmation before it would be a second one.
        Then::Ask(_) if planned.plan.steps.is_empty() => {
            refuse_to_begin(project, &planned, terms)?;
            face.tell(&News::Findings(&planned.assessment.findings));
            face.tell(&News::Commands(&commands(&planned, terms)));
        }
        Then::Stop(_)
        | Then::Agent(_)
        | Then::Ask(_)
        | Then::Workers
        | Then::Check(_)
        | Then::Again => {
            refuse_to_begin(project, &planned, terms)?;
            if !agreed(project, &planned, terms, face)? {
                return Ok(Start::over(&planned, finished, Outcome::Declined));
            }
            query.accepted = accepted(&planned, terms, face);
            planned = plan_accepted(project, &query, planned)?;
        }
    }
    let purpose = format!("resume {id}");
    let (mut runner, recovered) = Runner::open(
        &project.state(),
        &id,
        &purpose,
        project.now(),
        project.reach(planned.roots.clone()),
    )
    .map_err(|error| Error::from_run(&id, error))?;
    crate::clean::sweep_drafts(project);
    query.last_life = runner.last_life();
    let anew = plan_world(&project.world(), &query, &Intent::Open)?;
    if recovered != Recovered::default() {
        face.tell(&News::Recovered(&recovered));
    }
    finished.extend(records::finished(&recovered));
    // If nobody was asked, the newest plan counts.
    let somebody_agreed = !terms.options.yes && planned.plan.permission != Permission::NotNeeded;
    if somebody_agreed {
        refuse_moved(&planned, &anew, &runner, &recovered)?;
    }
    refuse_blocked(&anew)?;
    if somebody_agreed {
        runner
            .spend(&planned.digest, project.now())
            .map_err(Error::Run)?;
    }
    if anew.work.is_some() && terms.engine.is_some() {
        let commands = commands(&anew, terms);
        let texts = commands.iter().map(|command| command.text.as_str());
        project.state().agree(&id, texts)?;
    }
    let branch = match (&anew.work, terms.engine) {
        (Some(work), Some(_)) => Some(hold_branch(project, &work.settings.branch, &purpose)?),
        (Some(_) | None, _) => None,
    };
    Ok(Start::Begun(Box::new(Begun {
        query,
        runner,
        anew,
        finished,
        branch,
    })))
}

/// Finishes interrupted steps, if there are any, and makes a new plan.
///
/// A person agreed to those steps earlier, and their record has our seal; the question now is about what
/// follows.
fn finish_begun(
    project: &Project,
    query: &Query,
    planned: Planned,
    face: &mut dyn Face,
) -> Result<(Planned, Vec<String>), Error> {
    if !planned.is_unfinished {
        return Ok((planned, Vec::new()));
    }
    let id = &planned.plan.id;
    let (runner, recovered) = Runner::open(
        &project.state(),
        id,
        &format!("finish interrupted steps of {id}"),
        project.now(),
        project.reach(planned.roots.clone()),
    )
    .map_err(|error| Error::from_run(id, error))?;
    drop(runner);
    // Damage of the journal stays, and is reported when it is opened next.
    let recovered = Recovered {
        damaged: 0,
        ..recovered
    };
    if recovered != Recovered::default() {
        face.tell(&News::Recovered(&recovered));
    }
    let planned = plan_world(&project.world(), query, &Intent::Open)?.with_records(project);
    Ok((planned, records::finished(&recovered)))
}

/// Writes the records of a resume that can only wait, and reports findings.
fn note_while_waiting(
    project: &Project,
    planned: &Planned,
    stop: &Stop,
    face: &mut dyn Face,
) -> Result<(), Error> {
    match stop.kind {
        StopKind::Waiting | StopKind::OthersAtWork => {
            let warnings: Vec<Finding> = planned
                .assessment
                .findings
                .iter()
                .filter(|finding| finding.severity() >= Severity::Warning)
                .cloned()
                .collect();
            face.tell(&News::Findings(&warnings));
        }
        StopKind::Done | StopKind::Said | StopKind::Blocked | StopKind::BlockedAndSaid => {}
    }
    let plan = &planned.plan;
    if plan.notes.is_empty() {
        return Ok(());
    }
    let state = project.state();
    state.ensure()?;
    rekindle_runner::report(&state, &plan.id, &plan.notes, face).map_err(Error::Run)?;
    face.tell(&News::Applied(&plan.notes));
    Ok(())
}

/// Shows the plan and returns whether it was confirmed.
fn agreed(
    project: &Project,
    planned: &Planned,
    terms: Terms<'_>,
    face: &mut dyn Face,
) -> Result<bool, Error> {
    let findings: Vec<_> = planned
        .assessment
        .findings
        .iter()
        .filter(|finding| finding.severity() >= Severity::Note)
        .cloned()
        .collect();
    let of_sessions = planned.of_sessions();
    let commands = commands(planned, terms);
    if terms.is_agreed_for(&planned.plan) {
        face.tell(&News::Commands(&commands));
        // A protocol that asks in its own words has shown its findings, but not this one.
        if planned.plan.confirmation().is_none() {
            face.tell(&News::Findings(&findings));
        } else if let Some(finding) = of_sessions {
            face.tell(&News::Findings(&[finding]));
        }
        return Ok(true);
    }
    // The holder is reported before a person is asked, not after.
    refuse_held(project, &planned.plan.id)?;
    let Some(summary) = planned.assessment.chosen() else {
        return Ok(false);
    };
    // A protocol's own question follows its own text, which names no commands.
    if planned.plan.confirmation().is_some() {
        face.tell(&News::Commands(&commands));
    }
    let outline = Outline::of_run(project, planned, terms.engine);
    let enter = if outline.is_some() && is_safe(planned, &commands) {
        Enter::Yes
    } else {
        Enter::No
    };
    let agreement = face.confirm(&Briefing {
        outline: outline.as_ref(),
        enter,
        summary,
        findings: &findings,
        plan: &planned.plan,
        commands: &commands,
        digest: &planned.digest,
        last_session: planned
            .last_session
            .as_ref()
            .filter(|_| of_sessions.is_none()),
        now: project.now(),
    });
    // A protocol that asks in its own words takes silence for a no.
    if planned.plan.confirmation().is_some() {
        return Ok(agreement == Agreement::Yes);
    }
    agreement.given()
}

/// Returns whether Enter alone may go on: nothing was noticed that a person has to weigh, nobody else
/// is at work, and every command was chosen by this user or agreed to before.
///
/// The tasks land on the run's own branch, so going on changes nothing that a person works with.
fn is_safe(planned: &Planned, commands: &[Command]) -> bool {
    let mut findings = planned.assessment.findings.iter();
    let is_own = |command: &Command| match command.source {
        CommandSource::Typed | CommandSource::User | CommandSource::Agreed => true,
        CommandSource::Project(_) => false,
    };
    planned.last_session.is_none()
        && findings.all(|finding| finding.severity() < Severity::Warning)
        && commands.iter().all(is_own)
}

/// Returns the offers of the protocol that a person accepts.
///
/// A plan that was confirmed by its digest includes none.
fn accepted(planned: &Planned, terms: Terms<'_>, face: &mut dyn Face) -> Vec<OfferKind> {
    let offers = planned.plan.confirmation().into_iter();
    let offers = offers.flat_map(|confirmation| &confirmation.offers);
    let is_accepted = |offer: &&Offer| match &terms.options.agreed_to {
        Some(_) => false,
        None => terms.options.yes || face.accept(offer),
    };
    offers.filter(is_accepted).map(|offer| offer.kind).collect()
}

/// Makes a plan with the accepted offers, if everything is still as it was when they were made.
fn plan_accepted(project: &Project, query: &Query, offered: Planned) -> Result<Planned, Error> {
    if query.accepted.is_empty() {
        return Ok(offered);
    }
    let planned = plan_world(&project.world(), query, &Intent::Open)?.with_records(project);
    if planned.digest != offered.digest {
        let id = offered.plan.id;
        return Err(Error::Moved { id });
    }
    Ok(planned)
}

/// Returns every command that a resume runs once a person agrees.
fn commands(planned: &Planned, terms: Terms<'_>) -> Vec<Command> {
    let agent = terms.engine.map(EngineOptions::command);
    let has_worktrees = |work: &Work| work.destination == Destination::Branch;
    let outfit = terms.engine.map(|engine| engine.outfit.clone());
    let outfit = outfit.filter(|_| planned.work.as_ref().is_some_and(has_worktrees));
    let commands = agent.into_iter().chain(outfit.unwrap_or_default());
    commands.chain(planned.commands.clone()).collect()
}
