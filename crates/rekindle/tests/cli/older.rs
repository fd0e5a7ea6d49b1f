//! A project that rekindle 0.1.0 was killed in, with all that it left; `tests/compatibility/README.md` says how it was made.

use std::os::unix::fs::PermissionsExt;

use anyhow::{Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::sandbox::{Ran, Sandbox};

use crate::BINARY;

const RUN: &str = "20261119-0603-orders-api-b969";
const DONE: &str = "20261119-0603-greeting-ce90";
const SETTINGS: &str = "20260119-0900-user-settings-e6f7";
/// A minute after the kill.
const AFTER: &str = "2026-11-19T06:05:00Z";

/// Lays out one of the projects, as if it had never been anywhere else.
fn laid_out(name: &str) -> Result<Sandbox> {
    let sandbox = Sandbox::new(BINARY)?;
    let here = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixture = here.join("../../tests/compatibility/0.1").join(name);
    for folder in ["agent-memory", "rekindle"] {
        copy(&sandbox, &fixture.join(folder), &format!(".{folder}"))?;
    }
    if fixture.join("repository.export").exists() {
        let history = fs_err::read_to_string(fixture.join("repository.export"))?;
        git(&sandbox, "init --quiet -b main", "")?;
        git(&sandbox, "fast-import --quiet", &history)?;
        git(&sandbox, "checkout --quiet main", "")?;
    }
    Ok(sandbox)
}

fn copy(sandbox: &Sandbox, from: &Utf8Path, to: &str) -> Result<()> {
    for entry in from.read_dir_utf8()? {
        let entry = entry?;
        // Git would take the name with a dot for its own.
        let name = entry.file_name().replace("gitignore", ".gitignore");
        let to = format!("{to}/{name}");
        if entry.file_type()?.is_dir() {
            copy(sandbox, entry.path(), &to)?;
            continue;
        }
        let text = fs_err::read_to_string(entry.path())?;
        sandbox.write(&to, text.replace("[PROJECT]", sandbox.project().as_str()))?;
    }
    // As 0.1.0 made them; git keeps no such bits.
    fs_err::set_permissions(sandbox.path(to), PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// The attempt that was killed has a worktree with half of its work in it.
fn with_worktree(sandbox: &Sandbox) -> Result<()> {
    let folder = format!(".rekindle/worktrees/agent-memory-{RUN}/T002");
    git(
        sandbox,
        &format!("worktree add --quiet --detach {folder} main"),
        "",
    )?;
    sandbox.write(format!("{folder}/half-T002.txt"), "half\n")?;
    Ok(())
}

fn git(sandbox: &Sandbox, words: &str, input: &str) -> Result<Ran> {
    let line = format!("git {words}");
    let typed = sandbox.typed(&[]).through(&["sh", "-c", &line]);
    let ran = typed.answering(input).run()?;
    ensure!(ran.code() == Some(0), "{words}: {ran}");
    Ok(ran)
}

#[test]
fn the_runs_of_0_1_are_listed_with_what_they_have_done() -> Result<()> {
    let sandbox = laid_out("orders")?;
    with_worktree(&sandbox)?;
    let before = sandbox.files()?;
    let listed = sandbox
        .typed(&["status", "--json", "-v"])
        .at(AFTER)
        .run()?
        .json()?;
    let of = |id: &str| {
        let all = listed["workflows"].as_array().into_iter().flatten();
        all.filter(|one| one["id"] == format!("agent-memory:{id}"))
            .map(|one| one["state"].to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(of(RUN), ["\"interrupted\""], "{listed}");
    assert_eq!(of(DONE), ["\"complete\""], "{listed}");
    let unchanged = before.changes(&sandbox.files()?);
    assert_eq!(unchanged, Vec::<String>::new());
    Ok(())
}

#[test]
fn a_run_of_0_1_goes_on_from_what_has_landed_and_keeps_the_rest() -> Result<()> {
    let sandbox = laid_out("orders")?;
    with_worktree(&sandbox)?;
    let agent = sandbox.script(
        "agent.sh",
        "cat > /dev/null; echo \"again $REKINDLE_TASK\" > \"$REKINDLE_TASK.txt\"",
    )?;
    let ran = sandbox
        .typed(&["resume", RUN, "--yes", "-j", "1", "--agent-cmd", &agent])
        .at(AFTER)
        .run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let branch = format!("rekindle/{RUN}");
    let show = |task: &str| -> Result<String> {
        let file = format!("{branch}:{task}.txt");
        Ok(git(&sandbox, &format!("show {file}"), "")?
            .stdout()
            .into_owned())
    };
    assert_eq!(show("T001")?, "work of T001\n", "it had landed");
    // Nothing shows who made a record without a seal, so neither attempt is followed.
    for task in ["T002", "T003", "T004"] {
        assert_eq!(show(task)?, format!("again {task}\n"), "{ran}");
    }
    let delivery = format!("show refs/rekindle/work/{RUN}/T003/1:T003.txt");
    assert_eq!(git(&sandbox, &delivery, "")?.stdout(), "work of T003\n");
    // A worktree of 0.1 stays as it was until somebody removes it, with a backup.
    let half = format!(".rekindle/worktrees/agent-memory-{RUN}/T002/half-T002.txt");
    assert_eq!(sandbox.read(&half)?, "half\n", "{ran}");
    let cleaned = sandbox.typed(&["clean", "--yes"]).at(AFTER).run()?;
    assert_eq!(cleaned.code(), Some(0), "{cleaned}");
    let backup = format!("show refs/rekindle/rescue/{RUN}/T002/1:half-T002.txt");
    assert_eq!(git(&sandbox, &backup, "")?.stdout(), "half\n", "{cleaned}");
    let listed = sandbox.typed(&["status"]).at(AFTER).run()?;
    assert!(!listed.stdout().contains("interrupted"), "{listed}");
    Ok(())
}

#[test]
fn an_effect_that_0_1_left_half_done_is_named_and_not_finished() -> Result<()> {
    let sandbox = laid_out("settings")?;
    let log = format!(".agent-memory/runs/{SETTINGS}/events/orchestrator/20260120-120000.jsonl");
    let before = sandbox.read(&log)?;
    let inspected = sandbox.run(&["inspect", SETTINGS])?;
    assert!(inspected.stdout().contains("FOREIGN_RECORD"), "{inspected}");
    let ran = sandbox.run(&["resume", SETTINGS, "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert!(sandbox.read(&log)?.starts_with(&before), "{ran}");
    assert!(!ran.stderr().contains("finished"), "{ran}");
    Ok(())
}
