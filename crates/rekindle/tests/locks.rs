//! Two at once: who holds a run, what is left of one that was killed, and that the work goes on after it.

#![cfg(target_os = "linux")]

use anyhow::Result;
use rekindle_testkit::agent_memory::{DILIGENT_AGENT, Run};
use rekindle_testkit::gate::Gate;
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::{LIMIT, Sandbox};

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";
const NOTHING: [&str; 0] = [];

/// A project whose executor stops at a gate.
struct Scene {
    sandbox: Sandbox,
    run: Run,
    gate: Gate,
    agent: String,
}

impl Scene {
    fn new() -> Result<Self> {
        let sandbox = Sandbox::new(BINARY)?;
        let run = Run::interrupted(ORDERS);
        run.lay_out(&sandbox)?;
        let gate = Gate::new(sandbox.root())?;
        let stop = gate.script();
        let script = format!(
            "if [ $REKINDLE_ROLE/$REKINDLE_TASK = executor/T002 ]; then {stop} fi\n{DILIGENT_AGENT}"
        );
        let agent = sandbox.script("agent.sh", &script)?;
        Ok(Self {
            sandbox,
            run,
            gate,
            agent,
        })
    }

    fn args(&self) -> [&str; 4] {
        ["resume", "--yes", "--agent-cmd", &self.agent]
    }
}

