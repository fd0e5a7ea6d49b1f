//! Continues a session of a coding agent with its own program, in its own folder.
//!
//! The transcript is the program's: nothing here writes to it. Claude Code and opencode have no guard
//! against a second writer, so a session is claimed, read again right before the start, and left alone
//! if anything has changed.

mod all;
mod claim;
mod copies;
mod error;
mod handover;
mod wait;

use camino::Utf8PathBuf;
use rekindle_agents::{Agent, Call, Preset, Verdict};
use rekindle_model::{
    AgentTask, Code, Command, CommandRole, Finding, Session, SessionState, Severity, Stop,
    StopKind, Unsafe, WorkflowId,
};
use rekindle_text::{excerpt, format_seconds, option_words, shell_word};
use rekindle_world::{Kind, World as _};

pub use self::all::{AllOptions, Continued, LeftAlone, resume_sessions};
use self::claim::Claim;
pub use self::error::SessionError;
pub use self::handover::handover_page;
use crate::face::{Face, News};
use crate::resume::{Outcome, Resumed};
use crate::{Error, Project};

/// How sessions are continued.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// Who works.
    pub mode: SessionMode,
    /// The folder to work in, if that of the session is gone.
    pub in_folder: Option<Utf8PathBuf>,
    /// Wait until a usage limit has ended.
    pub wait: bool,
    /// Start a new session of this agent with a hand-over instead.
    pub with: Option<Agent>,
}

/// Who works on a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionMode {
    /// The caller, who is told what to do.
    #[default]
    HandBack,
    /// The session's program, without a terminal.
    Headless,
    /// The session's program, which takes over the terminal.
    Terminal,
}

/// Continues the session that a name means.
pub(crate) fn continue_session(
    project: &Project,
    name: &str,
    yes: bool,
    options: &SessionOptions,
    face: &mut dyn Face,
) -> Result<Resumed, Error> {
    let mut session = one(project, name)?;
    if options.mode != SessionMode::HandBack
        && let Some(until) = wait::due(&session, options.wait)
    {
        face.tell(&News::Said(&format!(
            "waiting until {}",
            format_seconds(until)
        )));
        wait::until(project, until);
        session = one(project, name)?;
    }
    if let Some(agent) = &options.with {
        return handover::hand_over(project, session, agent, yes, options, face);
    }
    let start = Start::of(project, session, options)?;
    let resumed = |outcome, start: Start| Resumed {
        findings: start.findings,
        ..Resumed::plain(Some(start.session.id), outcome)
    };
    start.refuse(options.mode)?;
    if options.mode == SessionMode::HandBack {
        let outcome = Outcome::AgentNeeded(start.task());
        return Ok(resumed(outcome, start));
    }
    if options.mode == SessionMode::Headless && start.session.state == SessionState::Finished {
        let stop = Stop::new(StopKind::Done, "the last turn of the session is over").hint(format!(
            "ask it for more with `rekindle resume {}` in a terminal",
            start.session.id
        ));
        return Ok(resumed(Outcome::Stopped(stop), start));
    }
    face.tell(&News::Findings(&start.findings));
    if yes {
        face.tell(&News::Commands(&[start.command(options.mode)]));
    } else if !face.agree(&start.question(project, options.mode)).given()? {
        return Ok(resumed(Outcome::Declined, start));
    }
    let claim = Claim::take(project, &start.session)?;
    start.refuse_moved(project)?;
    let outcome = match options.mode {
        SessionMode::Terminal => return Err(start.become_program(project, &claim, face)),
        SessionMode::Headless | SessionMode::HandBack => {
            Outcome::Stopped(start.run(project, &claim, &mut |news| face.tell(news))?)
        }
    };
    Ok(resumed(outcome, start))
}

