//! The main use case: show the plan, ask once, apply it, and continue until it is done or a person is needed.

mod begin;
mod handed;
mod refusals;
mod session;

use std::collections::BTreeSet;

use rekindle_agents::Agent;
use rekindle_model::{
    AgentTask, CommandSource, Destination, Finding, Intent, Permission, Plan, Question, Request,
    State, Stop, StopKind, Then, WorkflowId,
};
use rekindle_runner::Ending;

use self::begin::{Start, begin};
pub use self::handed::{Asks, Handed, advance};
use self::refusals::refuse_unchosen;
pub(crate) use self::refusals::{refuse_blocked, refuse_held};
use self::session::Session;
use crate::agent::{self, EngineWish, OfRun};
use crate::at_work::report_workers;
use crate::choose::inspect_world;
use crate::continue_session::{SessionOptions, continue_session};
use crate::engine::EngineOptions;
use crate::face::{Choice, Face};
use crate::inspect::{Planned, plan_world};
use crate::records;
use crate::{Error, Project, Query, preflight};

/// Options of a resume.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Continue without asking.
    pub yes: bool,
    /// The digest of a confirmed plan: nobody is asked, and any other plan is refused.
    pub agreed_to: Option<String>,
    /// What a person wants of agents and workers; without it the resume stops where an agent is needed.
    pub engine: Option<EngineWish>,
    /// How a run is started where a list has tasks for one.
    pub start: Option<crate::RunOptions>,
    /// Whether changes of the run's plan file are taken over.
    pub update_plan: crate::UpdatePlan,
    /// Wait while others are at work, and continue when they have ended.
    pub watch: bool,
    /// The caller is a coding agent and does an agent's step itself: the step is returned instead of being
    /// started. Workers of the engine are not affected.
    pub hand_back: bool,
    /// How a session of a coding agent is continued.
    pub session: SessionOptions,
    /// The caller does each step of an agent itself and reports its result with [`advance`]: what
    /// begins with a step is recorded when it is handed out.
    pub steps: Option<Asks>,
}

/// The result of a resume.
#[derive(Debug)]
pub struct Resumed {
    /// The workflow, if one was chosen.
    pub id: Option<WorkflowId>,
    /// How it ended.
    pub outcome: Outcome,
    /// The findings at its start.
    pub findings: Vec<Finding>,
    /// Messages that the host must send.
    pub requests: Vec<Request>,
    /// Finished steps of an interrupted command, one line each.
    pub finished: Vec<String>,
    /// What [`advance`] continues with, where the caller does the steps and there is more to do.
    pub handed: Option<Handed>,
}

impl Resumed {
    /// Returns a result with nothing but how it ended.
    pub const fn plain(id: Option<WorkflowId>, outcome: Outcome) -> Self {
        Self {
            id,
            outcome,
            findings: Vec::new(),
            requests: Vec::new(),
            finished: Vec::new(),
            handed: None,
        }
    }

    fn of(planned: &Planned, finished: Vec<String>, outcome: Outcome) -> Self {
        Self {
            id: Some(planned.plan.id.clone()),
            outcome,
            findings: planned.assessment.findings.clone(),
            requests: planned.plan.requests().collect(),
            finished,
            handed: None,
        }
    }
}

/// How a resume ended.
#[derive(Debug)]
pub enum Outcome {
    /// There was nothing to resume.
    Nothing,
    /// The person declined.
    Declined,
    /// The engine ran the tasks.
    Ran(Ending),
    /// It stopped: done, waiting or blocked.
    Stopped(Stop),
    /// An agent is needed and none was given.
    AgentNeeded(AgentTask),
    /// A question is open and nobody answered.
    Unanswered(Question),
}

