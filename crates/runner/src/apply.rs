//! Carries out a plan's effects under the workflow's lock.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_agents::{Agent, Call, Invocation};
use rekindle_fs::journal::{IntentId, Outcome};
use rekindle_fs::{Journal, Liveness, Lock, Log, ProcessIdentity, Tail};
use rekindle_model::{Action, AgentTask, Ended, Step, WorkflowId};
use rekindle_wire::journal::{Effect, Intent};

use crate::{Error, StateFolder, agent, crash};

/// Where the text that a protocol prescribes goes.
pub trait Output {
    /// Prints it on standard output, or keeps it for a JSON object.
    fn print(&mut self, text: &str);
}

/// Carries out plans of one workflow; holds its lock as long as it lives.
#[derive(Debug)]
pub struct Runner {
    project: Utf8PathBuf,
    id: WorkflowId,
    lock: Lock,
    journal: Journal<Intent>,
}

/// What a runner found and finished that an earlier one had begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Lines that stood in the journal and not yet in their logs.
    pub appended: usize,
    /// Agents that were started and are gone without their end being known.
    pub lost_agents: Vec<String>,
    /// Damaged lines of the journal.
    pub damaged: usize,
}

impl Runner {
    /// Takes the lock of a workflow and finishes what an earlier runner had begun.
    ///
    /// # Errors
    /// [`Error::Lock`] names the other rekindle that holds it; [`Error::AgentAlive`] the agent that
    /// an earlier one left at work.
    pub fn open(
        project: &Utf8Path,
        id: &WorkflowId,
        purpose: &str,
        now: Timestamp,
    ) -> Result<(Self, Recovered), Error> {
        let folder = StateFolder::of(project);
        folder.ensure()?;
        let stamp = rekindle_text::format_seconds(now);
        let lock = Lock::acquire(&folder.lock(id), purpose, stamp)?;
        crash::point("after-lock");
        let journal = Journal::open(&folder.journal(id))?;
        let mut runner = Self {
            project: project.to_owned(),
            id: id.clone(),
            lock,
            journal,
        };
        let recovered = runner.recover(now)?;
        Ok((runner, recovered))
    }

    /// Returns the workflow's lock.
    pub fn lock(&self) -> &Lock {
        &self.lock
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
                    for (step, effect) in (0..).zip(&effects) {
                        if !done.contains(&step) && self.repeat(effect)? {
                            recovered.appended += 1;
                        }
                    }
                    self.end(id, now, Outcome::Completed, "finished after a crash")?;
                }
                Intent::Agent {
                    role,
                    task,
                    process,
                    ..
                } => {
                    refuse_living(&role, task.as_ref(), process)?;
                    let task = task.map_or_else(String::new, |task| format!(" on {task}"));
                    recovered.lost_agents.push(format!("{role}{task}"));
                    self.end(id, now, Outcome::Abandoned, "the agent is gone")?;
                }
            }
        }
        Ok(recovered)
    }

    /// Repeats an effect unless it has taken place. Returns whether it had not.
    fn repeat(&self, effect: &Effect) -> Result<bool, Error> {
        match effect {
            Effect::Print => Ok(false),
            Effect::Create { path, contents } => create(&self.project, path, contents),
            Effect::Append { log, record } => {
                let path = rekindle_fs::confine(&self.project, log)?;
                if Log::holds(&path, record.as_bytes())? {
                    return Ok(false);
                }
                append(&self.project, log, record)?;
                Ok(true)
            }
        }
    }

    /// Carries out effects in order; after a crash at any instant the next runner finishes them.
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
        let effects = steps.iter().map(|step| effect(&step.action)).collect();
        let stamp = rekindle_text::format_seconds(now);
        let intent = self.journal.begin(&stamp, &Intent::Effects(effects))?;
        crash::point("after-intent");
        for (number, step) in (0..).zip(steps) {
            perform(&self.project, &step.action, output)?;
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
        let (id, project) = (self.id.clone(), self.project.clone());
        let call = Call {
            id: &id,
            task,
            folder: &project,
            token: "",
            session: None,
        };
        let invocation = agent.invocation(&call);
        if let Some(reason) = self.run(&invocation, task, now)? {
            return Ok(Ended::Failed { reason });
        }
        for check in &task.checks {
            let invocation = Invocation::check(check, &call);
            if let Some(reason) = self.run(&invocation, task, now)? {
                let check = check.clone();
                return Ok(Ended::CheckFailed { check, reason });
            }
        }
        Ok(Ended::Succeeded)
    }

    /// Runs one command. Returns why it did not succeed.
    fn run(
        &mut self,
        invocation: &Invocation,
        task: &AgentTask,
        now: Timestamp,
    ) -> Result<Option<String>, Error> {
        let waiting = match agent::prepare(invocation) {
            Ok(waiting) => waiting,
            Err(error) => return Ok(Some(format!("it could not be started: {error}"))),
        };
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
            },
        )?;
        let mut child = waiting.begin();
        crash::point("after-agent-start");
        let failure = match child.wait() {
            Ok(status) => agent::failure(status),
            Err(error) => Some(format!("it could not be waited for: {error}")),
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

/// Carries out a report: one line in a log of the reporter's own, so it needs no lock.
pub fn report(project: &Utf8Path, steps: &[Step], output: &mut dyn Output) -> Result<(), Error> {
    for step in steps {
        perform(project, &step.action, output)?;
    }
    Ok(())
}

fn effect(action: &Action) -> Effect {
    match action {
        Action::Append { log, record } => Effect::Append {
            log: log.clone(),
            record: record.clone(),
        },
        Action::Create { path, contents } => Effect::Create {
            path: path.clone(),
            contents: contents.clone(),
        },
        Action::Print(_) => Effect::Print,
    }
}

fn perform(project: &Utf8Path, action: &Action, output: &mut dyn Output) -> Result<(), Error> {
    match action {
        Action::Append { log, record } => append(project, log, record),
        Action::Create { path, contents } => create(project, path, contents).map(drop),
        Action::Print(text) => {
            output.print(text);
            Ok(())
        }
    }
}

/// Makes a file, unless it is there already: then a crash came after it was made. Returns whether it was not.
fn create(project: &Utf8Path, path: &Utf8Path, contents: &str) -> Result<bool, Error> {
    let path = rekindle_fs::confine(project, path)?;
    match rekindle_fs::create(&path, contents.as_bytes()) {
        Ok(()) => Ok(true),
        Err(rekindle_fs::Error::Exists { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn append(project: &Utf8Path, log: &Utf8Path, record: &str) -> Result<(), Error> {
    // A state file's name must never make us write outside of the project.
    let path = rekindle_fs::confine(project, log)?;
    let mut log = Log::open(&path)?;
    // A torn tail was closed with a line end of its own; the reader reports it, nothing is lost.
    let (Tail::Whole | Tail::Torn) = log.append(record.as_bytes())?;
    Ok(())
}

/// Two agents on one task could do the same work twice, so a living one is never passed over.
fn refuse_living(
    role: &str,
    task: Option<&String>,
    process: serde_json::Value,
) -> Result<(), Error> {
    let Ok(process) = serde_json::from_value::<ProcessIdentity>(process) else {
        return Ok(());
    };
    match process.is_alive() {
        Liveness::Alive => Err(Error::AgentAlive {
            process: Box::new(process),
            role: role.to_owned(),
            task: task.cloned(),
        }),
        Liveness::Gone | Liveness::Unknown => Ok(()),
    }
}