/// Finds the session that a name means.
fn one(project: &Project, name: &str) -> Result<Session, Error> {
    let (_, keeper) = rekindle_registry::sessions();
    let mut found = keeper.named(&project.world(), name);
    match (found.pop(), found.is_empty()) {
        (Some(session), true) => Ok(session),
        (Some(last), false) => Err(Error::Ambiguous {
            name: name.to_owned(),
            among: found.into_iter().chain([last]).map(|one| one.id).collect(),
        }),
        (None, _) => Err(Error::Unknown {
            name: name.to_owned(),
            open: Vec::new(),
        }),
    }
}

/// A session that is about to be continued.
struct Start {
    session: Session,
    preset: Preset,
    agent: Agent,
    agent_from: rekindle_model::CommandSource,
    folder: Utf8PathBuf,
    findings: Vec<Finding>,
    briefing: String,
}

impl Start {
    fn of(project: &Project, session: Session, options: &SessionOptions) -> Result<Self, Error> {
        let (_, keeper) = rekindle_registry::sessions();
        let unknown = || Error::Unknown {
            name: session.id.name.clone(),
            open: Vec::new(),
        };
        let preset = Preset::of(session.agent).ok_or_else(unknown)?;
        let folder = folder(project, &session, preset, options)?;
        let there = Project {
            folder: session.project.clone().unwrap_or_else(|| folder.clone()),
            ..project.clone()
        };
        let config = crate::configured(&there)?.config;
        let agent = config.agent(session.agent).map_err(Error::Config)?;
        let agent_from = config.source_of(&format!("agents.{}.", session.agent));
        let mut findings = keeper.findings(&session);
        if options.in_folder.is_some() {
            findings.retain(|finding| finding.code != Code::SessionFolderGone);
        }
        let briefing = keeper.briefing(&project.world(), &session);
        Ok(Self {
            session,
            preset,
            agent,
            agent_from,
            folder,
            findings,
            briefing,
        })
    }

    /// Refuses what would not be safe.
    fn refuse(&self, mode: SessionMode) -> Result<(), Error> {
        let id = &self.session.id;
        let is_server = self
            .session
            .holder
            .as_ref()
            .is_some_and(|one| one.is_server);
        let joins = mode == SessionMode::Terminal && is_server;
        let is_held = self.session.reasons.contains(&Unsafe::Held);
        let may_be_held = self.session.reasons.contains(&Unsafe::MaybeHeld);
        if (is_held && !joins) || (may_be_held && mode == SessionMode::Headless) {
            let held = [Code::SessionHeld, Code::SessionMaybeHeld];
            let finding = self.findings.iter().find(|one| held.contains(&one.code));
            let message = finding.map_or_else(String::new, |one| one.message.clone());
            let id = id.clone();
            return Err(SessionError::Held { id, message }.into());
        }
        let blockers = self.findings.iter().filter(|finding| {
            finding.severity() == Severity::Blocker && finding.code != Code::SessionHeld
        });
        let reasons: Vec<String> = blockers
            .map(|finding| match &finding.hint {
                Some(hint) => format!("{}; {hint}", finding.message),
                None => finding.message.clone(),
            })
            .collect();
        if !reasons.is_empty() {
            let id = id.clone();
            return Err(Error::Blocked { id, reasons });
        }
        if mode != SessionMode::Terminal && self.session.state == SessionState::WaitingForPerson {
            let step = self.session.open.step.clone();
            let question = step.unwrap_or_else(|| "a person stopped its turn".to_owned());
            let (id, question) = (id.clone(), excerpt(&question, 200));
            return Err(SessionError::PersonNeeded { id, question }.into());
        }
        Ok(())
    }

    /// Returns what the program is told; nothing where it is only opened.
    fn prompt(&self, mode: SessionMode) -> Option<&str> {
        let is_cut_off = match self.session.state {
            SessionState::Interrupted | SessionState::Limited => true,
            SessionState::WaitingForPerson
            | SessionState::Running
            | SessionState::Unreadable
            | SessionState::Finished => false,
        };
        (is_cut_off || mode != SessionMode::Terminal).then_some(self.briefing.as_str())
    }

    fn task(&self) -> AgentTask {
        let what = self.session.prompt.as_deref().unwrap_or("the conversation");
        AgentTask::new(
            "agent",
            format!("continue \"{what}\""),
            self.briefing.as_str(),
        )
    }

