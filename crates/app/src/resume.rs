//! The job: brief, ask once, apply, and go on until the work is done or a person is needed.

use std::time::Duration;

use camino::Utf8Path;
use rekindle_agents::Agent;
use rekindle_model::{
    AgentTask, Checks, Destination, Ended, Intent, Plan, Question, Severity, State, Stop, StopKind,
    Then, WorkflowId,
};
use rekindle_runner::{Ending, Recovered, Runner, StateFolder};

use crate::begun;
use crate::engine::{EngineOptions, drive, hold_branch, refuse_missing};
use crate::face::{Briefing, Choice, Face, News};
use crate::inspect::{Inspected, Planned, inspect_world, plan_world};
use crate::{Error, Fate, Project, Query};

/// More rounds in which nothing happens are no coincidence.
const MOST_IDLE_ROUNDS: u32 = 3;

/// How often a resume that stays looks again: much more often than the shortest limit of a heartbeat.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);

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
    let Fate::Running(Some(pid)) = last.fate else {
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

/// A resume that has begun.
struct Session<'a> {
    project: &'a Project,
    query: Query,
    options: &'a Options,
    runner: Runner,
    face: &'a mut dyn Face,
    /// What the last agent did with success; being asked for the very same again is no progress.
    last_success: Option<AgentTask>,
    /// Whether the workflow is the engine's as a whole, because rekindle began it.
    is_engines: bool,
    /// What was waited for last.
    watched: Option<Stop>,
    /// How often in a row workers were asked for and there was nothing for them to do.
    idle_rounds: u32,
    /// The branch on which the engine lands is ours while this lives.
    _branch: Option<rekindle_fs::Lock>,
}

impl Session<'_> {
    fn run(&mut self, mut plan: Plan) -> Result<Outcome, Error> {
        let mut decided_by_a_person = false;
        loop {
            if let (Some(stop), None) = (&plan.without_agent, &self.options.engine) {
                return Ok(Outcome::Stopped(stop.clone()));
            }
            // What begins with an agent's work is not recorded when none will work: the task would
            // count as interrupted. What a person has just decided is.
            if let (Then::Agent(task), None) = (&plan.then, self.options.agent())
                && !decided_by_a_person
            {
                return Ok(Outcome::AgentNeeded(task.clone()));
            }
            self.runner
                .apply(&plan.steps, self.project.now(), self.face)
                .map_err(Error::Run)?;
            self.face.tell(&News::Applied(&plan.steps));
            let log = plan.log;
            if let (Then::Again, true, Some(options)) =
                (&plan.then, self.is_engines, &self.options.engine)
                && let Some(ending) = self.drive(&plan.id, &log, options)?
            {
                return Ok(Outcome::Ran(ending));
            }
            let intent = match plan.then {
                Then::Stop(stop) if self.options.stays_for(&stop) => {
                    self.watch(stop);
                    Intent::GoOn { log }
                }
                Then::Stop(stop) => return Ok(Outcome::Stopped(stop)),
                Then::Again => Intent::GoOn { log },
                Then::Agent(task) => {
                    let Some(agent) = self.options.agent() else {
                        return Ok(Outcome::AgentNeeded(task));
                    };
                    let ended = self.agent(agent, &task)?;
                    Intent::Settle { log, task, ended }
                }
                Then::Workers => match self.workers(&plan.id, &log)? {
                    Some(stopped) => return Ok(stopped),
                    None => Intent::GoOn { log },
                },
                Then::Check(checks) => {
                    let ended = self.check(&checks)?;
                    Intent::Checked { log, checks, ended }
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
        if !matches!(intent, Intent::Answer { question, .. } if question.is_about_a_blocker()) {
            refuse_blocked(&planned)?;
        }
        Ok(planned.plan)
    }

    fn drive(
        &mut self,
        id: &WorkflowId,
        log: &Utf8Path,
        options: &EngineOptions,
    ) -> Result<Option<Ending>, Error> {
        drive(self.project, id, log, options, &mut self.runner, self.face)
    }

    /// Waits a moment for what others do; says so when it is another thing than before.
    fn watch(&mut self, stop: Stop) {
        if self.watched.as_ref() != Some(&stop) {
            self.face.tell(&News::Watching(&stop));
            self.watched = Some(stop);
        }
        // Heartbeats grow old without a file being changed, so there is nothing to be woken by.
        std::thread::sleep(WATCH_INTERVAL);
    }

    /// Has workers do what is ready. Returns how the resume ends, if it does.
    fn workers(&mut self, id: &WorkflowId, log: &Utf8Path) -> Result<Option<Outcome>, Error> {
        let Some(options) = &self.options.engine else {
            return Ok(None);
        };
        let Some(ending) = self.drive(id, log, options)? else {
            return Ok(None);
        };
        let is_over = ending.stopped || ending.over_budget;
        let tally = ending.tally;
        // Nobody was started and nobody ended: a worker may have ended just before, and the next
        // reading shows it. Where nothing changes, the rounds would be the same for ever.
        let is_idle = ending.attempts == 0 && tally.landed == 0 && tally.blocked == 0;
        self.idle_rounds = if is_idle { self.idle_rounds + 1 } else { 0 };
        if !is_over && self.idle_rounds > MOST_IDLE_ROUNDS {
            return Err(Error::NoProgress {
                role: "worker",
                summary: "no task that is due can be started".to_owned(),
            });
        }
        Ok(is_over.then_some(Outcome::Ran(ending)))
    }

    /// Runs commands in the project, one after the other, until one does not succeed.
    fn check(&mut self, checks: &Checks) -> Result<Ended, Error> {
        self.face.tell(&News::Checking(checks));
        self.runner
            .run_checks(checks, self.project.now())
            .map_err(Error::Run)
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
        let answered = |answer: String| Intent::Answer {
            log: log.to_owned(),
            question: question.kind,
            answer,
        };
        if self.options.is_agreed() {
            if question.may_stay_open {
                return None;
            }
            if let Some(answer) = question.recommended() {
                return Some(answered(answer.to_owned()));
            }
        }
        while let Some(answer) = self.face.answer(question) {
            if let Some(answer) = question.understood(&answer) {
                // A person may well want the same once more, so it is no lack of progress.
                self.last_success = None;
                return Some(answered(answer));
            }
        }
        None
    }
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
