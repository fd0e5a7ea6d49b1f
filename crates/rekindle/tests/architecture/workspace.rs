//! The workspace as cargo sees it, and its source files.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

/// What `cargo metadata --no-deps` says.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

/// One crate of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: Utf8PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) targets: Vec<Target>,
}

/// One line of a crate's dependencies.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `dev`, `build`, or nothing.
    pub(crate) kind: Option<String>,
    pub(crate) optional: bool,
    pub(crate) uses_default_features: bool,
    pub(crate) features: Vec<String>,
}

impl Dependency {
    pub(crate) fn is_for_tests(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

/// Something that cargo builds.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) src_path: Utf8PathBuf,
}

/// Asks cargo about the workspace.
pub(crate) fn metadata() -> anyhow::Result<Metadata> {
    let text = cargo(&["metadata", "--no-deps", "--format-version", "1"])?;
    Ok(serde_json::from_str(&text)?)
}

/// Runs cargo in the workspace and returns what it printed.
#[expect(
    clippy::disallowed_methods,
    reason = "a test asks cargo about the workspace"
)]
pub(crate) fn cargo(args: &[&str]) -> anyhow::Result<String> {
    let done = Command::new(env!("CARGO"))
        .args(args)
        .current_dir(root())
        .output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(
        done.status.success(),
        "`cargo {}` said: {said}",
        args.join(" ")
    );
    Ok(String::from_utf8(done.stdout)?)
}

/// Returns the workspace's folder.
pub(crate) fn root() -> &'static Utf8Path {
    let here = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

/// Returns the folders of all crates, `xtask` and `benches` included.
pub(crate) fn crate_folders() -> anyhow::Result<Vec<Utf8PathBuf>> {
    let mut folders = vec![root().join("benches"), root().join("xtask")];
    for above in ["crates", "crates/protocols"] {
        for entry in root().join(above).read_dir_utf8()? {
            let entry = entry?;
            if entry.path().join("Cargo.toml").exists() {
                folders.push(entry.into_path());
            }
        }
    }
    folders.sort();
    Ok(folders)
}

/// Returns every Rust file below a folder, in order; a folder that does not exist has none.
pub(crate) fn rust_files(folder: &Utf8Path) -> anyhow::Result<Vec<Utf8PathBuf>> {
    let mut files = Vec::new();
    if folder.is_dir() {
        collect(folder, &mut files).with_context(|| format!("cannot list {folder}"))?;
    }
    files.sort();
    Ok(files)
}

fn collect(folder: &Utf8Path, files: &mut Vec<Utf8PathBuf>) -> std::io::Result<()> {
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(entry.path(), files)?;
        } else if entry.path().extension() == Some("rs") {
            files.push(entry.into_path());
        }
    }
    Ok(())
}

/// Returns a path as one would type it in the workspace.
pub(crate) fn short(path: &Utf8Path) -> &Utf8Path {
    path.strip_prefix(root()).unwrap_or(path)
}

/// Fails with every fault, one a line.
#[track_caller]
pub(crate) fn none(faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{} found:\n  {}",
        faults.len(),
        faults.join("\n  ")
    );
}
