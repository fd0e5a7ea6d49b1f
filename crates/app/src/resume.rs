//! The job: brief, ask once, apply, and go on until the work is done or a person is needed.

mod session;

use rekindle_agents::Agent;
use rekindle_model::{
    AgentTask, Destination, Intent, Question, Severity, State, Stop, StopKind, Then, WorkflowId,
};
use rekindle_runner::{Ending, Recovered, Runner, StateFolder};

use self::session::Session;
use crate::begun;
use crate::engine::{EngineOptions, hold_branch, refuse_missing};
use crate::face::{Briefing, Choice, Face, News};
use crate::inspect::{Inspected, Planned, inspect_world, plan_world};
use crate::{Error, Fate, Project, Query};

/// How a resume is to go.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Go on without asking.
    pub yes: bool,
    /// The digest of a plan that was agreed to before: nobody is asked, and any other plan is refused.
    pub agreed_to: Option<String>,
    /// How work is done, with the agent; without it the resume stops where an agent is needed.
    pub engine: Option<EngineOptions>,
    /// Stay while others are at work, and go on when they have ended.
    pub watch: bool,
    /// The caller is a coding agent itself and does an agent's step of the loop with a helper of its
    /// own: the step is handed back instead of being done. Workers of the engine are not affected.
    pub hand_back: bool,
}