    /// Returns the words of the command that takes over the terminal.
    fn words(&self) -> Vec<String> {
        let mut words = self.session.interactive.clone();
        if let Some(prompt) = self.prompt(SessionMode::Terminal) {
            match self.preset {
                Preset::Claude | Preset::Codex => words.push(prompt.to_owned()),
                Preset::Gemini => words.extend(["-i".to_owned(), prompt.to_owned()]),
                // It does not take a prompt for a session that exists.
                Preset::Opencode => {}
            }
        }
        words
    }

    /// Returns the command as it is shown, without its prompt.
    fn command(&self, mode: SessionMode) -> Command {
        let words: Vec<String> = match mode {
            SessionMode::Terminal => self.session.interactive.clone(),
            SessionMode::Headless | SessionMode::HandBack => {
                let call = self.invocation(&self.task());
                std::iter::once(call.program)
                    .chain(call.arguments)
                    .collect()
            }
        };
        let words: Vec<_> = words.iter().map(|word| shell_word(word)).collect();
        Command {
            text: format!(
                "cd {} && {}",
                shell_word(self.folder.as_str()),
                words.join(" ")
            ),
            role: CommandRole::Agent,
            source: self.agent_from.clone(),
            tasks: 0,
        }
    }

    fn invocation(&self, task: &AgentTask) -> rekindle_agents::Invocation {
        self.agent.invocation(&Call {
            id: &self.session.id,
            project: self.session.project.as_deref().unwrap_or(&self.folder),
            task,
            folder: &self.folder,
            token: "",
            session: Some(&self.session.session),
        })
    }

    /// Returns what a person is asked.
    fn question(&self, project: &Project, mode: SessionMode) -> String {
        let session = &self.session;
        let (_, keeper) = rekindle_registry::sessions();
        let at = session.last_activity.map(format_seconds);
        let mut text = format!(
            "{}  {} {}, {}\n",
            session.id,
            session.state.as_str(),
            keeper.stage(session),
            at.unwrap_or_else(|| "at an unknown time".to_owned())
        );
        if let Some(prompt) = &session.prompt {
            text.push_str(&format!("  prompt   \"{prompt}\"\n"));
        }
        text.push_str(&format!("  command  {}\n", self.command(mode).text));
        if self.prompt(mode).is_some() {
            let lines = self.briefing.lines().map(|line| format!("  | {line}\n"));
            text.push_str("  briefing\n");
            text.extend(lines);
        }
        if self.preset == Preset::Gemini {
            text.push_str(&format!(
                "  copies   {}\n",
                copies::folder(project, session)
            ));
        }
        text.trim_end().to_owned()
    }

    /// Refuses a session that is no longer what was shown.
    fn refuse_moved(&self, project: &Project) -> Result<(), Error> {
        let now = one(project, &self.session.id.name)?;
        let holder_came = now.alive == Some(true) && self.session.alive != Some(true);
        let is_same = now.state == self.session.state
            && now.open == self.session.open
            && now.last_activity == self.session.last_activity
            && now.folder == self.session.folder
            && now.superseded_by == self.session.superseded_by
            && (now.prompt, now.said) == (self.session.prompt.clone(), self.session.said.clone());
        if holder_came || !is_same {
            let id = self.session.id.clone();
            return Err(Error::Moved { id });
        }
        Ok(())
    }

    /// Becomes the program; returns only why it could not.
    fn become_program(&self, project: &Project, claim: &Claim, face: &mut dyn Face) -> Error {
        if let Err(error) = self.keep_copy(project, &mut |news| face.tell(news)) {
            return error;
        }
        if let Err(error) = claim.started(&rekindle_fs::ProcessIdentity::current()) {
            return error;
        }
        if self.preset == Preset::Opencode
            && let Some(prompt) = self.prompt(SessionMode::Terminal)
        {
            face.tell(&News::Said(&format!(
                "Paste this into opencode:\n\n{prompt}"
            )));
        }
        let source = rekindle_runner::become_program(&self.words(), &self.folder);
        self.not_started(source)
    }

