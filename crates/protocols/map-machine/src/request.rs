//! From the command line to an answer.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::is_space;
use rekindle_world::World;

use crate::arguments::{Arguments, Refusal};
use crate::briefing::Briefing;
use crate::command::{Access, Command};
use crate::commands::defer::{self, Outcome};
use crate::commands::validate::{self, Close};
use crate::commands::{completion, contract, modes, next, restart, restore, results, retry, waves};
use crate::desk::{Desk, decoded};
use crate::interruption::{self, Interruption};
use crate::layout::Branch;
use crate::reply::{Body, Fault, Reply};
use crate::state::StateFile;
use crate::{documents, manifest, quarantine, research, root, verification};

/// Why a subtask is closed with `--mechanical`; MAP's own value, which its reports look for.
const MECHANICAL: &str = "mechanical subtask short-circuit (skip research-agent): deterministic edit, no design surface to explore";
const USAGE: &str = "Usage: rekindle map [--branch BRANCH] COMMAND [WORD]...\n";

/// A parsed command.
#[derive(Debug, Clone)]
pub struct Request(Arguments);

/// The output, effects and exit code of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
    /// The effects, in order; they come before the output.
    pub actions: Vec<Action>,
}

impl Answer {
    fn of(reply: Reply) -> Self {
        Self {
            stdout: reply.text(),
            stderr: String::new(),
            exit: reply.exit,
            actions: reply.actions,
        }
    }

    fn error(exit: u8, stderr: String) -> Self {
        Self {
            stderr,
            exit,
            ..Self::default()
        }
    }

    fn refusal(object: &Object) -> Self {
        Self::error(1, format!("{}\n", object.to_line()))
    }

    /// Returns the answer to a request that failed, in the form of MAP's scripts.
    pub fn failed(message: &str) -> Self {
        Self::refusal(&Object::new().with("error", message))
    }
}

fn help() -> String {
    let names = Command::names().collect::<Vec<_>>().join("\n  ");
    format!(
        "{USAGE}\nAnswers as MAP's own scripts do, with their arguments and options.\n\nCommands:\n  {names}\n"
    )
}

impl Branch {
    /// Returns why no command is carried out for the branch in this project.
    pub fn refusal(&self, world: &dyn World) -> Option<Answer> {
        root::refusal(world, self).map(|Fault(message)| Answer::failed(&message))
    }
}

impl Request {
    /// Parses the command line, or returns the answer to one that cannot be parsed.
    pub fn parse(typed: &[String]) -> Result<Self, Answer> {
        let parsed = Arguments::parse(typed).map(Self);
        parsed.map_err(|refusal| match refusal {
            Refusal::Help => Answer {
                stdout: help(),
                ..Answer::default()
            },
            Refusal::Usage(message) => {
                let hint = "`rekindle map --help` lists the commands";
                Answer::error(2, format!("{USAGE}\nerror: {message}\n{hint}\n"))
            }
            Refusal::Unknown(message) => Answer::error(1, format!("{message}\n")),
        })
    }

    /// Returns whether it reads standard input.
    pub fn wants_input(&self) -> bool {
        let Arguments { rest, options, .. } = &self.0;
        let is = |command| self.0.command == command;
        is(Command::ValidateStep) && options.value("--monitor-envelope") == Some("-")
            || is(Command::SaveResearch) && !rest.iter().any(|word| word == "--file")
    }

    /// Returns what it does to files.
    pub fn access(&self) -> Access {
        self.0.command.access()
    }

    /// Returns its branch.
    pub fn branch(&self, world: &dyn World) -> Branch {
        let arguments = &self.0;
        let named = if arguments.command.names_branch() {
            arguments.word(0)
        } else {
            arguments.options.value("--branch")
        };
        root::branch(world, named)
    }

    /// Answers from the files of a branch.
    pub fn answer(&self, world: &dyn World, branch: &Branch, input: &[u8]) -> Answer {
        match self.reply(Desk::new(world, branch), input) {
            Ok(reply) => Answer::of(reply),
            Err(Stopped::Fault(Fault(message))) => Answer::failed(&message),
            Err(Stopped::Refused(Fault(message))) => {
                let refusal = Object::new().with("status", "error");
                Answer::refusal(&refusal.with("message", message))
            }
        }
    }

    /// Returns the refusal of a command that would move a run which a repair has suspended.
    ///
    /// For any other answer the world must be read again under the lock of the branch.
    pub fn refusal(&self, world: &dyn World, branch: &Branch) -> Option<Answer> {
        let desk = Desk::new(world, branch);
        let reply = self.suspended(desk, StateFile::read(desk).as_ref().ok());
        reply.map(Answer::of)
    }

    fn suspended(&self, desk: Desk<'_>, file: Option<&StateFile>) -> Option<Reply> {
        let command = self.0.command;
        if !command.moves_the_run() {
            return None;
        }
        let mut answer = Interruption::read(desk, file).refusal()?;
        if command == Command::MarkSubtaskComplete && self.0.options.has("--mechanical") {
            answer.set("mechanical", true);
        }
        Some(refused(command, answer))
    }

