//! What is shown: the briefing, a finished workflow, and that nobody is in the way of "no".

use anyhow::{Result, ensure};
use serde_json::json;

use crate::project::{PLAN, Project, STATE, out, state};

#[test]
fn the_briefing_has_every_heading_and_abort_changes_nothing() -> Result<()> {
    let project = Project::new()?;
    let before = project.sandbox.files()?;
    for answer in ["", "3\n", "abort\n", "what?\nAbort\n"] {
        let ran = project.alone(&[]).answering(answer).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(out(&ran), @"");
        }
        project.is_unchanged(&ran, &before)?;
    }
    Ok(())
}

#[test]
fn plan_and_state_that_disagree_are_both_shown_and_a_clean_retry_is_told() -> Result<()> {
    let project = Project::new()?;
    let mut state = state();
    state["retry_count"] = json!(2);
    state["retry_isolation_status"] = json!({"ST-002": "clean_retry_required"});
    state["retry_quarantine_paths"] = json!({"ST-002": ".map/main/retry_quarantine.json"});
    project.state(&state)?;
    let plan = project.sandbox.read(PLAN)?;
    project.sandbox.write(
        PLAN,
        plan.replace("**Status:** complete", "**Status:** pending"),
    )?;
    project.sandbox.write(
        ".map/main/code-review-001.md",
        "# Review\n- fix the sum\n- add a test\n",
    )?;
    project.sandbox.write(
        ".map/main/verification-summary.md",
        "# Verification Summary\n- Verdict: NEEDS WORK\n",
    )?;
    let ran = project.alone(&[]).run()?;
    insta::assert_snapshot!(out(&ran), @"");
    let facts = project.facts()?;
    assert_eq!(facts["retry_isolation"], "clean_retry_required");
    assert_eq!(
        facts["progress"]["drift"],
        json!([{"id": "ST-001", "planned": "pending"}])
    );
    assert_eq!(facts["current_step"], "2.3");
    Ok(())
}

#[test]
fn a_finished_workflow_is_told_from_an_interrupted_one() -> Result<()> {
    let project = Project::new()?;
    let mut state = state();
    for key in ["current_step_id", "current_step_phase"] {
        state[key] = json!("COMPLETE");
    }
    state["workflow_status"] = json!("WORKFLOW_COMPLETE");
    state["pending_steps"] = json!([]);
    state["completed_at"] = json!("2026-01-20T11:00:00Z");
    project.state(&state)?;
    let before = project.sandbox.files()?;
    let ran = project.resume(&["--yes"]).run()?;
    insta::assert_snapshot!(ran, @"");
    project.is_unchanged(&ran, &before)?;
    assert_eq!(project.facts()?["verdict"], "complete");
    Ok(())
}

#[test]
fn a_branch_without_a_checkpoint_is_told_how_to_begin() -> Result<()> {
    let project = Project::empty()?;
    let ran = project.resume(&["--yes"]).run()?;
    insta::assert_snapshot!(ran, @"");
    // A plan alone is no checkpoint either, and other branches' workflows do not count.
    project.sandbox.write(PLAN, "# Task Plan: x\n")?;
    project
        .sandbox
        .write(".map/other/step_state.json", state().to_string())?;
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(out(&ran).starts_with("## No Workflow in Progress"), "{ran}");
    // By its name it is found, and the warning says what is checked out.
    let ran = project.alone(&["other"]).run()?;
    ensure!(out(&ran).contains("**Branch:** other"), "{ran}");
    ensure!(ran.stderr().contains("OTHER_BRANCH"), "{ran}");
    let ran = project.alone(&["nothing-like-it"]).run()?;
    ensure!(ran.code() == Some(1), "{ran}");
    Ok(())
}

#[test]
fn the_folder_that_the_seed_would_look_into_is_mentioned() -> Result<()> {
    let project = Project::empty()?;
    project.shell("git checkout -q -b '@.env'")?;
    project
        .sandbox
        .write(".map/.env/step_state.json", state().to_string())?;
    let ran = project.alone(&[]).run()?;
    ensure!(
        out(&ran).contains("`.map/default/step_state.json`"),
        "{ran}"
    );
    ensure!(
        ran.stderr().contains("`.map/.env/step_state.json`"),
        "{ran}"
    );
    Ok(())
}

#[test]
fn status_lists_the_workflows_of_all_branches() -> Result<()> {
    let project = Project::new()?;
    project.sandbox.write(".map/other/step_state.json", "{")?;
    project
        .sandbox
        .write(".map/scripts/map_orchestrator.py", "")?;
    let ran = project.sandbox.run(&["status", "--json"])?;
    let workflows = ran.json()?["workflows"].take();
    let ids: Vec<&str> = workflows
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|workflow| workflow["id"].as_str())
        .collect();
    assert_eq!(ids, ["map:main", "map:other"]);
    let _ = STATE;
    Ok(())
}
