//! The verification of a task: check commands and the reports of verifiers.

use anyhow::Result;

use crate::{Scene, nearly_done};

#[test]
fn a_check_that_fails_sends_the_task_back_and_its_command_is_named() -> Result<()> {
    let run = nearly_done().checked_by("test -e proof");
    let second = r#"[ "$REKINDLE_ROLE/$REKINDLE_ATTEMPT" = executor/2 ] && : >proof"#;
    let scene = Scene::new(run, second)?;
    let ran = scene.resume("merged\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    insta::assert_snapshot!(scene.told()?, @r#"
    session_resumed
    task_started T002 attempt=1
    task_implemented T002 attempt=1
    task_verification_failed T002 attempt=1 reason="`test -e proof`: it ended with exit code 1"
    task_started T002 attempt=2
    task_implemented T002 attempt=2
    task_verified T002 attempt=2
    task_completed T002 attempt=2
    phase_transition to_phase=3 trigger="all_tasks_finished"
    cleanup_completed
    phase_transition to_phase=4 trigger="merged"
    run_completed
    "#);
    let said = "check: `test -e proof` did not succeed: it ended with exit code 1\n";
    assert!(ran.stderr().contains(said), "{ran}");
    Ok(())
}

#[test]
fn a_check_that_never_succeeds_ends_in_a_question() -> Result<()> {
    let scene = Scene::new(nearly_done().checked_by("false"), "")?;
    let ran = scene.resume("")?;
    assert!(
        ran.stderr().contains("T002 - Add endpoint failed 3 times"),
        "{ran}"
    );
    assert!(
        !scene.told()?.contains("task_completed"),
        "{}",
        scene.told()?
    );
    Ok(())
}

#[test]
fn the_report_of_a_verifier_decides() -> Result<()> {
    let report = |result: &str| {
        format!(
            "[ $REKINDLE_ROLE = verifier ] && mkdir -p .agent-memory/runs/$REKINDLE_RUN/verifications && \
             echo '### Result: {result}' >.agent-memory/runs/$REKINDLE_RUN/verifications/T002.md && exit 0"
        )
    };
    let failed = Scene::new(nearly_done(), &report("FAILED"))?;
    failed.resume("")?;
    let said =
        "task_verification_failed T002 attempt=1 reason=\"the verifier's report says failed\"\n";
    assert!(failed.told()?.contains(said), "{}", failed.told()?);

    let blocked = Scene::new(nearly_done(), &report("BLOCKED"))?;
    let ran = blocked.resume("")?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    let root = blocked.sandbox.root().as_str();
    insta::assert_snapshot!(ran.stderr().replace(root, "[ROOT]"), @"
    These commands will run:
      - agent: `exec sh '[ROOT]/agent.sh'`
    agent: Execute T002 - Add endpoint
    agent: the executor is done
    agent: Verify T002 - Add endpoint
    agent: the verifier is done
    stopped: every remaining task is blocked
    hint: `T002` is blocked: the verifier's report says blocked
    hint: when a block is gone, say so: `rekindle event 20260119-0900-orders-api-k2l3 task_ready --task TASK`
    ");
    Ok(())
}
