//! Workers that outlive their orchestrator, concurrent orchestrators, and pauses.

use anyhow::{Result, ensure};
use rekindle_testkit::conformance::Stage;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::running::{Running, wait_until_gone};
use rekindle_testkit::sandbox::{LIMIT, Typed};
use serde_json::json;

use crate::scenes::{alive, dead, id, idle, ready, scene, stage, subject, wave, with};

/// An agent that stops at a gate before it writes.
struct Stopped {
    stage: Stage,
    gate: Gate,
    agent: String,
}

impl Stopped {
    fn new(stage: Stage) -> Result<Self> {
        let gate = Gate::new(stage.sandbox().root())?;
        let script = format!(
            "cat >/dev/null\n{}echo $REKINDLE_TASK > done.txt\n",
            gate.script()
        );
        let agent = stage.sandbox().script("agent.sh", &script)?;
        Ok(Self { stage, gate, agent })
    }

    /// Starts a resume and waits until its agent is at the gate; returns also the agent's process.
    fn start(&self) -> Result<(Running, u32)> {
        let running = resume(&self.stage, &self.agent).start()?;
        let agent = self.gate.wait()?;
        Ok((running, agent))
    }
}

fn resume<'s>(stage: &'s Stage, agent: &str) -> Typed<'s> {
    stage.typed("resume", &["--yes", "--agent-cmd", agent])
}

/// Returns the process that a process was started by.
fn parent(pid: u32) -> Result<u32> {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat"))?;
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    Ok(after_name.split(' ').nth(1).unwrap_or_default().parse()?)
}

fn kill(stage: &Stage, pid: u32) -> Result<()> {
    let script = format!("kill -9 {pid}");
    let killed = stage
        .sandbox()
        .typed(&[])
        .through(&["sh", "-c", &script])
        .run()?;
    ensure!(killed.code() == Some(0), "{killed}");
    Ok(wait_until_gone(pid, LIMIT)?)
}

#[test]
fn a_worker_that_outlived_its_orchestrator_is_waited_for() -> Result<()> {
    let mut scene = Stopped::new(wave(&[dead(1, 1)])?)?;
    let (first, _) = scene.start()?;
    first.kill()?;
    assert_eq!(
        scene.stage.facts()?["classification"][id(1, 1)],
        "in_progress"
    );
    let second = resume(&scene.stage, &scene.agent);
    let second_running = second.start()?;
    scene.gate.open()?;
    let ran = second.ran(second_running.finish()?);
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(scene.stage.log()?, [subject(1, 1)]);
    assert_eq!(scene.stage.ledger()?.len(), 1);
    assert_eq!(scene.stage.ledger()?[0][2], "1");
    Ok(())
}

#[test]
fn a_worker_that_died_with_its_orchestrator_is_run_again() -> Result<()> {
    let mut scene = Stopped::new(wave(&[idle(1, 1)])?)?;
    let (first, agent) = scene.start()?;
    let worker = parent(agent)?;
    first.kill()?;
    kill(&scene.stage, worker)?;
    let second = resume(&scene.stage, &scene.agent);
    let running = second.start()?;
    scene.gate.wait()?;
    scene.gate.open()?;
    let ran = second.ran(running.finish()?);
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(scene.stage.log()?, [subject(1, 1)]);
    assert_eq!(scene.stage.ledger()?[0][2], "1");
    Ok(())
}

#[test]
fn the_report_of_a_worker_that_ended_unseen_counts() -> Result<()> {
    let mut scene = Stopped::new(wave(&[idle(1, 1)])?)?;
    let (first, agent) = scene.start()?;
    let worker = parent(agent)?;
    first.kill()?;
    let at_work = scene.stage.task(1)?;
    scene.gate.open()?;
    wait_until_gone(worker, LIMIT)?;
    assert_eq!(scene.stage.task(1)?["metadata"]["kiln_stage"], "verified");
    // The list as it was just before the worker ended.
    scene.stage.write_task("1", &at_work)?;
    let ran = resume(&scene.stage, &scene.agent).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(scene.stage.log()?, [subject(1, 1)]);
    assert!(scene.stage.ledger()?.is_empty(), "{ran}");
    Ok(())
}

#[test]
fn a_second_resume_is_refused_while_the_first_runs() -> Result<()> {
    let mut scene = Stopped::new(wave(&[idle(1, 1)])?)?;
    let typed = resume(&scene.stage, &scene.agent);
    let first = typed.start()?;
    scene.gate.wait()?;
    let second = resume(&scene.stage, &scene.agent).run()?;
    ensure!(second.code() == Some(4), "{second}");
    scene.gate.open()?;
    let ran = typed.ran(first.finish()?);
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(scene.stage.log()?, [subject(1, 1)]);
    Ok(())
}

#[test]
fn a_pause_ends_only_with_permission() -> Result<()> {
    let paused = json!({"state": {"paused": true, "pause_reason": "lunch"}});
    let tasks = [
        ready(1, 1, json!({"src/a.js": "a\n"})),
        with(alive(1, 2), json!({"heartbeat_age": 90})),
    ];
    let stage = stage(&with(scene(&tasks), paused))?;
    let files = || anyhow::Ok(stage.sandbox().files()?.except(".rekindle"));
    let before = files()?;
    for answer in ["n\n", ""] {
        let ran = stage
            .typed("resume", &["--no-agent"])
            .answering(answer)
            .run()?;
        ensure!(ran.stdout().contains("lunch"), "{ran}");
        let changes = before.changes(&files()?);
        ensure!(changes.is_empty(), "{answer:?}: {changes:?}");
    }
    let ran = stage
        .typed("resume", &["--no-agent"])
        .answering("y\n")
        .run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    let state = stage.state()?;
    ensure!(state.contains("- **Paused:** false\n"), "{state}");
    assert_eq!(stage.log()?, [subject(1, 1)]);
    let facts = stage.facts()?;
    assert_eq!(
        (&facts["paused"], &facts["heartbeat"][id(1, 2)]),
        (&json!(false), &json!("dead"))
    );
    Ok(())
}

#[test]
fn watch_continues_when_other_workers_have_ended() -> Result<()> {
    let stage = wave(&[
        ready(1, 1, json!({"src/a.js": "a\n"})),
        ready(1, 2, json!({"src/b.js": "b\n"})),
    ])?;
    stage.change_task(2, |task| {
        task["status"] = json!("in_progress");
        task["metadata"]["kiln_stage"] = json!("verifying");
        task["metadata"]["kiln_last_heartbeat"] = json!("2026-02-16T14:59:00Z");
    })?;
    let typed = stage.typed("resume", &["--yes", "--no-agent", "--watch"]);
    let running = typed.start()?;
    running.wait_for("still at work")?;
    assert!(stage.log()?.is_empty());
    stage.change_task(2, |task| {
        task["status"] = json!("completed");
        task["metadata"]["kiln_stage"] = json!("verified");
    })?;
    let ran = typed.ran(running.finish()?);
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1), subject(1, 2)]);
    Ok(())
}
