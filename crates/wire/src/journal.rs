//! Records of rekindle's own journal, version 2: each line has a seal, which is no part of the body.
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
        /// What it and all that it starts have in their environment; older records have none.
        #[serde(default)]
        mark: Option<String>,
    },
    /// A plan that was agreed to is about to be carried out; it ends at once. Older readers leave
    /// it alone. With it every use of a plan leaves a line, also of one without effects.
    Agreed {
        /// The digest of the plan.
        digest: String,
    },
}

/// One effect; a relative path is below the project, an absolute one in a folder of the protocol's.
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
        contents: Bytes,
    },
    /// A file that is changed.
    Edit {
        /// The file.
        path: Utf8PathBuf,
        /// The fingerprint of what it held.
        before: String,
        /// What it is to hold.
        after: Bytes,
    },
    /// A folder that is moved to a place where nothing is.
    MoveFolder {
        /// Where it was.
        from: Utf8PathBuf,
        /// Where it goes.
        to: Utf8PathBuf,
    },
    /// A file that is moved to a place where nothing is.
    MoveFile {
        /// Where it was.
        from: Utf8PathBuf,
        /// Where it goes.
        to: Utf8PathBuf,
        /// The fingerprint of what it holds.
        contents: String,
    },
    /// A worktree's files that are to be one commit.
    Land {
        /// The task.
        task: String,
        /// The worktree, absolute.
        worktree: Utf8PathBuf,
        /// The commit that the worktree began with.
        base: String,
        /// The subject of the commit.
        subject: String,
        /// Folders at the worktree's top that take no part.
        leave_out: Vec<String>,
        /// What differs from `base`, by path.
        files: Vec<LandedFile>,
    },
    /// A worker of ours that is ended.
    EndWorker {
        /// The task.
        task: String,
    },
    /// Text that was to be printed, or something that only the host can do and that was shown;
    /// neither is repeated after a crash.
    Print,
}

/// What a drop-in command is about to do, version 2; there is no file when nothing is.
///
/// A reader of another version leaves it alone and says so. Version 1 has no seal: it is put aside
/// and never carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// The version of this form.
    pub v: u32,
    /// Proves that it was written for this project; empty until it is.
    #[serde(default)]
    pub seal: String,
    /// All effects of the command, in order.
    pub effects: Vec<Effect>,
}

impl Pending {
    /// The version that is written.
    pub const VERSION: u32 = 2;
}

/// One path of a landing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandedFile {
    /// The path as git has it.
    pub path: Bytes,
    /// What `base` has there, as mode and content id.
    pub before: Option<(String, String)>,
    /// What is to be there.
    pub after: Option<(String, String)>,
}

/// Bytes, as text where they are UTF-8 and as hexadecimal digits where they are not.
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
    /// Takes bytes as they are.
    pub fn new(bytes: &[u8]) -> Self {
        if let Ok(text) = str::from_utf8(bytes) {
            return Self::Text(text.to_owned());
        }
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let hex = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
        Self::Hex { hex: hex.collect() }
    }

    /// Returns the bytes, or `None` when the digits are none.
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
