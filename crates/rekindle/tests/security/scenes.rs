//! Workflows of every protocol, as they stand in the conformance cases, and everything that looks at them.

use anyhow::{Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::conformance::{Case, Scene};
use rekindle_testkit::sandbox::{Ran, Sandbox};

use crate::BINARY;

/// A few cases of each protocol in which much is written down.
pub(crate) const CASES: &[(&str, &[&str])] = &[
    (
        "agent-memory",
        &["06-phase2-mid-deps", "04-phase1-awaiting-approval"],
    ),
    ("bifrost", &["05-tasks-complete", "20-active-error"]),
    ("kiln", &["05-execution-mid-phase", "11-validation-blocked"]),
    ("kiln-teams", &["01-crash-mid-wave"]),
    ("map", &["20-monitor-failed-once", "51-waves-parallel-mid"]),
];

/// Returns the cases of a protocol.
pub(crate) fn cases(protocol: &str) -> &'static [&'static str] {
    let found = CASES.iter().find(|(name, _)| *name == protocol);
    found.map_or(&[], |(_, cases)| cases)
}

/// Lays a case out.
pub(crate) fn lay_out(protocol: &str, case: &str) -> Result<Sandbox> {
    let top = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let case = Case::load(&top.join(protocol).join(case))?;
    Ok(Scene::lay_out_in_memory(&case)?.into_sandbox(BINARY))
}

/// Returns every file and folder of the workflow: in the project, and where its protocol keeps things in the home.
pub(crate) fn places(sandbox: &Sandbox) -> Result<Vec<Utf8PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![sandbox.project().to_owned(), sandbox.root().join("home")];
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir_utf8()? {
            let entry = entry?;
            if [".git", ".rekindle"].contains(&entry.file_name()) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                open.push(entry.path().to_owned());
            }
            found.push(entry.into_path());
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the files among the places.
pub(crate) fn files(sandbox: &Sandbox) -> Result<Vec<Utf8PathBuf>> {
    let mut places = places(sandbox)?;
    places.retain(|path| path.is_file());
    Ok(places)
}

/// Runs a command; whatever it meets, it ends by itself, with a code that is documented.
pub(crate) fn run(sandbox: &Sandbox, args: &[&str]) -> Result<Ran> {
    let ran = sandbox.run(args)?;
    check(&ran, args)?;
    Ok(ran)
}

/// Checks that a command ended by itself, with a code that is documented.
pub(crate) fn check(ran: &Ran, args: &[&str]) -> Result<()> {
    ensure!(matches!(ran.code(), Some(0..=4)), "{args:?}: {ran}");
    ensure!(!ran.stderr().contains("panicked"), "{args:?}: {ran}");
    Ok(())
}

/// Returns all that stands below a folder, with the bytes of files and the targets of links, as one text.
pub(crate) fn contents(folder: &Utf8Path) -> Result<String> {
    let mut lines = Vec::new();
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        lines.push(if kind.is_dir() {
            format!("{path}/\n{}", contents(path)?)
        } else if kind.is_symlink() {
            format!("{path} -> {}", path.read_link_utf8()?)
        } else {
            format!("{path}\n{}", String::from_utf8_lossy(&fs_err::read(path)?))
        });
    }
    lines.sort();
    Ok(lines.join("\n"))
}
