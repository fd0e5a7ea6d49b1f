//! Reports of other protocols: each shows what it has.

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::sandbox::{Ran, Sandbox};
use rekindle_testkit::transcripts::{Cut, Transcripts};
use serde_json::Value;

use crate::{BINARY, map_project};

/// Returns the tasks with their states and needs, and the marks, a line each.
fn told(sandbox: &Sandbox, id: &str) -> Result<Vec<String>> {
    let home = Transcripts::new(sandbox)?;
    let report = |args: &[&str]| -> Result<Ran> {
        let ran = home.typed(&[&["report", id], args].concat()).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        Ok(ran)
    };
    let picture = report(&["--json"])?.json()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut told = Vec::new();
    for mark in picture["marks"].as_array().context("marks")? {
        told.push(format!("{} {}", text(&mark["at"]), text(&mark["name"])));
    }
    for task in picture["tasks"].as_array().context("tasks")? {
        let attempts = task["attempts"].as_array().context("attempts")?;
        let ends: Vec<String> = attempts.iter().map(|one| text(&one["end"])).collect();
        told.push(format!(
            "{} {}: {}{}{}",
            text(&task["id"]),
            text(&task["title"]),
            text(&task["word"]),
            if ends.is_empty() { "" } else { ", " },
            ends.join(" "),
        ));
    }
    // The drawings and the page can be made of whatever there is.
    for args in [
        &["-o", "-"][..],
        &["-o", "-", "--svg", "graph"],
        &["-o", "-", "--trace"],
    ] {
        report(args)?;
    }
    Ok(told)
}

#[test]
fn a_feature_of_bifrost_shows_its_tasks_and_checkpoints() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    rekindle_testkit::bifrost::feature(&sandbox)?;
    let id = format!("bifrost:{}", rekindle_testkit::bifrost::FEATURE);
    assert_eq!(
        told(&sandbox, &id)?,
        [
            "2026-01-17T16:20:00Z Spec validated, ready for planning",
            "2026-01-18T16:20:00Z Plan validated, ready for tasks",
            "2026-01-19T15:20:00Z Tasks breakdown complete, T001-T002 ready",
            "T001 a: not started",
            "T002 b: not started",
        ]
    );
    Ok(())
}

#[test]
fn a_task_list_shows_its_states_and_what_needs_what() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let tasks = "# Tasks: Orders\n\n## Phase 1: Setup\n\n- [x] T001 Make the project\n- [ ] T002 [P] Add the model in src/a.rs\n\n## Phase 2: Work\n\n- [ ] T003 Use the model\n";
    sandbox.write("specs/001-orders/spec.md", "# Orders\n")?;
    sandbox.write("specs/001-orders/plan.md", "# Plan\n")?;
    sandbox.write("specs/001-orders/tasks.md", tasks)?;
    assert_eq!(
        told(&sandbox, "spec-kit:001-orders")?,
        [
            "T001 Make the project: done",
            "T002 Add the model in src/a.rs: not started",
            "T003 Use the model: waits for T002",
        ]
    );
    Ok(())
}

#[test]
fn a_session_shows_its_turns() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = sandbox.project().to_owned();
    home.claude(
        &folder,
        "1a2b3c4d",
        5,
        "Add a test for the totals",
        Cut::Tool,
    )?;
    assert_eq!(
        told(&sandbox, "sessions:claude:1a2b3c4d")?,
        ["1 Add a test for the totals: interrupted, killed"]
    );
    Ok(())
}

#[test]
fn a_branch_of_map_shows_its_subtasks() -> Result<()> {
    let project = map_project::Project::new()?;
    assert_eq!(
        told(&project.sandbox, "map:main")?,
        [
            "ST-001 Entries: done",
            "ST-002 Balance: interrupted",
            "ST-003 Report: waits for ST-002",
        ]
    );
    Ok(())
}
