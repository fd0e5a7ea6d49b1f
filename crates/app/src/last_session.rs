//! How the last session of a coding agent in a project ended, by all that is known of it.
//!
//! There are two sources: what hooks noted when a turn ended, and the programs' own transcripts. A
//! transcript that ends in the middle of something says more than any note; otherwise the newer one
//! counts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::{SignedDuration, Timestamp};
use rekindle_agents::traces::{self, Owner, Reached};
use rekindle_agents::{Agent, Preset, Stream};
use rekindle_fs::{Lock, Occupancy, ProcessIdentity};
use rekindle_model::{Code, Finding, Summary};
use rekindle_runner::{Opener, StateFolder};
use rekindle_text::{excerpt, format_seconds};
use rekindle_wire::stopped::{Stopped, WhyStopped};
use rekindle_world::World;

use crate::Project;

/// A note is a few hundred bytes long.
const LARGEST_NOTE: u64 = 64 * 1024;
/// What a workflow did this much later than a session ended is still of that session: its checkpoint.
const SAME_MOMENT: SignedDuration = SignedDuration::from_secs(60);

/// The last session of a coding agent in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastSession {
    /// The program, where it is known.
    pub agent: Option<Preset>,
    /// Its id, where it is known.
    pub id: Option<String>,
    /// When it was heard of last.
    pub at: Option<Timestamp>,
    /// What became of it.
    pub fate: Fate,
    /// Processes that it started and that still run.
    pub left: Vec<u32>,
}

/// What became of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is at work; in which process, where that is known.
    Running(Option<u32>),
    /// It ended in the middle of its turn; in which tool, where it was in one.
    Died(Option<String>),
    /// It is in the middle of its turn, or ended there: nothing says who has it. In which tool, and
    /// which process may have it.
    Open(Option<String>, Option<u32>),
    /// A person interrupted it.
    Interrupted,
    /// A usage limit stopped it; when it is over, where that is known.
    Limited(Option<String>),
    /// An error stopped it.
    Failed(String),
    /// It ended its turn.
    Done,
}

impl Fate {
    /// Returns the word used in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Running(_) => "running",
            Self::Died(_) => "died",
            Self::Open(..) => "open",
            Self::Interrupted => "interrupted",
            Self::Limited(_) => "limited",
            Self::Failed(_) => "failed",
            Self::Done => "done",
        }
    }
}

impl LastSession {
    /// Returns what has to be looked at before work is done a second time, if anything has.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let (code, hint) = match &self.fate {
            Fate::Running(_) => (
                Code::SessionAlive,
                "wait until it has ended its turn, or end it, before the same work is begun here",
            ),
            Fate::Open(_, Some(_)) => (
                Code::SessionAlive,
                "look whether it is at work, and end its turn before the same work is begun here",
            ),
            _ if !self.left.is_empty() => (
                Code::SessionLeftovers,
                "look what they do, and end them if they are at the same work",
            ),
            Fate::Died(_)
            | Fate::Open(_, None)
            | Fate::Interrupted
            | Fate::Limited(_)
            | Fate::Failed(_)
            | Fate::Done => return None,
        };
        Some(Finding::new(code, self.to_string()).hint(hint))
    }
}

/// Says it in a sentence without a full stop; all of it is fit for a terminal.
impl fmt::Display for LastSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agent = self.agent.map_or("agent", title);
        let tool = |tool: &Option<String>| {
            let tool = tool
                .as_ref()
                .map(|tool| format!("`{}`", excerpt(tool, 160)));
            tool.unwrap_or_else(|| "its turn".to_owned())
        };
        match &self.fate {
            Fate::Running(pid) => {
                write!(f, "another {agent} session is at work here")?;
                return match pid {
                    Some(pid) => write!(f, " (process {pid})"),
                    None => Ok(()),
                };
            }
            Fate::Died(in_tool) => write!(
                f,
                "the last {agent} session died in the middle of {}",
                tool(in_tool)
            )?,
            Fate::Open(in_tool, _) => write!(
                f,
                "the last {agent} session is still in, or died in, the middle of {}",
                tool(in_tool)
            )?,
            Fate::Interrupted => write!(f, "the last {agent} session was interrupted by a person")?,
            Fate::Limited(until) => {
                write!(f, "the last {agent} session stopped at a usage limit")?;
                if let Some(until) = until {
                    write!(f, " that is over at {}", excerpt(until, 60))?;
                }
            }
            Fate::Failed(reason) => write!(
                f,
                "the last {agent} session stopped with an error: {}",
                excerpt(reason, 200)
            )?,
            Fate::Done => write!(f, "the last {agent} session ended its turn")?,
        }
        if let Some(at) = self.at {
            write!(f, ", {}", format_seconds(at))?;
        }
        if let Fate::Open(_, Some(pid)) = self.fate {
            write!(f, "; process {pid} may have it")?;
        }
        if !self.left.is_empty() {
            let pids: Vec<String> = self.left.iter().take(5).map(ToString::to_string).collect();
            write!(
                f,
                "; what it started still runs: process {}",
                pids.join(", ")
            )?;
        }
        Ok(())
    }
}

