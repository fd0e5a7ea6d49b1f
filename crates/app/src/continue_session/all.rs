//! Continues all sessions that are safe: several at once, but one at a time in a folder.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use camino::Utf8PathBuf;
use rekindle_model::{
    Finding, OpenKind, Session, SessionState, Stop, StopKind, Unsafe, WorkflowId,
};
use rekindle_protocol::sessions::{Reach, Scope};

use super::claim::Claim;
use super::{SessionMode, SessionOptions, Start, one, refuse_moved, wait};
use crate::beside::Beside;
use crate::face::{Face, News};
use crate::{Error, Project};

/// Which sessions are continued, and how.
#[derive(Debug, Clone)]
pub struct AllOptions {
    /// Whose sessions are meant.
    pub scope: Scope,
    /// Start without asking.
    pub yes: bool,
    /// Continue sessions that scripts started, too.
    pub headless: bool,
    /// Wait for the end of usage limits.
    pub wait: bool,
    /// How many at once.
    pub jobs: usize,
}

/// What came of continuing sessions.
#[derive(Debug, Default)]
pub struct Continued {
    /// The sessions that were continued, with how each ended.
    pub ended: Vec<(WorkflowId, Stop)>,
    /// The sessions that were left alone.
    pub left: Vec<LeftAlone>,
    /// Whether a person declined.
    pub is_declined: bool,
}

/// A session that was left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAlone {
    /// Which one.
    pub id: WorkflowId,
    /// Why, as a clause.
    pub reason: String,
}

/// Continues every session of a scope that is interrupted and safe, each once and without a terminal.
///
/// # Errors
/// If a session cannot be prepared; what happens to those that were started is in the result.
pub fn resume_sessions(
    project: &Project,
    options: &AllOptions,
    face: &mut dyn Face,
) -> Result<Continued, Error> {
    let (_, keeper) = rekindle_registry::sessions();
    let found = keeper.survey(&project.world(), options.scope, Reach::Recent);
    let mut continued = Continued::default();
    let mut starts = Vec::new();
    let mut beside = Beside::new(project);
    for session in found.sessions {
        if session.state == SessionState::Finished {
            continue;
        }
        let of_workflow = || {
            let workflow = beside.of(&session)?;
            Some(format!(
                "it worked on `{workflow}`: `rekindle resume {workflow}` goes on with that"
            ))
        };
        match reason_to_leave(&session, options).or_else(of_workflow) {
            Some(reason) => continued.left.push(LeftAlone {
                id: session.id,
                reason,
            }),
            None => starts.push(session),
        }
    }
    if starts.is_empty() {
        return Ok(continued);
    }
    let text = question(project, &starts, &continued.left)?;
    if options.yes {
        face.tell(&News::Said(&text));
    } else if !face.agree(&text).given()? {
        continued.is_declined = true;
        return Ok(continued);
    }
    continued.ended = run(project, starts, options, face);
    Ok(continued)
}

/// Returns why a session is left alone, if it is.
fn reason_to_leave(session: &Session, options: &AllOptions) -> Option<String> {
    let waits = wait::due(session, options.wait).is_some();
    let is_interrupted = session.state == SessionState::Interrupted;
    if session.is_stale {
        return Some("nothing has happened in it for a week".to_owned());
    }
    if session.open.kind == OpenKind::Stopped {
        return Some("a person stopped it".to_owned());
    }
    if session.state == SessionState::WaitingForPerson {
        return Some("it waits for a person".to_owned());
    }
    let reason = session
        .reasons
        .iter()
        .find(|one| !(waits && **one == Unsafe::Limited));
    if let Some(reason) = reason {
        return Some(reason.clause().to_owned());
    }
    if session.is_headless && !options.headless {
        return Some("a script started it; `--headless` continues it, too".to_owned());
    }
    (!is_interrupted && !waits).then(|| "it is not interrupted".to_owned())
}

