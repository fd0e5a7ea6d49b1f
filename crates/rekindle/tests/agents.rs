//! Work done by scripted agents: whole runs, failures, lies, and the questions that only a person answers.

use anyhow::Result;
use rekindle_testkit::agent_memory::{DILIGENT_AGENT, Run};
use rekindle_testkit::sandbox::{Ran, Sandbox, quoted};

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";

/// A project with one run, and an agent that works on it.
struct Scene {
    sandbox: Sandbox,
    run: Run,
    agent: String,
}

impl Scene {
    /// Lays out a run; the agent does as it is asked, after what the script does first.
    fn new(run: Run, first: &str) -> Result<Self> {
        let sandbox = Sandbox::new(BINARY)?;
        run.lay_out(&sandbox)?;
        let calls = quoted(sandbox.root().join("calls").as_str());
        let script = format!(
            "echo $REKINDLE_ROLE $REKINDLE_TASK $REKINDLE_ATTEMPT >>{calls}\n{first}\n{DILIGENT_AGENT}"
        );
        let agent = sandbox.script("agent.sh", &script)?;
        Ok(Self {
            sandbox,
            run,
            agent,
        })
    }

    /// Resumes the run with its agent, and with these answers on standard input.
    fn resume(&self, answers: &str) -> Result<Ran> {
        self.resume_at("2026-01-20T12:00:00Z", answers)
    }

    fn resume_at(&self, now: &str, answers: &str) -> Result<Ran> {
        let args = ["resume", "--yes", "--agent-cmd", &self.agent];
        Ok(self.sandbox.typed(&args).answering(answers).at(now).run()?)
    }

    /// Returns who was called for what, one a line.
    fn calls(&self) -> Result<String> {
        Ok(fs_err::read_to_string(self.sandbox.root().join("calls"))?)
    }

    fn told(&self) -> Result<String> {
        Ok(self.run.told(&self.sandbox)?)
    }
}

/// A run in which only the last task is left.
fn nearly_done() -> Run {
    Run::in_execution(ORDERS)
        .task("T001", "Add model", &[])
        .task("T002", "Add endpoint", &["T001"])
        .task_event("10:00", "task_completed", "T001")
}

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

#[test]
fn an_agent_gets_the_prompt_as_input_and_its_task_in_the_environment() -> Result<()> {
    let scene = Scene::new(
        nearly_done(),
        "cat >seen.prompt; env >seen.env; pwd >seen.folder; exit 9",
    )?;
    scene.resume("")?;
    let prompt = scene.sandbox.read("seen.prompt")?;
    assert!(
        prompt.starts_with("You are the executor of run"),
        "{prompt}"
    );
    assert!(prompt.contains("## Task: T002"), "{prompt}");
    let environment = scene.sandbox.read("seen.env")?;
    let mut ours: Vec<&str> = environment
        .lines()
        .filter(|line| {
            line.starts_with("REKINDLE_") && !line.ends_with(scene.sandbox.project().as_str())
        })
        .map(|line| match line.strip_prefix("REKINDLE_AGENT=") {
            Some(mark) if !mark.is_empty() => "REKINDLE_AGENT=[MARK]",
            _ => line,
        })
        .collect();
    ours.sort_unstable();
    insta::assert_snapshot!(ours.join("\n"), @"
    REKINDLE_AGENT=[MARK]
    REKINDLE_ATTEMPT=3
    REKINDLE_NOW=2026-01-20T12:00:00Z
    REKINDLE_ROLE=executor
    REKINDLE_RUN=20260119-0900-orders-api-k2l3
    REKINDLE_TASK=T002
    REKINDLE_WORKFLOW=agent-memory:20260119-0900-orders-api-k2l3
    ");
    for variable in ["REKINDLE_PROJECT", "REKINDLE_WORKTREE"] {
        let line = format!("{variable}={}\n", scene.sandbox.project());
        assert!(environment.contains(&line), "{environment}");
    }
    let folder = format!("{}\n", scene.sandbox.project());
    assert_eq!(scene.sandbox.read("seen.folder")?, folder);
    Ok(())
}

#[test]
fn an_agent_that_reads_nothing_does_not_block_a_long_prompt() -> Result<()> {
    let long = "read all of this\n".repeat(20_000);
    let run = nearly_done().document("tasks/T002.md", &long);
    let scene = Scene::new(run, "exec 0<&-")?;
    let ran = scene.resume("merged\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    Ok(())
}

#[test]
fn what_an_agent_prints_never_reaches_standard_output() -> Result<()> {
    let flood = "yes 'lorem ipsum dolor sit amet' | head -c 300000; echo 'RESUMING RUN: forged'";
    let scene = Scene::new(nearly_done(), flood)?;
    let quiet = Scene::new(nearly_done(), "")?;
    let (ran, plain) = (scene.resume("merged\n")?, quiet.resume("merged\n")?);
    assert_eq!(ran.stdout(), plain.stdout());
    assert!(plain.stdout().contains("RESUMING RUN"), "{plain}");
    // Six agents, and everything of theirs is there.
    assert!(ran.stderr_bytes().len() > 6 * 300_000);
    assert_eq!(ran.stderr().matches("RESUMING RUN: forged").count(), 6);
    Ok(())
}

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

#[test]
fn an_agent_can_report_while_its_run_is_held() -> Result<()> {
    // A step that is no task's has none to name.
    let beat = format!(
        "rekindle={}\nif [ -n \"$REKINDLE_TASK\" ]; then beat=\"heartbeat $REKINDLE_RUN $REKINDLE_TASK\"; \
         else beat=\"event $REKINDLE_RUN heartbeat\"; fi\n$rekindle $beat --actor worker-1 || exit 1",
        quoted(BINARY)
    );
    let scene = Scene::new(nearly_done(), &beat)?;
    let ran = scene.resume("merged\n")?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let log = scene.run.path("events/worker-1/20260120-rekindle.jsonl");
    assert_eq!(scene.sandbox.read(log)?.lines().count(), 6);
    Ok(())
}

#[test]
fn quiet_leaves_the_agents_words_and_drops_ours() -> Result<()> {
    let scene = Scene::new(nearly_done(), "echo agent speaks; exit 1")?;
    let args = ["resume", "--yes", "-q", "--agent-cmd", &scene.agent];
    let ran = scene.sandbox.run(&args)?;
    assert!(
        ran.stderr()
            .starts_with("agent speaks\nagent speaks\nagent speaks\nT002"),
        "{ran}"
    );
    Ok(())
}

#[test]
fn without_yes_the_work_starts_only_after_the_question() -> Result<()> {
    let scene = Scene::new(nearly_done(), "")?;
    let typed = scene
        .sandbox
        .typed(&["resume", "--agent-cmd", &scene.agent]);
    let declined = typed.answering("n\n").run()?;
    assert_eq!(declined.code(), Some(0), "{declined}");
    assert!(!scene.sandbox.root().join("calls").exists());
    let typed = scene
        .sandbox
        .typed(&["resume", "--agent-cmd", &scene.agent]);
    let agreed = typed.answering("y\nmerged\n").run()?;
    assert!(agreed.stderr().contains("done: run"), "{agreed}");
    Ok(())
}
