//! The clients of others that the MCP server is tested with, installed by name below the target folder.

use std::process::Command;

use crate::packages::{self, Package, Python};
use crate::run;

/// The Python SDK.
const SDK: Python = Python {
    packages: &[("mcp", "2.3.0")],
};
/// The inspector, in the last version that runs on Node 20.
const INSPECTOR: Package = ("@modelcontextprotocol/inspector", "0.15.0");

/// Installs the clients where they are not there yet, and returns the tests that talk through them.
pub(crate) fn tests() -> Result<Command, String> {
    let python = SDK.program("python")?;
    let node = packages::node(INSPECTOR)?;
    let mut command = run::cargo(&[
        "test",
        "--no-fail-fast",
        "--package",
        "rekindle",
        "--features",
        "mcp-clients",
        "--test",
        "mcp_clients",
    ]);
    command.env("REKINDLE_TEST_PYTHON", python);
    let inspector = node.join("node_modules/.bin/mcp-inspector");
    command.env("REKINDLE_TEST_INSPECTOR", inspector);
    Ok(command)
}
