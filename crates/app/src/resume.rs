//! The job: brief, ask once, apply, and go on until the work is done or a person is needed.

use camino::Utf8Path;
use rekindle_agents::Agent;
use rekindle_model::{
    AgentTask, Ended, Intent, Plan, Question, QuestionKind, Severity, State, Stop, StopKind,
    Summary, Then, WorkflowId,
};
use rekindle_runner::{Ending, Recovered, Runner, StateFolder};

use crate::engine::{EngineOptions, drive, hold_branch, refuse_missing};
use crate::face::{Briefing, Choice, Face, News};
use crate::inspect::{Planned, inspect_world, plan_world};
use crate::{Error, Project, Query};

/// How a resume is to go.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Go on without asking.
    pub yes: bool,
    /// How work is done, with the agent; without it the resume stops where an agent is needed.
    pub engine: Option<EngineOptions>,
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
    let id = planned.plan.id.clone();
    match &planned.plan.then {
        Then::Stop(stop) if planned.plan.steps.is_empty() => {
            // Finishing what was begun needs no new yes.
            if !StateFolder::of(project.folder()).is_unfinished(&id)? {
                if let Some(work) = &planned.work {
                    refuse_missing(project, &id, work)?;
                }
                let outcome = Outcome::Stopped(stop.clone());
                return Ok(Resumed {
                    id: Some(id),
                    outcome,
                });
            }
        }
        Then::Stop(_) | Then::Agent(_) | Then::Ask(_) | Then::Again => {
            refuse_blocked(&planned)?;
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
    let (runner, recovered) = Runner::open(project.folder(), &id, &purpose, project.now())
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
        && recovered.appended == 0
        && anew.digest != planned.digest
        && !crate::meaning::is_same(&planned, &anew)
    {
        return Err(Error::Moved { id });
    }
    refuse_blocked(&anew)?;
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
        _branch: branch,
    };
    let outcome = session.run(anew.plan)?;
    Ok(Resumed {
        id: Some(id),
        outcome,
    })
}

