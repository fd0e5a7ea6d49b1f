//! Rules for every file of the repository that no lint checks: its length, and its words.
//!
//! Files that still break a rule are in an allow list next to this one. With `REKINDLE_UPDATE_ALLOWED=1`
//! the tests write the lists anew.

mod length;
mod literals;
mod phrases;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use xtask::{files, run};

/// Fails on every violation that is not in the allow list; `violations` have a line for the list, and a message.
fn check(allow_list: &str, violations: Vec<(String, String)>) -> Result<(), String> {
    let path = run::root().join("xtask/tests/house_rules").join(allow_list);
    if std::env::var_os("REKINDLE_UPDATE_ALLOWED").is_some() {
        let lines: BTreeSet<String> = violations
            .into_iter()
            .map(|(line, _)| line + "\n")
            .collect();
        return files::write(path, lines.into_iter().collect::<String>());
    }
    let allowed = files::read(&path)?;
    let new: Vec<String> = violations
        .into_iter()
        .filter(|(line, _)| !allowed.lines().any(|allowed| allowed == line))
        .map(|(_, message)| message)
        .collect();
    assert!(
        new.is_empty(),
        "{} found:\n  {}",
        new.len(),
        new.join("\n  ")
    );
    Ok(())
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
