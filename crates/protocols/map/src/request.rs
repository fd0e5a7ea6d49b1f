//! From what was typed to an answer.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::is_space;
use rekindle_world::World;

use super::briefing::Briefing;
use super::command::{Access, Command, StepRunner};
use super::desk::{Desk, decoded};
use super::documents;
use super::fault::Fault;
use super::interruption::{self, Interruption};
use super::layout::Branch;
use super::machine::contract::{self, Handoff};
use super::machine::defer::{self, Outcome};
use super::machine::validate::{self, Close};
use super::machine::{completion, modes, next, restart, restore, results, retry, waves};
use super::manifest;
use super::quarantine;
use super::reply::{Body, Reply};
use super::research;
use super::root;
use super::state::StateFile;
use super::verification::{self, Said};
use super::words::{Refusal, Words};

/// Why a subtask is closed with `--mechanical`; the peer's own value, which reports look for.
const MECHANICAL: &str = "mechanical subtask short-circuit (skip research-agent): deterministic edit, no design surface to explore";

/// A command that was typed and understood.
#[derive(Debug, Clone)]
pub struct Request(Words);

/// What is printed, written and returned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// What goes to standard output.
    pub stdout: String,
    /// What goes to standard error.
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

    fn usage(message: &str) -> Self {
        Self {
            stderr: format!(
                "{}\nerror: {message}\n`rekindle map --help` lists the commands\n",
                usage()
            ),
            exit: 2,
            ..Self::default()
        }
    }

    fn fault(Fault(message): Fault) -> Self {
        Self::refusal(&Object::new().with("error", message))
    }

    fn refusal(object: &Object) -> Self {
        Self {
            stderr: format!("{}\n", object.to_line()),
            exit: 1,
            ..Self::default()
        }
    }

    /// Returns the answer to a request that could not be carried out, as the peer says such things.
    pub fn failed(message: &str) -> Self {
        Self::fault(Fault::new(message))
    }
}

fn usage() -> String {
    "Usage: rekindle map [--branch BRANCH] COMMAND [WORD]...\n".to_owned()
}

fn help() -> String {
    let names: Vec<&str> = Command::names().collect();
    format!(
        "{}\nAnswers as MAP's own scripts do, with their words and options.\n\nCommands:\n  {}\n",
        usage(),
        names.join("\n  ")
    )
}

impl Branch {
    /// Returns why no command is carried out for it in this project, if that is so.
    pub fn refusal(&self, world: &dyn World) -> Option<Answer> {
        root::refusal(world, self).map(Answer::fault)
    }
}

impl Request {
    /// Reads what was typed; what can not be read has its answer already.
    pub fn parse(typed: &[String]) -> Result<Self, Answer> {
        Words::parse(typed)
            .map(Self)
            .map_err(|refusal| match refusal {
                Refusal::Help => Answer {
                    stdout: help(),
                    ..Answer::default()
                },
                Refusal::Usage(message) => Answer::usage(&message),
                Refusal::Unknown(message) => Answer {
                    stderr: format!("{message}\n"),
                    exit: 1,
                    ..Answer::default()
                },
            })
    }

    /// Returns whether it reads standard input.
    pub fn wants_input(&self) -> bool {
        let words = &self.0;
        let is = |command| words.command == command;
        let has_file = words.rest.iter().any(|word| word == "--file");
        let envelope = words.options.value("--monitor-envelope");
        is(Command::ValidateStep) && envelope == Some("-")
            || is(Command::StepRunner(StepRunner::SaveResearch)) && !has_file
    }

    /// Returns what it does to the files.
    pub fn access(&self) -> Access {
        self.0.command.access()
    }

    /// Returns the branch that it is about.
    pub fn branch(&self, world: &dyn World) -> Branch {
        let words = &self.0;
        let named = if let Command::StepRunner(runner) = words.command {
            words.word(0).filter(|_| runner.names_branch())
        } else {
            words.options.value("--branch")
        };
        root::branch(world, named)
    }

