//! What sessions of coding agents were told of a project, version 1: one small file in `.rekindle/`.
//!
//! Hooks write it so that a session is briefed once. An older reader takes a newer form for none and
//! briefs again; an older writer loses what a newer one has added, which costs one more briefing.

use serde::{Deserialize, Serialize};

/// The name and version of the form.
const SCHEMA: &str = "rekindle.told/1";
/// How many sessions are kept; older ones are briefed again.
const MOST: usize = 50;

/// What sessions were told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    schema: String,
    /// Oldest first.
    sessions: Vec<Session>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    id: String,
    /// What it was told of, in a line.
    state: String,
}

impl Default for Told {
    fn default() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            sessions: Vec::new(),
        }
    }
}

impl Told {
    /// Reads it; anything else than a form that is known is nothing.
    pub fn parse(bytes: &[u8]) -> Self {
        let told: Option<Self> = serde_json::from_slice(bytes).ok();
        told.filter(|told| told.schema == SCHEMA)
            .unwrap_or_default()
    }

    /// Returns what a session was told last.
    pub fn of(&self, session: &str) -> Option<&str> {
        let found = self.sessions.iter().find(|known| known.id == session);
        found.map(|known| known.state.as_str())
    }

    /// Returns the bytes with what a session is told now.
    pub fn with(mut self, session: &str, state: &str) -> Vec<u8> {
        self.sessions.retain(|known| known.id != session);
        self.sessions.push(Session {
            id: session.to_owned(),
            state: state.to_owned(),
        });
        let extra = self.sessions.len().saturating_sub(MOST);
        self.sessions.drain(..extra);
        // Texts only: there is nothing in it that cannot be written as JSON.
        let mut bytes = serde_json::to_vec(&self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_each_session_is_kept_and_old_sessions_are_dropped() {
        let first = Told::default().with("a", "1");
        let second = Told::parse(&first).with("a", "2");
        assert_eq!(Told::parse(&second).of("a"), Some("2"));
        let many = (0..200).fold(second, |bytes, n| {
            Told::parse(&bytes).with(&format!("s{n}"), "x")
        });
        let told = Told::parse(&many);
        assert_eq!((told.of("a"), told.of("s199")), (None, Some("x")));
        assert_eq!(told.sessions.len(), MOST);
        for bad in [
            &b"{"[..],
            b"[]",
            br#"{"schema":"rekindle.told/2","sessions":[]}"#,
        ] {
            assert_eq!(Told::parse(bad), Told::default());
        }
    }
}
