//! What a host with its own workers is asked for, and what is recorded for the operator.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::retries::{WRITES, counting};
use crate::scenes::{
    NO_AGENT, alive, codes, dead, idle, landed, of_tasks, scene, stage, wave, with,
};

#[test]
fn a_resume_that_only_waits_reports_late_workers_and_never_calls_them_fresh() -> Result<()> {
    let late = with(alive(1, 1), json!({"stage": "claimed", "heartbeat_age": 7}));
    let stage = wave(&[late, alive(1, 2)])?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(ran.stderr().contains("STALE_HEARTBEAT"), "{ran}");
    ensure!(
        ran.stderr()
            .contains("P1-T11 is still at work with a late heartbeat")
            && ran
                .stderr()
                .contains("P1-T12 is still at work with a fresh heartbeat"),
        "{ran}"
    );
    let answer = stage.resume(&["--no-agent", "--json"])?.json()?;
    assert_eq!(codes(&answer), ["STALE_HEARTBEAT"]);
    Ok(())
}

#[test]
fn a_dead_workers_shutdown_request_comes_before_its_task_runs_again() -> Result<()> {
    let request = json!([{
        "recipient": "worker-1",
        "request": "shutdown_request",
        "why": "its worker on P1-T11 is silent",
    }]);
    // Alone, and next to a worker that the wave has to wait for.
    for tasks in [vec![dead(1, 1)], vec![dead(1, 1), alive(1, 2)]] {
        let stage = wave(&tasks)?;
        let ran = stage.resume(&NO_AGENT)?;
        ensure!(ran.code() == Some(0), "{ran}");
        let text = ran.stdout();
        let asked = text.find("shutdown_request").zip(text.find("to worker-1,"));
        let classified = text.find("rerun_required");
        ensure!(
            asked
                .zip(classified)
                .is_some_and(|((_, asked), rerun)| asked < rerun),
            "{ran}"
        );
        let answer = stage.resume(&["--no-agent", "--json"])?.json()?;
        assert_eq!(answer["requests"], request, "{answer}");
    }
    Ok(())
}

#[test]
fn an_orphan_is_recorded_once_with_the_time_it_was_first_seen() -> Result<()> {
    for tasks in [vec![alive(1, 1)], vec![idle(1, 1)]] {
        let stage = wave(&tasks)?;
        let root = stage.worktree(1, 1);
        let root = root.parent().expect("a worktree has a folder above it");
        fs_err::create_dir_all(root.join("phase-1-exec-wave-3-task-7"))?;
        let orphan = |answer: &Value| answer["facts"]["orphans"][0].clone();
        let before = orphan(&stage.typed("inspect", &["--json"]).run()?.json()?);
        assert_eq!(before["since"], Value::Null, "{before}");
        for _ in 0..2 {
            let ran = stage.resume(&NO_AGENT)?;
            ensure!(ran.code() == Some(0), "{ran}");
        }
        let log = stage
            .sandbox()
            .read(".rekindle/logs/kiln-teams-phase-1/orphans.jsonl")?;
        assert_eq!(log.lines().count(), 1, "{log}");
        let after = orphan(&stage.typed("inspect", &["--json"]).run()?.json()?);
        assert_eq!(after["since"], "2026-02-16T15:00:00Z", "{after}");
        assert_eq!(after["task"], "phase-1:exec:wave-3:task-7", "{after}");
        let status = stage.git(&["status", "--porcelain"])?;
        ensure!(!status.contains(".rekindle"), "{status}");
    }
    Ok(())
}

#[test]
fn a_halt_of_the_operator_is_reported_as_an_order() -> Result<()> {
    let row = |retries: &str| json!({"state": {"ledger": [["P1-T11", "1", retries, "2026-02-16T14:59:00Z", "failed", "halt"]]}});
    for (retries, said) in [
        ("0", "the operator ordered a halt of P1-T11"),
        ("2", "no retry is left for P1-T11"),
    ] {
        let stage = stage(&with(scene(&[dead(1, 1)]), row(retries)))?;
        let ran = stage.resume(&NO_AGENT)?;
        ensure!(ran.code() == Some(1), "{ran}");
        ensure!(ran.stderr().contains(said), "{ran}");
    }
    Ok(())
}

#[test]
fn the_first_retry_is_the_second_attempt() -> Result<()> {
    let stage = wave(&[dead(1, 1)])?;
    let (agent, _) = counting(&stage, "echo \"$REKINDLE_ATTEMPT\" > attempt.txt")?;
    let ran = stage.resume(&["--agent-cmd", &agent])?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.sandbox().read("attempt.txt")?, "2\n");
    Ok(())
}

#[test]
fn a_verified_worker_is_alive_until_its_evidence_or_its_silence_ends_it() -> Result<()> {
    let verified = |age: u32, artifacts: &str| {
        let more = json!({"stage": "verified", "heartbeat_age": age, "artifacts": artifacts});
        with(alive(1, 1), more)
    };
    for (task, class) in [
        (verified(3, "none"), "in_progress"),
        (verified(16, "none"), "in_progress"),
        (verified(21, "none"), "rerun_required"),
        (verified(3, "fail"), "in_progress"),
    ] {
        let stage = wave(std::slice::from_ref(&task))?;
        let facts = stage.facts()?;
        assert_eq!(
            facts["classification"],
            of_tasks(&[(1, 1, class)]),
            "{task}"
        );
    }
    Ok(())
}

