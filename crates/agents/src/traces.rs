//! Sessions of agent programs on disk: how the last one in a folder ended, and whether a session can
//! be resumed.
//!
//! A killed program leaves a tool call without a result. Only the end of a transcript is read, and
//! only transcripts, the session list of Claude Code and the database of opencode are opened.
//! [`Lives`] says whether the process of a session is alive. The protocol `sessions` reads
//! transcripts in detail and uses the same places, owners and lines.

mod claude;
mod codex;
mod life;
mod opencode;
mod tail;
mod used;

pub use claude::{ClaudeProcess, claude_processes};
pub use codex::{codex_input, codex_lock, partial_object};
pub use life::{Life, Lives};
pub use tail::Tail;
pub use used::UsedTools;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_world::World;
use serde_json::Value;

use crate::redact::redact_command;
use crate::{Preset, stream};

/// The number of bytes that are read first from the end of a transcript.
const TAIL: usize = 512 * 1024;

/// How a program's last session in a folder ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastSession {
    /// The program.
    pub agent: Preset,
    /// The session's id.
    pub id: String,
    /// The time of its last row.
    pub at: Option<Timestamp>,
    /// Its last state.
    pub reached: Reached,
    /// Its present and former owners, if recorded.
    pub owners: Vec<Owner>,
}

/// The last state of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reached {
    /// A tool call without a result, as a line.
    InTool(String),
    /// An unfinished turn.
    InTurn,
    /// A turn that the user interrupted.
    Interrupted,
    /// A finished turn.
    EndOfTurn,
    /// The last row is too long to be read.
    Unknown,
}

/// The owner of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// A recorded process.
    Process {
        /// Its number.
        pid: u32,
        /// Its start in clock ticks since boot.
        start_time: u64,
        /// When it started, if recorded: after another boot the ticks mean another time.
        started: Option<Timestamp>,
    },
    /// The holder of the lock of this file.
    Lock(Utf8PathBuf),
    /// A process that has this file open, works in this folder and existed at this time.
    Opener {
        /// The file, with links resolved.
        file: Utf8PathBuf,
        /// The folder.
        folder: Utf8PathBuf,
        /// The time of the last row of the session; later processes are not owners.
        at: Option<Timestamp>,
        /// The same of another session of the folder, which the process may own instead.
        other: Option<Timestamp>,
    },
}

/// Whether a session can be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fitness {
    /// Its transcript is complete; it is in use if an owner is alive.
    Whole(Vec<Owner>),
    /// The program has other sessions here, but not this one.
    Missing,
    /// It belongs to another folder.
    Elsewhere(Utf8PathBuf),
    /// Its transcript is truncated.
    Torn,
    /// It cannot be decided.
    Unknown,
}

/// Returns the last session of any program in a folder or below it.
///
/// `is_ours` recognizes the running session that asks, by its id and owners.
pub fn last_session(
    world: &dyn World,
    folder: &Utf8Path,
    is_ours: &dyn Fn(&str, &[Owner]) -> bool,
) -> Option<LastSession> {
    let found = [
        claude::last_session(world, folder, is_ours),
        codex::last_session(world, folder, is_ours),
        opencode::last_session(world, folder, is_ours),
    ];
    found.into_iter().flatten().max_by_key(|session| session.at)
}

/// Returns whether a text is a valid session id, safe as an argument of a command line.
pub fn is_session_id(text: &str) -> bool {
    crate::agent::is_session_id(text)
}

/// Checks whether a session can be resumed in a folder.
pub fn fitness(world: &dyn World, agent: Preset, session: &str, folder: &Utf8Path) -> Fitness {
    if !is_session_id(session) {
        return Fitness::Missing;
    }
    match agent {
        Preset::Claude => claude::fitness(world, session, folder),
        Preset::Codex => codex::fitness(world, session, folder),
        Preset::Opencode => opencode::fitness(world, session, folder),
        Preset::Gemini => Fitness::Unknown,
    }
}

/// Returns the data folder of a program, from a variable or in the home directory.
pub fn home(world: &dyn World, variable: &str, name: &str) -> Option<Utf8PathBuf> {
    let absolute = |path: &String| path.starts_with('/');
    let named = world.variable(variable).filter(absolute);
    named.map(Utf8PathBuf::from).or_else(|| {
        let home = world.variable("HOME").filter(absolute)?;
        Some(Utf8PathBuf::from(home).join(name))
    })
}

/// Returns whether a folder belongs to the project and not to another checkout inside it.
pub fn is_part_of(world: &dyn World, project: &Utf8Path, folder: &Utf8Path) -> bool {
    let has_git = |folder: &Utf8Path| world.stat(&folder.join(".git")).is_ok();
    let mut between = folder.ancestors().take_while(|above| *above != project);
    folder.starts_with(project) && !between.any(has_git)
}

/// Returns the use of a tool in one line, without secrets.
pub fn tool_line(name: &str, input: Option<&Value>) -> String {
    let line = stream::tool(name, input).unwrap_or_else(|| "a tool".to_owned());
    redact_command(&line)
}

/// Returns the time of a row.
pub fn time(row: &Value) -> Option<Timestamp> {
    row.get("timestamp")?.as_str()?.parse().ok()
}

#[cfg(test)]
#[path = "traces_tests.rs"]
mod tests;
