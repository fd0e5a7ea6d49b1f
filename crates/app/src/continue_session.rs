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
mod start;
mod wait;

use camino::Utf8PathBuf;
use rekindle_agents::Agent;
use rekindle_model::{Finding, Session, SessionState, Stop, StopKind, WorkflowId};
use rekindle_text::format_seconds;

pub use self::all::{AllOptions, Continued, LeftAlone, resume_sessions};
use self::claim::Claim;
pub use self::error::SessionError;
pub use self::handover::handover_page;
use self::start::{Start, refuse_moved};
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
    /// The agent that a person named, which must be the session's own.
    pub agent: Option<String>,
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
    let mut start = Start::of(project, session, options)?;
    let resumed = |outcome, start: Start| Resumed {
        findings: start.findings,
        ..Resumed::plain(Some(start.session.id), outcome)
    };
    start.refuse(project, options.mode)?;
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
    refuse_moved(project, &start.session)?;
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

/// Returns what a resume of a session would warn of besides.
pub(crate) fn findings_of_resume(project: &Project, id: &WorkflowId) -> Vec<Finding> {
    let session = one(project, &id.name).ok();
    let found = session.and_then(|session| copies::forgets(project, &session));
    found.into_iter().collect()
}