#[test]
fn state_of_a_newer_kiln_is_reported_and_nothing_is_touched() -> Result<()> {
    for text in [
        "# STATE\nstage: build\nactive_slice: totals\n",
        "# Kiln State\n\n## Pipeline\n- **stage**: build\n",
        "\u{feff}# kiln state \n\n## Schema\n- **schema_version**: 3\n",
        "# Kiln v3 State\n\n## Runtime\nstage: init\n",
        "# Something else\nschema_version: 3\nstage: plan\n",
    ] {
        let stage = wave(&[idle(1, 1)])?;
        stage.sandbox().write(".kiln/STATE.md", text)?;
        let answer = stage.typed("inspect", &["--json"]).run()?.json()?;
        assert_eq!(codes(&answer), ["NEWER_KILN"], "{text}");
        let ran = stage.resume(&NO_AGENT)?;
        ensure!(ran.code() == Some(1), "{ran}");
        ensure!(
            ran.stdout()
                .contains("a newer Kiln, which this version of rekindle does not read")
                && !ran.stdout().contains("/kiln:init"),
            "{ran}"
        );
        assert_eq!(stage.state()?, text);
        // A resume can only stop, so a look is offered instead.
        let looked = stage.sandbox().typed(&["status"]).run()?;
        ensure!(
            looked
                .stderr()
                .contains("see what blocks it with `rekindle inspect "),
            "{looked}"
        );
        let doctor = stage.sandbox().typed(&["doctor"]).run()?;
        ensure!(
            doctor.stdout().contains("0 of 1 can be resumed"),
            "{doctor}"
        );
    }
    Ok(())
}

#[test]
fn worktrees_of_a_wave_that_has_landed_are_offered_and_their_evidence_stays() -> Result<()> {
    let stage = wave(&[dead(1, 1), idle(2, 1)])?;
    let landed = stage.worktree(1, 1);
    let ran = stage.resume(&["--agent-cmd", WRITES])?;
    ensure!(ran.code() == Some(0), "{ran}");
    let evidence = stage
        .sandbox()
        .path(".kiln/tracks/phase-1/artifacts/P1-T11");
    ensure!(landed.exists() && evidence.join("changed_ops.json").exists());
    let state = stage.state()?;
    let asked = stage.sandbox().typed(&["clean"]).run()?;
    ensure!(asked.stderr().contains(landed.as_str()), "{asked}");
    ensure!(landed.exists(), "nobody agreed");
    let cleaned = stage.sandbox().typed(&["clean", "--yes"]).run()?;
    ensure!(cleaned.code() == Some(0), "{cleaned}");
    ensure!(!landed.exists() && evidence.join("changed_ops.json").exists());
    assert_eq!(stage.state()?, state);
    let worktrees = stage.git(&["worktree", "list"])?;
    assert_eq!(worktrees.lines().count(), 1, "{worktrees}");
    Ok(())
}

#[test]
fn a_worktree_of_a_wave_that_has_not_landed_is_not_offered() -> Result<()> {
    let stage = wave(&[landed(1, 1, json!({"a": "a\n"})), dead(1, 2)])?;
    let cleaned = stage.sandbox().typed(&["clean", "--yes"]).run()?;
    ensure!(cleaned.code() == Some(0), "{cleaned}");
    ensure!(stage.worktree(1, 2).exists(), "{cleaned}");
    Ok(())
}

#[test]
fn an_orphan_is_removed_only_by_its_name_and_after_a_rescue() -> Result<()> {
    let stage = wave(&[alive(1, 1)])?;
    let root = stage.worktree(1, 1);
    let orphan = root.with_file_name("phase-1-exec-wave-3-task-7");
    let args = ["worktree", "add", "--detach", orphan.as_str(), "HEAD"];
    stage.git(&args)?;
    fs_err::write(orphan.join("precious.txt"), "work\n")?;
    let notes = root.with_file_name("scratch-notes");
    fs_err::create_dir(&notes)?;
    let clean = |args: &[&str]| {
        let args: Vec<&str> = ["clean", "--yes"].iter().chain(args).copied().collect();
        stage.sandbox().typed(&args).run()
    };
    let all = clean(&[])?;
    ensure!(all.code() == Some(0) && orphan.exists(), "{all}");
    ensure!(
        all.stdout().contains("phase-1-exec-wave-3-task-7")
            && all.stdout().contains("scratch-notes"),
        "{all}"
    );
    let named = clean(&["phase-1-exec-wave-3-task-7"])?;
    ensure!(named.code() == Some(0) && !orphan.exists(), "{named}");
    let rescued = stage.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/rekindle/rescue",
    ])?;
    let kept = stage.git(&["show", &format!("{}:precious.txt", rescued.trim())])?;
    assert_eq!(kept, "work\n");
    // What git cannot save stays, and so does a worker's own place.
    let plain = clean(&["scratch-notes"])?;
    ensure!(plain.code() == Some(1) && notes.exists(), "{plain}");
    let unknown = clean(&["phase-1-exec-wave-1-task-1"])?;
    ensure!(unknown.code() == Some(1) && root.exists(), "{unknown}");
    Ok(())
}
