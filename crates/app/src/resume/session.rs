//! The loop of a resume: plan, apply, agent, question, until it ends.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::Utf8Path;
use rekindle_agents::Agent;
use rekindle_model::{
    AgentTask, Checks, Code, Ended, Finding, Intent, Plan, Question, Severity, Step, Stop,
    StopKind, Then, WithYes, WorkflowId,
};
use rekindle_runner::{Ending, Runner};

use super::{Handed, Outcome, Terms, refuse_blocked};
use crate::engine::{EngineOptions, drive};
use crate::face::{Face, News};
use crate::inspect::plan_world;
use crate::{Error, Project, Query};

/// The most rounds without any effect.
const MOST_IDLE_ROUNDS: u32 = 3;

/// How often a waiting resume checks again: much more often than the shortest heartbeat limit.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);

/// A running resume.
pub(super) struct Session<'a> {
    pub(super) project: &'a Project,
    pub(super) query: Query,
    pub(super) terms: Terms<'a>,
    pub(super) runner: Runner,
    pub(super) face: &'a mut dyn Face,
    /// What the last agent did successfully; the same request again means no progress.
    pub(super) last_success: Option<AgentTask>,
    /// Whether the engine runs the whole workflow, because rekindle started it.
    pub(super) is_engines: bool,
    /// What was waited for last.
    pub(super) watched: Option<Stop>,
    /// Requests to the host that were made, by their reason.
    pub(super) asked: BTreeSet<String>,
    /// Warnings that were reported, by code and place.
    pub(super) warned: BTreeSet<(Code, Option<String>)>,
    /// How often in a row workers were due and had nothing to do.
    pub(super) idle_rounds: u32,
    /// Whether the engine ended with an error and has reported who is still at work.
    pub(super) are_workers_reported: bool,
    /// What the caller was handed, where it does the steps itself.
    pub(super) handed: Option<Handed>,
    /// The branch on which the engine lands is ours while this lives.
    pub(super) _branch: Option<rekindle_fs::Lock>,
}

