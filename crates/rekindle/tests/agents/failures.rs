//! Agents that fail: retries, and what a person can answer after the third failure.

use anyhow::Result;
use rekindle_testkit::agent_memory::Run;

use crate::{ORDERS, Scene, nearly_done};

#[test]
fn an_agent_that_fails_once_learns_why_and_tries_again() -> Result<()> {
    let scene = Scene::new(
        nearly_done(),
        r#"[ "$REKINDLE_ROLE/$REKINDLE_ATTEMPT" = executor/1 ] && exit 3
[ "$REKINDLE_ROLE/$REKINDLE_ATTEMPT" = executor/2 ] && cat >second.prompt"#,
    )?;
    let ran = scene.resume("merged\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    insta::assert_snapshot!(scene.told()?, @r#"
    session_resumed
    task_started T002 attempt=1
    task_failed T002 attempt=1 error="it ended with exit code 3"
    task_started T002 attempt=2
    task_implemented T002 attempt=2
    task_verified T002 attempt=2
    task_completed T002 attempt=2
    phase_transition to_phase=3 trigger="all_tasks_finished"
    cleanup_completed
    phase_transition to_phase=4 trigger="merged"
    run_completed
    "#);
    let prompt = scene.sandbox.read("second.prompt")?;
    assert!(prompt.contains("it ended with exit code 3"), "{prompt}");
    Ok(())
}

#[test]
fn however_an_agent_ends_the_log_says_it() -> Result<()> {
    for (end, reason) in [
        ("exit 1", "it ended with exit code 1"),
        ("exit 255", "it ended with exit code 255"),
        ("kill -9 $$", "it was ended by signal 9"),
        ("kill -15 $$", "it was ended by signal 15"),
        ("exec no-such-agent", "it ended with exit code 127"),
    ] {
        let scene = Scene::new(nearly_done(), end)?;
        let ran = scene.resume("")?;
        assert_eq!(ran.code(), Some(1), "{ran}");
        let failed = format!("task_failed T002 attempt=1 error=\"{reason}\"\n");
        assert!(scene.told()?.contains(&failed), "{end}: {}", scene.told()?);
        assert_eq!(scene.calls()?.lines().count(), 3, "{end}");
    }
    Ok(())
}

#[test]
fn after_three_failures_a_person_is_asked_and_the_end_of_input_leaves_it_open() -> Result<()> {
    let scene = Scene::new(nearly_done(), "exit 1")?;
    insta::assert_snapshot!(scene.resume("")?, @"
    exit 1
    --- stdout
    ═══════════════════════════════════════════════════════════
    RESUMING RUN: 20260119-0900-orders-api-k2l3

    Current State:
    - Phase: 2
    - Tasks: 1/2 complete
    - Last activity: 2026-01-19T10:00:00Z
    - Last completed: T001 - Add model

    Next Action:
    - Execute T002 - Add endpoint

    Continuing...
    ═══════════════════════════════════════════════════════════
    --- stderr
    These commands will run:
      - agent: `exec sh '[ROOT]/agent.sh'`
    agent: Execute T002 - Add endpoint
    agent: the executor did not succeed: it ended with exit code 1
    agent: Retry T002 - Add endpoint (attempt 2)
    agent: the executor did not succeed: it ended with exit code 1
    agent: Retry T002 - Add endpoint (attempt 3)
    agent: the executor did not succeed: it ended with exit code 1
    T002 - Add endpoint failed 3 times. What is to happen?
      retry                  try it once more
      retry with: GUIDANCE   try it once more with this guidance
      skip                   skip it; its dependents become blocked
      abort                  stop here and change nothing
    > 
    T002 - Add endpoint still waits for a decision; answer at the question of `rekindle resume`
    ");
    insta::assert_snapshot!(scene.told()?, @r#"
    session_resumed
    task_started T002 attempt=1
    task_failed T002 attempt=1 error="it ended with exit code 1"
    task_started T002 attempt=2
    task_failed T002 attempt=2 error="it ended with exit code 1"
    task_started T002 attempt=3
    task_failed T002 attempt=3 error="it ended with exit code 1"
    "#);
    // The next resume asks at once.
    let again = scene.resume_at("2026-01-20T13:00:00Z", "")?;
    assert!(
        again
            .stderr()
            .contains("failed 3 times. What is to happen?"),
        "{again}"
    );
    assert_eq!(scene.calls()?.lines().count(), 3);
    Ok(())
}

/// An executor that fails until somebody tells it how.
const STUBBORN: &str = r"cat >prompt
[ $REKINDLE_ROLE = executor ] && ! grep -q 'use the other port' prompt && exit 1";

#[test]
fn guidance_for_one_more_try_reaches_the_agent() -> Result<()> {
    let scene = Scene::new(nearly_done(), STUBBORN)?;
    let ran = scene.resume("retry with: use the other port\nmerged\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    insta::assert_snapshot!(scene.told()?, @r#"
    session_resumed
    task_started T002 attempt=1
    task_failed T002 attempt=1 error="it ended with exit code 1"
    task_started T002 attempt=2
    task_failed T002 attempt=2 error="it ended with exit code 1"
    task_started T002 attempt=3
    task_failed T002 attempt=3 error="it ended with exit code 1"
    task_started T002 attempt=4
    task_implemented T002 attempt=4
    task_verified T002 attempt=4
    task_completed T002 attempt=4
    phase_transition to_phase=3 trigger="all_tasks_finished"
    cleanup_completed
    phase_transition to_phase=4 trigger="merged"
    run_completed
    "#);
    Ok(())
}

#[test]
fn a_retry_that_fails_is_asked_about_again_and_answers_that_are_none_too() -> Result<()> {
    let scene = Scene::new(nearly_done(), STUBBORN)?;
    let ran =
        scene.resume("what?\nretry with:\n\nRETRY\nretry with: use the other port\nmerged\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let asked = ran.stderr().matches("What is to happen?").count();
    assert_eq!(asked, 5, "{ran}");
    assert!(ran.stderr().contains("failed 4 times"), "{ran}");
    assert!(
        scene.told()?.contains("task_completed T002 attempt=5\n"),
        "{}",
        scene.told()?
    );
    Ok(())
}

#[test]
fn a_skipped_task_is_left_out_and_what_depends_on_it_is_blocked() -> Result<()> {
    let run = Run::in_execution(ORDERS)
        .task("T001", "Add model", &[])
        .task("T002", "Add endpoint", &["T001"]);
    let scene = Scene::new(run, "exit 1")?;
    let skipped = scene.resume("skip\n")?;
    let root = scene.sandbox.root().as_str();
    insta::assert_snapshot!(skipped.stderr().replace(root, "[ROOT]"), @"
    These commands will run:
      - agent: `exec sh '[ROOT]/agent.sh'`
    agent: Execute T001 - Add model
    agent: the executor did not succeed: it ended with exit code 1
    agent: Retry T001 - Add model (attempt 2)
    agent: the executor did not succeed: it ended with exit code 1
    agent: Retry T001 - Add model (attempt 3)
    agent: the executor did not succeed: it ended with exit code 1
    T001 - Add model failed 3 times. What is to happen?
      retry                  try it once more
      retry with: GUIDANCE   try it once more with this guidance
      skip                   skip it; its dependents become blocked
      abort                  stop here and change nothing
    > stopped: every remaining task is blocked
    hint: `T002` needs `T001`, which was skipped
    hint: leave a task behind a skipped one out too: `rekindle event 20260119-0900-orders-api-k2l3 task_skipped --task TASK`
    ");
    assert!(
        scene
            .told()?
            .ends_with("task_skipped T001 reason=\"skipped by the user\"\n")
    );
    Ok(())
}

#[test]
fn a_skipped_last_task_lets_the_run_go_on_to_its_end() -> Result<()> {
    let scene = Scene::new(nearly_done(), "[ $REKINDLE_ROLE = executor ] && exit 1")?;
    let ran = scene.resume("skip\nmerged\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let status = scene.sandbox.run(&["status", "--all"])?;
    let line = status.stdout();
    assert!(
        line.contains("complete") && line.contains("1/2"),
        "{status}"
    );
    Ok(())
}

#[test]
fn an_abort_stops_with_exit_code_1_and_records_nothing_more() -> Result<()> {
    let scene = Scene::new(nearly_done(), "exit 1")?;
    scene.resume("")?;
    let before = scene.told()?;
    let ran = scene.resume_at("2026-01-20T13:00:00Z", "abort\n")?;
    insta::assert_snapshot!(ran, @"
    exit 1
    --- stdout
    ═══════════════════════════════════════════════════════════
    RESUMING RUN: 20260119-0900-orders-api-k2l3

    Current State:
    - Phase: 2
    - Tasks: 1/2 complete
    - Last activity: 2026-01-20T12:00:00Z
    - Last completed: T001 - Add model

    Next Action:
    - Ask the user about T002 - Add endpoint, which failed 3 times

    Continuing...
    ═══════════════════════════════════════════════════════════
    --- stderr
    These commands will run:
      - agent: `exec sh '[ROOT]/agent.sh'`
    T002 - Add endpoint failed 3 times. What is to happen?
      retry                  try it once more
      retry with: GUIDANCE   try it once more with this guidance
      skip                   skip it; its dependents become blocked
      abort                  stop here and change nothing
    > stopped: the user stopped here
    ");
    assert_eq!(scene.told()?, format!("{before}session_resumed\n"));
    Ok(())
}

#[test]
fn an_agent_that_claims_success_without_its_document_is_not_asked_twice() -> Result<()> {
    let scene = Scene::new(Run::new(ORDERS), "exit 0")?;
    insta::assert_snapshot!(scene.resume("")?, @"
    exit 1
    --- stdout
    ═══════════════════════════════════════════════════════════
    RESUMING RUN: 20260119-0900-orders-api-k2l3

    Current State:
    - Phase: 0
    - Tasks: 0/? complete
    - Last activity: 2026-01-19T09:00:00Z
    - Last completed: None

    Next Action:
    - Write prd.md (spec-writer)

    Continuing...
    ═══════════════════════════════════════════════════════════
    --- stderr
    These commands will run:
      - agent: `exec sh '[ROOT]/agent.sh'`
    agent: Write prd.md (spec-writer)
    agent: the spec-writer is done
    error: the spec-writer reported success, but the same step is due again: Write prd.md (spec-writer)

    hint: look at the agent's output above
    hint: see `rekindle explain NO_PROGRESS`
    ");
    assert_eq!(scene.calls()?, "spec-writer 1\n");
    assert_eq!(scene.told()?, "session_resumed\n");
    Ok(())
}

#[test]
fn a_planner_that_fails_stops_the_resume_and_the_next_one_goes_on() -> Result<()> {
    let first = r"[ $REKINDLE_ROLE = planner ] && [ ! -e fixed ] && exit 4";
    let scene = Scene::new(Run::new(ORDERS), first)?;
    let ran = scene.resume("")?;
    insta::assert_snapshot!(ran, @"
    exit 1
    --- stdout
    ═══════════════════════════════════════════════════════════
    RESUMING RUN: 20260119-0900-orders-api-k2l3

    Current State:
    - Phase: 0
    - Tasks: 0/? complete
    - Last activity: 2026-01-19T09:00:00Z
    - Last completed: None

    Next Action:
    - Write prd.md (spec-writer)

    Continuing...
    ═══════════════════════════════════════════════════════════
    --- stderr
    These commands will run:
      - agent: `exec sh '[ROOT]/agent.sh'`
    agent: Write prd.md (spec-writer)
    agent: the spec-writer is done
    agent: Write plan.md from prd.md (planner)
    agent: the planner did not succeed: it ended with exit code 4
    stopped: the planner failed: it ended with exit code 4
    hint: read the agent's output above, then try again: `rekindle resume`
    hint: see `rekindle explain AGENT_FAILED`
    ");
    scene.sandbox.write("fixed", "")?;
    let ran = scene.resume_at("2026-01-20T13:00:00Z", "")?;
    assert!(ran.stderr().contains("waits for approval"), "{ran}");
    Ok(())
}
