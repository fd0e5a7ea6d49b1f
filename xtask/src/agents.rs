//! The released agent programs that tests run against, installed into the target folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run;

/// What is installed, in exactly which versions.
const MANIFESTS: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs the programs if they are not there in the versions that are wanted.
pub(crate) fn ready() -> Result<(), String> {
    let folder = run::target_folder()?.join("agents");
    let source = run::root().join("crates/rekindle/tests/real_agents");
    let is_there = folder.join("node_modules/.package-lock.json").exists();
    if is_there && MANIFESTS.iter().all(|name| is_same(&source, &folder, name)) {
        return Ok(());
    }
    fs::create_dir_all(&folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    for name in MANIFESTS {
        fs::copy(source.join(name), folder.join(name))
            .map_err(|e| format!("cannot copy `{name}` into the target folder: {e}"))?;
    }
    let mut install = Command::new("npm");
    // Nothing of what is installed runs while it is installed.
    install
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(&folder);
    let (installed, _) = run::timed("npm ci", || run::watched(&mut install));
    if installed? {
        return Ok(());
    }
    Err("the agent programs could not be installed; run it again when the npm registry can be reached".to_owned())
}

fn is_same(source: &Path, folder: &Path, name: &str) -> bool {
    match (fs::read(source.join(name)), fs::read(folder.join(name))) {
        (Ok(wanted), Ok(found)) => wanted == found,
        (Err(_), _) | (_, Err(_)) => false,
    }
}
