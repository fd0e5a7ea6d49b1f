//! Why an agent's last turn in a project ended, version 1: one small file in `.rekindle/`.
//!
//! Hooks of agents write it and briefings read it. An older reader treats an unknown reason as an error
//! without a message; a newer reader finds all keys it needs. An older writer drops keys of newer
//! versions.

use serde::{Deserialize, Serialize};

/// The name and version of the format.
pub const STOPPED_SCHEMA: &str = "rekindle.stopped/1";

/// How an agent's last turn in a project ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// [`STOPPED_SCHEMA`].
    pub schema: String,
    /// The agent program, if known.
    pub agent: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// When it was recorded, UTC.
    pub at: String,
    /// The reason.
    #[serde(flatten)]
    pub why: WhyStopped,
}

impl Stopped {
    /// Returns it as it is written.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Texts only: all of it can be written as JSON.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Reads it, if its format is known.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let stopped: Self = serde_json::from_slice(bytes).ok()?;
        (stopped.schema == STOPPED_SCHEMA).then_some(stopped)
    }
}

/// Why an agent's turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum WhyStopped {
    /// The agent was done.
    Done,
    /// A usage limit was reached.
    Limit {
        /// Its end, UTC or in the program's own words.
        until: Option<String>,
    },
    /// An error ended it.
    Error {
        /// The error message, one line.
        reason: String,
    },
    /// A reason that this version does not know.
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_a_new_word_loses_nothing() {
        let stopped = Stopped {
            schema: STOPPED_SCHEMA.to_owned(),
            agent: Some("claude".to_owned()),
            session: None,
            at: "2026-01-20T12:00:00Z".to_owned(),
            why: WhyStopped::Limit {
                until: Some("3am".to_owned()),
            },
        };
        assert_eq!(
            String::from_utf8(stopped.to_bytes()).unwrap(),
            "{\"schema\":\"rekindle.stopped/1\",\"agent\":\"claude\",\"session\":null,\
             \"at\":\"2026-01-20T12:00:00Z\",\"why\":\"limit\",\"until\":\"3am\"}\n"
        );
        assert_eq!(Stopped::parse(&stopped.to_bytes()), Some(stopped.clone()));
        let newer = String::from_utf8(stopped.to_bytes())
            .unwrap()
            .replace("limit", "tired");
        let read = Stopped::parse(newer.as_bytes()).unwrap();
        assert_eq!(read.why, WhyStopped::Unknown);
        for bad in ["", "{}", "[]", &newer.replace("stopped/1", "stopped/2")] {
            assert_eq!(Stopped::parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