    fn reply(&self, desk: Desk<'_>, input: &[u8]) -> Result<Reply, Stopped> {
        let command = self.0.command;
        let file = StateFile::read(desk);
        if let Some(reply) = self.suspended(desk, file.as_ref().ok()) {
            return Ok(reply);
        }
        if command.access() == Access::Advance
            && let Some(reply) = unreadable(&file.clone()?, command)
        {
            return Ok(reply);
        }
        self.carry_out(desk, &file, input)
    }

    fn carry_out(
        &self,
        desk: Desk<'_>,
        file: &Result<StateFile, Fault>,
        input: &[u8],
    ) -> Result<Reply, Stopped> {
        let arguments = &self.0;
        let (command, options) = (arguments.command, &arguments.options);
        let required = |value: Option<&'_ str>, what: &str| -> Result<String, Fault> {
            let missing = || Fault(format!("{what} required for {}", command.name()));
            value.map(str::to_owned).ok_or_else(missing)
        };
        let subject = |what: &str| required(arguments.subject(), what);
        let value = |what: &str| required(arguments.word(0), what);
        let word = |position: usize| arguments.word(position).unwrap_or_default();
        let words = || [0, 1, 2, 3, 4].map(word);
        let feedback = options.or_empty("--feedback");
        Ok(match command {
            Command::GetNextStep => next::next(desk)?,
            Command::PeekCurrentStep => next::peek(desk)?,
            Command::CheckCircuitBreaker => next::circuit_breaker(desk)?,
            Command::GetPlanProgress => next::plan_progress(desk)?,
            Command::GetInterruptionStatus | Command::RepairStatus => interrupted(desk, file),
            Command::BuildResumeBriefing => Reply::of(Briefing::read(desk)?.to_json()),
            Command::ValidateStep => {
                let step = subject("step_id")?;
                validate::validate(desk, &self.close(desk, step, input)?)?
            }
            Command::Initialize => {
                restart::initialize(desk, arguments.subject().unwrap_or("MAP workflow task"))?
            }
            Command::SetPlanApproved => modes::approve(desk, &value("value")?)?,
            Command::SetExecutionMode => modes::execution(desk, &value("mode")?)?,
            Command::SetTddMode => modes::test_first(desk, &value("value")?)?,
            Command::RestoreDeferredYagni => {
                let item = value("YG-NNN id")?;
                restore::restore(desk, &item, options.value("--subtask-id"))?
            }
            Command::SkipStep => completion::skip(desk, &subject("step_id")?)?,
            Command::SetSubtasks => {
                subject("subtask id such as ST-001")?;
                modes::subtasks(desk, &arguments.rest)?
            }
            Command::MarkContractReady => contract::ready(desk, &subject("subtask_id")?)?,
            Command::ResumeFromTestContract => contract::resume(desk, &subject("subtask_id")?)?,
            Command::ResumeFromPlan => restart::from_plan(desk)?,
            Command::ResumeSingleSubtask => {
                restart::single(desk, &subject("subtask_id")?, options.has("--tdd"))?
            }
            Command::SetWaves => {
                waves::set(desk, options.text("--blueprint").or(arguments.subject()))?
            }
            Command::GetWaveStep => waves::step(desk)?,
            Command::SelectExecutionStrategy => waves::select(desk)?,
            Command::ValidateWaveStep => {
                let subtask = subject("subtask_id")?;
                let step = required(arguments.word(1), "step_id")?;
                waves::validate(desk, &subtask, &step)?
            }
            Command::AdvanceWave => waves::advance(desk)?,
            Command::MonitorFailed => retry::monitor_failed(desk, feedback)?,
            Command::WaveMonitorFailed => {
                retry::wave_monitor_failed(desk, &subject("subtask_id")?, feedback)?
            }
            Command::DeferFlakySubtask => {
                let subtask = subject("subtask_id")?;
                let check = required(options.text("--check-id"), "--check-id")?;
                let triage = options.or_empty("--flaky-triage-path");
                defer::defer(desk, &subtask, &check, triage, &self.outcome())?
            }
            Command::ReopenForFixes => completion::reopen(desk, feedback)?,
            Command::MarkWorkflowComplete => completion::mark_workflow(desk)?,
            Command::MarkSubtaskComplete => self.mark_subtask(desk, &subject("subtask_id")?)?,
            Command::RecordSubtaskResult => {
                let subtask = subject("subtask_id")?;
                let status = required(arguments.word(1), "status (valid|invalid|no-op)")?;
                results::record(desk, &subtask, &status, &self.outcome())?
            }
            Command::BackfillSubtaskIds => results::backfill(desk)?,
            Command::FinalizePlan => manifest::finalize_plan(desk)?,
            Command::Archive => completion::archive(desk)?,
            Command::Abandon => completion::abandon(desk)?,
            Command::UpdatePlanStatus => documents::update_status(desk, word(0), word(1))?,
            Command::ReadCurrentGoal => documents::goal(desk)?,
            Command::GetCurrentPhase => documents::current_phase(desk)?,
            Command::EnsureHumanArtifacts => documents::ensure(desk),
            Command::NextNumberedArtifactPath => documents::next_numbered(desk, word(0)),
            Command::WriteVerificationSummary => verification::write(desk, words())?,
            Command::RecordTestContractHandoff => contract::hand_over(desk, words())?,
            Command::ValidateRetryQuarantine => quarantine::validate(desk, arguments.word(0))?,
            Command::SaveResearch => self.save_research(desk, input)?,
            Command::ValidateResearch => research::validate(desk, word(1), arguments.word(2)),
            Command::LoadResearch => {
                let more = arguments.rest.get(2..).unwrap_or_default();
                let all = more.iter().any(|word| word == "--all");
                let kind = more.iter().find(|word| *word != "--all");
                let kind = kind.map_or("actor", String::as_str);
                research::load(desk, word(1), kind, all).map_err(Stopped::Refused)?
            }
        })
    }

    fn save_research(&self, desk: Desk<'_>, input: &[u8]) -> Result<Reply, Stopped> {
        let mut more = self.0.rest.get(2..).unwrap_or_default();
        let mut kind = "actor";
        if let [first, rest @ ..] = more
            && !first.starts_with("--")
        {
            kind = first;
            more = rest;
        }
        let after = |name: &str| {
            let position = more.iter().position(|word| word == name)?;
            more.get(position + 1).map(String::as_str)
        };
        let refused = |message: String| Stopped::Refused(Fault(message));
        let attempt = after("--attempt").map(str::parse).transpose();
        let attempt = attempt.map_err(|_| refused("--attempt must be a number".to_owned()))?;
        let text = match after("--file").filter(|path| !path.is_empty()) {
            Some(path) => {
                let text = desk.text(path)?;
                text.ok_or_else(|| refused(format!("there is no file `{path}`")))?
            }
            None => decoded("standard input", input)?,
        };
        let subtask = self.0.word(1).unwrap_or_default();
        Ok(research::save(desk, subtask, kind, attempt, text)?)
    }

    fn close(&self, desk: Desk<'_>, step: String, input: &[u8]) -> Result<Close, Fault> {
        let options = &self.0.options;
        let own = |name: &str| options.value(name).map(str::to_owned);
        let missing = |path: &str| Fault::new(format!("--monitor-envelope: there is no `{path}`"));
        let envelope = match options.text("--monitor-envelope") {
            None => None,
            Some("-") => Some(decoded("standard input", input)?),
            Some(path) => Some(desk.text(path)?.ok_or_else(|| missing(path))?),
        };
        Ok(Close {
            step,
            recommendation: own("--recommendation"),
            envelope,
            disposition: own("--disposition"),
            check_id: own("--check-id"),
            outcome: self.outcome(),
        })
    }

    fn outcome(&self) -> Outcome {
        let options = &self.0.options;
        let files = options.or_empty("--files");
        let files = files.split(|c| c == ',' || is_space(c));
        let files = files.filter(|file| !file.is_empty());
        Outcome {
            files: files.map(str::to_owned).collect(),
            summary: options.or_empty("--summary").to_owned(),
            commit: options.value("--commit-sha").map(str::to_owned),
        }
    }

    fn mark_subtask(&self, desk: Desk<'_>, subtask: &str) -> Result<Reply, Fault> {
        let options = &self.0.options;
        let is_mechanical = options.has("--mechanical");
        let default = if is_mechanical { MECHANICAL } else { "no-op" };
        let reason = options.text("--reason").unwrap_or(default);
        let mut reply = completion::mark_subtask(desk, subtask, reason, options.value("--kind"))?;
        if let (true, Body::Lines(answer)) = (is_mechanical, &mut reply.body) {
            answer.set("mechanical", true);
        }
        Ok(reply)
    }
}