/// What a resume came to.
#[derive(Debug)]
pub struct Resumed {
    /// The workflow, where one was chosen.
    pub id: Option<WorkflowId>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a resume ended.
#[derive(Debug)]
pub enum Outcome {
    /// There was nothing to resume.
    Nothing,
    /// The person said no.
    Declined,
    /// The engine ran its tasks.
    Ran(Ending),
    /// It stopped by itself: done, waiting or blocked.
    Stopped(Stop),
    /// An agent is needed and none was given.
    AgentNeeded(AgentTask),
    /// A question is open and nobody answered.
    Unanswered(Question),
}

/// Resumes a workflow.
///
/// # Errors
/// Everything that keeps it from being taken up or carried on; what was done until then is on disk
/// and in the journal.
pub fn resume(
    project: &Project,
    query: &Query,
    options: &Options,
    face: &mut dyn Face,
) -> Result<Resumed, Error> {
    let Some(query) = choose(project, query, face)? else {
        let outcome = Outcome::Nothing;
        return Ok(Resumed { id: None, outcome });
    };
    let planned = plan_world(&project.world(), &query, &Intent::Open)?;
    // Before what was begun is finished: that changes the world, and was agreed to as well.
    refuse_another(&planned, options)?;
    // The yes to what was begun was given before; what is said and asked now is of what follows it.
    let planned = if begun::finish(project, &planned, face)? {
        plan_world(&project.world(), &query, &Intent::Open)?
    } else {
        planned
    };
    let planned = planned.beside_sessions(project);
    let id = planned.plan.id.clone();
    // What a protocol says first stands on standard output before anybody is asked.
    if !planned.plan.before_asking.is_empty() {
        face.print(&planned.plan.before_asking);
    }
    match &planned.plan.then {
        Then::Stop(stop) if planned.plan.steps.is_empty() && !options.stays_for(stop) => {
            if let Some(work) = &planned.work
                && work.destination == Destination::Branch
            {
                refuse_missing(project, &id, work)?;
            }
            let outcome = Outcome::Stopped(stop.clone());
            return Ok(Resumed {
                id: Some(id),
                outcome,
            });
        }
        // A plan that only asks is a question already; a yes before it would be one too many.
        Then::Ask(_) if planned.plan.steps.is_empty() => {
            refuse_to_begin(project, &planned, options)?;
            face.tell(&News::Findings(&planned.assessment.findings));
        }
        Then::Stop(_)
        | Then::Agent(_)
        | Then::Ask(_)
        | Then::Workers
        | Then::Check(_)
        | Then::Again => {
            refuse_to_begin(project, &planned, options)?;
            if !agreed(project, &planned, options, face)? {
                let outcome = Outcome::Declined;
                return Ok(Resumed {
                    id: Some(id),
                    outcome,
                });
            }
        }
    }
    let purpose = format!("resume {id}");
    let (runner, recovered) = Runner::open(
        project.folder(),
        &id,
        &purpose,
        project.now(),
        project.reach(planned.roots.clone()),
    )
    .map_err(|error| Error::from_run(&id, error))?;
    crate::clean::sweep_drafts(project);
    let anew = plan_world(&project.world(), &query, &Intent::Open)?;
    if recovered != Recovered::default() {
        face.tell(&News::Recovered(&recovered));
    }
    // What a person agreed to must be what is done. Workers that are alive go on writing all the
    // time, so another digest alone is no reason to stop. Where nobody was asked there is nothing
    // to hold on to: the newest reading counts.
    if !options.yes
        && !recovered.has_changed_the_world()
        && anew.digest != planned.digest
        && !crate::meaning::is_same(&planned, &anew)
    {
        return Err(Error::Moved { id });
    }
    refuse_blocked(&anew)?;
    let is_engines = anew
        .work
        .as_ref()
        .is_some_and(|work| work.destination == Destination::Branch);
    let branch = match (&anew.work, &options.engine) {
        (Some(work), Some(_)) => Some(hold_branch(project, &work.settings.branch, &purpose)?),
        (Some(_) | None, _) => None,
    };
    let mut session = Session {
        project,
        query,
        options,
        runner,
        face,
        last_success: None,
        is_engines,
        watched: None,
        idle_rounds: 0,
        _branch: branch,
    };
    let outcome = session.run(anew.plan)?;
    Ok(Resumed {
        id: Some(id),
        outcome,
    })
}

/// Refuses any plan but the one that was agreed to before.
fn refuse_another(planned: &Planned, options: &Options) -> Result<(), Error> {
    match &options.agreed_to {
        Some(digest) if *digest != planned.digest => {
            let id = planned.plan.id.clone();
            Err(Error::Moved { id })
        }
        Some(_) | None => Ok(()),
    }
}

/// Finds the workflow that is meant; asks when there are several. `None` when there is nothing.
fn choose(project: &Project, query: &Query, face: &mut dyn Face) -> Result<Option<Query>, Error> {
    let world = project.world();
    let open = match inspect_world(&world, query) {
        Ok(inspected) => {
            let assessment = inspected.assessment();
            let name = assessment.id.as_ref().map(|id| id.name.clone());
            let named = query.of(inspected.protocol, name);
            match assessment.state {
                // Where something stands in the way, nothing is not all there is to say.
                State::Nothing if assessment.blockers().next().is_some() => {
                    refuse_unchosen(&inspected, query, face)?;
                    return Ok(None);
                }
                // A protocol that has words of its own for it names what is not there.
                State::Nothing if named.name.is_some() => return Ok(Some(named)),
                State::Nothing => return begun::unfinished(project, &assessment.workflows),
                State::Choice => assessment
                    .workflows
                    .iter()
                    .filter(|w| w.state.is_open())
                    .cloned()
                    .collect(),
                // A protocol may have words of its own for what is not there.
                State::Unknown => {
                    refuse_unchosen(&inspected, query, face)?;
                    return Ok(Some(named));
                }
                State::Interrupted
                | State::Waiting
                | State::Blocked
                | State::Corrupt
                | State::Complete => {
                    return Ok(Some(named));
                }
            }
        }
        Err(Error::ChoiceNeeded { open }) => open,
        Err(error) => return Err(error),
    };
    let answer = match face.choose(&open, project.now()) {
        Choice::At(place) => open.get(place).map(|summary| summary.id.to_string()),
        Choice::Named(name) => Some(name),
        Choice::Nobody => None,
    };
    match answer {
        Some(name) => {
            let named = Query {
                name: Some(name),
                ..query.clone()
            };
            // What was answered must lead to one workflow; another choice would be asked for for ever.
            let inspected = inspect_world(&world, &named)?;
            crate::inspect::chosen(&inspected, &named)?;
            Ok(Some(named))
        }
        None => Err(Error::ChoiceNeeded { open }),
    }
}

/// Says in a protocol's own words why no workflow is chosen, where none is.
fn refuse_unchosen(inspected: &Inspected, query: &Query, face: &mut dyn Face) -> Result<(), Error> {
    let chosen = crate::inspect::chosen(inspected, query);
    if let (Err(_), Some(words)) = (&chosen, inspected.case.refusal()) {
        face.print(words);
    }
    chosen.map(|_| ())
}

pub(crate) fn refuse_blocked(planned: &Planned) -> Result<(), Error> {
    // A question about the very thing that is in the way is how it gets out of it.
    if let Then::Ask(question) = &planned.plan.then
        && question.kind.is_about_a_blocker()
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
    let folder = StateFolder::of(project.folder());
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
fn refuse_to_begin(project: &Project, planned: &Planned, options: &Options) -> Result<(), Error> {
    refuse_blocked(planned)?;
    let Some(last) = planned.last_session.as_ref() else {
        return Ok(());
    };
    // Of a session without a process it is not known whether it is the one that calls us.
    let (Fate::Running(Some(pid)) | Fate::Open(_, Some(pid))) = last.fate else {
        return Ok(());
    };
    if !options.is_agreed() {
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

/// Shows what is about to happen and returns whether it may.
fn agreed(
    project: &Project,
    planned: &Planned,
    options: &Options,
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
    if options.is_agreed() {
        // A protocol that asks in its own words has told what was noticed in them, too, but not this.
        if planned.plan.confirmation.is_none() {
            face.tell(&News::Findings(&findings));
        } else if let Some(finding) = of_sessions {
            face.tell(&News::Findings(&[finding]));
        }
        return Ok(true);
    }
    // Who holds it is said before a person is asked, not after.
    refuse_held(project, &planned.plan.id)?;
    let Some(summary) = planned.assessment.chosen() else {
        return Ok(false);
    };
    Ok(face.confirm(&Briefing {
        summary,
        findings: &findings,
        plan: &planned.plan,
        digest: &planned.digest,
        last_session: planned
            .last_session
            .as_ref()
            .filter(|_| of_sessions.is_none()),
        now: project.now(),
    }))
}

impl Options {
    /// Returns whether a person has agreed beforehand, to whatever is due or to the very plan.
    fn is_agreed(&self) -> bool {
        self.yes || self.agreed_to.is_some()
    }

    /// Returns the agent that does a step of the loop.
    fn agent(&self) -> Option<&Agent> {
        let engine = self.engine.as_ref().filter(|_| !self.hand_back);
        engine.map(|engine| &engine.agent)
    }

    /// Whether the resume stays although others are at work.
    fn stays_for(&self, stop: &Stop) -> bool {
        self.watch && stop.kind == StopKind::OthersAtWork
    }
}

impl Outcome {
    /// Returns whether the workflow could not be carried on.
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Ran(ending) => ending.tally.landed + ending.tally.skipped < ending.tally.total,
            Self::Stopped(stop) => stop.kind == StopKind::Blocked,
            Self::Unanswered(question) => question.kind.fails_unanswered(),
            Self::Nothing | Self::Declined | Self::AgentNeeded(_) => false,
        }
    }
}
