//! A session of a coding agent: one conversation of a person with a program.

use camino::Utf8PathBuf;
use jiff::Timestamp;

use crate::{State, WorkflowId};

/// What is known of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and JSON has it under its name"
)]
pub struct Session {
    /// Its id, as people type it.
    pub id: WorkflowId,
    /// The program: `claude`, `codex`, `opencode` or `gemini`.
    pub agent: &'static str,
    /// The program's own id.
    pub session: String,
    /// Its title, if the program gave it one.
    pub title: Option<String>,
    /// Where it stands.
    pub state: SessionState,
    /// When its usage limit ends or ended.
    pub until: Option<Timestamp>,
    /// What was in flight.
    pub open: OpenStep,
    /// The first line of the last prompt, with secrets masked.
    pub prompt: Option<String>,
    /// The first line of what the model said last, with secrets masked.
    pub said: Option<String>,
    /// Its todo list.
    pub todo: Option<TodoList>,
    /// The folder it works in, with links resolved.
    pub folder: Option<Utf8PathBuf>,
    /// Whether the folder is there and belongs to the user.
    pub folder_exists: bool,
    /// The top of the repository around the folder, or the folder.
    pub project: Option<Utf8PathBuf>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// The files that it edited, newest first, relative to the project.
    pub touched: Vec<String>,
    /// Its sub-agents that were in flight.
    pub subagents: Vec<SubAgent>,
    /// Whether a process has it open; unknown where that cannot be determined.
    pub alive: Option<bool>,
    /// The process that has it open.
    pub holder: Option<Holder>,
    /// What it started and left running.
    pub left: Vec<LeftProcess>,
    /// When something last happened in it.
    pub last_activity: Option<Timestamp>,
    /// Whether it is not running and was silent for a week.
    pub is_stale: bool,
    /// Whether a script started it.
    pub is_headless: bool,
    /// Whether its transcript ends in the middle of a line.
    pub is_torn: bool,
    /// The session that continues it.
    pub superseded_by: Option<String>,
    /// Why it is not safe to continue; empty if it is.
    pub reasons: Vec<Unsafe>,
    /// The program's own command that continues it in a terminal.
    pub interactive: Vec<String>,
    /// The program's own command that continues it without one; the prompt follows or is its input.
    pub headless: Vec<String>,
    /// The command that brings its folder back, where that is a worktree that was removed.
    pub add_worktree: Option<String>,
    /// The file or database that it was read from.
    pub transcript: Utf8PathBuf,
}

impl Session {
    /// Returns whether it is safe to continue.
    pub fn is_safe(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Returns the files that it edited, newest first, as whole paths.
    pub fn touched_paths(&self) -> impl Iterator<Item = Utf8PathBuf> {
        let inside = |path| self.project.as_ref().map(|project| project.join(path));
        self.touched.iter().filter_map(inside)
    }

    /// Returns whether it is listed: what is finished or stale is counted.
    pub fn is_listed(&self) -> bool {
        self.state != SessionState::Finished && !self.is_stale
    }
}

/// Where a session stands, in the order in which sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionState {
    /// It was cut off and can go on.
    Interrupted,
    /// A person must answer, or stopped it.
    WaitingForPerson,
    /// A usage limit stopped it.
    Limited,
    /// A process has it open.
    Running,
    /// No row of its conversation can be read.
    Unreadable,
    /// Its last turn is over.
    Finished,
}

impl SessionState {
    /// Every state.
    pub const ALL: [Self; 6] = [
        Self::Interrupted,
        Self::WaitingForPerson,
        Self::Limited,
        Self::Running,
        Self::Unreadable,
        Self::Finished,
    ];

    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::WaitingForPerson => "waiting_for_person",
            Self::Limited => "limited",
            Self::Running => "running",
            Self::Unreadable => "unreadable",
            Self::Finished => "finished",
        }
    }

    /// Returns it as people read it.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::WaitingForPerson => "waiting for a person",
            Self::Interrupted
            | Self::Limited
            | Self::Running
            | Self::Unreadable
            | Self::Finished => self.as_str(),
        }
    }

    /// Returns the state of a workflow that it corresponds to.
    pub const fn state(self) -> State {
        match self {
            Self::Interrupted => State::Interrupted,
            Self::WaitingForPerson | Self::Limited | Self::Running => State::Waiting,
            Self::Unreadable => State::Corrupt,
            Self::Finished => State::Complete,
        }
    }
}

/// What kind of thing a session has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpenKind {
    /// Nothing.
    None,
    /// A tool call without a result.
    Tool,
    /// A turn without an end.
    Turn,
    /// A question to the person.
    Question,
    /// A tool call that needs permission.
    Permission,
    /// A turn that a usage limit ended.
    Limit,
    /// A turn that another error ended.
    Error,
    /// A turn that a person stopped.
    Stopped,
    /// A sub-agent without an end.
    Subagent,
}

impl OpenKind {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Tool => "tool",
            Self::Turn => "turn",
            Self::Question => "question",
            Self::Permission => "permission",
            Self::Limit => "limit",
            Self::Error => "error",
            Self::Stopped => "stopped",
            Self::Subagent => "subagent",
        }
    }
}

/// What a session has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenStep {
    /// Of what kind.
    pub kind: OpenKind,
    /// The tool, if one is known.
    pub tool: Option<String>,
    /// The tool and its input in one line, with secrets masked.
    pub step: Option<String>,
    /// How many calls are open.
    pub calls: usize,
}

/// A todo list in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoList {
    /// Finished entries.
    pub done: usize,
    /// The entries that are not finished, in order.
    pub open: Vec<String>,
    /// The first entry in progress.
    pub begun: Option<String>,
    /// The first entry in progress, else the first open one.
    pub current: Option<String>,
}

impl TodoList {
    /// Returns the number of entries.
    pub fn total(&self) -> usize {
        self.done + self.open.len()
    }
}

/// A sub-agent that was in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAgent {
    /// Its id within the session.
    pub id: String,
    /// Its type.
    pub kind: Option<String>,
    /// What it was started for.
    pub about: Option<String>,
    /// Its open tool call in one line.
    pub step: Option<String>,
}

/// The process that has a session open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its number, if known.
    pub pid: Option<u32>,
    /// Whether it is a server in the background, which the program's own command joins.
    pub is_server: bool,
}

/// A process that a session started and left running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftProcess {
    /// Its number.
    pub pid: u32,
    /// Its program.
    pub program: String,
}

/// Why a session is not safe to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unsafe {
    /// A process has it open.
    Held,
    /// A process that serves many folders may have it open.
    MaybeHeld,
    /// Its folder is missing, or belongs to another user.
    FolderGone,
    /// A usage limit holds.
    Limited,
    /// Another session continues it.
    Superseded,
    /// It cannot be read.
    Unreadable,
    /// What it started still runs.
    LeftProcesses,
}

impl Unsafe {
    /// Returns the word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::MaybeHeld => "maybe_held",
            Self::FolderGone => "folder_gone",
            Self::Limited => "limited",
            Self::Superseded => "superseded",
            Self::Unreadable => "unreadable",
            Self::LeftProcesses => "left_processes",
        }
    }

    /// Returns the reason as a clause.
    pub const fn clause(self) -> &'static str {
        match self {
            Self::Held => "a process has it open",
            Self::MaybeHeld => "a running server may have it open",
            Self::FolderGone => "its folder is gone",
            Self::Limited => "a usage limit holds",
            Self::Superseded => "another session continues it",
            Self::Unreadable => "its transcript cannot be read",
            Self::LeftProcesses => "what it started still runs",
        }
    }
}