    /// Answers from what the world shows of a branch.
    pub fn answer(&self, world: &dyn World, branch: &Branch, input: &[u8]) -> Answer {
        let desk = Desk { world, branch };
        match self.reply(desk, input) {
            Ok(reply) => Answer::of(reply),
            Err(Stopped::Fault(fault)) => Answer::fault(fault),
            Err(Stopped::Missing(what)) => Answer::fault(Fault::new(what)),
            Err(Stopped::Refused(object)) => Answer::refusal(&object),
        }
    }

    /// Returns the answer to a command that would move a run which a repair has suspended.
    ///
    /// The world must be read again under the lock of the branch for any other answer.
    pub fn refusal(&self, world: &dyn World, branch: &Branch) -> Option<Answer> {
        let desk = Desk { world, branch };
        let reply = self.suspended(desk, StateFile::read(desk).as_ref().ok());
        reply.map(Answer::of)
    }

    fn suspended(&self, desk: Desk<'_>, file: Option<&StateFile>) -> Option<Reply> {
        let Words {
            command, options, ..
        } = &self.0;
        if !command.moves_the_run() {
            return None;
        }
        let mut answer = Interruption::read(desk, file).refusal()?;
        if *command == Command::MarkSubtaskComplete && options.has("--mechanical") {
            answer.set("mechanical", true);
        }
        Some(refused(*command, answer))
    }

    fn reply(&self, desk: Desk<'_>, input: &[u8]) -> Result<Reply, Stopped> {
        let words = &self.0;
        let file = StateFile::read(desk);
        if let Some(reply) = self.suspended(desk, file.as_ref().ok()) {
            return Ok(reply);
        }
        if words.command.access() == Access::Advance
            && let Some(reply) = unreadable(&file.clone()?, words.command)
        {
            return Ok(reply);
        }
        let options = &words.options;
        let subject = |what: &str| words.subject().ok_or_else(|| Stopped::missing(what));
        let value = |what: &str| words.word(0).ok_or_else(|| Stopped::missing(what));
        let said = options.value("--feedback").unwrap_or_default();
        Ok(match words.command {
            Command::GetNextStep => next::next(desk)?,
            Command::PeekCurrentStep => next::peek(desk)?,
            Command::CheckCircuitBreaker => next::circuit_breaker(desk)?,
            Command::GetPlanProgress => next::plan_progress(desk)?,
            Command::GetInterruptionStatus => interrupted(desk, &file),
            Command::BuildResumeBriefing => Reply::of(Briefing::read(desk)?.to_json()),
            Command::ValidateStep => {
                let step = subject("step_id required for validate_step")?;
                validate::validate(desk, &self.close(desk, step, input)?)?
            }
            Command::Initialize => {
                restart::initialize(desk, words.subject().unwrap_or("MAP workflow task"))?
            }
            Command::SetPlanApproved => {
                modes::approve(desk, value("value required for set_plan_approved")?)?
            }
            Command::SetExecutionMode => {
                modes::execution(desk, value("mode required for set_execution_mode")?)?
            }
            Command::SetTddMode => {
                modes::test_first(desk, value("value required for set_tdd_mode")?)?
            }
            Command::RestoreDeferredYagni => {
                let item = value("YG-NNN id required for restore_deferred_yagni")?;
                restore::restore(desk, item, options.value("--subtask-id"))?
            }
            Command::SkipStep => {
                completion::skip(desk, subject("step_id required for skip_step")?)?
            }
            Command::SetSubtasks => {
                subject("at least one subtask id required, such as ST-001")?;
                modes::subtasks(desk, &words.rest)?
            }
            Command::MarkContractReady => contract::ready(desk, subject(SUBTASK)?)?,
            Command::ResumeFromTestContract => contract::resume(desk, subject(SUBTASK)?)?,
            Command::ResumeFromPlan => restart::from_plan(desk)?,
            Command::ResumeSingleSubtask => {
                restart::single(desk, subject(SUBTASK)?, options.has("--tdd"))?
            }
            Command::SetWaves => waves::set(desk, options.text("--blueprint").or(words.subject()))?,
            Command::GetWaveStep => waves::step(desk)?,
            Command::SelectExecutionStrategy => waves::select(desk)?,
            Command::ValidateWaveStep => {
                let subtask = subject("subtask_id required for validate_wave_step")?;
                let step = words.word(1);
                let step =
                    step.ok_or_else(|| Stopped::missing("step_id required as second argument"))?;
                waves::validate(desk, subtask, step)?
            }
            Command::AdvanceWave => waves::advance(desk)?,
            Command::MonitorFailed => retry::monitor_failed(desk, said)?,
            Command::WaveMonitorFailed => {
                retry::wave_monitor_failed(desk, subject(SUBTASK)?, said)?
            }
            Command::DeferFlakySubtask => {
                let subtask = subject("subtask_id required for defer_flaky_subtask")?;
                let check = options.text("--check-id");
                let check = check.ok_or_else(|| {
                    Stopped::missing("--check-id required for defer_flaky_subtask")
                })?;
                let triage = options.value("--flaky-triage-path").unwrap_or_default();
                defer::defer(desk, subtask, check, triage, &self.outcome())?
            }
            Command::ReopenForFixes => completion::reopen(desk, said)?,
            Command::MarkWorkflowComplete => completion::mark_workflow(desk)?,
            Command::MarkSubtaskComplete => self.mark_subtask(desk)?,
            Command::RecordSubtaskResult => {
                let subtask = subject("subtask_id required")?;
                let status = words.word(1);
                let status = status
                    .ok_or_else(|| Stopped::missing("status required (valid|invalid|no-op)"))?;
                results::record(desk, subtask, status, &self.outcome())?
            }
            Command::BackfillSubtaskIds => results::backfill(desk)?,
            Command::FinalizePlan => manifest::finalize_plan(desk)?,
            Command::Archive => completion::archive(desk)?,
            Command::Abandon => completion::abandon(desk)?,
            Command::StepRunner(runner) => self.step_runner(runner, desk, input)?,
        })
    }