    /// Runs the program without a terminal, once.
    fn run(
        &self,
        project: &Project,
        claim: &Claim,
        say: &mut dyn FnMut(&News<'_>),
    ) -> Result<Stop, Error> {
        if !self.agent.continues(&self.session.session) {
            let agent = self.agent.name.clone();
            return Err(SessionError::CannotContinue { agent }.into());
        }
        self.keep_copy(project, say)?;
        let mut noted = Ok(());
        let invocation = self.invocation(&self.task());
        let verdict = rekindle_runner::run_session(
            &invocation,
            self.agent.stream,
            &mut |process| {
                if let Some(process) = process {
                    noted = claim.started(&process);
                }
            },
            &mut |line| say(&News::Said(line)),
        )
        .map_err(|source| self.not_started(source))?;
        noted?;
        self.keep_copy(project, say)?;
        Ok(stop(&self.session.id, &verdict))
    }

    /// Keeps a copy of a transcript that its program deletes after a resume.
    fn keep_copy(&self, project: &Project, say: &mut dyn FnMut(&News<'_>)) -> Result<(), Error> {
        if self.preset != Preset::Gemini {
            return Ok(());
        }
        let copy = copies::keep(project, &self.session)?;
        let message = "Gemini CLI deletes this transcript when it is started here again";
        let open = format!("gemini {}", option_words("--session-file", copy.as_str()));
        let finding = Finding::new(
            Code::GeminiForgets,
            format!("{message}; the copy is `{copy}`"),
        )
        .hint(format!("`{open}` opens the copy as a new session"));
        say(&News::Findings(&[finding]));
        Ok(())
    }

    fn not_started(&self, source: std::io::Error) -> Error {
        let error = SessionError::NotStarted {
            program: self.agent.program.clone(),
            folder: self.folder.clone(),
            source,
        };
        error.into()
    }
}

/// Returns how a run without a terminal ended.
fn stop(id: &WorkflowId, verdict: &Verdict) -> Stop {
    match verdict {
        Verdict::Succeeded => Stop::new(StopKind::Done, format!("`{id}` has ended its turn")),
        Verdict::Failed(reason) => Stop::new(StopKind::Blocked, format!("`{id}`: {reason}"))
            .hint(format!("`rekindle inspect {id}` shows how far it is")),
        Verdict::Limited { until } => {
            let until = until
                .as_ref()
                .map(|until| format!(" until {}", excerpt(until, 60)));
            let reason = format!(
                "`{id}`: a usage limit stopped it{}",
                until.unwrap_or_default()
            );
            Stop::new(StopKind::Blocked, reason).hint(format!(
                "`rekindle resume {id} --wait` goes on when it is over"
            ))
        }
        Verdict::Killed(signal) => Stop::new(
            StopKind::Blocked,
            format!("`{id}`: signal {signal} ended it"),
        )
        .hint(format!("`rekindle resume {id}` goes on")),
    }
}

/// Returns the folder in which a session is continued.
fn folder(
    project: &Project,
    session: &Session,
    preset: Preset,
    options: &SessionOptions,
) -> Result<Utf8PathBuf, Error> {
    let own = || {
        session
            .folder
            .clone()
            .unwrap_or_else(|| project.folder.clone())
    };
    let Some(other) = &options.in_folder else {
        return Ok(own());
    };
    let can_move = match preset {
        Preset::Claude | Preset::Codex => true,
        Preset::Opencode | Preset::Gemini => false,
    };
    if !can_move {
        let id = session.id.clone();
        return Err(SessionError::OwnFolderOnly { id }.into());
    }
    let path = project.folder.join(other);
    let world = project.world();
    let is_folder = |real: &Utf8PathBuf| {
        let meta = world.stat(real);
        meta.is_ok_and(|meta| meta.kind == Kind::Folder)
    };
    let real = world.resolve(&path).ok().filter(is_folder);
    real.ok_or_else(|| SessionError::NoFolder { path }.into())
}