/// Resumes a workflow.
///
/// # Errors
/// Everything that prevents a resume; what was done until then is on disk and in the journal.
pub fn resume(
    project: &Project,
    query: &Query,
    options: &Options,
    face: &mut dyn Face,
) -> Result<Resumed, Error> {
    let query = match choose(project, query, face)? {
        Meant::One(query) => query,
        Meant::None(outcome) => return Ok(Resumed::plain(None, outcome)),
    };
    if let Some(name) = session_name(&query) {
        return continue_session(project, name, options.yes, &options.session, face);
    }
    if let Some(resumed) = crate::lists::go_on(project, &query, options, face)? {
        return Ok(resumed);
    }
    crate::revise::update_plan(project, &query, options, face)?;
    let planned = plan_world(&project.world(), &query, &Intent::Open)?;
    let id = planned.plan.id.clone();
    let engine = match ready_engine(project, &planned, options, face) {
        Ok(engine) => engine,
        Err(error) => {
            report_workers(project, &id, &error, face);
            return Err(error);
        }
    };
    let terms = Terms {
        options,
        engine: engine.as_ref(),
    };
    let begun = match begin(project, query, planned, terms, face) {
        Ok(Start::Begun(begun)) => *begun,
        Ok(Start::Over(resumed)) => return Ok(*resumed),
        Err(error) => {
            report_workers(project, &id, &error, face);
            return Err(error);
        }
    };
    let anew = begun.anew;
    let mut resumed = Resumed::of(&anew, begun.finished, Outcome::Nothing);
    let mut session = Session {
        project,
        query: begun.query,
        terms,
        runner: begun.runner,
        face,
        last_success: None,
        is_engines: anew
            .work
            .as_ref()
            .is_some_and(|work| work.destination == Destination::Branch),
        watched: None,
        asked: BTreeSet::new(),
        warned: BTreeSet::new(),
        idle_rounds: 0,
        are_workers_reported: false,
        handed: None,
        _branch: begun.branch,
    };
    match session.run(anew.plan) {
        Ok(outcome) => {
            resumed.outcome = outcome;
            resumed.handed = session.handed;
        }
        Err(error) => {
            if !session.are_workers_reported {
                report_workers(project, &id, &error, session.face);
            }
            return Err(error);
        }
    }
    Ok(resumed)
}

/// Returns the name of a session of a coding agent, if one is meant: its own program continues it.
fn session_name(query: &Query) -> Option<&str> {
    let is_session = query.protocol == Some(rekindle_registry::sessions().0);
    let name = query.name.as_deref().filter(|_| is_session)?;
    Some(rekindle_registry::split(name).1)
}

/// The workflow to resume.
enum Meant {
    One(Query),
    /// None, and how the resume ends because of that.
    None(Outcome),
}

/// Finds the requested workflow; asks if there are several.
fn choose(project: &Project, query: &Query, face: &mut dyn Face) -> Result<Meant, Error> {
    let world = project.world();
    let open = match inspect_world(&world, query) {
        Ok(inspected) => {
            let assessment = inspected.assessment();
            let name = assessment.id.as_ref().map(|id| id.name.clone());
            let named = query.of(inspected.protocol, name);
            match assessment.state {
                // If something blocks it, that must be reported.
                State::Nothing if assessment.blockers().next().is_some() => {
                    refuse_unchosen(&inspected, query, face)?;
                    return Ok(Meant::None(Outcome::Nothing));
                }
                // A protocol may have its own words for a missing workflow.
                State::Nothing if named.name.is_some() => return Ok(Meant::One(named)),
                State::Nothing => {
                    let unfinished = records::unfinished(project, &assessment.workflows)?;
                    return Ok(unfinished.map_or(Meant::None(Outcome::Nothing), Meant::One));
                }
                State::Choice => assessment
                    .workflows
                    .iter()
                    .filter(|w| w.state.is_open())
                    .cloned()
                    .collect(),
                // A protocol may have its own words for a missing workflow.
                State::Unknown => {
                    refuse_unchosen(&inspected, query, face)?;
                    return Ok(Meant::One(named));
                }
                State::Interrupted
                | State::Waiting
                | State::Blocked
                | State::Corrupt
                | State::Complete => {
                    return Ok(Meant::One(named));
                }
            }
        }
        Err(Error::ChoiceNeeded { open }) => open,
        Err(error) => return Err(error),
    };
    let named = |name: &str| Query {
        name: Some(name.to_owned()),
        ..query.clone()
    };
    // The answer must match one existing workflow.
    let is_one = |name: &str| {
        let named = named(name);
        inspect_world(&world, &named).is_ok_and(|inspected| {
            let is_here = inspected.assessment().state != State::Unknown;
            is_here && crate::choose::chosen(&inspected, &named).is_ok()
        })
    };
    match face.choose(&open, project.now(), &is_one) {
        Choice::At(place) => match open.get(place) {
            Some(summary) => Ok(Meant::One(named(&summary.id.to_string()))),
            None => Err(Error::ChoiceNeeded { open }),
        },
        Choice::Named(name) => Ok(Meant::One(named(&name))),
        Choice::Declined => Ok(Meant::None(Outcome::Declined)),
        Choice::Nobody => Err(Error::ChoiceNeeded { open }),
    }
}

