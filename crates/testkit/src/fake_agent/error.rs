//! Why a scripted agent could not do what its script says.

use std::io;

use camino::Utf8PathBuf;

/// Why a scripted agent stopped; it then ends with exit code 97.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A line of the script is not understood.
    #[error("line {line} of the script: {problem}")]
    Script {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// No script is there for the task.
    #[error("there is no script for task `{task}` in `{folder}`")]
    NoScript {
        /// The task.
        task: String,
        /// Where it was looked for.
        folder: Utf8PathBuf,
    },
    /// A variable of the environment is missing.
    #[error("`{0}` is not set")]
    NotSet(&'static str),
    /// Something was not there in time.
    #[error("`{0}` did not appear in a minute")]
    NotInTime(Utf8PathBuf),
    /// A command of the script failed.
    #[error("`{0}` failed")]
    Command(String),
    /// The binary itself could not be built.
    #[error("cannot build `fake-agent`: {0}")]
    Build(String),
    /// A file could not be read or written; the message names it.
    #[error(transparent)]
    Io(#[from] io::Error),
}
