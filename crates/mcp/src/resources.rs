//! Resources: the documents of the workflows, and a summary of each workflow.

use rekindle_app::{Error, Query};
use rmcp::ErrorData;
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};

use crate::answer::cut;
use crate::brief::brief;
use crate::failure::Failure;
use crate::quote::quoted;
use crate::server::Desk;
use crate::uri::{self, Address, Part};

/// Resources per page of the list.
const A_PAGE: usize = 100;
/// The most open workflows whose documents are listed: each costs a call of its protocol. Documents
/// of other workflows can be read by their address.
const MOST_WORKFLOWS: usize = 20;

/// Lists the resources of the open workflows, starting at a cursor.
pub(crate) fn list(desk: &Desk, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let first: usize = match cursor {
        None => 0,
        Some(cursor) => cursor
            .parse()
            .map_err(|_| ErrorData::invalid_params("unknown cursor", None))?,
    };
    let overview = rekindle_app::status(&desk.project, rekindle_app::Listing::default());
    let open = overview.workflows.iter();
    let mut resources = Vec::new();
    for summary in open
        .filter(|summary| summary.state.is_open())
        .take(MOST_WORKFLOWS)
    {
        let id = &summary.id;
        let address = Address {
            id: id.to_string(),
            part: Part::Brief,
        };
        let about = format!("State of {id}");
        resources.push(resource(&address, "brief", &about));
        let query = query(id.to_string());
        // A workflow that was removed since it was listed has no documents.
        let Ok(found) = rekindle_app::documents(&desk.project, &query) else {
            continue;
        };
        for document in found.documents {
            let address = Address::document(id, &document.name, 0);
            let about = format!("`{}` of {id}", document.path);
            resources.push(resource(&address, &document.name, &about));
        }
    }
    let next = first.saturating_add(A_PAGE);
    let next_cursor = (next < resources.len()).then(|| next.to_string());
    let page = resources.into_iter().skip(first).take(A_PAGE).collect();
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = next_cursor;
    Ok(result)
}

/// Returns the templates of all addresses.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    [
        (uri::BRIEF, "brief", "A workflow's state in words"),
        (
            uri::DOCUMENT,
            "document",
            "A document of a workflow; a long one ends with the address of its next part",
        ),
    ]
    .map(|(template, name, about)| {
        ResourceTemplate::new(template, name)
            .with_description(about)
            .with_mime_type("text/plain")
    })
    .into()
}

/// Reads the resource at an address.
pub(crate) fn read(desk: &Desk, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let Some(address) = Address::parse(uri) else {
        let message = format!(
            "unknown address; known forms: {} and {}",
            uri::BRIEF,
            uri::DOCUMENT
        );
        return Err(ErrorData::resource_not_found(message, None));
    };
    let query = query(address.id);
    let text = match address.part {
        Part::Brief => brief(desk, &query).map_err(missing)?.text,
        Part::Document { name, offset } => document(desk, &query, &name, offset)?,
    };
    let contents = ResourceContents::text(text, uri);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn document(desk: &Desk, query: &Query, name: &str, offset: usize) -> Result<String, ErrorData> {
    let (id, document, bytes) =
        rekindle_app::document(&desk.project, query, name).map_err(missing)?;
    let text = String::from_utf8_lossy(&bytes);
    let Some((piece, next)) = cut(&text, offset) else {
        let message = format!("`{}` ends before byte {offset}", document.path);
        return Err(ErrorData::resource_not_found(message, None));
    };
    let shown = quoted(&format!("`{}`", document.path), piece);
    Ok(match next {
        Some(next) => {
            let rest = Address::document(&id, &document.name, next);
            format!("{shown}\nThe document continues at {rest}\n")
        }
        None => shown,
    })
}

fn missing(error: Error) -> ErrorData {
    ErrorData::resource_not_found(Failure::from(error).text(), None)
}

fn query(id: String) -> Query {
    Query {
        name: Some(id),
        ..Query::default()
    }
}

fn resource(address: &Address, name: &str, about: &str) -> Resource {
    Resource::new(address.to_string(), rekindle_text::printable(name))
        .with_description(rekindle_text::printable(about))
        .with_mime_type("text/plain")
}