/// Why a request has no answer on standard output.
enum Stopped {
    Fault(Fault),
    /// Some commands of the step runner report a fault as an object with a status.
    Refused(Fault),
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Returns the answer of a command that would overwrite an unreadable state.
fn unreadable(file: &StateFile, command: Command) -> Option<Reply> {
    let (reason, path) = (file.damage()?, file.path());
    let message = format!(
        "{path} cannot be read and is left unchanged: {reason}. Fix it, or move it away with abandon."
    );
    let answer = Object::new().with("status", "error");
    let answer = answer.with("valid", Json::Bool(false));
    Some(refused(command, answer.with("message", message)))
}

/// Returns the answer of a refused command, with its exit code.
fn refused(command: Command, answer: Object) -> Reply {
    Reply::of(answer).failing_if(command.fails_when_refused())
}

/// Answers `get_interruption_status`.
fn interrupted(desk: Desk<'_>, file: &Result<StateFile, Fault>) -> Reply {
    let interruption = Interruption::read(desk, file.as_ref().ok());
    let damage = match file {
        Ok(file) => file.damage(),
        Err(Fault(reason)) => Some(reason.as_str()),
    };
    match (&interruption, damage) {
        (Interruption::Open(_), _) | (Interruption::Idle, None) => Reply::of(interruption.status()),
        (Interruption::Unclear(_), _) => Reply::of(interruption.status()).failing(),
        (Interruption::Idle, Some(reason)) => Reply::of(interruption::error(reason)).failing(),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
