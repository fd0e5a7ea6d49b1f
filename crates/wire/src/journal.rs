//! Records of rekindle's own journal, version 2: each line has a seal, which is not part of the body.
//!
//! An intent contains everything that is needed to finish it after a crash.
//! A reader ignores and reports intents of an unknown kind; a writer never
//! changes older records.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// What is about to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Effects on files, in order.
    Effects(Vec<Effect>),
    /// An agent that was started, with the identity of its process as the file layer writes it.
    Agent {
        /// The agent's role.
        role: String,
        /// The task, if it has one.
        task: Option<String>,
        /// The attempt's number.
        attempt: u32,
        /// Its process.
        process: serde_json::Value,
        /// The marker in the environment of it and its children; older records have none.
        #[serde(default)]
        mark: Option<String>,
    },
    /// A confirmed plan is about to be applied; the record ends at once. Older readers ignore it.
    /// With it, every use of a plan leaves a line, even of a plan without effects.
    Agreed {
        /// The digest of the plan.
        digest: String,
    },
}

/// One effect; a relative path is below the project, an absolute one in a folder of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Appends a line to a log.
    Append {
        /// The log.
        log: Utf8PathBuf,
        /// The line without its line end.
        record: String,
    },
    /// Creates a file.
    Create {
        /// The file.
        path: Utf8PathBuf,
        /// Its contents.
        contents: Bytes,
    },
    /// Changes a file.
    Edit {
        /// The file.
        path: Utf8PathBuf,
        /// The fingerprint of the old contents.
        before: String,
        /// The new contents.
        after: Bytes,
    },
    /// Moves a folder to a path that does not exist.
    MoveFolder {
        /// The old path.
        from: Utf8PathBuf,
        /// The new path.
        to: Utf8PathBuf,
    },
    /// Moves a file to a path that does not exist.
    MoveFile {
        /// The old path.
        from: Utf8PathBuf,
        /// The new path.
        to: Utf8PathBuf,
        /// The fingerprint of its contents.
        contents: String,
    },
    /// Lands a worktree's files as one commit.
    Land {
        /// The task.
        task: String,
        /// The worktree, absolute.
        worktree: Utf8PathBuf,
        /// The base commit of the worktree.
        base: String,
        /// The subject of the commit.
        subject: String,
        /// Top-level folders of the worktree that are left out.
        leave_out: Vec<String>,
        /// The differences from `base`, by path.
        files: Vec<LandedFile>,
    },
    /// Ends one of our workers.
    EndWorker {
        /// The task.
        task: String,
    },
    /// Text to print, or a request that only the host can carry out; neither is repeated after a crash.
    Print,
}

/// What a drop-in command is about to do, version 2; the file exists only while a command runs.
///
/// A reader of another version ignores and reports it. Version 1 has no seal: it is moved away
/// and never applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// The version of this format.
    pub v: u32,
    /// The seal of this project; empty until sealed.
    #[serde(default)]
    pub seal: String,
    /// All effects of the command, in order.
    pub effects: Vec<Effect>,
}

impl Pending {
    /// The current version.
    pub const VERSION: u32 = 2;
}

/// One path of a landing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandedFile {
    /// The path as git has it.
    pub path: Bytes,
    /// The mode and content id in `base`.
    pub before: Option<(String, String)>,
    /// The new mode and content id.
    pub after: Option<(String, String)>,
}

/// Bytes, as text if they are UTF-8, otherwise as hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Bytes {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Hex {
        /// Two digits for each byte.
        hex: String,
    },
}

impl Bytes {
    /// Encodes bytes.
    pub fn new(bytes: &[u8]) -> Self {
        if let Ok(text) = str::from_utf8(bytes) {
            return Self::Text(text.to_owned());
        }
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let hex = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
        Self::Hex { hex: hex.collect() }
    }

    /// Returns the bytes, or `None` if the digits are invalid.
    pub fn to_vec(&self) -> Option<Vec<u8>> {
        let hex = match self {
            Self::Text(text) => return Some(text.as_bytes().to_vec()),
            Self::Hex { hex } => hex.as_bytes(),
        };
        let pair = |pair: &[u8]| match pair {
            [high, low] => {
                let digit = |digit: u8| char::from(digit).to_digit(16);
                u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
            }
            _ => None,
        };
        hex.chunks(2).map(pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_kind_come_back_and_bad_digits_do_not() {
        for bytes in [&b""[..], b"text\n", b"\xff\x00\x0a", "\u{17c}".as_bytes()] {
            let written = serde_json::to_string(&Bytes::new(bytes)).unwrap();
            let read: Bytes = serde_json::from_str(&written).unwrap();
            assert_eq!(read.to_vec().unwrap(), bytes, "{written}");
        }
        for hex in ["0", "0g", "+1", "\u{17c}"] {
            let hex = hex.to_owned();
            assert_eq!(Bytes::Hex { hex }.to_vec(), None);
        }
    }

    #[test]
    fn effects_of_an_older_journal_are_read() {
        let older = r#"{"effects":[{"append":{"log":"l","record":"r"}},{"create":{"path":"p","contents":"c"}},"print"]}"#;
        let Intent::Effects(effects) = serde_json::from_str(older).unwrap() else {
            panic!("{older}");
        };
        assert_eq!(effects.len(), 3);
        assert_eq!(effects[2], Effect::Print);
    }
}