    fn step_runner(
        &self,
        runner: StepRunner,
        desk: Desk<'_>,
        input: &[u8],
    ) -> Result<Reply, Stopped> {
        let words = &self.0;
        let word = |place: usize| words.word(place).unwrap_or_default();
        Ok(match runner {
            StepRunner::UpdatePlanStatus => documents::update_status(desk, word(0), word(1))?,
            StepRunner::ReadCurrentGoal => documents::goal(desk)?,
            StepRunner::GetCurrentPhase => documents::current_phase(desk)?,
            StepRunner::EnsureHumanArtifacts => documents::ensure(desk),
            StepRunner::NextNumberedArtifactPath => documents::next_numbered(desk, word(0)),
            StepRunner::WriteVerificationSummary => {
                let said = Said {
                    verdict: word(0).to_owned(),
                    task: word(1).to_owned(),
                    checks: word(2).to_owned(),
                    findings: word(3).to_owned(),
                    next: word(4).to_owned(),
                };
                verification::write(desk, &said)?
            }
            StepRunner::RecordTestContractHandoff => {
                let handoff = Handoff {
                    subtask: word(0).to_owned(),
                    command: word(1).to_owned(),
                    files: word(2).to_owned(),
                    summary: word(3).to_owned(),
                    notes: word(4).to_owned(),
                };
                contract::hand_over(desk, &handoff)?
            }
            StepRunner::ValidateRetryQuarantine => quarantine::validate(desk, words.word(0))?,
            StepRunner::SaveResearch => self.save_research(desk, input)?,
            StepRunner::ValidateResearch => research::validate(desk, word(1), words.word(2)),
            StepRunner::LoadResearch => {
                let more = words.rest.get(2..).unwrap_or_default();
                let all = more.iter().any(|word| word == "--all");
                let kind = more.iter().find(|word| *word != "--all");
                let kind = kind.map_or("actor", String::as_str);
                research::load(desk, word(1), kind, all).map_err(Stopped::told)?
            }
        })
    }