/// Finds the workflow that is meant; asks when there are several. `None` when there is nothing.
fn choose(project: &Project, query: &Query, face: &mut dyn Face) -> Result<Option<Query>, Error> {
    let world = project.world();
    let open = match inspect_world(&world, query) {
        Ok(inspected) => {
            let assessment = inspected.assessment();
            let named = Query {
                protocol: Some(inspected.protocol),
                name: assessment.id.as_ref().map(|id| id.name.clone()),
            };
            match assessment.state {
                State::Nothing => return unfinished(project, &assessment.workflows),
                State::Choice => assessment
                    .workflows
                    .iter()
                    .filter(|w| w.state.is_open())
                    .cloned()
                    .collect(),
                State::Unknown => {
                    crate::inspect::chosen(&inspected, query)?;
                    return Ok(None);
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
                protocol: query.protocol,
                name: Some(name),
            };
            // What was answered must lead to one workflow; another choice would be asked for for ever.
            let inspected = inspect_world(&world, &named)?;
            crate::inspect::chosen(&inspected, &named)?;
            Ok(Some(named))
        }
        None => Err(Error::ChoiceNeeded { open }),
    }
}

/// Finds a workflow that is over, but was killed in the middle of its last step.
fn unfinished(project: &Project, over: &[Summary]) -> Result<Option<Query>, Error> {
    let folder = StateFolder::of(project.folder());
    for summary in over {
        if folder.is_unfinished(&summary.id)? {
            return Ok(Some(Query {
                protocol: Some(summary.id.protocol),
                name: Some(summary.id.name.clone()),
            }));
        }
    }
    Ok(None)
}

fn refuse_blocked(planned: &Planned) -> Result<(), Error> {
    let reasons: Vec<String> = planned
        .assessment
        .blockers()
        .map(|finding| finding.message.clone())
        .collect();
    if reasons.is_empty() {
        return Ok(());
    }
    Err(Error::Blocked {
        id: planned.plan.id.clone(),
        reasons,
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
    if options.yes {
        face.tell(&News::Findings(&findings));
        return Ok(true);
    }
    // Who holds it is said before a person is asked, not after.
    let folder = StateFolder::of(project.folder());
    if let rekindle_fs::Occupancy::Held(holder) = folder.holder(&planned.plan.id)? {
        let path = folder.lock(&planned.plan.id);
        let holder = holder.map(Box::new);
        let source = rekindle_fs::LockError::Held { path, holder };
        let id = planned.plan.id.clone();
        return Err(Error::Held { id, source });
    }
    let Some(summary) = planned.assessment.chosen() else {
        return Ok(false);
    };
    Ok(face.confirm(&Briefing {
        summary,
        findings: &findings,
        plan: &planned.plan,
        digest: &planned.digest,
        now: project.now(),
    }))
}

/// A resume that has begun.
struct Session<'a> {
    project: &'a Project,
    query: Query,
    options: &'a Options,
    runner: Runner,
    face: &'a mut dyn Face,
    /// What the last agent did with success; being asked for the very same again is no progress.
    last_success: Option<AgentTask>,
    /// The branch on which the engine lands is ours while this lives.
    _branch: Option<rekindle_fs::Lock>,
}

impl Session<'_> {
    fn run(&mut self, mut plan: Plan) -> Result<Outcome, Error> {
        let mut decided_by_a_person = false;
        loop {
            // What begins with an agent's work is not recorded when none will work: the task would
            // count as interrupted. What a person has just decided is.
            if let (Then::Agent(task), None) = (&plan.then, &self.options.engine)
                && !decided_by_a_person
            {
                return Ok(Outcome::AgentNeeded(task.clone()));
            }
            self.runner
                .apply(&plan.steps, self.project.now(), self.face)
                .map_err(Error::Run)?;
            let log = plan.log;
            // A run that rekindle began is the engine's as a whole.
            if let (Then::Again, Some(options)) = (&plan.then, &self.options.engine)
                && let Some(ending) = drive(
                    self.project,
                    &plan.id,
                    &log,
                    options,
                    &mut self.runner,
                    self.face,
                )?
            {
                return Ok(Outcome::Ran(ending));
            }
            let intent = match plan.then {
                Then::Stop(stop) => return Ok(Outcome::Stopped(stop)),
                Then::Again => Intent::GoOn { log },
                Then::Agent(task) => {
                    let Some(options) = &self.options.engine else {
                        return Ok(Outcome::AgentNeeded(task));
                    };
                    let ended = self.agent(&options.agent, &task)?;
                    Intent::Settle { log, task, ended }
                }
                Then::Ask(question) => match self.ask(&question, &log) {
                    Some(intent) => intent,
                    None => return Ok(Outcome::Unanswered(question)),
                },
            };
            decided_by_a_person = matches!(intent, Intent::Answer { .. });
            plan = self.plan(&intent)?;
        }
    }

    fn plan(&self, intent: &Intent) -> Result<Plan, Error> {
        let planned = plan_world(&self.project.world(), &self.query, intent)?;
        refuse_blocked(&planned)?;
        Ok(planned.plan)
    }

    fn agent(&mut self, agent: &Agent, task: &AgentTask) -> Result<Ended, Error> {
        if self.last_success.as_ref() == Some(task) {
            return Err(Error::NoProgress {
                role: task.role,
                summary: task.summary.clone(),
            });
        }
        self.face.tell(&News::AgentStarts(task));
        let ended = self
            .runner
            .run_agent(agent, task, self.project.now())
            .map_err(Error::Run)?;
        self.face.tell(&News::AgentEnded(task, &ended));
        self.last_success = (ended == Ended::Succeeded).then(|| task.clone());
        Ok(ended)
    }

    /// Puts a question until the answer is one that is understood.
    fn ask(&mut self, question: &Question, log: &Utf8Path) -> Option<Intent> {
        while let Some(answer) = self.face.answer(question) {
            if !question.understands(&answer) {
                continue;
            }
            // A person may well want the same once more, so it is no lack of progress.
            self.last_success = None;
            return Some(Intent::Answer {
                log: log.to_owned(),
                question: question.kind,
                answer,
            });
        }
        None
    }
}

impl Outcome {
    /// Returns whether the workflow could not be carried on.
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Ran(ending) => ending.tally.landed + ending.tally.skipped < ending.tally.total,
            Self::Stopped(stop) => stop.kind == StopKind::Blocked,
            // A task failed for good, and nobody said what is to happen with it.
            Self::Unanswered(question) => question.kind == QuestionKind::Escalation,
            Self::Nothing | Self::Declined | Self::AgentNeeded(_) => false,
        }
    }
}
