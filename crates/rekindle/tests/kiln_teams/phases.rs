//! A phase as a whole: to its end, to a halt, or to what an agent would do next.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::retries::{WRITES, counting, row};
use crate::scenes::{NO_AGENT, dead, id, idle, ready, scene, stage, subject, wave, with};

#[test]
fn one_resume_completes_the_phase() -> Result<()> {
    let stage = wave(&[
        ready(1, 1, json!({"src/a.js": "a\n"})),
        dead(1, 2),
        idle(2, 1),
        idle(2, 2),
        idle(3, 1),
    ])?;
    let ran = stage.resume(&["--agent-cmd", WRITES])?;
    ensure!(ran.code() == Some(0), "{ran}");
    let log = stage.log()?;
    assert_eq!(
        log,
        [
            subject(1, 1),
            subject(1, 2),
            subject(2, 1),
            subject(2, 2),
            subject(3, 1)
        ]
    );
    for gate in [3, 6, 8] {
        assert_eq!(stage.task(gate)?["status"], "completed", "{gate}");
    }
    assert!(stage.state()?.contains("- **Step Status:** complete\n"));
    assert_eq!(stage.ledger()?, [row("P1-T12", "1", "dead-worker", "none")]);
    // A later wave starts with the work of the earlier ones.
    let base = stage.git_in(&stage.worktree(2, 1), &["log", "-1", "--format=%s"])?;
    assert_eq!(base.trim(), subject(1, 2));
    let again = stage.resume(&["--agent-cmd", "exit 1"])?;
    ensure!(again.code() == Some(0), "{again}");
    assert_eq!(stage.log()?, log);
    Ok(())
}

#[test]
fn a_resume_prints_what_waits_for_a_gate() -> Result<()> {
    let stage = wave(&[
        ready(1, 1, json!({"src/a.js": "a\n"})),
        idle(2, 1),
        idle(2, 2),
    ])?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1)]);
    let object = stage.sandbox().run(&["status", "--json"])?.json()?;
    let next = &object["workflows"][0]["next"];
    assert_eq!(next["kind"], "open_gate");
    assert_eq!(
        next["summary"],
        "open the gate of wave 1, whose tasks are all on main; 2 tasks wait for it"
    );
    Ok(())
}

#[test]
fn without_an_agent_a_resume_prints_what_would_be_launched() -> Result<()> {
    let stage = wave(&[dead(1, 1), idle(1, 2), idle(2, 1)])?;
    let files = stage.sandbox().files()?.except(".rekindle").except(".git");
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    for name in [
        "P1-T11 would be launched again (retry 1 of 2)",
        "P1-T12 would be launched",
    ] {
        ensure!(ran.stderr().contains(name), "{name}: {ran}");
    }
    ensure!(!ran.stderr().contains("P1-T21"), "{ran}");
    let after = stage.sandbox().files()?.except(".rekindle").except(".git");
    assert_eq!(files.changes(&after), [""; 0]);
    assert_eq!(stage.facts()?["classification"][id(1, 1)], "rerun_required");
    Ok(())
}

#[test]
fn a_phase_halts_only_after_finished_work_has_landed() -> Result<()> {
    let ledger = json!({"state": {"ledger": [["P1-T12", "1", "2", "2026-02-16T13:00:00Z", "failed", "retry"]]}});
    let tasks = [
        ready(1, 1, json!({"src/a.js": "a\n"})),
        dead(1, 2),
        dead(1, 3),
        idle(2, 1),
    ];
    let stage = stage(&with(scene(&tasks), ledger))?;
    let (agent, n_calls) = counting(&stage, "true")?;
    let ran = stage.resume(&["--agent-cmd", &agent])?;
    ensure!(ran.code() == Some(1), "{ran}");
    ensure!(ran.stdout().contains("P1-T12"), "{ran}");
    assert_eq!((n_calls(), stage.log()?), (0, vec![subject(1, 1)]));
    assert!(stage.state()?.contains("- **Step Status:** failed\n"));
    assert_eq!(stage.ledger()?.len(), 1);
    assert!(stage.worktree(1, 2).join("junk.txt").exists());
    assert!(stage.worktree(1, 3).join("junk.txt").exists());
    Ok(())
}

#[test]
fn an_ordered_halt_is_kept_after_finished_work_has_landed() -> Result<()> {
    let row = ["P1-T12", "1", "0", "2026-02-16T14:59:00Z", "failed", "halt"];
    let orders = [
        ("a row", json!({"state": {"ledger": [row]}}), "P1-T12"),
        (
            "the step",
            json!({"state": {"step_status": "failed"}}),
            "halted",
        ),
    ];
    for (about, order, word) in orders {
        let tasks = [ready(1, 1, json!({"src/a.js": "a\n"})), dead(1, 2)];
        let stage = stage(&with(scene(&tasks), order))?;
        let (agent, n_calls) = counting(&stage, "true")?;
        for _ in 0..2 {
            let ran = stage.resume(&["--agent-cmd", &agent])?;
            ensure!(ran.code() == Some(1), "{about}: {ran}");
            ensure!(ran.stdout().contains(word), "{about}: {ran}");
        }
        assert_eq!(n_calls(), 0, "{about}");
        assert_eq!(stage.log()?, [subject(1, 1)], "{about}");
        assert!(stage.state()?.contains("- **Step Status:** failed\n"));
    }
    Ok(())
}