/// Returns what a person is asked: what is continued, and what is not.
fn question(project: &Project, starts: &[Session], left: &[LeftAlone]) -> Result<String, Error> {
    let options = options();
    let mut text = match starts.len() {
        1 => "1 session is continued:\n".to_owned(),
        n => format!("{n} sessions are continued, one at a time in a folder:\n"),
    };
    for session in starts {
        let start = Start::of(project, session.clone(), &options)?;
        let command = start.shown(SessionMode::Headless);
        text.push_str(&format!("  {}   {command}\n", session.id));
    }
    for LeftAlone { id, reason } in left {
        text.push_str(&format!("  {id}   left alone: {reason}\n"));
    }
    Ok(text.trim_end().to_owned())
}

fn options() -> SessionOptions {
    SessionOptions {
        mode: SessionMode::Headless,
        ..SessionOptions::default()
    }
}

/// What a thread reports.
enum Heard {
    Said(WorkflowId, String),
    Noticed(Vec<Finding>),
    Ended(WorkflowId, Stop),
}

/// Runs sessions in threads, each folder in one of them, and reports what they say.
fn run(
    project: &Project,
    sessions: Vec<Session>,
    options: &AllOptions,
    face: &mut dyn Face,
) -> Vec<(WorkflowId, Stop)> {
    let mut folders: BTreeMap<Option<Utf8PathBuf>, Vec<Session>> = BTreeMap::new();
    for session in sessions {
        folders
            .entry(session.folder.clone())
            .or_default()
            .push(session);
    }
    for queue in folders.values_mut() {
        // One that waits must not hold back the others of its folder.
        queue.sort_by_key(|session| wait::due(session, options.wait));
    }
    let n_threads = options.jobs.clamp(1, folders.len().max(1));
    let queues = Mutex::new(folders.into_values());
    let (sender, receiver) = channel();
    let mut ended = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            let (sender, queues) = (sender.clone(), &queues);
            scope.spawn(move || {
                let next = || queues.lock().ok().and_then(|mut queues| queues.next());
                while let Some(queue) = next() {
                    for session in queue {
                        work(project, session, options, &sender);
                    }
                }
            });
        }
        drop(sender);
        for heard in receiver {
            match heard {
                Heard::Said(id, line) => face.tell(&News::Said(&format!("{id}: {line}"))),
                Heard::Noticed(findings) => face.tell(&News::Findings(&findings)),
                Heard::Ended(id, stop) => ended.push((id, stop)),
            }
        }
    });
    ended.sort_by(|(a, _), (b, _)| a.cmp(b));
    ended
}

/// Continues one session and reports how it ended.
fn work(project: &Project, session: Session, options: &AllOptions, sender: &Sender<Heard>) {
    let id = session.id.clone();
    let mut say = |news: &News<'_>| {
        let heard = if let News::Said(line) = news {
            Heard::Said(id.clone(), (*line).to_owned())
        } else if let News::Findings(findings) = news {
            Heard::Noticed(findings.to_vec())
        } else {
            return;
        };
        // Nobody listens only when everything is over.
        sender.send(heard).ok();
    };
    let stop = go_on(project, session, options, &mut say).unwrap_or_else(|error| {
        let chain: Vec<String> =
            std::iter::successors(Some(&error as &dyn std::error::Error), |error| {
                error.source()
            })
            .map(ToString::to_string)
            .collect();
        Stop::new(StopKind::Blocked, chain.join(": "))
    });
    sender.send(Heard::Ended(id, stop)).ok();
}

fn go_on(
    project: &Project,
    mut session: Session,
    options: &AllOptions,
    say: &mut dyn FnMut(&News<'_>),
) -> Result<Stop, Error> {
    if let Some(until) = wait::due(&session, options.wait) {
        wait::until(project, until);
        session = one(project, &session.id.name)?;
    }
    let mut start = Start::of(project, session, &self::options())?;
    start.refuse(project, SessionMode::Headless)?;
    let claim = Claim::take(project, &start.session)?;
    refuse_moved(project, &start.session)?;
    start.run(project, &claim, say)
}