/// Returns a program's name as its makers write it.
pub(crate) fn title(agent: Preset) -> &'static str {
    match agent {
        Preset::Claude => "Claude Code",
        Preset::Codex => "Codex",
        Preset::Gemini => "Gemini CLI",
        Preset::Opencode => "opencode",
    }
}

/// The session that we are called from, which is no session that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own<'a> {
    /// There is none, or nobody says.
    None,
    /// It began after all that ended.
    Begins(&'a str),
    /// It was taken up again, and what is written of it so far is of its earlier life.
    GoesOn(&'a str),
}

/// Finds out how the last session in a project ended, where open workflows make that worth telling.
///
/// `own` is the session that we are called from. What was long before the last thing that happened in
/// a workflow, and what ended as it should, is not told.
pub(crate) fn last_session(
    project: &Project,
    open: &[Summary],
    own: Own<'_>,
) -> Option<LastSession> {
    if open.is_empty() {
        return None;
    }
    let world = project.world();
    let ancestors = rekindle_runner::ancestors();
    let openers = Openers::default();
    let has_started_us = |owner: &Owner| match openers.life(owner) {
        Life::Alive(Some(pid)) | Life::Unknown(Some(pid)) => ancestors.contains(&pid),
        Life::Alive(None) | Life::Unknown(None) | Life::Gone => false,
    };
    let is_ours = |id: &str, owners: &[Owner]| match own {
        Own::Begins(own) if own == id => true,
        Own::GoesOn(own) if own == id => false,
        // A server is not told the session it serves, and an id changes in the middle of a life.
        Own::None | Own::Begins(_) | Own::GoesOn(_) => owners.iter().any(has_started_us),
    };
    let traced = traces::last_session(&world, project.folder(), &is_ours);
    let traced = traced.and_then(|trace| judge(project, &openers, trace, own));
    // A session that is alive has got over whatever stopped it.
    let noted = note(&world, project.folder());
    let noted = noted.filter(|noted| match (own, &noted.id) {
        (Own::Begins(own), Some(id)) => id != own,
        (Own::Begins(_) | Own::GoesOn(_) | Own::None, _) => true,
    });
    let newest = open
        .iter()
        .filter_map(|summary| summary.last_activity)
        .max();
    let is_recent = |session: &LastSession| match (session.at, newest) {
        (Some(at), Some(newest)) => newest.duration_since(at) <= SAME_MOMENT,
        (None, _) | (_, None) => true,
    };
    let last = match (traced, noted) {
        (Some(traced), Some(noted)) => newer(traced, noted),
        (traced, noted) => traced.or(noted)?,
    };
    let is_running = matches!(last.fate, Fate::Running(_));
    (is_running || (last.fate != Fate::Done && is_recent(&last))).then_some(last)
}

/// Chooses between a transcript and a note: what broke off says more than any note about it.
fn newer(traced: LastSession, noted: LastSession) -> LastSession {
    let tells_more = match traced.fate {
        Fate::Running(_) | Fate::Died(_) | Fate::Open(..) => true,
        Fate::Interrupted | Fate::Limited(_) | Fate::Failed(_) | Fate::Done => false,
    };
    let is_same = traced.id == noted.id;
    if tells_more && (is_same || traced.at >= noted.at) || (!is_same && traced.at > noted.at) {
        traced
    } else {
        noted
    }
}

/// Says of a trace what became of the session, by who is there now; nothing where nobody can know.
fn judge(
    project: &Project,
    openers: &Openers,
    trace: traces::LastSession,
    own: Own<'_>,
) -> Option<LastSession> {
    // Whoever goes on with it now is not who left it like this.
    let is_taken_over = own == Own::GoesOn(&trace.id);
    let life = match trace.agent {
        _ if is_taken_over => Life::Gone,
        // Claude Code takes its process off the list when it ends, and Codex leaves its lock.
        Preset::Codex | Preset::Gemini | Preset::Opencode if trace.owners.is_empty() => {
            Life::Unknown(None)
        }
        // One that was killed stays on the list, beside the one that went on with its session.
        Preset::Claude | Preset::Codex | Preset::Gemini | Preset::Opencode => {
            let lives = trace.owners.iter().map(|owner| openers.life(owner));
            lives.max().unwrap_or(Life::Gone)
        }
    };
    let fate = match (trace.reached, life) {
        (Reached::Interrupted, _) => Fate::Interrupted,
        (Reached::EndOfTurn, _) => Fate::Done,
        (_, Life::Alive(pid)) => Fate::Running(pid),
        (Reached::InTool(tool), Life::Gone) => Fate::Died(Some(tool)),
        (Reached::InTurn, Life::Gone) => Fate::Died(None),
        (Reached::InTool(tool), Life::Unknown(pid)) => Fate::Open(Some(tool), pid),
        (Reached::InTurn, Life::Unknown(pid)) => Fate::Open(None, pid),
        (Reached::Unknown, Life::Gone | Life::Unknown(_)) => return None,
    };
    let left = match &fate {
        Fate::Died(_) => left_of(project, trace.agent, &trace.id),
        Fate::Running(_)
        | Fate::Open(..)
        | Fate::Interrupted
        | Fate::Limited(_)
        | Fate::Failed(_)
        | Fate::Done => Vec::new(),
    };
    Some(LastSession {
        agent: Some(trace.agent),
        id: Some(trace.id),
        at: trace.at,
        fate,
        left,
    })
}

/// Finds what a session started and left; what the one that started us has is not left.
fn left_of(project: &Project, agent: Preset, session: &str) -> Vec<u32> {
    if agent == Preset::Opencode {
        // A shell that was once started from there is no leftover if it is the one that calls us.
        let mut left = rekindle_runner::abandoned("OPENCODE_PID", project.folder());
        let ancestors = rekindle_runner::ancestors();
        left.retain(|pid| !ancestors.contains(pid));
        return left;
    }
    let mut left = rekindle_runner::carrying("CLAUDE_CODE_SESSION_ID", session);
    if let Some(own) = project.variables.get("CLAUDE_PID") {
        let ours = rekindle_runner::carrying("CLAUDE_PID", own);
        left.retain(|pid| !ours.contains(pid));
    }
    left
}

/// Whether who has a session is still there, the surest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Life {
    /// It is not.
    Gone,
    /// It may be; in which process, where one comes into question.
    Unknown(Option<u32>),
    /// It is; in which process, where that is known.
    Alive(Option<u32>),
}

