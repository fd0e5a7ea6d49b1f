//! Workflows that no session is told of: a list of ids in `.rekindle/muted`, one a line.

use rekindle_fs::Content;
use rekindle_model::WorkflowId;
use rekindle_world::World as _;

use crate::{Error, Project, Query};

/// A list of a thousand names is shorter.
const LARGEST: u64 = 256 * 1024;

/// Whether sessions are told of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hearing {
    /// No session is told of it any more.
    Muted,
    /// Sessions are told of it.
    Told,
}

/// Sets whether sessions are told of a workflow. Returns its id.
///
/// # Errors
/// When no such workflow is here, or the list cannot be written.
pub fn mute(project: &Project, query: &Query, hearing: Hearing) -> Result<WorkflowId, Error> {
    let inspected = crate::choose::inspect_world(&project.world(), query)?;
    let id = crate::choose::chosen(&inspected, query)?;
    let folder = project.state();
    folder.ensure()?;
    let path = folder.muted()?;
    let noted = rekindle_fs::read_within(project.folder(), &path, LARGEST)?;
    let content = noted.as_deref().map_or(Content::Absent, Content::of);
    let text = String::from_utf8_lossy(noted.as_deref().unwrap_or_default()).into_owned();
    let line = id.to_string();
    let mut lines: Vec<&str> = text.lines().filter(|known| *known != line).collect();
    if hearing == Hearing::Muted {
        lines.push(&line);
    }
    lines.push("");
    let after = lines.join("\n");
    if after != text {
        rekindle_fs::replace(&path, &content, after.as_bytes())?;
    }
    Ok(id)
}

/// Returns the ids of the muted workflows; a list that cannot be read mutes nothing.
pub(crate) fn muted(project: &Project) -> Vec<String> {
    let Ok(path) = project.state().muted() else {
        return Vec::new();
    };
    let bytes = project.world().read(&path, LARGEST).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().map(str::to_owned).collect()
}
