//! Hands a session over to another program, which starts a new one; the old one stays as it is.

use camino::Utf8PathBuf;
use rekindle_agents::{Agent, Call, Preset};
use rekindle_model::{AgentTask, Session, SessionState, Unsafe};
use rekindle_text::shell_word;

use super::claim::Claim;
use super::start::{folder, refuse_moved, stop};
use super::{SessionError, SessionMode, SessionOptions, one};
use crate::face::{Face, News};
use crate::resume::{Outcome, Resumed};
use crate::{Error, Project};

/// Returns the page that hands a session over.
///
/// # Errors
/// If the session is unknown, or its transcript cannot be read.
pub fn handover_page(project: &Project, name: &str) -> Result<String, Error> {
    let session = one(project, rekindle_registry::split(name).1)?;
    page(project, &session)
}

fn page(project: &Project, session: &Session) -> Result<String, Error> {
    let (_, keeper) = rekindle_registry::sessions();
    let page = keeper.handover(&project.world(), session);
    page.filter(|_| session.state != SessionState::Unreadable)
        .ok_or_else(|| {
            let id = session.id.clone();
            SessionError::NoHandover { id }.into()
        })
}

/// Starts a new session of an agent with the hand-over of another one.
pub(super) fn hand_over(
    project: &Project,
    session: Session,
    agent: &Agent,
    yes: bool,
    options: &SessionOptions,
    face: &mut dyn Face,
) -> Result<Resumed, Error> {
    let id = session.id.clone();
    if session.reasons.contains(&Unsafe::Held) {
        let message = "a process has it open, and both would work in its folder".to_owned();
        return Err(SessionError::Held { id, message }.into());
    }
    // Only programs that go on by themselves need their own folder.
    let folder = folder(project, &session, Preset::Claude, options)?;
    if !session.folder_exists && options.in_folder.is_none() {
        let path = folder;
        return Err(SessionError::NoFolder { path }.into());
    }
    crate::preflight::refuse_relative(project, agent, &agent.program)?;
    let page = page(project, &session)?;
    let new = New {
        agent,
        task: AgentTask::new("agent", format!("go on with `{id}`"), page),
        folder,
        session,
    };
    let is_terminal = match options.mode {
        SessionMode::HandBack => {
            return Ok(Resumed::plain(Some(id), Outcome::AgentNeeded(new.task)));
        }
        SessionMode::Headless => false,
        SessionMode::Terminal => true,
    };
    let question = new.question(is_terminal);
    if yes {
        face.tell(&News::Said(&question));
    } else if !face.agree(&question).given()? {
        return Ok(Resumed::plain(Some(id), Outcome::Declined));
    }
    // Nobody else hands it over or continues it meanwhile, in this folder or in its own.
    let claim = Claim::take(project, &new.session)?;
    refuse_moved(project, &new.session)?;
    if is_terminal {
        return Err(new.become_program(&claim));
    }
    let stop = new.run(&claim, face)?;
    Ok(Resumed::plain(Some(id), Outcome::Stopped(stop)))
}

/// The new session that is about to begin.
struct New<'a> {
    agent: &'a Agent,
    task: AgentTask,
    folder: Utf8PathBuf,
    session: Session,
}

impl New<'_> {
    /// Returns the words of the command that takes over the terminal.
    fn words(&self) -> Vec<String> {
        let mut words = vec![self.agent.program.clone()];
        match Preset::of(&self.agent.name) {
            Some(Preset::Gemini) => words.push("-i".to_owned()),
            Some(Preset::Opencode) => words.push("--prompt".to_owned()),
            Some(Preset::Claude | Preset::Codex) | None => {}
        }
        words.push(self.task.prompt.clone());
        words
    }

    fn question(&self, is_terminal: bool) -> String {
        let how = if is_terminal {
            "in this terminal"
        } else {
            "without a terminal"
        };
        format!(
            "{} is handed over to a new session of {}, {how}, in {}\n  hand-over  `rekindle inspect {} --handover` shows it",
            self.session.id,
            self.agent.name,
            shell_word(self.folder.as_str()),
            self.session.id,
        )
    }

    fn become_program(&self, claim: &Claim) -> Error {
        if let Err(error) = claim.started(&rekindle_fs::ProcessIdentity::current()) {
            return error;
        }
        let source = rekindle_runner::become_program(&self.words(), &self.folder);
        self.not_started(source)
    }

    fn run(&self, claim: &Claim, face: &mut dyn Face) -> Result<rekindle_model::Stop, Error> {
        let invocation = self.agent.invocation(&Call {
            id: &self.session.id,
            project: self.session.project.as_deref().unwrap_or(&self.folder),
            task: &self.task,
            folder: &self.folder,
            token: "",
            session: None,
        });
        let mut noted = Ok(());
        let verdict = rekindle_runner::run_session(
            &invocation,
            self.agent.stream,
            &mut |process| {
                if let Some(process) = process {
                    noted = claim.started(&process);
                }
            },
            &mut |line| face.tell(&News::Said(line)),
        );
        let verdict = verdict.map_err(|source| self.not_started(source))?;
        noted?;
        let who = format!(
            "`{}` with the hand-over of `{}`",
            self.agent.name, self.session.id
        );
        Ok(stop(&self.session.id, &who, &verdict))
    }

    fn not_started(&self, source: std::io::Error) -> Error {
        let program = self.agent.program.clone();
        let folder = self.folder.clone();
        SessionError::NotStarted {
            program,
            folder,
            source,
        }
        .into()
    }
}
