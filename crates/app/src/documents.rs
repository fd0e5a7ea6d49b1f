//! The documents of a workflow.

use camino::Utf8Path;
use rekindle_model::{WorkflowDocument, WorkflowId};
use rekindle_world::World;

use crate::choose::{chosen, inspect_world};
use crate::inspect::Inspected;
use crate::{Error, Project, Query};

/// The largest document that is read; larger files are logs or mistakes.
const LARGEST: u64 = 8 * 1024 * 1024;

/// The documents of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Documents {
    /// The workflow.
    pub id: WorkflowId,
    /// Existing documents, in the protocol's order.
    pub documents: Vec<WorkflowDocument>,
}

/// Lists the documents of a workflow that exist and are inside the project.
pub fn documents(project: &Project, query: &Query) -> Result<Documents, Error> {
    let world = project.world();
    let inspected = inspect_world(&world, query)?;
    let id = chosen(&inspected, query)?;
    let documents = inside(&world, &inspected);
    Ok(Documents { id, documents })
}

/// Reads a document by the workflow's name for it.
pub fn document(
    project: &Project,
    query: &Query,
    name: &str,
) -> Result<(WorkflowId, WorkflowDocument, Vec<u8>), Error> {
    let world = project.world();
    let inspected = inspect_world(&world, query)?;
    let id = chosen(&inspected, query)?;
    let mut documents = inside(&world, &inspected).into_iter();
    let Some(document) = documents.find(|document| document.name == name) else {
        let name = name.to_owned();
        return Err(Error::UnknownDocument { id, name });
    };
    let path = world.project().join(&document.path);
    match world.read(&path, LARGEST) {
        Ok(bytes) => Ok((id, document, bytes)),
        Err(reason) => Err(Error::Unreadable { path, reason }),
    }
}

fn inside(world: &dyn World, inspected: &Inspected) -> Vec<WorkflowDocument> {
    let mut documents = inspected.case.belongings().documents;
    documents.retain(|document| is_inside(world, &document.path));
    documents
}

/// Returns whether a file exists and no link on its path leads out of the project.
fn is_inside(world: &dyn World, path: &Utf8Path) -> bool {
    let path = world.project().join(path);
    let project = world.resolve(world.project());
    let (Ok(project), Ok(real)) = (project, world.resolve(&path)) else {
        return false;
    };
    real.starts_with(&project) && world.is_file(&real)
}
