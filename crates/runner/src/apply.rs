//! Applies a plan's effects under the workflow's lock.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_agents::{Agent, Call, Invocation};
use rekindle_fs::journal::{IntentId, Outcome};
use rekindle_fs::{Journal, Lock, ProcessIdentity};
use rekindle_model::{AgentTask, Checks, Ended, LastLife, Step, WorkflowId};
use rekindle_wire::journal::{Effect, Intent};

use crate::effects::{self, Repeated};
use crate::reach::{Reach, Site};
use crate::{Error, StateFolder, agent, crash, last_life};

pub(crate) use crate::effects::append;

/// The output for the text that a protocol prescribes.
pub trait Output {
    /// Prints it on standard output, or keeps it for a JSON object.
    fn print(&mut self, text: &str);
}

/// Applies plans of one workflow; holds its lock as long as it lives.
#[derive(Debug)]
pub struct Runner {
    site: Site,
    id: WorkflowId,
    lock: Lock,
    journal: Journal<Intent>,
    opened_at: u64,
}

/// The unfinished steps of an earlier runner, and how they were finished.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Lines that were in the journal but not yet in their logs.
    pub appended: usize,
    /// Other effects that were started or only planned, and are finished now.
    pub finished: usize,
    /// Effects that were skipped because the files they depend on have changed.
    pub superseded: usize,
    /// Agents that were started and have ended without a known result.
    pub lost_agents: Vec<String>,
    /// Damaged lines of the journal.
    pub damaged: usize,
    /// The finished steps, one line each with its path.
    pub named: Vec<String>,
    /// The new path of the journal, if it was moved because it has lines from elsewhere.
    pub put_aside: Option<Utf8PathBuf>,
}

impl Recovered {
    /// Returns whether the recovery may have changed files that were read before it.
    pub fn has_changed_the_world(&self) -> bool {
        self.appended + self.finished > 0
    }
}

impl Runner {
    /// Takes the lock of a workflow and finishes the steps that an earlier runner left unfinished.
    ///
    /// `reach` says where its effects may write, besides the project.
    ///
    /// # Errors
    /// [`Error::Lock`] names the other rekindle that holds it; [`Error::AgentAlive`] the agent that
    /// an earlier one left running; [`Error::Tracked`] files of ours that git tracks.
    pub fn open(
        folder: &StateFolder,
        id: &WorkflowId,
        purpose: &str,
        now: Timestamp,
        reach: Reach,
    ) -> Result<(Self, Recovered), Error> {
        let site = Site::new(folder, reach);
        site.refuse_tracked()?;
        folder.ensure()?;
        let stamp = rekindle_text::format_seconds(now);
        let lock = Lock::acquire(&folder.lock(id), purpose, stamp)?;
        crash::point("after-lock");
        let path = folder.journal(id)?;
        let journal = Journal::open(&path, Some(folder.sealing(&path)?))?;
        let mut runner = Self {
            site,
            id: id.clone(),
            lock,
            journal,
            opened_at: folder.position(id)?,
        };
        let mut recovered = runner.recover(now)?;
        // A journal from elsewhere would be reported again and again.
        if runner.journal.has_foreign_lines() {
            recovered.put_aside = Some(crate::state_folder::put_aside(&path)?);
            runner.journal = Journal::open(&path, Some(folder.sealing(&path)?))?;
        }
        Ok((runner, recovered))
    }

    /// Records that a plan with this digest is applied now, so that it cannot be applied again.
    pub fn spend(&mut self, digest: &str, now: Timestamp) -> Result<(), Error> {
        let stamp = rekindle_text::format_seconds(now);
        let digest = digest.to_owned();
        let intent = self.journal.begin(&stamp, &Intent::Agreed { digest })?;
        self.end(intent, now, Outcome::Completed, "")
    }

    /// Returns the length of the journal when the lock was taken, before anything was finished.
    pub fn opened_at(&self) -> u64 {
        self.opened_at
    }

    /// Returns the workflow's lock.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Returns how the last rekindle ended that worked on the workflow for long.
    pub fn last_life(&self) -> Option<LastLife> {
        self.lock.last_life().as_ref().and_then(last_life::of_lock)
    }

    fn recover(&mut self, now: Timestamp) -> Result<Recovered, Error> {
        let mut recovered = Recovered {
            damaged: self.journal.damage().len(),
            ..Recovered::default()
        };
        let open: Vec<_> = self
            .journal
            .open_intents()
            .iter()
            .map(|open| (open.id, open.body.clone(), open.steps_done.clone()))
            .collect();
        for (id, intent, done) in open {
            match intent {
                Intent::Effects(effects) => {
                    let open: Vec<(u32, &Effect)> = (0..)
                        .zip(&effects)
                        .filter(|(step, _)| !done.contains(step))
                        .collect();
                    self.finish(id, &open, now, &mut recovered)?;
                }
                Intent::Agent {
                    role,
                    task,
                    process,
                    mark,
                    ..
                } => {
                    agent::refuse_living(&role, task.as_ref(), process, mark.as_deref())?;
                    let task = task.map_or_else(String::new, |task| format!(" on {task}"));
                    recovered.lost_agents.push(format!("{role}{task}"));
                    self.end(id, now, Outcome::Abandoned, "the agent is gone")?;
                }
                Intent::Agreed { .. } => self.end(id, now, Outcome::Completed, "")?,
            }
        }
        Ok(recovered)
    }

