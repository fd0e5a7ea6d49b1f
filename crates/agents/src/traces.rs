//! What agent programs themselves leave on disk: how their last session in a folder ended, and
//! whether a session can be gone on with.
//!
//! A program that is killed leaves a recognizable trace: a tool call without a result. Only the end
//! of a transcript is read, whatever is not understood says nothing, and no file but transcripts,
//! Claude Code's list of its sessions and opencode's database is opened. Whether a process lives is
//! for the caller to say.

mod claude;
mod codex;
mod opencode;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_world::{End, World};
use serde_json::Value;

use crate::redact::redact_command;
use crate::{Preset, stream};

/// How much of the end of a transcript is read at first; a tool's output can be long.
const TAIL: usize = 512 * 1024;
/// How much is read where nothing before that tells anything: a file or a request can stand in one row.
const LONGEST_TAIL: usize = 8 * 1024 * 1024;

/// How a program's last session in a folder ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastSession {
    /// The program.
    pub agent: Preset,
    /// The session's id.
    pub id: String,
    /// When it said something last.
    pub at: Option<Timestamp>,
    /// How far it had come.
    pub reached: Reached,
    /// All who have it or had it, where the program keeps that.
    pub owners: Vec<Owner>,
}

/// How far a session had come when it said something last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reached {
    /// A tool was called and has given no result; what it was, as a line.
    InTool(String),
    /// The turn was not over.
    InTurn,
    /// A person interrupted the turn.
    Interrupted,
    /// The turn was over.
    EndOfTurn,
    /// What it said last is too long to be read.
    Unknown,
}

/// Who has a session, as its program keeps that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// A process that was written down.
    Process {
        /// Its number.
        pid: u32,
        /// Clock ticks from boot to its start.
        start_time: u64,
    },
    /// Whoever holds the lock of this file.
    Lock(Utf8PathBuf),
    /// Whoever has this file open, works in this folder and was there at this time.
    Opener {
        /// The file, by its real name.
        file: Utf8PathBuf,
        /// The folder.
        folder: Utf8PathBuf,
        /// When the session said something last: who came later found it as it is.
        at: Option<Timestamp>,
        /// When another session of the folder did, which the same process may have instead.
        other: Option<Timestamp>,
    },
}

/// Whether a session can be gone on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fitness {
    /// Its transcript is there and whole; in use if one of its owners lives.
    Whole(Vec<Owner>),
    /// The program kept no session of this id, though it kept others here.
    Missing,
    /// It belongs to another folder.
    Elsewhere(Utf8PathBuf),
    /// The end of its transcript is cut off.
    Torn,
    /// It can not be told from here.
    Unknown,
}

/// Returns how the last session of any program in a folder, or below it, ended.
///
/// `is_ours` says by its id and its owners whether a session is the one that asks, which has not ended.
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

/// Looks whether a session that a program began in a folder can be gone on with there.
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

/// Returns the folder in which a program keeps its things: where the variable says, or in the home.
fn home(world: &dyn World, variable: &str, name: &str) -> Option<Utf8PathBuf> {
    let absolute = |path: &String| path.starts_with('/');
    let named = world.variable(variable).filter(absolute);
    named.map(Utf8PathBuf::from).or_else(|| {
        let home = world.variable("HOME").filter(absolute)?;
        Some(Utf8PathBuf::from(home).join(name))
    })
}

/// Returns whether a session that was begun in a folder is one of the project's.
///
/// A repository or worktree that stands in the project is another checkout, with work of its own.
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
    /// Reads back until a row tells how far the session had come; what is no JSON object is passed over.
    fn read(world: &dyn World, file: &Utf8Path, tells: impl Fn(&Value) -> bool) -> Self {
        let mut most = TAIL;
        loop {
            let bytes = world.read_end(file, End::Tail, most).unwrap_or_default();
            let rows: Vec<Value> = bytes
                .split(|&byte| byte == b'\n')
                .filter_map(|line| serde_json::from_slice(line).ok())
                .filter(Value::is_object)
                .collect();
            let is_cut = bytes.len() >= most;
            if !is_cut || most >= LONGEST_TAIL || rows.iter().any(&tells) {
                return Self { rows, is_cut };
            }
            most *= 4;
        }
    }
}

/// Returns whether the last line of a transcript is cut off.
fn is_torn(world: &dyn World, file: &Utf8Path) -> bool {
    let Ok(bytes) = world.read_end(file, End::Tail, TAIL) else {
        return true;
    };
    let last = bytes
        .split(|&byte| byte == b'\n')
        .rfind(|line| !line.trim_ascii().is_empty());
    match last {
        // One row can be longer than what is read of the end; then nothing can be said of it.
        Some(line) if line.len() < TAIL => {
            !serde_json::from_slice::<Value>(line).is_ok_and(|row| row.is_object())
        }
        Some(_) => false,
        None => true,
    }
}

/// Returns the use of a tool as a line, without secrets.
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