    fn save_research(&self, desk: Desk<'_>, input: &[u8]) -> Result<Reply, Stopped> {
        let words = &self.0;
        let mut more = words.rest.get(2..).unwrap_or_default();
        let mut kind = "actor";
        if let [first, rest @ ..] = more
            && !first.starts_with("--")
        {
            kind = first;
            more = rest;
        }
        let after = |name: &str| {
            let place = more.iter().position(|word| word == name)?;
            more.get(place + 1).map(String::as_str)
        };
        let attempt = match after("--attempt").map(str::parse) {
            None => None,
            Some(Ok(attempt)) => Some(attempt),
            Some(Err(_)) => return Err(Stopped::told(Fault::new("--attempt must be a number"))),
        };
        let text = match after("--file").filter(|path| !path.is_empty()) {
            Some(path) => desk
                .text(path)?
                .ok_or_else(|| Stopped::told(Fault::new(format!("there is no file `{path}`"))))?,
            None => decoded("standard input", input)?,
        };
        let subtask = words.word(1).unwrap_or_default();
        Ok(research::save(desk, subtask, kind, attempt, text)?)
    }

    fn close(&self, desk: Desk<'_>, step: &str, input: &[u8]) -> Result<Close, Stopped> {
        let options = &self.0.options;
        let own = |name: &str| options.value(name).map(str::to_owned);
        let envelope =
            match options.text("--monitor-envelope") {
                None => None,
                Some("-") => Some(decoded("standard input", input)?),
                Some(path) => Some(desk.text(path)?.ok_or_else(|| {
                    Fault::new(format!("--monitor-envelope: there is no `{path}`"))
                })?),
            };
        Ok(Close {
            step: step.to_owned(),
            recommendation: own("--recommendation"),
            envelope,
            disposition: own("--disposition"),
            check_id: own("--check-id"),
            outcome: self.outcome(),
        })
    }

    fn outcome(&self) -> Outcome {
        let options = &self.0.options;
        let files = options.value("--files").unwrap_or_default();
        let files = files.split(|c| c == ',' || is_space(c));
        Outcome {
            files: files
                .filter(|file| !file.is_empty())
                .map(str::to_owned)
                .collect(),
            summary: options.value("--summary").unwrap_or_default().to_owned(),
            commit: options.value("--commit-sha").map(str::to_owned),
        }
    }

    fn mark_subtask(&self, desk: Desk<'_>) -> Result<Reply, Stopped> {
        let words = &self.0;
        let subtask = words.subject();
        let subtask = subtask
            .ok_or_else(|| Stopped::missing("subtask_id required for mark_subtask_complete"))?;
        let is_mechanical = words.options.has("--mechanical");
        let otherwise = if is_mechanical { MECHANICAL } else { "no-op" };
        let reason = words.options.text("--reason").unwrap_or(otherwise);
        let kind = words.options.value("--kind");
        let mut reply = completion::mark_subtask(desk, subtask, reason, kind)?;
        if let (true, Body::Lines(answer)) = (is_mechanical, &mut reply.body) {
            answer.set("mechanical", true);
        }
        Ok(reply)
    }
}

const SUBTASK: &str = "subtask_id required";

/// Why a request has no answer on standard output.
enum Stopped {
    Fault(Fault),
    /// A word is missing.
    Missing(String),
    /// An object says why, on standard error.
    Refused(Object),
}

impl Stopped {
    fn missing(what: &str) -> Self {
        Self::Missing(what.to_owned())
    }

    /// Some commands of the step runner say what is wrong in another form.
    fn told(Fault(message): Fault) -> Self {
        Self::Refused(
            Object::new()
                .with("status", "error")
                .with("message", message),
        )
    }
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Returns the answer of commands that would have to write over a state that can not be read.
fn unreadable(file: &StateFile, command: Command) -> Option<Reply> {
    let reason = file.damage()?;
    let path = file.path();
    let answer = Object::new()
        .with("status", "error")
        .with("valid", Json::Bool(false))
        .with(
            "message",
            format!("{path} can not be read and is left as it is: {reason}. Mend it, or put it away with abandon."),
        );
    Some(refused(command, answer))
}

/// Returns the answer of a command that is not carried out, with the exit code that it has then.
fn refused(command: Command, answer: Object) -> Reply {
    let reply = Reply::of(answer);
    if command.fails_when_refused() {
        reply.failing()
    } else {
        reply
    }
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
