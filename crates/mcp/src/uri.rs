//! Addresses of resources: `rekindle://workflow/ID/brief` and `…/documents/NAME`.

use rekindle_model::WorkflowId;
use rekindle_text::{percent_decoded, percent_encoded};

/// The templates of [`Address`], for clients.
pub(crate) const BRIEF: &str = "rekindle://workflow/{id}/brief";
pub(crate) const DOCUMENT: &str = "rekindle://workflow/{id}/documents/{+name}{?offset}";

const WORKFLOW: &str = "rekindle://workflow/";

/// The address of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// The workflow.
    pub(crate) id: String,
    /// The part of it.
    pub(crate) part: Part,
}

/// The parts of a workflow that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Its summary.
    Brief,
    /// A document, from an offset on.
    Document {
        /// The workflow's name for it.
        name: String,
        /// The offset, in bytes of the text that is shown.
        offset: usize,
    },
}

impl Address {
    /// Returns the address of a document.
    pub(crate) fn document(id: &WorkflowId, name: &str, offset: usize) -> Self {
        let (id, name) = (id.to_string(), name.to_owned());
        let part = Part::Document { name, offset };
        Self { id, part }
    }

    /// Parses an address; `None` if it is not one of ours.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        let (id, part) = uri.strip_prefix(WORKFLOW)?.split_once('/')?;
        let part = match part.split_once('/') {
            None if part == "brief" => Part::Brief,
            Some(("documents", rest)) => {
                let (name, query) = rest.split_once('?').unwrap_or((rest, "offset=0"));
                Part::Document {
                    name: percent_decoded(name)?,
                    offset: query.strip_prefix("offset=")?.parse().ok()?,
                }
            }
            Some(_) | None => return None,
        };
        let id = percent_decoded(id)?;
        Some(Self { id, part })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = encoded(&self.id, ":");
        match &self.part {
            Part::Brief => write!(f, "{WORKFLOW}{id}/brief"),
            Part::Document { name, offset } => {
                write!(f, "{WORKFLOW}{id}/documents/{}", encoded(name, "/"))?;
                match offset {
                    0 => Ok(()),
                    offset => write!(f, "?offset={offset}"),
                }
            }
        }
    }
}

/// Returns a text with all special characters of an address escaped, except `kept`.
fn encoded(text: &str, kept: &str) -> String {
    percent_encoded(text, |bytes, at| {
        let c = char::from(bytes[at]);
        c.is_ascii_alphanumeric() || "-._~".contains(c) || kept.contains(c)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rekindle_model::ProtocolName;

    use super::*;

    #[test]
    fn addresses_are_plain_where_names_are() {
        let id = WorkflowId::new(ProtocolName::new("agent-memory"), "2026-x");
        let address = Address::document(&id, "tasks/T 1.md", 0);
        assert_eq!(
            address.to_string(),
            "rekindle://workflow/agent-memory:2026-x/documents/tasks/T%201.md"
        );
    }

    #[test]
    fn other_addresses_are_not_ours() {
        for bad in [
            "",
            "file:///etc/passwd",
            "rekindle://workflow/x",
            "rekindle://workflow/x/other",
            "rekindle://workflow/x/brief/y",
            "rekindle://workflow/x/documents/a?offset=-1",
            "rekindle://workflow/x/documents/a?other=1",
            "rekindle://workflow/x/documents/%+1",
            "rekindle://workflow/x/documents/%zz",
            "rekindle://workflow/x/documents/%e",
            "rekindle://workflow/%ff/brief",
        ] {
            assert_eq!(Address::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn an_address_reads_back(id in any::<String>(), name in any::<String>(), offset in any::<usize>()) {
            for part in [Part::Brief, Part::Document { name, offset }] {
                let address = Address { id: id.clone(), part };
                prop_assert_eq!(Address::parse(&address.to_string()), Some(address));
            }
        }

        #[test]
        fn no_text_is_too_odd_to_be_read(uri in any::<String>()) {
            Address::parse(&format!("rekindle://workflow/{uri}"));
            Address::parse(&uri);
        }
    }
}
