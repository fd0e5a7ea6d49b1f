//! Whole runs, from where they are to their end.

use anyhow::Result;
use rekindle_testkit::agent_memory::Run;

use crate::{ORDERS, Scene};

#[test]
fn a_run_goes_from_execution_to_its_end_one_task_at_a_time() -> Result<()> {
    let scene = Scene::new(Run::interrupted(ORDERS), "")?;
    let ran = scene.resume("merged\n")?;
    insta::assert_snapshot!(ran, @"
    exit 0
    --- stdout
    ═══════════════════════════════════════════════════════════
    RESUMING RUN: 20260119-0900-orders-api-k2l3

    Current State:
    - Phase: 2
    - Tasks: 1/3 complete
    - Last activity: 2026-01-19T10:01:00Z
    - Last completed: T001 - Add model

    Next Action:
    - Resume T002 - Add endpoint (attempt 1)

    Continuing...
    ═══════════════════════════════════════════════════════════
    --- stderr
    These commands will run:
      - agent: `exec sh '[ROOT]/agent.sh'`
    agent: Resume T002 - Add endpoint (attempt 1)
    agent: the executor is done
    agent: Verify T002 - Add endpoint
    agent: the verifier is done
    agent: Execute T003 - Add docs
    agent: the executor is done
    agent: Verify T003 - Add docs
    agent: the verifier is done
    agent: Verify the phase boundary, then move to phase 3: all tasks are finished
    agent: the verifier is done
    agent: Run cleanup: cleanup-report.md is missing
    agent: the cleanup is done
    agent: Prepare the pull request: pr-checklist.md is missing
    agent: the pr-prep is done
    The pull request is prepared: see `.agent-memory/runs/20260119-0900-orders-api-k2l3/pr-checklist.md`. Has it been merged?
      merged                 continue with memory consolidation
      skip consolidation     end the run without it
    > agent: Consolidate the run's memory (summary.md); `skip consolidation` ends the run without it
    agent: the memory-consolidator is done
    done: run `20260119-0900-orders-api-k2l3` is complete (run_completed)
    ");
    insta::assert_snapshot!(scene.told()?, @r#"
    session_resumed
    task_started T002 attempt=1
    task_implemented T002 attempt=1
    task_verified T002 attempt=1
    task_completed T002 attempt=1
    task_started T003 attempt=1
    task_implemented T003 attempt=1
    task_verified T003 attempt=1
    task_completed T003 attempt=1
    phase_transition to_phase=3 trigger="all_tasks_finished"
    cleanup_completed
    phase_transition to_phase=4 trigger="merged"
    run_completed
    "#);
    insta::assert_snapshot!(scene.calls()?, @"
    executor T002 1
    verifier T002 1
    executor T003 1
    verifier T003 1
    verifier 1
    cleanup 1
    pr-prep 1
    memory-consolidator 1
    ");
    let over = scene.sandbox.run(&["status", "--all"])?;
    assert!(over.stdout().contains("complete"), "{over}");
    Ok(())
}

#[test]
fn a_run_of_which_only_the_folder_is_there_goes_all_the_way() -> Result<()> {
    let scene = Scene::new(Run::new(ORDERS), "")?;
    let ran = scene.resume("approve\nskip consolidation\n")?;
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
    run_completed
    "#);
    insta::assert_snapshot!(scene.calls()?, @"
    spec-writer 1
    planner 1
    task-breaker 1
    orchestrator 1
    executor T001 1
    verifier T001 1
    verifier 1
    cleanup 1
    pr-prep 1
    ");
    Ok(())
}

#[test]
fn a_small_run_is_executed_by_its_constitution() -> Result<()> {
    let small = Run::new(ORDERS).document("constitution.md", "# Constitution\n");
    let scene = Scene::new(small, "")?;
    let ran = scene.resume("merged\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    insta::assert_snapshot!(scene.told()?, @r#"
    session_resumed
    phase_transition to_phase=3 trigger="small_task_done"
    cleanup_completed
    phase_transition to_phase=4 trigger="merged"
    run_completed
    "#);
    assert_eq!(
        scene.sandbox.read("work/small.txt")?,
        "work of the constitution\n"
    );
    Ok(())
}
