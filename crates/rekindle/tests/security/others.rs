//! Other users of the machine: their projects, their temporary files.

use std::os::unix::fs::MetadataExt as _;

use anyhow::{Result, ensure};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::conformance::Stage;
use rekindle_testkit::repository::{Project, WRITE, text};
use rekindle_testkit::sandbox::{Sandbox, quoted};
use rekindle_testkit::waves::{codes, dead, ready, scene};
use serde_json::json;

use crate::BINARY;

/// Gives a folder to somebody else, if this user may do that.
fn give_away(folder: &str) -> Result<bool> {
    let sandbox = Sandbox::new("/bin/sh")?;
    let script = format!(
        "[ $(id -u) = 0 ] && chown -R 65534:65534 {}",
        quoted(folder)
    );
    Ok(sandbox.run(&["-c", &script])?.code() == Some(0))
}

#[test]
fn a_repository_of_another_user_is_named_with_what_helps() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    if !give_away(&project.path().display().to_string())? {
        return Ok(());
    }
    let run = project.run(WRITE, &[]);
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{said}");
    ensure!(said.contains("belongs to another user"), "{said}");
    ensure!(
        said.contains("git config --global --add safe.directory"),
        "{said}"
    );
    assert!(!project.path().join(".agent-memory").exists(), "{said}");
    let doctor = project.rekindle(&["doctor"]);
    ensure!(
        text(&doctor.stdout).contains("safe.directory"),
        "{}",
        text(&doctor.stdout)
    );
    Ok(())
}

#[test]
fn a_workflow_of_another_user_can_be_looked_at() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    Run::interrupted("20260119-0900-orders-api-k2l3").lay_out(&sandbox)?;
    let resumed = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    ensure!(resumed.code() == Some(0), "{resumed}");
    // `.rekindle` is not for others: whoever they are, they see what the project itself says.
    let nobody = r#"cp "$1" "$0"; chmod a+rx "$0"; shift; exec setpriv --reuid=65534 --regid=65534 --clear-groups "$0" "$@""#;
    let copy = sandbox.root().join("rekindle");
    let open = format!(
        "chmod a+rx {}; [ $(id -u) = 0 ] && command -v setpriv",
        quoted(sandbox.root().as_str())
    );
    let open = sandbox.typed(&[]).through(&["sh", "-c", &open]).run()?;
    if open.code() != Some(0) {
        return Ok(());
    }
    for args in [&["status"][..], &["inspect"], &["plan"], &["doctor"]] {
        let typed = sandbox
            .typed(args)
            .through(&["sh", "-c", nobody, copy.as_str()]);
        let ran = typed.run()?;
        ensure!(matches!(ran.code(), Some(0 | 1)), "{args:?}: {ran}");
        ensure!(
            ran.stdout().contains("orders") || args == ["doctor"],
            "{args:?}: {ran}"
        );
    }
    let typed = sandbox.typed(&["resume", "--yes", "--no-agent"]);
    let ran = typed.through(&["sh", "-c", nobody, copy.as_str()]).run()?;
    ensure!(
        ran.code() == Some(1) && ran.stderr().contains("Permission denied"),
        "{ran}"
    );
    Ok(())
}

/// The folder of kiln-teams' worktrees stands in a shared folder by default, where anybody could be first.
#[test]
fn a_folder_of_worktrees_that_belongs_to_another_user_is_not_used() -> Result<()> {
    let stage = Stage::new(
        BINARY,
        &scene(&[ready(1, 1, json!({"a": "a\n"})), dead(1, 2)]),
    )?;
    if !give_away(stage.root().as_str())? {
        return Ok(());
    }
    let ran = stage.resume(&["--agent-cmd", "true"])?;
    ensure!(ran.code() == Some(1), "{ran}");
    ensure!(codes(&stage.inspected()?).contains(&"UNTRUSTED_ROOT"));
    assert_eq!(stage.log()?, [""; 0]);
    assert!(stage.worktree(1, 2).join("junk.txt").exists());
    Ok(())
}

/// The demo runs what stands in its folder, so nobody else may have made that.
#[test]
fn the_demo_uses_no_folder_that_somebody_else_prepared() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let shared = sandbox.root().join("shared");
    fs_err::create_dir(&shared)?;
    // `exec` keeps the process, so that its number is known here.
    let prepare = r#"mkdir "$TMPDIR/rekindle-demo-$$"; exec "$@""#;
    let typed = sandbox.typed(&["demo"]).with("TMPDIR", shared.as_str());
    let ran = typed
        .without("REKINDLE_NOW")
        .through(&["sh", "-c", prepare, "sh"])
        .run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    let mut made = Vec::new();
    for entry in shared.read_dir_utf8()? {
        let path = entry?.into_path();
        made.push((
            path.read_dir_utf8()?.count() > 0,
            path.metadata()?.mode() & 0o777,
        ));
    }
    made.sort_unstable();
    assert_eq!(made.len(), 2);
    ensure!(!made[0].0, "somebody else's folder is as it was");
    assert_eq!(made[1], (true, 0o700));
    Ok(())
}

/// Temporary files have names that nobody can foresee, in a folder of our own, and are gone afterwards.
#[test]
fn temporary_files_are_private_and_gone_afterwards() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let shared = tempfile::tempdir()?;
    let shared = shared.path().display();
    // The agent looks while the run is at work; the check looks while it lands.
    let look = format!("ls -lA {shared} >> {shared}.seen");
    let line = format!(
        "chmod 1777 {shared}; export TMPDIR={shared}; {BINARY} run plan.json --branch result --yes --verify {} --agent-cmd {}",
        quoted(&look),
        quoted(&format!("cat > /dev/null; {look}; echo x > A.txt"))
    );
    let run = project.shell(&line);
    ensure!(run.status.success(), "{}", text(&run.stderr));
    let seen = fs_err::read_to_string(format!("{shared}.seen"))?;
    fs_err::remove_file(format!("{shared}.seen"))?;
    for entry in seen.lines().filter(|line| !line.starts_with("total")) {
        ensure!(
            entry.starts_with("drwx------") || entry.starts_with("-rw-------"),
            "{entry}"
        );
    }
    let left = project.shell(&format!("ls -A {shared}"));
    assert_eq!(text(&left.stdout), "");
    Ok(())
}
