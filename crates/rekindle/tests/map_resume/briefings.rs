//! What is shown: the briefing, a finished workflow, and that nobody is in the way of "no".

use anyhow::{Result, ensure};
use serde_json::json;

use crate::project::{PLAN, Project, out, state};

#[test]
fn the_briefing_has_every_heading_and_abort_changes_nothing() -> Result<()> {
    let project = Project::new()?;
    let before = project.sandbox.files()?;
    for answer in ["", "3\n", "abort\n", "what?\nAbort\n"] {
        let ran = project.alone(&[]).answering(answer).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(out(&ran), @"
            ## Found Incomplete Workflow

            **Task:** Keep the books
            **Branch:** main
            **Current Step:** 2.3
            **Current Phase:** ACTOR
            **Started:** 2026-01-20T09:00:00+00:00

            ### Resume Briefing

            - **Suggested next subtask:** ST-002
            - **Latest verification verdict:** none
            - **Latest review artifact:** none
            - **Immediate next action:** Resume ST-002 at phase ACTOR

            ### Requested Fixes / Follow-ups

            - none

            ### Recent Session Context

            ```text
            none
            ```

            ### Progress Overview

            1/3 subtasks completed (33%)

            ### Completed Subtasks
            - [x] **ST-001**: Entries (complete)

            ### Remaining Subtasks
            - [ ] **ST-002**: Balance — currently at phase: ACTOR
            - [ ] **ST-003**: Report — pending
            ");
        }
        project.is_unchanged(&ran, &before)?;
    }
    Ok(())
}

#[test]
fn the_age_of_a_workflow_is_that_of_the_newest_time_in_its_files() -> Result<()> {
    let project = Project::new()?;
    let age = || anyhow::Ok(out(&project.sandbox.run(&["status"])?));
    ensure!(age()?.contains("  3 hours ago  "), "{}", age()?);
    let mut state = state();
    state["subtask_completion_reasons"] =
        json!({"ST-001": {"kind": "done", "recorded_at": "2026-01-20T11:30:00.5Z"}});
    project.state(&state)?;
    ensure!(age()?.contains("  29 minutes ago  "), "{}", age()?);
    let manifest = ".map/main/artifact_manifest.json";
    let written = json!({"stages": {"plan": {"updated_at": "2026-01-20T11:50:00Z"}}});
    project.sandbox.write(manifest, written.to_string())?;
    ensure!(age()?.contains("  10 minutes ago  "), "{}", age()?);
    state["started_at"] = json!("yesterday");
    state["subtask_completion_reasons"] = json!({});
    project.state(&state)?;
    project.sandbox.write(manifest, "{")?;
    ensure!(age()?.contains("  age unknown  "), "{}", age()?);
    Ok(())
}

#[test]
fn plan_and_state_that_disagree_are_both_shown_and_a_clean_retry_is_reported() -> Result<()> {
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
    insta::assert_snapshot!(out(&ran), @"
    ## Found Incomplete Workflow

    **Task:** Keep the books
    **Branch:** main
    **Current Step:** 2.3
    **Current Phase:** ACTOR
    **Started:** 2026-01-20T09:00:00+00:00

    ### Resume Briefing

    - **Suggested next subtask:** ST-001
    - **Latest verification verdict:** NEEDS WORK
    - **Latest review artifact:** .map/main/code-review-001.md
    - **Immediate next action:** Address issues from the latest verification before continuing
      - then: Review requested fixes from latest review artifact
      - then: Resume clean retry from .map/main/retry_quarantine.json; do not rehydrate raw failed context
      - then: Resume ST-002 at phase ACTOR
    - **Retry isolation:** clean_retry_required (.map/main/retry_quarantine.json)

    ### Requested Fixes / Follow-ups

    - fix the sum
    - add a test

    ### Recent Session Context

    ```text
    # Review
    - fix the sum
    - add a test
    ```

    ### Progress Overview

    1/3 subtasks completed (33%)

    Note: the plan's Status lines say 0/3 and differ for ST-001 (pending). step_state.json decides.

    ### Completed Subtasks
    - [x] **ST-001**: Entries (complete)

    ### Remaining Subtasks
    - [ ] **ST-002**: Balance — currently at phase: ACTOR
    - [ ] **ST-003**: Report — pending
    ");
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
fn a_finished_workflow_is_distinguished_from_an_interrupted_one() -> Result<()> {
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
    insta::assert_snapshot!(ran, @"
    exit 0
    --- stdout
    ## Workflow Already Complete

    **Task:** Keep the books
    **Branch:** main
    **Completed:** 2026-01-20T11:00:00Z

    The workflow of this branch is already complete.

    ### Progress Overview

    3/3 subtasks completed (100%)

    Note: the plan's Status lines say 1/3 and differ for ST-002 (in_progress), ST-003 (pending). step_state.json decides.

    ### Completed Subtasks
    - [x] **ST-001**: Entries (complete)
    - [x] **ST-002**: Balance (complete)
    - [x] **ST-003**: Report (complete)

    No recovery needed.
    --- stderr
    done: the workflow is already complete
    hint: `rekindle map reopen_for_fixes --feedback TEXT` reopens it, `rekindle map archive` archives its state
    ");
    project.is_unchanged(&ran, &before)?;
    assert_eq!(project.facts()?["verdict"], "complete");
    Ok(())
}

#[test]
fn a_branch_without_a_checkpoint_shows_how_to_start() -> Result<()> {
    let project = Project::empty()?;
    let ran = project.resume(&["--yes"]).run()?;
    insta::assert_snapshot!(ran, @r#"
    exit 0
    --- stdout
    ## No Workflow in Progress

    No checkpoint file found at `.map/main/step_state.json`.

    **To start a new workflow, use:**
    - `/map-efficient "task description"` - Standard implementation workflow
    - `/map-debug "issue description"` - Debugging workflow
    - `/map-fast "task description"` - Minimal workflow

    No recovery needed.
    --- stderr
    done: there is no checkpoint for `main`
    "#);
    // A plan alone is no checkpoint either, and other branches' workflows do not count.
    project.sandbox.write(PLAN, "# Task Plan: x\n")?;
    project
        .sandbox
        .write(".map/other/step_state.json", state().to_string())?;
    let ran = project.resume(&["--yes"]).run()?;
    ensure!(out(&ran).starts_with("## No Workflow in Progress"), "{ran}");
    project
        .sandbox
        .write(".map/other/task_plan_other.md", "# Task Plan: x\n")?;
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
    Ok(())
}
