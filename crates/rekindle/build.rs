//! Finds the commit that is built, so that `rekindle --version` can name it.
//!
//! Only release builds have one: a commit would otherwise rebuild every test.
#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads what cargo says and runs git"
)]

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let commit = is_release.then(|| commit(Path::new(&folder))).flatten();
    let version = commit.map_or_else(|| version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=REKINDLE_VERSION={version}");
}

/// Returns the commit, with its day where git is asked: from cargo's note in a published package, else from git.
fn commit(folder: &Path) -> Option<String> {
    packaged(folder).or_else(|| checked_out(folder))
}

/// Reads the commit from the file that cargo adds to a package.
fn packaged(folder: &Path) -> Option<String> {
    let note = fs::read_to_string(folder.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = note.split_once("\"sha1\": \"")?;
    rest.get(..10).map(str::to_owned)
}

/// Asks git, unless the folder is a part of another project.
fn checked_out(folder: &Path) -> Option<String> {
    if git(folder, &["rev-parse", "--show-prefix"])? != "crates/rekindle/" {
        return None;
    }
    for name in ["HEAD", "logs/HEAD"] {
        let path = folder.join(git(folder, &["rev-parse", "--git-path", name])?);
        // Cargo runs this every time if a file is missing.
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    // Not `%h`, whose length depends on the number of objects; the day is that of Greenwich.
    let form = [
        "log",
        "-1",
        "--format=%H %cd",
        "--date=format-local:%Y-%m-%d",
    ];
    let commit = git(folder, &form)?;
    let (hash, day) = commit.split_once(' ')?;
    Some(format!("{} {day}", hash.get(..10)?))
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(arguments).env("TZ", "UTC");
    // A hook sets them, and they may name another repository.
    git.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    let done = git.output().ok()?;
    let text = String::from_utf8(done.stdout).ok()?;
    done.status.success().then(|| text.trim().to_owned())
}
