//! Names: protocols, and workflows within them.
//!
//! A workflow's name is the protocol's own spelling (a run id, a feature, a
//! branch) and stays opaque text.

use std::fmt;
use std::str::FromStr;

/// One of the ways of keeping workflow state on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProtocolName {
    /// Event-sourced runs under `.agent-memory/runs/`.
    AgentMemory,
    /// A project whose memory is in `~/.claude/projects/<encoded>/memory/`.
    Kiln,
    /// Waves of workers in worktrees, kept in `.kiln/STATE.md` and a Teams task list.
    KilnTeams,
    /// Features under `specs/`, each with checkpoints in its `session.md`.
    Bifrost,
    /// MAP workflows, one a branch, kept in `.map/<branch>/step_state.json`.
    Map,
}

impl ProtocolName {
    /// Every protocol that is built, in the order in which they are shown.
    pub const ALL: &'static [Self] = &[
        Self::AgentMemory,
        Self::Kiln,
        Self::KilnTeams,
        Self::Bifrost,
        Self::Map,
    ];

    /// Returns the name as people type it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AgentMemory => "agent-memory",
            Self::Kiln => "kiln",
            Self::KilnTeams => "kiln-teams",
            Self::Bifrost => "bifrost",
            Self::Map => "map",
        }
    }
}

impl fmt::Display for ProtocolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a name is not one of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseIdError {
    /// The text names no protocol.
    #[error("`{0}` is not a protocol")]
    Protocol(String),
}

impl FromStr for ProtocolName {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|name| name.as_str() == text)
            .ok_or_else(|| ParseIdError::Protocol(text.to_owned()))
    }
}

/// A workflow: one unit of work that a protocol keeps, shown as `protocol:name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkflowId {
    /// The protocol that keeps it.
    pub protocol: ProtocolName,
    /// The protocol's own name for it.
    pub name: String,
}

impl WorkflowId {
    /// Returns the id of `name` under `protocol`.
    pub fn new(protocol: ProtocolName, name: impl Into<String>) -> Self {
        Self {
            protocol,
            name: name.into(),
        }
    }

    /// Splits what a person typed into a protocol, where one is named, and the rest.
    ///
    /// A name may hold a colon of its own, so only a known protocol before the first colon counts.
    pub fn split(text: &str) -> (Option<ProtocolName>, &str) {
        match text.split_once(':') {
            Some((protocol, name)) => match protocol.parse() {
                Ok(protocol) => (Some(protocol), name),
                Err(_) => (None, text),
            },
            None => (None, text),
        }
    }
}

impl fmt::Display for WorkflowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.protocol, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_split_only_at_a_known_protocol() {
        let known = Some(ProtocolName::AgentMemory);
        assert_eq!(WorkflowId::split("agent-memory:a:b"), (known, "a:b"));
        assert_eq!(WorkflowId::split("phase-1:exec"), (None, "phase-1:exec"));
        assert_eq!(WorkflowId::split("plain"), (None, "plain"));
    }

    #[test]
    fn every_protocol_name_reads_back() {
        for name in ProtocolName::ALL {
            assert_eq!(name.as_str().parse(), Ok(*name));
        }
    }
}
