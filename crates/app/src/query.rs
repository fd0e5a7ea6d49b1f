//! How a person named a workflow.

use rekindle_model::{LastLife, OfferKind, ProtocolName, WorkflowId};
use rekindle_protocol::{Doing, ResumeOption};

/// The workflow that a person named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// The protocol, where one was named.
    pub protocol: Option<ProtocolName>,
    /// The given name of the workflow.
    pub name: Option<String>,
    /// The options that only some protocols support.
    pub options: Vec<(ResumeOption, String)>,
    /// The offers of the protocol that a person accepted.
    pub accepted: Vec<OfferKind>,
    /// Whether other workflows are irrelevant, so that they need not be read.
    pub alone: bool,
    /// What sessions of coding agents in the project were doing, where that is shown.
    pub sessions: Vec<Doing>,
    /// How the last rekindle that worked on it ended, where that is known.
    pub last_life: Option<LastLife>,
}

impl Query {
    /// Returns the same query for one workflow.
    pub(crate) fn of(&self, protocol: ProtocolName, name: Option<String>) -> Self {
        Self {
            protocol: Some(protocol),
            name,
            ..self.clone()
        }
    }

    /// Returns a query for one workflow that reads no other, where its protocol can do that.
    pub(crate) fn only(id: &WorkflowId) -> Self {
        Self {
            alone: true,
            ..Self::default().of(id.protocol, Some(id.name.clone()))
        }
    }

    /// Returns the requested protocol and name; the name may contain the protocol.
    pub(crate) fn parts(&self) -> (Option<ProtocolName>, Option<String>) {
        let Some(text) = &self.name else {
            return (self.protocol, None);
        };
        let (named, rest) = rekindle_registry::split(text);
        match (self.protocol, named) {
            // If the protocol is given separately, a colon in the name is part of the name.
            (Some(protocol), Some(named)) if protocol != named => {
                (Some(protocol), Some(text.clone()))
            }
            (protocol, named) => (protocol.or(named), Some(rest.to_owned())),
        }
    }
}
