//! Why a plan could not be carried out.

use rekindle_fs::{LockError, ProcessIdentity};

/// Why a plan could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another rekindle holds the workflow, or its lock can not be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// An agent that an earlier rekindle started is still at work.
    #[error("an agent of an earlier resume is still at work: process {} ({role}{})", process.pid, of(task.as_ref()))]
    AgentAlive {
        /// Its process.
        process: Box<ProcessIdentity>,
        /// Who it is.
        role: String,
        /// What it works on.
        task: Option<String>,
    },
    /// The order of a worker is not there or of a form that is not known.
    #[error("`{path}` is not an order that this worker understands")]
    NoOrder {
        /// The file.
        path: camino::Utf8PathBuf,
    },
    /// The run's branch is checked out, so moving it would seem to change somebody's files.
    #[error("the branch `{branch}` is checked out")]
    CheckedOut {
        /// The branch.
        branch: String,
    },
    /// Somebody else changes the run's branch in a way that can not be followed.
    #[error("the branch `{branch}` was moved by somebody else")]
    BranchMoves {
        /// The branch.
        branch: String,
    },
    /// A worker or a check could not be started.
    #[error("a worker could not be started")]
    Worker {
        /// What the system said.
        source: std::io::Error,
    },
    /// The system would not let us wait for processes and signals.
    #[error("cannot wait for processes and signals")]
    Runtime(#[source] std::io::Error),
    /// git could not do what was needed.
    #[error(transparent)]
    Git(#[from] rekindle_git::Error),
    /// A file could not be written.
    #[error(transparent)]
    Files(#[from] rekindle_fs::Error),
}

fn of(task: Option<&String>) -> String {
    task.map_or_else(String::new, |task| {
        format!(" on {}", rekindle_text::excerpt(task, 80))
    })
}