/// Who has files open, looked up once for each file: all processes are gone through for that.
#[derive(Default)]
struct Openers(RefCell<BTreeMap<Utf8PathBuf, Vec<Opener>>>);

impl Openers {
    fn of(&self, file: &Utf8Path) -> Vec<Opener> {
        let mut known = self.0.borrow_mut();
        let look = || rekindle_runner::openers(file);
        known.entry(file.to_owned()).or_insert_with(look).clone()
    }

    fn life(&self, owner: &Owner) -> Life {
        let alive = |is_alive: bool, pid| {
            if is_alive {
                Life::Alive(pid)
            } else {
                Life::Gone
            }
        };
        match owner {
            Owner::Process { pid, start_time } => {
                let process = ProcessIdentity::of(*pid);
                let is_it = process.is_some_and(|process| process.start_time == Some(*start_time));
                alive(is_it, Some(*pid))
            }
            Owner::Lock(file) => alive(matches!(Lock::probe(file), Ok(Occupancy::Held(_))), None),
            Owner::Opener {
                file,
                folder,
                at,
                other,
            } => {
                let mut openers = self.of(file);
                openers.retain(|opener| opener.was_there(*at));
                let mut here = openers
                    .iter()
                    .filter(|one| one.folder.as_ref() == Some(folder));
                match here.next() {
                    // Of two sessions that it may have, it has one.
                    Some(opener) if other.is_some() && opener.was_there(*other) => {
                        Life::Unknown(Some(opener.pid))
                    }
                    Some(opener) => Life::Alive(Some(opener.pid)),
                    // One that serves many folders works in none of them.
                    None if !openers.is_empty() => Life::Unknown(None),
                    None => Life::Gone,
                }
            }
        }
    }
}