#[test]
fn a_second_resume_is_refused_with_the_holder_of_the_run() -> Result<()> {
    let mut scene = Scene::new()?;
    let typed = scene.sandbox.typed(&scene.args()).answering("merged\n");
    let first = typed.start()?;
    let pid = first.pid();
    scene.gate.wait()?;
    let before = scene.sandbox.files()?;

    let second = scene.sandbox.run(&scene.args())?;
    insta::assert_snapshot!(second, @"
    exit 4
    --- stderr
    error: `agent-memory:20260119-0900-orders-api-k2l3` is in use
      cause: the run is held by process [PID] (`resume agent-memory:20260119-0900-orders-api-k2l3`) on `[HOST]` since 2026-01-20T12:00:00Z; lock file `[PROJECT]/.rekindle/locks/agent-memory-20260119-0900-orders-api-k2l3.lock`

    hint: wait for it, or end that process; its lock is released when it ends
    hint: see `rekindle explain LOCK_HELD`
    ");
    let named = format!("process {pid} (`resume agent-memory:{ORDERS}`)");
    assert!(second.stderr().contains(&named), "{second}");
    // Without `--yes` it is said before anything is asked.
    let asked = scene.sandbox.run(&["resume"])?;
    assert_eq!(asked.to_string(), second.to_string());
    let object = scene.sandbox.run(&["resume", "--yes", "--json"])?.json()?;
    assert_eq!(object["error"]["code"], "LOCK_HELD");
    assert_eq!(before.changes(&scene.sandbox.files()?), NOTHING);

    scene.gate.open()?;
    let ran = typed.ran(first.finish()?);
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert!(ran.stderr().contains("is complete"), "{ran}");
    Ok(())
}

#[test]
fn looking_and_reporting_go_on_while_a_run_is_held() -> Result<()> {
    let mut scene = Scene::new()?;
    let typed = scene.sandbox.typed(&scene.args()).answering("merged\n");
    let first = typed.start()?;
    scene.gate.wait()?;
    insta::assert_snapshot!(scene.sandbox.run(&["status"])?, @"
    exit 0
    --- stdout
    ID    STATE    TASKS  AGE       TITLE
    2026  running  1/3    just now  20260119-0900-orders-api-k2l3, phase 2 (execution)
    ");
    let object = scene.sandbox.run(&["status", "--json"])?.json()?;
    assert_eq!(object["at_work"][0]["id"], format!("agent-memory:{ORDERS}"));
    assert_eq!(object["next_command"], serde_json::Value::Null);
    for args in [
        &["inspect"][..],
        &["plan"],
        &["explain", ORDERS, "T002"],
        &["heartbeat", ORDERS, "T002", "--actor", "w"],
        &["event", ORDERS, "note", "--actor", "w"],
        &["checkpoint"],
    ] {
        let ran = scene.sandbox.run(args)?;
        assert_eq!(ran.code(), Some(0), "{args:?}: {ran}");
    }
    // Where agents are not installed.
    let doctor = scene
        .sandbox
        .typed(&["doctor"])
        .with("PATH", "/usr/bin:/bin");
    insta::assert_snapshot!(doctor.run()?, @"
    exit 0
    --- stdout
    ok  rekindle: [VERSION], a build of the source
    ok  git: git [VERSION]
    note  agent: none is configured, and none of `claude`, `codex`, `gemini` and `opencode` is installed
        hint: install one, or give a command with `--agent-cmd`
    ok  workflows: 1 can be resumed in `[PROJECT]`
    note  agent-memory:20260119-0900-orders-api-k2l3: held by process [PID] (`resume agent-memory:20260119-0900-orders-api-k2l3`) on `[HOST]` since 2026-01-20T12:00:00Z
        hint: the lock is released when that process ends
    ");
    scene.gate.open()?;
    assert_eq!(typed.ran(first.finish()?).code(), Some(0));
    insta::assert_snapshot!(doctor.run()?, @"
    exit 0
    --- stdout
    ok  rekindle: [VERSION], a build of the source
    ok  git: git [VERSION]
    note  agent: none is configured, and none of `claude`, `codex`, `gemini` and `opencode` is installed
        hint: install one, or give a command with `--agent-cmd`
    ok  workflows: 0 can be resumed in `[PROJECT]`
    ");
    Ok(())
}

#[test]
fn two_runs_of_one_project_are_held_apart() -> Result<()> {
    let mut scene = Scene::new()?;
    let other = Run::interrupted("20260118-0900-billing-c3d4");
    other.lay_out(&scene.sandbox)?;
    let args = [&scene.args()[..], &[ORDERS]].concat();
    let typed = scene.sandbox.typed(&args).answering("merged\n");
    let first = typed.start()?;
    scene.gate.wait()?;
    let ran = scene
        .sandbox
        .run(&["resume", other.id(), "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert_eq!(other.told(&scene.sandbox)?, "session_resumed\n");
    scene.gate.open()?;
    first.finish()?;
    Ok(())
}

#[test]
fn after_a_kill_the_run_waits_for_the_agent_that_is_left_and_then_goes_on() -> Result<()> {
    let mut scene = Scene::new()?;
    let first = scene.sandbox.typed(&scene.args()).start()?;
    let agent = scene.gate.wait()?;
    first.kill()?;

    // The lock is free, but two agents on one task could do its work twice.
    let before = scene.run.told(&scene.sandbox)?;
    let second = scene.sandbox.run(&scene.args())?;
    insta::assert_snapshot!(second, @"
    exit 4
    --- stderr
    error: an agent of an earlier resume is still at work: process [PID] (executor on T002)

    hint: wait until it ends, or end it: `kill [PID]`
    hint: see `rekindle explain LOCK_HELD`
    ");
    assert!(
        second
            .stderr()
            .contains(&format!("process {agent} (executor on T002)")),
        "{second}"
    );
    assert!(
        second.stderr().contains(&format!("`kill {agent}`")),
        "{second}"
    );
    assert_eq!(scene.run.told(&scene.sandbox)?, before);

    scene.gate.open()?;
    wait_until_gone(agent, LIMIT)?;
    scene.gate.open()?;
    let typed = scene.sandbox.typed(&scene.args()).answering("merged\n");
    let third = typed.at("2026-01-20T12:10:00Z").run()?;
    assert_eq!(third.code(), Some(0), "{third}");
    let said = third.stderr();
    let said = said
        .lines()
        .filter(|line| !line.contains("commands will run") && !line.starts_with("  -"));
    insta::assert_snapshot!(said.take(3).collect::<Vec<_>>().join("\n"), @"
    a previous agent exited without reporting a result: executor on T002
    agent: Resume T002 - Add endpoint (attempt 1)
    agent: the executor is done
    ");
    insta::assert_snapshot!(scene.run.told(&scene.sandbox)?, @r#"
    session_resumed
    task_started T002 attempt=1
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
    Ok(())
}

#[test]
fn what_a_killed_agent_has_started_holds_the_run_until_it_ends() -> Result<()> {
    let mut scene = Scene::new()?;
    // The agent is a shell around the one that works, as `npx` and many wrappers are.
    let work = scene.sandbox.script("work.sh", &scene.gate.script())?;
    let script = format!("echo $$ > \"$REKINDLE_PROJECT/../wrapper\"\n{work} &\nwait\n");
    let agent = scene.sandbox.script("wrapper.sh", &script)?;
    let args = ["resume", "--yes", "--agent-cmd", &agent];
    let first = scene.sandbox.typed(&args).start()?;
    let working = scene.gate.wait()?;
    first.kill()?;
    let wrapper = fs_err::read_to_string(scene.sandbox.root().join("wrapper"))?;
    let kill = format!("kill -9 {wrapper}");
    scene
        .sandbox
        .typed(&[])
        .through(&["sh", "-c", &kill])
        .run()?;
    wait_until_gone(wrapper.trim().parse()?, LIMIT)?;

    let second = scene.sandbox.run(&scene.args())?;
    assert_eq!(second.code(), Some(4), "{second}");
    let hint = format!("`kill {working}`");
    assert!(second.stderr().contains(&hint), "{second}");
    scene.gate.open()?;
    wait_until_gone(working, LIMIT)?;
    scene.gate.open()?;
    let third = scene.sandbox.typed(&scene.args()).answering("merged\n");
    let third = third.run()?;
    assert_eq!(third.code(), Some(0), "{third}");
    Ok(())
}

#[test]
fn an_agent_that_was_killed_too_does_not_hold_the_run_up() -> Result<()> {
    let mut scene = Scene::new()?;
    let first = scene.sandbox.typed(&scene.args()).start()?;
    let agent = scene.gate.wait()?;
    first.kill()?;
    let kill = format!("kill -9 {agent}");
    scene
        .sandbox
        .typed(&[])
        .through(&["sh", "-c", &kill])
        .run()?;
    wait_until_gone(agent, LIMIT)?;
    scene.gate.open()?;
    let typed = scene.sandbox.typed(&scene.args()).answering("merged\n");
    let second = typed.at("2026-01-20T12:10:00Z").run()?;
    assert_eq!(second.code(), Some(0), "{second}");
    let lost = "a previous agent exited without reporting a result: executor on T002\n";
    assert!(second.stderr().contains(lost), "{second}");
    let completed = scene
        .run
        .told(&scene.sandbox)?
        .matches("task_completed T002")
        .count();
    assert_eq!(completed, 1);
    Ok(())
}

#[test]
fn a_lock_file_that_a_dead_process_left_holds_nobody_up() -> Result<()> {
    let mut scene = Scene::new()?;
    let first = scene.sandbox.typed(&scene.args()).start()?;
    let agent = scene.gate.wait()?;
    first.kill()?;
    scene.gate.open()?;
    wait_until_gone(agent, LIMIT)?;
    let lock = format!(".rekindle/locks/agent-memory-{ORDERS}.lock");
    assert!(
        scene.sandbox.read(&lock)?.contains("\"purpose\""),
        "it names the dead one"
    );
    let doctor = scene.sandbox.run(&["doctor"])?;
    assert!(!doctor.stdout().contains("held"), "{doctor}");
    let ran = scene.sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert_eq!(scene.sandbox.read(&lock)?, "", "a free lock names nobody");
    Ok(())
}

#[test]
fn removing_the_state_folder_takes_the_lock_and_the_work_stops() -> Result<()> {
    let mut scene = Scene::new()?;
    let typed = scene.sandbox.typed(&scene.args()).answering("merged\n");
    let first = typed.start()?;
    scene.gate.wait()?;
    fs_err::remove_dir_all(scene.sandbox.path(".rekindle"))?;
    let before = scene.run.told(&scene.sandbox)?;
    scene.gate.open()?;
    let ran = typed.ran(first.finish()?);
    insta::assert_snapshot!(ran, @"
    exit 1
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
    error: the plan could not be applied
      cause: `[PROJECT]/.rekindle/journal/agent-memory-20260119-0900-orders-api-k2l3.jsonl` was moved, deleted or replaced while it was open

    hint: `rekindle doctor` checks what rekindle needs
    ");
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert_eq!(scene.run.told(&scene.sandbox)?, before);
    Ok(())
}
