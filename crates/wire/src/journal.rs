//! Records of rekindle's own journal, version 1.
//!
//! An intent holds everything that is needed to finish it after a crash. A
//! reader that meets a kind of intent it does not know leaves it alone and
//! says so; a writer never rewrites older records.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// What was about to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Effects on files, in order.
    Effects(Vec<Effect>),
    /// An agent that was started, with the identity of its process as the file layer writes it.
    Agent {
        /// Who it is.
        role: String,
        /// The task, where it is one.
        task: Option<String>,
        /// Which attempt.
        attempt: u32,
        /// Its process.
        process: serde_json::Value,
    },
}

/// One effect on a file; paths are relative to the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// A line that is appended to a log.
    Append {
        /// The log.
        log: Utf8PathBuf,
        /// The line without its end.
        record: String,
    },
    /// A file that is made.
    Create {
        /// The file.
        path: Utf8PathBuf,
        /// What it holds.
        contents: String,
    },
    /// Text that was to be printed; it is not printed again after a crash.
    Print,
}
