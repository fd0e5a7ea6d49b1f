//! How the last session of a coding agent in a project ended, by all that is known of it.
//!
//! There are two sources: what hooks noted when a turn ended, and the programs' own transcripts. A
//! transcript that ends in the middle of something says more than any note; otherwise the newer one
//! counts. A limit that holds counts beside a newer session that went well, since that was another one.

mod life;

use std::fmt;

use camino::Utf8Path;
use jiff::{SignedDuration, Timestamp};
use rekindle_agents::traces::{self, Owner, Reached};
use rekindle_agents::{Agent, Preset, Stream};
use rekindle_model::{Code, Finding, Summary};
use rekindle_runner::StateFolder;
use rekindle_text::{excerpt, format_seconds};
use rekindle_wire::stopped::{Stopped, WhyStopped};
use rekindle_world::World;

use self::life::{Life, Openers, left_of};
use crate::Project;

/// A note is a few hundred bytes long.
pub(crate) const LARGEST_NOTE: u64 = 64 * 1024;
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
    /// Returns whether it was stopped by a limit whose end is known and has come.
    fn limit_is_over(&self, now: Timestamp) -> bool {
        match &self.fate {
            Fate::Limited(until) => limit_ends(until.as_deref()).is_some_and(|end| end <= now),
            Fate::Running(_)
            | Fate::Died(_)
            | Fate::Open(..)
            | Fate::Interrupted
            | Fate::Failed(_)
            | Fate::Done => false,
        }
    }

    /// Returns what has to be looked at before work is done a second time, if anything has.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let (code, hint) = match &self.fate {
            Fate::Running(_) => (
                Code::SessionAlive,
                "wait until it has ended its turn, or end it, before the same work starts here",
            ),
            Fate::Open(_, Some(_)) => (
                Code::SessionAlive,
                "check whether it is at work, and end its turn before the same work starts here",
            ),
            _ if !self.left.is_empty() => (
                Code::SessionLeftovers,
                "check what they do, and end them if they do the same work",
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
                "; processes that it started are still running: {}",
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
    let now = world.now();
    let noted = note(&world, project.folder());
    let noted = noted.filter(|noted| match (own, &noted.id) {
        // A session that is alive has got over whatever stopped it.
        (Own::Begins(own), Some(id)) => id != own,
        // And one that is taken up when its limit is over is no longer stopped by that.
        (Own::GoesOn(own), Some(id)) => id != own || !noted.limit_is_over(now),
        (Own::Begins(_) | Own::GoesOn(_), None) | (Own::None, _) => true,
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
        (Some(traced), Some(noted)) => newer(traced, noted, now),
        (traced, noted) => traced.or(noted)?,
    };
    let is_running = matches!(last.fate, Fate::Running(_));
    (is_running || (last.fate != Fate::Done && is_recent(&last))).then_some(last)
}

/// Chooses between a transcript and a note: what broke off says more than any note about it, and a
/// limit that holds more than that another session ended as it should.
fn newer(traced: LastSession, noted: LastSession, now: Timestamp) -> LastSession {
    let is_same = traced.id == noted.id;
    if let (Fate::Limited(until), Fate::Done) = (&noted.fate, &traced.fate)
        && let Some(end) = limit_ends(until.as_deref())
    {
        // The session has said something since its limit was over, or another one has while it holds.
        let counts = match (is_same, traced.at) {
            (true, Some(at)) => at < end,
            (true, None) => true,
            (false, _) => now < end || traced.at <= noted.at,
        };
        return if counts { noted } else { traced };
    }
    let tells_more = match traced.fate {
        Fate::Running(_) | Fate::Died(_) | Fate::Open(..) => true,
        Fate::Interrupted | Fate::Limited(_) | Fate::Failed(_) | Fate::Done => false,
    };
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

/// Returns when a limit is over, where that was noted as a time.
pub(crate) fn limit_ends(until: Option<&str>) -> Option<Timestamp> {
    until?.parse().ok()
}

/// Reads what a hook noted last.
fn note(world: &dyn World, folder: &Utf8Path) -> Option<LastSession> {
    let path = StateFolder::of(folder, None, rekindle_registry::names())
        .stopped()
        .ok()?;
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
            WhyStopped::Unknown => Fate::Failed("unknown reason".to_owned()),
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
            let chosen = newer(traced.clone(), noted.clone(), Timestamp::UNIX_EPOCH);
            let wanted = if expected { &traced } else { &noted };
            assert_eq!(&chosen, wanted, "{traced:?} and {noted:?}");
        }
    }

    #[test]
    fn a_limit_that_holds_counts_beside_newer_sessions_that_went_well() {
        let until = Fate::Limited(Some("2026-01-20T12:30:00Z".to_owned()));
        let noted = session("a", 10, until);
        // Whose trace, its minute, the minute of now, whether the limit is told.
        for (id, minute, now, expected) in [
            ("b", 20, 29, true),
            ("b", 20, 30, false),
            ("b", 9, 40, true),
            ("a", 10, 40, true),
            ("a", 29, 40, true),
            ("a", 30, 40, false),
        ] {
            let traced = session(id, minute, Fate::Done);
            let now = format!("2026-01-20T12:{now}:00Z").parse().unwrap();
            let chosen = newer(traced, noted.clone(), now);
            assert_eq!(chosen == noted, expected, "{id} {minute} {now}");
        }
        for fate in [Fate::Died(None), Fate::Interrupted] {
            let traced = session("b", 20, fate);
            let now = "2026-01-20T12:25:00Z".parse().unwrap();
            assert_eq!(newer(traced.clone(), noted.clone(), now), traced);
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
