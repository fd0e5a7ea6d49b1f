//! The server for coding agents, which has the standard streams to itself.

use rekindle_app::Project;
use rekindle_wire::exit;

use crate::failure::Failure;

pub(super) fn mcp(project: Project) -> Result<u8, Failure> {
    rekindle_mcp::serve(project).map_err(Failure::of)?;
    Ok(exit::DONE)
}
