//! Who else may read and write what rekindle makes.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt};

use anyhow::{Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::repository::{Project, WRITE, text};

use crate::BINARY;

/// Returns all files and folders below one, and itself, with their modes.
fn modes(folder: &Utf8Path) -> Result<Vec<(Utf8PathBuf, u32)>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = path.symlink_metadata()?;
        if metadata.is_dir() {
            for entry in path.read_dir_utf8()? {
                open.push(entry?.into_path());
            }
        }
        found.push((path, metadata.mode() & 0o777));
    }
    Ok(found)
}

/// Runs a plan under an umask and returns the project.
fn run_under(umask: &str) -> Result<(Project, Utf8PathBuf)> {
    let project = Project::new(BINARY);
    project.plan("A B");
    let agent = "cat > /dev/null; echo x > $REKINDLE_TASK.txt; [ $REKINDLE_TASK = A ]";
    let line = format!(
        "umask {umask}; {BINARY} run plan.json --branch result --yes --retries 0 --agent-cmd '{agent}'"
    );
    let run = project.shell(&line);
    ensure!(run.status.code() == Some(1), "{}", text(&run.stderr));
    let path = Utf8PathBuf::try_from(project.path())?;
    Ok((project, path))
}

#[test]
fn prompts_and_output_of_agents_are_private() -> Result<()> {
    for umask in ["000", "022", "077"] {
        let (_project, path) = run_under(umask)?;
        let mode = path.join(".rekindle").metadata()?.mode() & 0o777;
        assert_eq!(mode, 0o700, "umask {umask}: {mode:o}");
    }
    Ok(())
}

#[test]
fn a_project_that_a_group_works_in_lets_the_group_in_and_nobody_else() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let path = Utf8PathBuf::try_from(project.path())?;
    fs_err::set_permissions(&path, PermissionsExt::from_mode(0o775))?;
    let line =
        format!("umask 002; {BINARY} run plan.json --branch result --yes --agent-cmd '{WRITE}'");
    let run = project.shell(&line);
    ensure!(run.status.success(), "{}", text(&run.stderr));
    let mode = path.join(".rekindle").metadata()?.mode() & 0o777;
    assert_eq!(mode, 0o770, "{mode:o}");
    Ok(())
}

#[test]
fn a_strict_umask_holds_for_everything_that_is_made() -> Result<()> {
    let (_project, path) = run_under("077")?;
    for top in [".rekindle", ".agent-memory"] {
        for (path, mode) in modes(&path.join(top))? {
            assert_eq!(mode & 0o077, 0, "{path}: {mode:o}");
        }
    }
    Ok(())
}

/// The name of a workflow comes from a clone, and so could be that of any page of the project.
#[test]
fn a_report_is_private_and_takes_the_place_of_no_other_file() -> Result<()> {
    let (project, path) = run_under("022")?;
    let written = |arguments: &[&str]| -> Result<String> {
        let ran = project.rekindle(arguments);
        ensure!(ran.status.success(), "{}", text(&ran.stderr));
        let said = text(&ran.stdout);
        let name = said.split_whitespace().nth(1).unwrap_or_default();
        Ok(name.to_owned())
    };
    let first = written(&["report"])?;
    assert_eq!(path.join(&first).metadata()?.mode() & 0o777, 0o600);
    fs_err::write(path.join(&first), "a page of mine")?;
    let second = written(&["report"])?;
    assert_eq!(second, first.replace(".html", "-2.html"));
    assert_eq!(fs_err::read_to_string(path.join(&first))?, "a page of mine");
    // A file that a person names is theirs to replace.
    written(&["report", "-o", &first])?;
    assert!(fs_err::read_to_string(path.join(&first))?.starts_with("<!doctype html>"));
    Ok(())
}

#[test]
fn no_file_that_is_made_can_be_executed() -> Result<()> {
    let (_project, path) = run_under("022")?;
    for top in [".rekindle/runs", ".rekindle/locks", ".agent-memory"] {
        for (path, mode) in modes(&path.join(top))? {
            ensure!(path.is_dir() || mode & 0o111 == 0, "{path}: {mode:o}");
        }
    }
    Ok(())
}
