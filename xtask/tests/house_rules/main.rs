//! Rules for every file of the repository that no lint checks: its length, and its words.

mod length;
mod literals;
mod packages;
mod phrases;

use std::path::{Path, PathBuf};

use xtask::{files, run};

/// Fails on every violation.
fn check(violations: &[String]) {
    assert!(
        violations.is_empty(),
        "{} found:\n  {}",
        violations.len(),
        violations.join("\n  ")
    );
}

/// Returns all files below a folder of the workspace whose names end like this.
fn files_below(folder: &str, ending: &str) -> Result<Vec<PathBuf>, String> {
    let mut paths = files::list_all(&run::root().join(folder))?;
    paths.retain(|path| path.to_string_lossy().ends_with(ending));
    Ok(paths)
}

/// Returns a path relative to the workspace.
fn short(path: &Path) -> String {
    let root = run::root();
    let path = path.strip_prefix(&root).unwrap_or(path);
    path.to_string_lossy().into_owned()
}
