//! Sessions of agent programs on disk: how the last one in a folder ended, and whether a session can
//! be resumed.
//!
//! A killed program leaves a tool call without a result. Only the end of a transcript is read, and
//! only transcripts, the session list of Claude Code and the database of opencode are opened. The
//! caller checks whether a process is alive.

mod claude;
mod codex;
mod opencode;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_world::{End, World};
use serde_json::Value;

use crate::redact::redact_command;
use crate::{Preset, stream};

/// The number of bytes that are read first from the end of a transcript.
const TAIL: usize = 512 * 1024;
/// The maximum number of bytes: a row can contain a whole file.
const LONGEST_TAIL: usize = 8 * 1024 * 1024;

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

/// Checks whether a session can be resumed in a folder.
pub fn fitness(world: &dyn World, agent: Preset, session: &str, folder: &Utf8Path) -> Fitness {
    if !crate::agent::is_session_id(session) {
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
fn home(world: &dyn World, variable: &str, name: &str) -> Option<Utf8PathBuf> {
    let absolute = |path: &String| path.starts_with('/');
    let named = world.variable(variable).filter(absolute);
    named.map(Utf8PathBuf::from).or_else(|| {
        let home = world.variable("HOME").filter(absolute)?;
        Some(Utf8PathBuf::from(home).join(name))
    })
}

/// Returns whether a folder belongs to the project and not to another checkout inside it.
fn is_part_of(world: &dyn World, project: &Utf8Path, folder: &Utf8Path) -> bool {
    let has_git = |folder: &Utf8Path| world.stat(&folder.join(".git")).is_ok();
    let mut between = folder.ancestors().take_while(|above| *above != project);
    folder.starts_with(project) && !between.any(has_git)
}

/// The rows at the end of a transcript.
struct Tail {
    rows: Vec<Value>,
    /// Whether there is more before them.
    is_cut: bool,
}

impl Tail {
    /// Reads back until a row `has_state`, which decides the result; ignores invalid rows.
    fn read(world: &dyn World, file: &Utf8Path, has_state: impl Fn(&Value) -> bool) -> Self {
        let mut most = TAIL;
        loop {
            let bytes = world.read_end(file, End::Tail, most).unwrap_or_default();
            let rows: Vec<Value> = bytes
                .split(|&byte| byte == b'\n')
                .filter_map(|line| serde_json::from_slice(line).ok())
                .filter(Value::is_object)
                .collect();
            let is_cut = bytes.len() >= most;
            if !is_cut || most >= LONGEST_TAIL || rows.iter().any(&has_state) {
                return Self { rows, is_cut };
            }
            most *= 4;
        }
    }
}

/// Returns whether the last line of a transcript is truncated.
fn is_torn(world: &dyn World, file: &Utf8Path) -> bool {
    let Ok(bytes) = world.read_end(file, End::Tail, TAIL) else {
        return true;
    };
    let last = bytes
        .split(|&byte| byte == b'\n')
        .rfind(|line| !line.trim_ascii().is_empty());
    match last {
        // A row that is longer than the tail cannot be checked.
        Some(line) if line.len() < TAIL => {
            !serde_json::from_slice::<Value>(line).is_ok_and(|row| row.is_object())
        }
        Some(_) => false,
        None => true,
    }
}

/// Returns the use of a tool in one line, without secrets.
fn tool_line(name: &str, input: Option<&Value>) -> String {
    let line = stream::tool(name, input).unwrap_or_else(|| "a tool".to_owned());
    redact_command(&line)
}

fn time(row: &Value) -> Option<Timestamp> {
    row.get("timestamp")?.as_str()?.parse().ok()
}

#[cfg(test)]
#[path = "traces_tests.rs"]
mod tests;
