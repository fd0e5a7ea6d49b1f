//! The clients of others that the MCP server is tested with, installed by name below the target folder.

use std::path::PathBuf;

use crate::packages::{self, Package, Python};

/// The Python SDK.
const SDK: Python = Python {
    packages: &[("mcp", "2.3.0")],
};
/// The inspector, in the last version that runs on Node 20.
const INSPECTOR: Package = ("@modelcontextprotocol/inspector", "0.15.0");

/// Installs the clients where they are not there yet, and returns the variables that tell tests of them.
pub(crate) fn ready() -> Result<[(&'static str, PathBuf); 2], String> {
    let python = SDK.program("python")?;
    let inspector = packages::node(INSPECTOR)?.join("node_modules/.bin/mcp-inspector");
    Ok([
        ("REKINDLE_TEST_PYTHON", python),
        ("REKINDLE_TEST_INSPECTOR", inspector),
    ])
}
