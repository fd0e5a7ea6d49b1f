//! The clients of others that the MCP server is tested with, installed by name below the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run;

/// The Python SDK, and its version.
const SDK: (&str, &str) = ("mcp", "2.3.0");
/// The inspector, in the last version that runs on Node 20.
const INSPECTOR: (&str, &str) = ("@modelcontextprotocol/inspector", "0.15.0");

/// What stands in a folder once everything is in it.
const DONE: &str = "installed";

/// Installs the clients where they are not there yet, and returns the tests that talk through them.
pub(crate) fn tests() -> Result<Command, String> {
    let python = installed("python", SDK, |folder| {
        let pip = folder.join("bin/pip");
        let package = format!("{}=={}", SDK.0, SDK.1);
        run_in(folder, "python3", &["-m", "venv", "."])?;
        let options = ["install", "--quiet", "--timeout", "60"];
        run_in(folder, &pip, &[&options[..], &[&package]].concat())
    })?;
    let node = installed("node", INSPECTOR, |folder| {
        let package = format!("{}@{}", INSPECTOR.0, INSPECTOR.1);
        // Without a package of its own, npm would look for one in the folders above.
        let manifest = folder.join("package.json");
        fs::write(&manifest, "{\"private\":true}\n").map_err(|e| cannot("write", &manifest, &e))?;
        let options = ["install", "--silent", "--no-audit", "--no-fund"];
        let limit = "--fetch-timeout=60000";
        run_in(folder, "npm", &[&options[..], &[limit, &package]].concat())
    })?;
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
    command.env("REKINDLE_TEST_PYTHON", python.join("bin/python"));
    let inspector = node.join("node_modules/.bin/mcp-inspector");
    command.env("REKINDLE_TEST_INSPECTOR", inspector);
    Ok(command)
}

/// Returns the folder of a client, after it was installed into it.
fn installed(
    kind: &str,
    (package, version): (&str, &str),
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| run::root().join("target"), PathBuf::from);
    // A relative path counts from where cargo was started, which is the workspace here.
    let folder = run::root()
        .join(target)
        .join("clients")
        .join(format!("{kind}-{version}"));
    let done = folder.join(DONE);
    if done.exists() {
        return Ok(folder);
    }
    println!("installing {package} {version}");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|e| cannot("remove", &folder, &e))?;
    }
    fs::create_dir_all(&folder).map_err(|e| cannot("make", &folder, &e))?;
    install(&folder)?;
    fs::write(&done, "").map_err(|e| cannot("write", &done, &e))?;
    Ok(folder)
}

fn run_in(
    folder: &Path,
    program: impl AsRef<std::ffi::OsStr>,
    args: &[&str],
) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder);
    if run::watched(&mut command)? {
        return Ok(());
    }
    let program = command.get_program().to_string_lossy();
    Err(format!("`{program} {}` failed", args.join(" ")))
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} `{}`: {error}", path.display())
}
