//! The approval of a plan, which only a person can give.

use anyhow::Result;
use rekindle_testkit::agent_memory::Run;

use crate::{ORDERS, Scene};

fn at_the_gate() -> Run {
    Run::awaiting_approval(ORDERS).task("T001", "Add model", &[])
}

#[test]
fn an_approval_lets_the_plan_be_executed() -> Result<()> {
    let scene = Scene::new(at_the_gate(), "")?;
    let ran = scene.resume("yes?\napprove\nmerged\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    insta::assert_snapshot!(scene.told()?, @r#"
    session_resumed
    phase_transition to_phase=2 trigger="user_approval" notes="approve"
    task_started T001 attempt=1
    task_implemented T001 attempt=1
    task_verified T001 attempt=1
    task_completed T001 attempt=1
    phase_transition to_phase=3 trigger="all_tasks_finished"
    cleanup_completed
    phase_transition to_phase=4 trigger="merged"
    run_completed
    "#);
    assert_eq!(
        ran.stderr().matches("May it be executed?").count(),
        2,
        "{ran}"
    );
    Ok(())
}

#[test]
fn notes_are_kept_with_the_approval() -> Result<()> {
    let scene = Scene::new(at_the_gate(), "")?;
    scene.resume("approve with: keep the old route\nmerged\n")?;
    let kept = "phase_transition to_phase=2 trigger=\"user_approval\" notes=\"keep the old route\"";
    assert!(scene.told()?.contains(kept), "{}", scene.told()?);
    Ok(())
}

#[test]
fn feedback_goes_to_the_planner_and_the_gate_stays_closed_until_a_new_approval() -> Result<()> {
    let first = r"[ $REKINDLE_ROLE = planner ] && { cat >>planner.prompts; exit 0; }";
    let scene = Scene::new(at_the_gate(), first)?;
    let ran = scene.resume("revise: more tests\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    insta::assert_snapshot!(scene.told()?, @r#"
    session_resumed
    phase_transition to_phase=1 trigger="user_revision" notes="revise: more tests"
    "#);
    let prompt = scene.sandbox.read("planner.prompts")?;
    assert!(prompt.contains("The user asks: more tests"), "{prompt}");
    assert!(!scene.sandbox.path("work").exists());
    let later = scene.resume_at("2026-01-20T13:00:00Z", "approve\nmerged\n")?;
    assert_eq!(later.code(), Some(0), "{later}");
    assert_eq!(scene.sandbox.read("work/T001.txt")?, "work of T001\n");
    Ok(())
}

#[test]
fn the_same_feedback_twice_is_passed_on_twice() -> Result<()> {
    let scene = Scene::new(at_the_gate(), "")?;
    let ran = scene.resume("revise: more tests\nrevise: more tests\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert_eq!(scene.calls()?, "planner 1\nplanner 1\n");
    Ok(())
}

#[test]
fn a_run_that_is_cancelled_at_the_gate_is_over() -> Result<()> {
    let scene = Scene::new(at_the_gate(), "")?;
    insta::assert_snapshot!(scene.resume("cancel\n")?, @"
    exit 0
    --- stdout
    ═══════════════════════════════════════════════════════════
    RESUMING RUN: 20260119-0900-orders-api-k2l3

    Current State:
    - Phase: 1
    - Tasks: 0/1 complete
    - Last activity: 2026-01-19T09:05:00Z
    - Last completed: None

    Next Action:
    - Wait for the user's approval of the plan

    Continuing...
    ═══════════════════════════════════════════════════════════
    --- stderr
    These commands will run:
      - agent: `exec sh '[ROOT]/agent.sh'`
    The plan of this run waits for approval: read `.agent-memory/runs/20260119-0900-orders-api-k2l3/plan.md`. May it be executed?
      approve                execute the plan
      approve with: NOTES    execute it, and save the notes with the approval
      revise: FEEDBACK       have the planner change it
      cancel                 end the run
    > done: the run is cancelled
    ");
    assert_eq!(
        scene.told()?,
        "session_resumed\nrun_cancelled reason=\"cancelled at the approval gate\"\n"
    );
    assert!(
        scene
            .sandbox
            .run(&["resume"])?
            .stdout()
            .contains("Nothing to resume")
    );
    Ok(())
}

#[test]
fn without_an_answer_the_gate_stays_closed() -> Result<()> {
    let scene = Scene::new(at_the_gate(), "")?;
    insta::assert_snapshot!(scene.resume("")?, @"
    exit 0
    --- stdout
    ═══════════════════════════════════════════════════════════
    RESUMING RUN: 20260119-0900-orders-api-k2l3

    Current State:
    - Phase: 1
    - Tasks: 0/1 complete
    - Last activity: 2026-01-19T09:05:00Z
    - Last completed: None

    Next Action:
    - Wait for the user's approval of the plan

    Continuing...
    ═══════════════════════════════════════════════════════════
    --- stderr
    These commands will run:
      - agent: `exec sh '[ROOT]/agent.sh'`
    The plan of this run waits for approval: read `.agent-memory/runs/20260119-0900-orders-api-k2l3/plan.md`. May it be executed?
      approve                execute the plan
      approve with: NOTES    execute it, and save the notes with the approval
      revise: FEEDBACK       have the planner change it
      cancel                 end the run
    > 
    the plan still waits for approval; answer at the question of `rekindle resume`
    ");
    assert_eq!(scene.told()?, "session_resumed\n");
    assert!(!scene.sandbox.root().join("calls").exists());
    Ok(())
}

#[test]
fn yes_for_everything_is_not_an_approval() -> Result<()> {
    let scene = Scene::new(at_the_gate(), "")?;
    let ran = scene.sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert_eq!(scene.told()?, "session_resumed\n");
    Ok(())
}

#[test]
fn feedback_is_recorded_even_when_no_agent_is_there_to_follow_it() -> Result<()> {
    let scene = Scene::new(at_the_gate(), "")?;
    let typed = scene.sandbox.typed(&["resume", "--yes", "--no-agent"]);
    let ran = typed.answering("revise: more tests\n").run()?;
    assert!(
        ran.stderr().contains("Next for an agent (planner)"),
        "{ran}"
    );
    assert!(
        scene.told()?.contains("notes=\"revise: more tests\""),
        "{}",
        scene.told()?
    );
    Ok(())
}
