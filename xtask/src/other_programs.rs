//! The programs of others that tests run, installed into the target folder.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use xtask::packages::{self, Package, Python};
use xtask::{files, run};

/// The Python SDK of MCP.
const SDK: Python = Python {
    packages: &[("mcp", "2.3.0")],
};
/// The MCP inspector, in the last version that runs on Node 20.
const INSPECTOR: Package = ("@modelcontextprotocol/inspector", "0.15.0");
/// The program whose counts of tasks are compared with ours.
const OPENSPEC: Package = ("@fission-ai/openspec", "1.13.2");
/// Drives the browser in which reports are opened, and judges how accessible they are.
const PLAYWRIGHT: Package = ("playwright-core", "1.65.1");
const AXE: Package = ("axe-core", "4.14.1");
/// What a Node project of a test depends on; it depends on another one itself.
const DEPENDENCY: Package = ("is-odd", "3.0.1");
/// The exact versions of the agent programs.
const AGENT_MANIFESTS: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs the missing programs; returns the environment variables that hold their paths.
pub(crate) fn install() -> Result<Vec<(&'static str, PathBuf)>, String> {
    let inspector = packages::node(INSPECTOR)?.join("node_modules/.bin/mcp-inspector");
    let mut variables = vec![
        ("REKINDLE_TEST_PYTHON", SDK.program("python")?),
        ("REKINDLE_TEST_INSPECTOR", inspector),
        (
            "REKINDLE_TEST_OPENSPEC",
            packages::node(OPENSPEC)?.join("node_modules/.bin/openspec"),
        ),
        (
            "REKINDLE_TEST_PLAYWRIGHT",
            packages::node(PLAYWRIGHT)?.join("node_modules/playwright-core/index.mjs"),
        ),
        (
            "REKINDLE_TEST_AXE",
            packages::node(AXE)?.join("node_modules/axe-core/axe.min.js"),
        ),
        (
            "REKINDLE_TEST_NODE_PROJECT",
            packages::node_cache(DEPENDENCY)?,
        ),
    ];
    match packages::MAPIFY.program("python") {
        Ok(python) => variables.push(("REKINDLE_MAP_PEER", python)),
        // The tests that need it then fail and say so.
        Err(problem) => eprintln!("error: {problem}"),
    }
    install_agents()?;
    Ok(variables)
}

/// Installs the released agent programs, unless their manifests are unchanged.
fn install_agents() -> Result<(), String> {
    let folder = run::target_folder()?.join("agents");
    let source = run::root().join("crates/rekindle/tests/real_agents");
    let is_same = |name: &&str| {
        let [wanted, found] = [&source, &folder].map(|folder| fs::read(folder.join(name)).ok());
        wanted.is_some() && wanted == found
    };
    let is_there = folder.join("node_modules/.package-lock.json").exists();
    if is_there && AGENT_MANIFESTS.iter().all(is_same) {
        return Ok(());
    }
    for name in AGENT_MANIFESTS {
        files::write(folder.join(name), files::read(source.join(name))?)?;
    }
    let mut install = Command::new("npm");
    install.arg("ci").args(packages::NPM_OPTIONS);
    let (installed, _) = run::timed("npm ci", || run::succeeds(install.current_dir(&folder)));
    if installed? {
        return Ok(());
    }
    Err(
        "cannot install the agent programs; try again when the npm registry can be reached"
            .to_owned(),
    )
}