/// How a resume goes once its workflow is known: the options, and the agent that they lead to.
#[derive(Debug, Clone, Copy)]
struct Terms<'a> {
    options: &'a Options,
    engine: Option<&'a EngineOptions>,
}

impl<'a> Terms<'a> {
    /// Returns whether a person can be asked although the plan was agreed to beforehand.
    fn asks_person(self) -> bool {
        self.options.steps == Some(Asks::Person)
    }

    /// Returns whether a person has agreed in advance, to anything or to this plan.
    fn is_agreed(&self) -> bool {
        self.options.yes || self.options.agreed_to.is_some()
    }

    /// Returns whether a plan needs no confirmation.
    fn is_agreed_for(&self, plan: &Plan) -> bool {
        self.is_agreed() || plan.permission == Permission::NotNeeded
    }

    /// Returns the agent for a step of the loop.
    fn agent(&self) -> Option<&'a Agent> {
        let engine = self.engine.filter(|_| !self.options.hand_back);
        engine.map(|engine| &engine.agent)
    }

    /// Whether the resume waits while others are at work.
    fn stays_for(&self, stop: &Stop) -> bool {
        self.options.watch && stop.kind == StopKind::OthersAtWork
    }
}

/// Returns how tasks are to be run, once the agent is known to start and was offered to edit.
///
/// Where the plan needs no agent, or the caller does its step, none is looked at.
fn ready_engine(
    project: &Project,
    planned: &Planned,
    options: &Options,
    face: &mut dyn Face,
) -> Result<Option<EngineOptions>, Error> {
    let engine = || engine_of(project, planned, options.engine.as_ref());
    let Some(found) = engine()? else {
        return Ok(None);
    };
    match planned.plan.then {
        Then::Agent(_) | Then::Again if options.hand_back => return Ok(Some(found)),
        Then::Agent(_) | Then::Workers | Then::Again => {}
        Then::Stop(_) | Then::Ask(_) | Then::Check(_) => return Ok(Some(found)),
    }
    preflight::refuse_unstartable(project, &found.agent)?;
    if preflight::offer_editing(
        project,
        &found.agent,
        options.yes || options.agreed_to.is_some(),
        face,
    )? {
        return engine();
    }
    Ok(Some(found))
}

/// Returns how tasks are to be run, with the agent that the run was started with unless another was
/// typed; `None` where none is named anywhere, or none is wanted.
pub(crate) fn engine_of(
    project: &Project,
    planned: &Planned,
    wish: Option<&EngineWish>,
) -> Result<Option<EngineOptions>, Error> {
    let Some(wish) = wish else {
        return Ok(None);
    };
    let settings = planned.work.as_ref().map(|work| &work.settings);
    let agreed = project.state().agreed(&planned.plan.id);
    let of_run = settings.and_then(|settings| settings.agent.as_ref());
    let of_run = of_run.map(|agent| OfRun {
        agent,
        agreed: &agreed,
    });
    let mut engine = agent::options(&crate::configured(project)?.config, wish, of_run)?;
    for command in engine.iter_mut().flat_map(|engine| &mut engine.outfit) {
        if agreed.contains(&command.text) {
            command.source = CommandSource::Agreed;
        }
    }
    Ok(engine)
}

impl Outcome {
    /// Returns whether the workflow could not continue.
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Ran(ending) => ending.tally.landed + ending.tally.skipped < ending.tally.total,
            Self::Stopped(stop) => stop.kind.is_blocked(),
            Self::Unanswered(question) => question.fails_unanswered,
            Self::Nothing | Self::Declined | Self::AgentNeeded(_) => false,
        }
    }
}
