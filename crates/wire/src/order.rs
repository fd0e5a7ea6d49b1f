//! The order of a worker, version 2: one file in the attempt's folder.
//!
//! An older worker refuses a newer schema. Version 1 has no seal, so its origin is unknown: a newer
//! reader treats it as a foreign record and does not act on it.

use camino::Utf8PathBuf;
use rekindle_model::{ProtocolName, WorkflowId};
use serde::{Deserialize, Serialize};

/// The name and version of the format.
pub const ORDER_SCHEMA: &str = "rekindle.order/2";

/// One attempt at one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// [`ORDER_SCHEMA`].
    pub schema: String,
    /// The seal of this project; empty until sealed.
    #[serde(default)]
    pub seal: String,
    /// The protocol of the workflow.
    pub protocol: String,
    /// The workflow's name.
    pub workflow: String,
    /// The task.
    pub task: String,
    /// The attempt number; only the newest attempt counts.
    pub attempt: u32,
    /// The actor that writes the log.
    pub actor: String,
    /// The log, relative to the project.
    pub log: Utf8PathBuf,
    /// The project.
    pub project: Utf8PathBuf,
    /// The worktree, absolute.
    pub worktree: Utf8PathBuf,
    /// The number of the worktree in the project's pool, whose lock the worker is given as its standard
    /// input; none if the worktree is the task's own.
    #[serde(default)]
    pub slot: Option<u32>,
    /// The project's folder in the worktree, where agent and checks run; empty if it is the top.
    #[serde(default)]
    pub folder: Utf8PathBuf,
    /// The base commit of the attempt.
    pub base: String,
    /// Whether its agent goes on in the worktree as the last attempt left it, which was cut short.
    #[serde(default)]
    pub goes_on: bool,
    /// The marker in the environment of all processes of the attempt.
    pub token: String,
    /// The agent's command.
    pub agent: Command,
    /// The checks of the work, each a command.
    pub checks: Vec<Command>,
    /// The format of the agent's output.
    pub stream: String,
    /// The git program that the orchestrator found, and its version as three numbers.
    pub git: (Utf8PathBuf, [u32; 3]),
    /// The git folder that all worktrees of the repository share.
    pub common_dir: Utf8PathBuf,
    /// The run's own files that are tracked; they stay as they are in the base.
    pub tracked: Vec<String>,
    /// The time limit of the attempt, in seconds.
    pub timeout: Option<u64>,
    /// What to do about an attempt that changes nothing, which is a failure; none if that is allowed,
    /// as in orders of earlier releases.
    #[serde(default)]
    pub unless_empty: Option<String>,
    /// The time of the newest event that the orchestrator knew; the worker's events are later.
    #[serde(default)]
    pub after: Option<String>,
    /// The interval of heartbeats in milliseconds; none for the default.
    #[serde(default)]
    pub beat: Option<u64>,
    /// The protocol's own worktree; none if the engine creates it.
    #[serde(default)]
    pub place: Option<OrderPlace>,
    /// What the worktree has besides its commit; nothing in orders of earlier releases.
    #[serde(default)]
    pub outfit: Outfit,
}

/// What a worktree has besides its commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outfit {
    /// Patterns of ignored files to copy from the project.
    pub copy: Vec<String>,
    /// Ignored files and folders of the project to link to.
    pub link: Vec<String>,
    /// Folders of the repository; no other has files. None for all.
    #[serde(default)]
    pub sparse: Vec<String>,
    /// Commands that prepare a new worktree.
    pub setup: Vec<Command>,
    /// Files of the project; if one of them changes, the commands run again.
    pub setup_when: Vec<String>,
    /// Commands that run before the worktree is removed.
    pub teardown: Vec<Command>,
    /// The time limit of each command, in seconds.
    pub limit: u64,
}

/// A worktree that belongs to the protocol: its contents, and where its evidence is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderPlace {
    /// Top-level names that are not part of the work.
    pub keep: Vec<String>,
    /// Documents of the project to copy in, each with its destination.
    pub copies: Vec<(Utf8PathBuf, Utf8PathBuf)>,
    /// The folder of the copies, which is emptied first.
    pub copies_folder: Utf8PathBuf,
    /// The folder for evidence of the work.
    pub artifacts: Utf8PathBuf,
    /// How many earlier attempts there were.
    pub earlier: u32,
    /// The host's own record of the task, absolute.
    pub mirror: Utf8PathBuf,
}

impl Order {
    /// Returns the workflow, if its protocol is one of these.
    pub fn id(&self, protocols: &[ProtocolName]) -> Option<WorkflowId> {
        let mut known = protocols.iter();
        let protocol = known.find(|name| name.as_str() == self.protocol)?;
        Some(WorkflowId::new(*protocol, &self.workflow))
    }
}

/// A command that is ready to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Additional environment variables.
    pub variables: Vec<(String, String)>,
    /// Its standard input.
    pub input: String,
}
