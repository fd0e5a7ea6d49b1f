//! Questions about the processes of this machine, and their answers, as plain values.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A question about processes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each field is a process, a file or a name")]
pub enum ProcessQuestion {
    /// When a process started, in clock ticks since boot.
    Start { pid: u32 },
    /// When the machine was booted.
    Boot,
    /// Whether somebody holds the lock of a file.
    Locked { file: Utf8PathBuf },
    /// Who has a file open, which is named by its real path.
    Openers { file: Utf8PathBuf },
    /// Whose environment has a variable.
    Carriers { variable: String },
    /// The processes that this one descends from, the nearest first.
    Ancestors,
}

/// An answer; each question has its own kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessAnswer {
    /// To [`ProcessQuestion::Start`]; none if it has ended.
    Start(Option<u64>),
    /// To [`ProcessQuestion::Boot`].
    Boot(Option<Timestamp>),
    /// To [`ProcessQuestion::Locked`].
    Locked(bool),
    /// To [`ProcessQuestion::Openers`].
    Openers(Vec<Opener>),
    /// To [`ProcessQuestion::Carriers`].
    Carriers(Vec<Carrier>),
    /// To [`ProcessQuestion::Ancestors`].
    Ancestors(Vec<u32>),
}

/// A process that has a file open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opener {
    /// Its number.
    pub pid: u32,
    /// The folder it works in.
    pub folder: Option<Utf8PathBuf>,
    /// When it was started.
    pub started: Option<Timestamp>,
    /// The first words of its command line.
    pub command: Vec<String>,
}

impl Opener {
    /// Returns whether it ran at a time; an unknown time does not exclude it.
    pub fn was_there(&self, at: Option<Timestamp>) -> bool {
        match (self.started, at) {
            (Some(started), Some(at)) => started <= at,
            (None, _) | (_, None) => true,
        }
    }
}

/// A process that has a variable in its environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carrier {
    /// Its number.
    pub pid: u32,
    /// The value of the variable.
    pub value: String,
    /// The folder it works in.
    pub folder: Option<Utf8PathBuf>,
    /// The first words of its command line.
    pub command: Vec<String>,
}
