//! Names: protocols, and workflows within them.
//!
//! A workflow's name is the protocol's own spelling (a run id, a feature, a
//! branch) and stays opaque text.

use std::fmt;

/// The name of a protocol, as people type it.
///
/// The protocols themselves are listed in the crate `registry` and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolName(&'static str);

/// Protocols whose workflows' ids begin with another word than their name: the name is a plural.
const PREFIXES: [(&str, &str); 1] = [("sessions", "session")];

impl ProtocolName {
    /// Returns the name of a protocol; only the protocol itself and tests make one.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the name as text.
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// Returns what its workflows' ids begin with.
    pub fn prefix(self) -> &'static str {
        let mut prefixes = PREFIXES.iter();
        let other = prefixes.find(|(name, _)| *name == self.0);
        other.map_or(self.0, |(_, prefix)| prefix)
    }
}

impl fmt::Display for ProtocolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
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
}

impl fmt::Display for WorkflowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.protocol.prefix(), self.name)
    }
}