    /// Finishes the effects of an intent that an earlier runner did not reach.
    ///
    /// If the files have changed, the rest is skipped: it depends on earlier effects (a task is
    /// marked as landed after it has landed), and the next plan is made from fresh evidence.
    fn finish(
        &mut self,
        intent: IntentId,
        open: &[(u32, &Effect)],
        now: Timestamp,
        recovered: &mut Recovered,
    ) -> Result<(), Error> {
        for (place, (step, effect)) in open.iter().enumerate() {
            match (effects::repeat(&self.site, &self.id, effect)?, effect) {
                (Repeated::Already, _) => {}
                (Repeated::Done, Effect::Append { .. } | Effect::Create { .. }) => {
                    recovered.appended += 1;
                    recovered.named.extend(effects::lines(effect));
                }
                (Repeated::Done, _) => {
                    recovered.finished += 1;
                    recovered.named.extend(effects::lines(effect));
                }
                (Repeated::Superseded, _) => {
                    recovered.superseded += open.len() - place;
                    return self.end(intent, now, Outcome::Abandoned, "the world moved on");
                }
            }
            crash::point("after-repeat");
            self.journal.done(intent, *step)?;
        }
        self.end(intent, now, Outcome::Completed, "finished after a crash")
    }

    /// Applies effects in order; after a crash at any moment the next runner finishes them.
    pub fn apply(
        &mut self,
        steps: &[Step],
        now: Timestamp,
        output: &mut dyn Output,
    ) -> Result<(), Error> {
        if steps.is_empty() {
            return Ok(());
        }
        self.lock.verify()?;
        let effects = steps
            .iter()
            .map(|step| effects::written(&step.action))
            .collect();
        let stamp = rekindle_text::format_seconds(now);
        let intent = self.journal.begin(&stamp, &Intent::Effects(effects))?;
        crash::point("after-intent");
        for (number, step) in (0..).zip(steps) {
            match effects::perform(&self.site, &self.id, &step.action, output) {
                Ok(()) => {}
                // Nothing was changed, and the rest of this plan is not applied.
                Err(error) if error.is_refusal() => {
                    self.end(intent, now, Outcome::Abandoned, &error.to_string())?;
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
            crash::point("after-effect");
            self.journal.done(intent, number)?;
            crash::point("after-done");
        }
        self.end(intent, now, Outcome::Completed, "")?;
        crash::point("after-end");
        Ok(())
    }

    /// Starts an agent, waits for it, and runs the checks of its work.
    pub fn run_agent(
        &mut self,
        agent: &Agent,
        task: &AgentTask,
        now: Timestamp,
    ) -> Result<Ended, Error> {
        self.lock.verify()?;
        let (id, project) = (self.id.clone(), self.site.project.clone());
        let call = Call {
            id: &id,
            project: &project,
            task,
            folder: &project,
            token: "",
            session: None,
        };
        let invocation = agent.invocation(&call);
        if let Some(reason) = self.run(&invocation, task, now)? {
            return Ok(Ended::Failed { reason });
        }
        self.check_all(&call, now)
    }

    /// Runs commands in the project until one fails.
    pub fn run_checks(&mut self, checks: &Checks, now: Timestamp) -> Result<Ended, Error> {
        self.lock.verify()?;
        let task = AgentTask {
            role: "check",
            task: None,
            attempt: 1,
            summary: checks.of.clone(),
            prompt: String::new(),
            checks: checks.commands.clone(),
            by_hand: Vec::new(),
            seen: None,
        };
        let (id, project) = (self.id.clone(), self.site.project.clone());
        let call = Call {
            id: &id,
            project: &project,
            task: &task,
            folder: &project,
            token: "",
            session: None,
        };
        self.check_all(&call, now)
    }

    fn check_all(&mut self, call: &Call<'_>, now: Timestamp) -> Result<Ended, Error> {
        for check in &call.task.checks {
            let invocation = Invocation::check(check, call);
            if let Some(reason) = self.run(&invocation, call.task, now)? {
                let check = check.clone();
                return Ok(Ended::CheckFailed { check, reason });
            }
        }
        Ok(Ended::Succeeded)
    }

    /// Runs one command. Returns why it failed.
    fn run(
        &mut self,
        invocation: &Invocation,
        task: &AgentTask,
        now: Timestamp,
    ) -> Result<Option<String>, Error> {
        let mark = crate::engine::fresh();
        // The agent has not been started yet, so this does not count as its failure.
        let waiting =
            agent::prepare(invocation, &mark).map_err(|source| Error::Worker { source })?;
        let process = ProcessIdentity::of(waiting.pid())
            .and_then(|process| serde_json::to_value(process).ok());
        crash::point("before-agent-record");
        let stamp = rekindle_text::format_seconds(now);
        let intent = self.journal.begin(
            &stamp,
            &Intent::Agent {
                role: task.role.to_owned(),
                task: task.task.clone(),
                attempt: task.attempt,
                process: process.unwrap_or_default(),
                mark: Some(mark),
            },
        )?;
        let mut child = waiting.begin();
        crash::point("after-agent-start");
        let failure = match child.wait() {
            Ok(status) => agent::failure(status),
            Err(error) => Some(format!("waiting for it failed: {error}")),
        };
        crash::point("after-agent-end");
        self.end(
            intent,
            now,
            Outcome::Completed,
            failure.as_deref().unwrap_or("success"),
        )?;
        Ok(failure)
    }

    fn end(
        &mut self,
        intent: IntentId,
        now: Timestamp,
        outcome: Outcome,
        note: &str,
    ) -> Result<(), Error> {
        let stamp = rekindle_text::format_seconds(now);
        Ok(self.journal.end(intent, &stamp, outcome, note)?)
    }
}

/// Applies a report: one line in a log of the reporter's own, so it needs no lock.
pub fn report(
    folder: &StateFolder,
    id: &WorkflowId,
    steps: &[Step],
    output: &mut dyn Output,
) -> Result<(), Error> {
    let site = Site::new(folder, Reach::default());
    for step in steps {
        effects::perform(&site, id, &step.action, output)?;
    }
    Ok(())
}
