//! A session that is about to be continued: what may hinder it, what is shown, how it starts.

use camino::Utf8PathBuf;
use rekindle_agents::{Agent, Call, Preset, Verdict};
use rekindle_model::{
    AgentTask, Code, Command, CommandRole, CommandSource, Finding, Session, SessionState, Severity,
    Stop, StopKind, Unsafe, WorkflowId,
};
use rekindle_text::{excerpt, format_seconds, shell_word};
use rekindle_world::{Kind, World as _};

use super::claim::Claim;
use super::{SessionError, SessionMode, SessionOptions, copies, one};
use crate::beside::Beside;
use crate::face::{Face, News};
use crate::{Error, Project};

/// A session that is about to be continued.
pub(super) struct Start {
    pub(super) session: Session,
    preset: Preset,
    agent: Agent,
    agent_from: rekindle_model::CommandSource,
    folder: Utf8PathBuf,
    pub(super) findings: Vec<Finding>,
    briefing: String,
}

impl Start {
    pub(super) fn of(
        project: &Project,
        session: Session,
        options: &SessionOptions,
    ) -> Result<Self, Error> {
        let (_, keeper) = rekindle_registry::sessions();
        let unknown = || Error::Unknown {
            name: session.id.name.clone(),
            open: Vec::new(),
        };
        let preset = Preset::of(session.agent).ok_or_else(unknown)?;
        if let Some(agent) = options
            .agent
            .as_deref()
            .filter(|name| *name != session.agent)
        {
            let (id, agent) = (session.id.clone(), agent.to_owned());
            return Err(SessionError::OtherAgent { id, agent }.into());
        }
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
    pub(super) fn refuse(&self, project: &Project, mode: SessionMode) -> Result<(), Error> {
        crate::preflight::refuse_relative(project, &self.agent, &self.agent.program)?;
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

    pub(super) fn task(&self) -> AgentTask {
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
    pub(super) fn command(&self, mode: SessionMode) -> Command {
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

    /// Returns the command with the file of the project that it is from, if it is from one.
    pub(super) fn shown(&self, mode: SessionMode) -> String {
        let command = self.command(mode);
        match (&command.source, mode) {
            (CommandSource::Project(file), SessionMode::Headless | SessionMode::HandBack) => {
                format!("{} (from `{file}`, a file of the project)", command.text)
            }
            (_, _) => command.text,
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
    pub(super) fn question(&self, project: &Project, mode: SessionMode) -> String {
        let session = &self.session;
        let (_, keeper) = rekindle_registry::sessions();
        let at = session.last_activity.map(format_seconds);
        let mut text = format!(
            "{}  {} {}, {}\n",
            session.id,
            session.state.phrase(),
            keeper.stage(session),
            at.unwrap_or_else(|| "at an unknown time".to_owned())
        );
        if let Some(prompt) = &session.prompt {
            text.push_str(&format!("  prompt   \"{prompt}\"\n"));
        }
        text.push_str(&format!("  command  {}\n", self.shown(mode)));
        if self.prompt(mode).is_some() {
            let lines = self.briefing.lines().map(|line| format!("  | {line}\n"));
            text.push_str("  briefing\n");
            text.extend(lines);
        }
        if let Some(folder) = copies::folder_of(project, session) {
            text.push_str(&format!("  copies   {folder}\n"));
        }
        if let Some(workflow) = Beside::new(project).of(session) {
            text.push_str(&format!(
                "  note     it worked on `{workflow}`; `rekindle resume {workflow}` goes on with that\n"
            ));
        }
        text.trim_end().to_owned()
    }

    /// Becomes the program; returns only why it could not.
    pub(super) fn become_program(
        &self,
        project: &Project,
        claim: &Claim,
        face: &mut dyn Face,
    ) -> Error {
        match copies::keep_of(project, &self.session) {
            Ok(Some(finding)) => face.tell(&News::Findings(&[finding])),
            Ok(None) => {}
            Err(error) => return error,
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
    pub(super) fn run(
        &mut self,
        project: &Project,
        claim: &Claim,
        say: &mut dyn FnMut(&News<'_>),
    ) -> Result<Stop, Error> {
        if !self.agent.continues(&self.session.session) {
            let agent = self.agent.name.clone();
            return Err(SessionError::CannotContinue { agent }.into());
        }
        copies::keep_of(project, &self.session)?;
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
        // What it said now is lost in the same way.
        if let Some(finding) = copies::keep_of(project, &self.session)? {
            say(&News::Findings(std::slice::from_ref(&finding)));
            self.findings.push(finding);
        }
        let id = &self.session.id;
        Ok(stop(id, &format!("`{id}`"), &verdict))
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

/// Refuses a session that is no longer what was shown.
pub(super) fn refuse_moved(project: &Project, shown: &Session) -> Result<(), Error> {
    let now = one(project, &format!("{}:{}", shown.agent, shown.session))?;
    let holder_came = now.alive != Some(false) && now.alive != shown.alive;
    let is_same = now.state == shown.state
        && now.open == shown.open
        && now.last_activity == shown.last_activity
        && now.folder == shown.folder
        && now.superseded_by == shown.superseded_by
        && (&now.prompt, &now.said) == (&shown.prompt, &shown.said);
    if holder_came || !is_same {
        let id = shown.id.clone();
        return Err(Error::Moved { id });
    }
    Ok(())
}

/// Returns how a run without a terminal ended; `who` worked on the session.
pub(super) fn stop(id: &WorkflowId, who: &str, verdict: &Verdict) -> Stop {
    match verdict {
        Verdict::Succeeded => Stop::new(StopKind::Done, format!("{who} has ended its turn")),
        Verdict::Failed(reason) => Stop::new(StopKind::Blocked, format!("{who}: {reason}"))
            .hint(format!("`rekindle inspect {id}` shows how far it is")),
        Verdict::Limited { until } => {
            let until = until
                .as_ref()
                .map(|until| format!(" until {}", excerpt(until, 60)));
            let reason = format!(
                "{who}: a usage limit stopped it{}",
                until.unwrap_or_default()
            );
            Stop::new(StopKind::Blocked, reason).hint(format!(
                "`rekindle resume {id} --wait` goes on when it is over"
            ))
        }
        Verdict::Killed(signal) => Stop::new(
            StopKind::Blocked,
            format!("{who}: signal {signal} ended it"),
        )
        .hint(format!("`rekindle resume {id}` goes on")),
    }
}

/// Returns the folder in which a session is continued.
pub(super) fn folder(
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
    if !preset.continues_anywhere() {
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
