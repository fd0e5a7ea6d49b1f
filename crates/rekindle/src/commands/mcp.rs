//! The server for coding agents, which has the standard streams to itself.

use rekindle_app::Project;
use rekindle_wire::exit;

use crate::failure::Failure;

/// Serves the project of the folder that an agent was started in, which may be below the project's own.
pub(super) fn mcp(project: Project) -> Result<u8, Failure> {
    let project = rekindle_app::hook::nearest(&project).unwrap_or(project);
    rekindle_mcp::serve(project).map_err(Failure::of)?;
    Ok(exit::DONE)
}