impl Session<'_> {
    pub(super) fn run(&mut self, mut plan: Plan) -> Result<Outcome, Error> {
        let mut decided_by_a_person = false;
        loop {
            let notes = self.new_notes(plan.notes);
            self.apply(&notes)?;
            if let (Some(stop), None) = (&plan.without_agent, self.terms.engine) {
                self.hand_out(&plan.id, &plan.log, &Then::Again)?;
                return Ok(Outcome::Stopped(stop.clone()));
            }
            // What begins with an agent's work is not recorded when none will work: the task would
            // count as interrupted. What a person has just decided is.
            if let (Then::Agent(task), None) = (&plan.then, self.terms.agent())
                && !decided_by_a_person
                && self.terms.options.steps.is_none()
            {
                return Ok(Outcome::AgentNeeded(task.clone()));
            }
            self.apply(&plan.steps)?;
            let log = plan.log;
            self.hand_out(&plan.id, &log, &plan.then)?;
            if let (Then::Again, true, Some(options)) =
                (&plan.then, self.is_engines, self.terms.engine)
                && let Some(ending) = self.drive(&plan.id, &log, options)?
            {
                return Ok(Outcome::Ran(ending));
            }
            let intent = match plan.then {
                Then::Stop(stop) if self.terms.stays_for(&stop) => {
                    self.watch(stop);
                    Intent::GoOn { log }
                }
                Then::Stop(stop) => return Ok(Outcome::Stopped(stop)),
                Then::Again => Intent::GoOn { log },
                Then::Agent(task) => {
                    let Some(agent) = self.terms.agent() else {
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

    /// Keeps what the caller needs to continue, where it does the steps itself.
    fn hand_out(&mut self, id: &WorkflowId, log: &Utf8Path, then: &Then) -> Result<(), Error> {
        if self.terms.options.steps.is_none() {
            return Ok(());
        }
        let task = match then {
            Then::Agent(task) => {
                self.refuse_repeated(task)?;
                Some(task.clone())
            }
            Then::Stop(stop) if matches!(stop.kind, StopKind::Done | StopKind::Said) => {
                self.handed = None;
                return Ok(());
            }
            Then::Ask(_) | Then::Workers | Then::Check(_) | Then::Again | Then::Stop(_) => None,
        };
        self.handed = Some(Handed {
            id: id.clone(),
            task,
            log: log.to_owned(),
        });
        Ok(())
    }

    /// Refuses a step that was just done with success and is due again unchanged.
    fn refuse_repeated(&self, task: &AgentTask) -> Result<(), Error> {
        if self.last_success.as_ref() == Some(task) {
            return Err(Error::NoProgress {
                role: task.role,
                summary: task.summary.clone(),
            });
        }
        Ok(())
    }

    fn apply(&mut self, steps: &[Step]) -> Result<(), Error> {
        self.runner
            .apply(steps, self.project.now(), self.face)
            .map_err(Error::Run)?;
        self.face.tell(&News::Applied(steps));
        Ok(())
    }

    /// Returns the notes without requests that this resume has made already.
    fn new_notes(&mut self, mut notes: Vec<Step>) -> Vec<Step> {
        notes.retain(|step| match step.request() {
            Some(request) => self.asked.insert(request.why),
            None => true,
        });
        notes
    }

    /// Reports new warnings while a resume is waiting, each once.
    fn warn(&mut self, findings: &[Finding]) {
        let is_new = |finding: &&Finding| {
            let place = finding.place.as_ref().map(ToString::to_string);
            finding.severity() >= Severity::Warning && self.warned.insert((finding.code, place))
        };
        let new: Vec<Finding> = findings.iter().filter(is_new).cloned().collect();
        self.face.tell(&News::Findings(&new));
    }

    pub(super) fn plan(&mut self, intent: &Intent) -> Result<Plan, Error> {
        let planned = plan_world(&self.project.world(), &self.query, intent)?;
        if self.watched.is_some() {
            self.warn(&planned.assessment.findings);
        }
        let is_way_out = matches!(
            intent,
            Intent::Answer {
                is_about_a_blocker: true,
                ..
            }
        );
        if !is_way_out {
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
        let driven = drive(self.project, id, log, options, &mut self.runner, self.face);
        self.are_workers_reported = driven.is_err();
        driven
    }

    /// Waits a moment for others; reports why if the reason has changed.
    fn watch(&mut self, stop: Stop) {
        if self.watched.as_ref() != Some(&stop) {
            self.face.tell(&News::Watching(&stop));
            self.watched = Some(stop);
        }
        // Heartbeats grow old without a file change, so there is no event to wait for.
        std::thread::sleep(WATCH_INTERVAL);
    }

    /// Runs workers for the ready tasks. Returns how the resume ends, if it does.
    fn workers(&mut self, id: &WorkflowId, log: &Utf8Path) -> Result<Option<Outcome>, Error> {
        let Some(options) = self.terms.engine else {
            return Ok(None);
        };
        let Some(ending) = self.drive(id, log, options)? else {
            return Ok(None);
        };
        let is_over = ending.stopped || ending.over_budget || ending.cannot_start.is_some();
        let tally = ending.tally;
        // Nothing was started and nothing ended: a worker may have ended just before, and the next read shows
        // it. If nothing changes, the rounds would never end.
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

    /// Runs commands in the project, one after the other, until one fails.
    fn check(&mut self, checks: &Checks) -> Result<Ended, Error> {
        self.face.tell(&News::Checking(checks));
        self.runner
            .run_checks(checks, self.project.now())
            .map_err(Error::Run)
    }

    fn agent(&mut self, agent: &Agent, task: &AgentTask) -> Result<Ended, Error> {
        self.refuse_repeated(task)?;
        self.face.tell(&News::AgentStarts(task));
        let ended = self
            .runner
            .run_agent(agent, task, self.project.now())
            .map_err(Error::Run)?;
        self.face.tell(&News::AgentEnded(task, &ended));
        self.last_success = (ended == Ended::Succeeded).then(|| task.clone());
        Ok(ended)
    }

    /// Asks a question until the answer is valid.
    fn ask(&mut self, question: &Question, log: &Utf8Path) -> Option<Intent> {
        let answered = |answer: String| Intent::Answer {
            log: log.to_owned(),
            question: question.id,
            is_about_a_blocker: question.is_about_a_blocker,
            answer,
        };
        if self.terms.is_agreed() {
            match question.with_yes {
                WithYes::LeaveOpen if !self.terms.asks_person() => return None,
                WithYes::Answer(answer) if !self.terms.asks_person() => {
                    return Some(answered(answer.to_owned()));
                }
                WithYes::LeaveOpen | WithYes::Answer(_) | WithYes::Ask => {}
            }
        }
        while let Some(answer) = self.face.answer(question) {
            if let Some(answer) = question.understood(&answer) {
                // A person may want the same again, so it does not count as no progress.
                self.last_success = None;
                return Some(answered(answer));
            }
        }
        None
    }
}
