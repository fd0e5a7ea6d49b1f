//! How the last session of a coding agent in a project ended.
//!
//! There are two sources: notes of hooks at the end of a turn, and the programs' own transcripts. A
//! transcript that ends in the middle of a turn counts more than any note; otherwise the newer one
//! counts. A usage limit that holds also counts if a newer session ended well, since that was another one.

use std::fmt;

use camino::Utf8Path;
use jiff::{SignedDuration, Timestamp};
use rekindle_agents::traces::{self, Life, Lives, Owner, Reached};
use rekindle_agents::{Agent, Preset, Stream};
use rekindle_model::{Code, Finding, Summary};
use rekindle_runner::StateFolder;
use rekindle_text::{excerpt, format_seconds};
use rekindle_wire::stopped::{Stopped, WhyStopped};
use rekindle_world::World;

use crate::Project;

/// The largest note that is read.
pub(crate) const LARGEST_NOTE: u64 = 64 * 1024;
/// An event this long after a session's end still belongs to that session: its checkpoint.
const SAME_MOMENT: SignedDuration = SignedDuration::from_secs(60);

/// The last session of a coding agent in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastSession {
    /// The program, if known.
    pub agent: Option<Preset>,
    /// Its id, if known.
    pub id: Option<String>,
    /// Its last known activity.
    pub at: Option<Timestamp>,
    /// How it ended.
    pub fate: Fate,
    /// Processes that it started and that are still running.
    pub left: Vec<u32>,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is at work; the process, if known.
    Running(Option<u32>),
    /// It died in the middle of its turn; in which tool, if in one.
    Died(Option<String>),
    /// It is in the middle of its turn, or died there: its owner is unknown. In which tool, and which
    /// process may own it.
    Open(Option<String>, Option<u32>),
    /// A person interrupted it.
    Interrupted,
    /// A usage limit stopped it; the end of the limit, if known.
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
    /// Returns whether it was stopped by a limit that is known to be over.
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

    /// Returns the finding to check before work is repeated, if there is one.
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

/// Describes it in one sentence without a full stop, safe for a terminal.
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

/// The session that rekindle was called from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own<'a> {
    /// There is none, or it is unknown.
    None,
    /// It started after all ended sessions.
    Begins(&'a str),
    /// It was resumed, and its transcript so far is from before that.
    GoesOn(&'a str),
}

/// Returns how the last session in a project ended, if that matters for the open workflows.
///
/// `own` is the session that called rekindle. Sessions that ended well, or long before the last event
/// of a workflow, are not reported.
pub(crate) fn last_session(
    project: &Project,
    open: &[Summary],
    own: Own<'_>,
) -> Option<LastSession> {
    if open.is_empty() {
        return None;
    }
    let world = project.world();
    let lives = Lives::new(&world);
    let ancestors = lives.ancestors();
    let has_started_us = |owner: &Owner| match lives.life(owner) {
        Life::Alive(Some(pid)) | Life::Unknown(Some(pid)) => ancestors.contains(&pid),
        Life::Alive(None) | Life::Unknown(None) | Life::Gone => false,
    };
    let is_ours = |id: &str, owners: &[Owner]| match own {
        Own::Begins(own) if own == id => true,
        Own::GoesOn(own) if own == id => false,
        // A server does not know the session it serves, and ids can change in the middle of a session.
        Own::None | Own::Begins(_) | Own::GoesOn(_) => owners.iter().any(has_started_us),
    };
    let traced = traces::last_session(&world, project.folder(), &is_ours);
    let traced = traced.and_then(|trace| judge(project, &lives, trace, own));
    let now = world.now();
    let noted = note(&world, project.folder());
    let noted = noted.filter(|noted| match (own, &noted.id) {
        // A session that is alive has recovered from whatever stopped it.
        (Own::Begins(own), Some(id)) => id != own,
        // A session that was resumed after its limit is no longer stopped by it.
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

/// Chooses between a transcript and a note: an interrupted turn counts more than any note about it, and
/// a limit that holds counts more than the good end of another session.
fn newer(traced: LastSession, noted: LastSession, now: Timestamp) -> LastSession {
    let is_same = traced.id == noted.id;
    if let (Fate::Limited(until), Fate::Done) = (&noted.fate, &traced.fate)
        && let Some(end) = limit_ends(until.as_deref())
    {
        // The session has continued since its limit was over, or another one has while it holds.
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

/// Returns how a traced session ended, by the processes that exist; `None` if that cannot be known.
fn judge(
    project: &Project,
    lives: &Lives<'_>,
    trace: traces::LastSession,
    own: Own<'_>,
) -> Option<LastSession> {
    // The process that continues the session is not the one that left it.
    let is_taken_over = own == Own::GoesOn(&trace.id);
    let life = match trace.agent {
        _ if is_taken_over => Life::Gone,
        // Claude Code removes its process from the list when it ends; Codex leaves its lock.
        Preset::Codex | Preset::Gemini | Preset::Opencode if trace.owners.is_empty() => {
            Life::Unknown(None)
        }
        // A killed process stays on the list, next to the one that continued its session.
        Preset::Claude | Preset::Codex | Preset::Gemini | Preset::Opencode => {
            let each = trace.owners.iter().map(|owner| lives.life(owner));
            each.max().unwrap_or(Life::Gone)
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
        Fate::Died(_) => {
            let own_pid = project.variables.get("CLAUDE_PID").map(String::as_str);
            let left = lives.left_by(trace.agent, &trace.id, project.folder(), own_pid);
            left.into_iter().map(|process| process.pid).collect()
        }
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

/// Returns when a limit is over, if that was recorded as a time.
pub(crate) fn limit_ends(until: Option<&str>) -> Option<Timestamp> {
    until?.parse().ok()
}

/// Reads the newest note of a hook.
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

/// Returns whether an agent's session can be continued in a folder.
///
/// Only a definite mismatch means no: an agent may keep its sessions in an unknown place.
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
            let lives = Lives::new(world);
            let is_alive = |owner: &Owner| matches!(lives.life(owner), Life::Alive(_));
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
    fn a_limit_that_holds_counts_next_to_newer_sessions_that_went_well() {
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
    fn it_is_described_in_a_sentence() {
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