/// Reads what a hook noted last.
fn note(world: &dyn World, folder: &Utf8Path) -> Option<LastSession> {
    let path = StateFolder::of(folder).stopped().ok()?;
    let bytes = world.read(&path, LARGEST_NOTE).ok()?;
    let noted = Stopped::parse(&bytes)?;
    Some(LastSession {
        agent: noted.agent.as_deref().and_then(Preset::of),
        id: noted.session,
        at: noted.at.parse().ok(),
        fate: match noted.why {
            WhyStopped::Done => Fate::Done,
            WhyStopped::Limit { until } => Fate::Limited(until),
            WhyStopped::Error { reason } => Fate::Failed(reason),
            WhyStopped::Unknown => Fate::Failed("no reason that is known here".to_owned()),
        },
        left: Vec::new(),
    })
}

/// Looks whether an agent's session can be gone on with in a folder.
///
/// Only what is known to be wrong is a no: an agent may keep its sessions where nobody looks.
pub(crate) fn can_go_on(
    world: &dyn World,
    agent: &Agent,
    session: &str,
    folder: &Utf8Path,
) -> bool {
    let preset = match agent.stream {
        Stream::ClaudeJson => Preset::Claude,
        Stream::CodexJson => Preset::Codex,
        Stream::GeminiJson => Preset::Gemini,
        Stream::OpencodeJson => Preset::Opencode,
        Stream::Plain => return true,
    };
    match traces::fitness(world, preset, session, folder) {
        traces::Fitness::Whole(owners) => {
            let openers = Openers::default();
            let is_alive = |owner: &Owner| matches!(openers.life(owner), Life::Alive(_));
            !owners.iter().any(is_alive)
        }
        traces::Fitness::Unknown => true,
        traces::Fitness::Missing | traces::Fitness::Elsewhere(_) | traces::Fitness::Torn => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, minute: u32, fate: Fate) -> LastSession {
        LastSession {
            agent: Some(Preset::Claude),
            id: Some(id.to_owned()),
            at: format!("2026-01-20T12:{minute:02}:00Z").parse().ok(),
            fate,
            left: Vec::new(),
        }
    }

    #[test]
    fn what_broke_off_counts_before_a_note_and_else_the_newer_one_does() {
        let limited = || Fate::Limited(None);
        let died = || Fate::Died(None);
        // Trace, note, whether the trace counts.
        for (traced, noted, expected) in [
            (session("a", 1, died()), session("a", 2, Fate::Done), true),
            (
                session("a", 2, Fate::Done),
                session("a", 1, limited()),
                false,
            ),
            (session("a", 1, died()), session("b", 2, limited()), false),
            (session("a", 2, died()), session("b", 1, limited()), true),
            (
                session("a", 2, Fate::Done),
                session("b", 1, limited()),
                true,
            ),
            (
                session("a", 1, Fate::Interrupted),
                session("b", 2, Fate::Done),
                false,
            ),
            (
                session("a", 1, Fate::Running(Some(7))),
                session("a", 2, limited()),
                true,
            ),
        ] {
            let chosen = newer(traced.clone(), noted.clone());
            let wanted = if expected { &traced } else { &noted };
            assert_eq!(&chosen, wanted, "{traced:?} and {noted:?}");
        }
    }

    #[test]
    fn it_is_told_in_a_sentence() {
        let said = |fate: Fate| session("a", 0, fate).to_string();
        let sentences = [
            said(Fate::Running(Some(7))),
            said(Fate::Running(None)),
            said(Fate::Died(Some("Bash: a\u{1b}[2J".to_owned()))),
            said(Fate::Died(None)),
            said(Fate::Open(None, None)),
            said(Fate::Open(Some("bash: make".to_owned()), Some(7))),
            said(Fate::Interrupted),
            said(Fate::Limited(Some("3am".to_owned()))),
            said(Fate::Failed("no\nidea".to_owned())),
        ];
        insta::assert_snapshot!(sentences.join("\n"), @r"
        another Claude Code session is at work here (process 7)
        another Claude Code session is at work here
        the last Claude Code session died in the middle of `Bash: a\u{1b}[2J`, 2026-01-20T12:00:00Z
        the last Claude Code session died in the middle of its turn, 2026-01-20T12:00:00Z
        the last Claude Code session is still in, or died in, the middle of its turn, 2026-01-20T12:00:00Z
        the last Claude Code session is still in, or died in, the middle of `bash: make`, 2026-01-20T12:00:00Z; process 7 may have it
        the last Claude Code session was interrupted by a person, 2026-01-20T12:00:00Z
        the last Claude Code session stopped at a usage limit that is over at 3am, 2026-01-20T12:00:00Z
        the last Claude Code session stopped with an error: no\nidea, 2026-01-20T12:00:00Z
        ");
    }
}
