//! What a worker is told to do, version 2: one file in the attempt's folder.
//!
//! An older worker refuses a newer schema. Version 1 has no seal, so nobody can tell where it comes
//! from: a newer reader takes it for a foreign record, and acts on none of it.

use camino::Utf8PathBuf;
use rekindle_model::{ProtocolName, WorkflowId};
use serde::{Deserialize, Serialize};

/// The name and version of the form.
pub const ORDER_SCHEMA: &str = "rekindle.order/2";

/// One attempt at one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// [`ORDER_SCHEMA`].
    pub schema: String,
    /// Proves that it was written for this project; empty until it is.
    #[serde(default)]
    pub seal: String,
    /// The protocol that keeps the workflow.
    pub protocol: String,
    /// The workflow's name.
    pub workflow: String,
    /// The task.
    pub task: String,
    /// The fencing number: only the newest attempt's word counts.
    pub attempt: u32,
    /// Who writes the log.
    pub actor: String,
    /// The log, relative to the project.
    pub log: Utf8PathBuf,
    /// The project.
    pub project: Utf8PathBuf,
    /// The worktree, absolute.
    pub worktree: Utf8PathBuf,
    /// The project's folder in the worktree, where agent and checks run; empty where it is the top.
    #[serde(default)]
    pub folder: Utf8PathBuf,
    /// The commit that the attempt begins with.
    pub base: String,
    /// By this text in their environment all processes of the attempt can be found.
    pub token: String,
    /// The agent's command.
    pub agent: Command,
    /// Checks of the work, each a command.
    pub checks: Vec<Command>,
    /// How the agent's output is to be read.
    pub stream: String,
    /// The git that the orchestrator found, and its version as three numbers.
    pub git: (Utf8PathBuf, [u32; 3]),
    /// The folder that all worktrees of the repository share.
    pub common_dir: Utf8PathBuf,
    /// Names of the run's own files that are tracked; they stay as they are in the base.
    pub tracked: Vec<String>,
    /// How long the attempt may take, in seconds.
    pub timeout: Option<u64>,
    /// The time of the newest event that the orchestrator knew; the worker's events come after it.
    #[serde(default)]
    pub after: Option<String>,
    /// How many milliseconds lie between two signs of life; none where it is as usual.
    #[serde(default)]
    pub beat: Option<u64>,
    /// How the protocol's own place of work is kept; none where the worktree is the engine's.
    #[serde(default)]
    pub place: Option<OrderPlace>,
}

/// A worktree that belongs to the protocol: what is to be in it, and where it is told of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderPlace {
    /// Names at its top that are nobody's work.
    pub keep: Vec<String>,
    /// Documents of the project that are copied in, each with where it goes.
    pub copies: Vec<(Utf8PathBuf, Utf8PathBuf)>,
    /// The folder of the copies, which is emptied first.
    pub copies_folder: Utf8PathBuf,
    /// Where evidence of the work is left.
    pub artifacts: Utf8PathBuf,
    /// How often the task was begun before.
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

/// A command that is ready to be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that are added to the environment.
    pub variables: Vec<(String, String)>,
    /// What it reads on standard input.
    pub input: String,
}
