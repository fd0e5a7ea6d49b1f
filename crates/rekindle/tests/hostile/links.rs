//! Names and links that lead out of the project.

use std::os::unix::fs::symlink;

use anyhow::Result;
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::Sandbox;
use serde_json::json;

use crate::{BINARY, ORDERS, beside, codes, done, interrupted, look_at_everything};

#[test]
fn a_task_whose_name_leads_elsewhere_is_worked_on_without_a_step_outside() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::in_execution(ORDERS);
    run.lay_out(&sandbox)?;
    let ids = [
        "../../x",
        "/etc/passwd",
        "-rf",
        "..",
        "a/b",
        "a\nb",
        "",
        "\0",
    ];
    let tasks: Vec<_> = ids
        .iter()
        .take(6)
        .map(|id| json!({"id": id, "title": id}))
        .collect();
    sandbox.write(
        run.path("task-graph.json"),
        json!({"tasks": tasks}).to_string(),
    )?;
    look_at_everything(&sandbox, "../../x")?;
    let outside = beside(&sandbox)?;
    // An agent that does nothing but say that all is well.
    let ran = sandbox
        .typed(&["resume", "--yes", "--agent-cmd", "exit 0"])
        .answering("skip consolidation\n")
        .run()?;
    assert_eq!(beside(&sandbox)?, outside);
    let told = run.told(&sandbox)?;
    assert!(told.contains("task_completed ../../x"), "{ran}\n{told}");
    assert!(told.contains("task_completed /etc/passwd"), "{ran}\n{told}");
    Ok(())
}

/// Makes a folder outside of the project with a log in it, by which T002 would be done.
fn elsewhere(sandbox: &Sandbox) -> Result<Utf8PathBuf> {
    let folder = sandbox.root().join("elsewhere");
    fs_err::create_dir_all(folder.join("events/executor"))?;
    let log =
        r#"{"event_type":"task_completed","task_id":"T002","timestamp":"2026-01-19T11:00:00Z"}"#;
    fs_err::write(folder.join("events/executor/x.jsonl"), format!("{log}\n"))?;
    Ok(folder)
}

/// Returns everything below a folder, as one text.
fn contents(folder: &Utf8Path) -> Result<String> {
    let mut text = String::new();
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            text.push_str(&format!("{path}/\n{}", contents(path)?));
        } else {
            text.push_str(&format!("{path}\n{}", fs_err::read_to_string(path)?));
        }
    }
    Ok(text)
}

#[test]
fn a_run_that_is_a_link_out_of_the_project_is_not_followed() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let outside = elsewhere(&sandbox)?;
    symlink(
        &outside,
        sandbox.path(".agent-memory/runs/20260101-0900-away-a1b2"),
    )?;
    let before = contents(&outside)?;
    let seen = look_at_everything(&sandbox, "T002")?;
    assert!(seen.iter().all(|ran| !ran.stdout().contains("away-a1b2  ")));
    assert_eq!(codes(&sandbox)?, ["OUTSIDE_PROJECT"]);
    let ran = sandbox.run(&["resume", "20260101", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert_eq!(contents(&outside)?, before);
    Ok(())
}

#[test]
fn events_that_are_links_out_of_the_project_are_neither_read_nor_written() -> Result<()> {
    for link in ["events", "events/orchestrator", "events/executor"] {
        let (sandbox, run) = interrupted()?;
        let outside = elsewhere(&sandbox)?;
        let target = match link {
            "events" => outside.join("events"),
            _ => outside.join("events/executor"),
        };
        fs_err::remove_dir_all(sandbox.path(run.path(link)))?;
        symlink(&target, sandbox.path(run.path(link)))?;
        let before = contents(&outside)?;
        look_at_everything(&sandbox, "T002")?;
        let states = sandbox.run(&["inspect", "--json"])?.json()?;
        let states = &states["facts"]["runs"][ORDERS]["states"];
        assert_ne!(states["T002"], "done", "{link}");
        for args in [
            &["resume", "--yes", "--no-agent"][..],
            &["event", ORDERS, "note", "--actor", "executor"],
            &["checkpoint"],
        ] {
            let ran = sandbox.run(args)?;
            assert!(matches!(ran.code(), Some(0 | 1)), "{link} {args:?}: {ran}");
        }
        assert_eq!(contents(&outside)?, before, "{link}");
    }
    Ok(())
}

#[test]
fn a_refused_way_out_is_said_with_its_path() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let outside = elsewhere(&sandbox)?;
    fs_err::remove_dir_all(sandbox.path(run.path("events/orchestrator")))?;
    symlink(&outside, sandbox.path(run.path("events/orchestrator")))?;
    insta::assert_snapshot!(sandbox.run(&["checkpoint"])?, @"
    exit 1
    --- stderr
    error: the plan could not be applied
      cause: `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/orchestrator/20260120-120000.jsonl` leads outside `[PROJECT]`

    hint: `rekindle doctor` checks what rekindle needs
    ");
    Ok(())
}

#[test]
fn a_log_that_is_a_link_to_a_file_outside_is_neither_read_nor_written() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let outside = elsewhere(&sandbox)?;
    let target = outside.join("events/executor/x.jsonl");
    symlink(
        &target,
        sandbox.path(run.path("events/executor/linked.jsonl")),
    )?;
    let today = run.path("events/worker/20260120-rekindle.jsonl");
    fs_err::create_dir_all(sandbox.path(run.path("events/worker")))?;
    symlink(&target, sandbox.path(&today))?;
    let before = contents(&outside)?;
    assert_eq!(codes(&sandbox)?, ["OUTSIDE_PROJECT"]);
    assert_eq!(done(&sandbox)?, 1);
    let ran = sandbox.run(&["event", ORDERS, "note", "--actor", "worker"])?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert_eq!(contents(&outside)?, before);
    Ok(())
}

#[test]
fn a_state_folder_that_is_a_link_out_of_the_project_is_not_used() -> Result<()> {
    for link in [".rekindle", ".rekindle/locks", ".rekindle/journal"] {
        let (sandbox, run) = interrupted()?;
        let outside = elsewhere(&sandbox)?;
        if link != ".rekindle" {
            fs_err::create_dir(sandbox.path(".rekindle"))?;
        }
        symlink(&outside, sandbox.path(link))?;
        let before = contents(&outside)?;
        let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
        assert_eq!(contents(&outside)?, before, "{link}: {ran}");
        assert_eq!(ran.code(), Some(1), "{link}: {ran}");
        assert_eq!(run.told(&sandbox)?, "", "{link}");
    }
    Ok(())
}

#[test]
fn links_that_lead_nowhere_or_in_circles_do_no_harm() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let at = |name: &str| sandbox.path(run.path(name));
    symlink("nowhere", at("events/executor/dangling.jsonl"))?;
    symlink("circle.jsonl", at("events/executor/circle.jsonl"))?;
    symlink("..", at("events/round"))?;
    symlink("loop", sandbox.path(".agent-memory/runs/loop"))?;
    fs_err::remove_file(at("tasks/T003.md"))?;
    symlink("T003.md", at("tasks/T003.md"))?;
    look_at_everything(&sandbox, "T001")?;
    assert_eq!(done(&sandbox)?, 1);
    let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    Ok(())
}
