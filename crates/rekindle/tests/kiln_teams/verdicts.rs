//! The state of a task: one scene for each row.

use anyhow::{Result, ensure};
use rekindle_testkit::conformance::difference;
use serde_json::{Value, json};

use crate::scenes::{alive, codes, dead, id, idle, landed, of_tasks, ready, scene, stage, with};

/// Looks at a scene and compares the facts that are named, and the codes of warnings where they are.
pub(crate) fn check(
    about: &str,
    scene: &Value,
    facts: &Value,
    warnings: Option<&[&str]>,
) -> Result<()> {
    let stage = stage(scene)?;
    let answer = stage.inspected()?;
    if let Some(wrong) = difference(facts, &answer["facts"]) {
        anyhow::bail!("{about}: {wrong}");
    }
    if let Some(wanted) = warnings {
        let codes = codes(&answer);
        ensure!(codes == wanted, "{about}: {codes:?}");
    }
    Ok(())
}

/// Looks at a wave of one task.
pub(crate) fn is(about: &str, task: Value, class: &str, warnings: &[&str]) -> Result<()> {
    let facts = json!({"classification": {id(1, 1): class}});
    check(about, &scene(&[task]), &facts, Some(warnings))
}

const INCONSISTENT: [&str; 1] = ["INCONSISTENT_TASK"];
pub(crate) const STALE: [&str; 1] = ["STALE_HEARTBEAT"];
const NOTHING: [&str; 0] = [];

#[test]
fn a_success_counts_only_with_complete_proof() -> Result<()> {
    let base = || ready(1, 1, json!({"src/a.js": "a\n"}));
    let good = "ready_for_integration";
    let bad = "rerun_required";
    is("all of it", base(), good, &NOTHING)?;
    is(
        "staged",
        with(base(), json!({"staged": true})),
        good,
        &NOTHING,
    )?;
    let renamed =
        json!({"rename": [["src/log.js", "src/util/log.js"]], "delete": ["src/legacy.js"]});
    let renamed = with(base(), json!({"change": renamed}));
    is("renamed", renamed.clone(), good, &NOTHING)?;
    is(
        "renamed, staged",
        with(renamed, json!({"staged": true})),
        good,
        &NOTHING,
    )?;
    is(
        "in_progress, verified",
        with(base(), json!({"status": "in_progress"})),
        good,
        &NOTHING,
    )?;
    is(
        "older word",
        with(base(), json!({"stage": "done"})),
        good,
        &NOTHING,
    )?;
    is(
        "no change at all",
        with(base(), json!({"change": {}})),
        good,
        &NOTHING,
    )?;
    is(
        "partly copied",
        with(base(), json!({"integrated": "partial"})),
        good,
        &NOTHING,
    )?;

    is(
        "own commit",
        with(base(), json!({"commit": true, "staged": true})),
        bad,
        &INCONSISTENT,
    )?;
    is(
        "lost",
        with(base(), json!({"worktree_lost": true})),
        bad,
        &INCONSISTENT,
    )?;
    is(
        "never was",
        with(base(), json!({"worktree": "none"})),
        bad,
        &INCONSISTENT,
    )?;
    for artifacts in ["none", "partial", "fail"] {
        is(
            artifacts,
            with(base(), json!({"artifacts": artifacts})),
            bad,
            &INCONSISTENT,
        )?;
    }
    is(
        "no stage",
        with(base(), json!({"stage": null})),
        bad,
        &INCONSISTENT,
    )?;
    is(
        "odd stage",
        with(base(), json!({"stage": "implementing"})),
        bad,
        &INCONSISTENT,
    )?;
    is(
        "failed",
        with(base(), json!({"stage": "failed", "artifacts": "fail"})),
        bad,
        &NOTHING,
    )?;
    is(
        "canceled",
        with(base(), json!({"stage": "shutdown_ack"})),
        bad,
        &NOTHING,
    )?;
    is(
        "foreign",
        with(base(), json!({"integrated": "foreign"})),
        bad,
        &["STRANGER_ON_MAIN"],
    )
}

#[test]
fn orders_of_the_ledger_count_if_newer_than_the_heartbeat() -> Result<()> {
    let row = |at: &str, action: &str| json!({"state": {"ledger": [["P1-T11", "1", "1", at, "failed", action]]}});
    let (newer, older) = ("2026-02-16T14:56:00Z", "2026-02-16T14:54:00Z");
    let rows = [
        (
            "retry, newer",
            row(newer, "retry"),
            alive(1, 1),
            "rerun_required",
            false,
        ),
        (
            "retry, older",
            row(older, "retry"),
            alive(1, 1),
            "in_progress",
            false,
        ),
        (
            "retry, same time",
            row("2026-02-16T14:55:00Z", "retry"),
            alive(1, 1),
            "in_progress",
            false,
        ),
        (
            "halt, newer",
            row(newer, "HALT"),
            alive(1, 1),
            "rerun_required",
            true,
        ),
        (
            "halt, older",
            row(older, "halt"),
            alive(1, 1),
            "in_progress",
            false,
        ),
        (
            "no time",
            row("—", "halt"),
            alive(1, 1),
            "in_progress",
            false,
        ),
        (
            "correction-cycle",
            row(newer, "correction-cycle"),
            alive(1, 1),
            "in_progress",
            false,
        ),
        (
            "over a success",
            row(newer, "retry"),
            ready(1, 1, json!({"a": "a\n"})),
            "rerun_required",
            false,
        ),
        (
            "not over a commit",
            row(newer, "halt"),
            landed(1, 1, json!({"a": "a\n"})),
            "done",
            false,
        ),
        (
            "not over nothing",
            row(newer, "retry"),
            idle(1, 1),
            "pending",
            false,
        ),
    ];
    for (about, state, task, class, halted) in rows {
        let facts = json!({
            "classification": of_tasks(&[(1, 1, class)]),
            "halted": halted,
            "retries": {"P1-T11": 1},
        });
        check(about, &with(scene(&[task]), state), &facts, None)?;
    }
    let failed = with(
        scene(&[alive(1, 1)]),
        json!({"state": {"step_status": "failed"}}),
    );
    check("step failed", &failed, &json!({"halted": true}), None)
}

#[test]
fn a_wave_waits_for_every_gate_before_it() -> Result<()> {
    let two = |first: Value| scene(&[first, idle(1, 2), idle(2, 1), idle(3, 1)]);
    let facts = |classes: [&str; 4]| {
        let [a, b, c, d] = classes;
        json!({"classification": of_tasks(&[(1, 1, a), (1, 2, b), (2, 1, c), (3, 1, d)])})
    };
    let first = landed(1, 1, json!({"a": "a\n"}));
    check(
        "closed",
        &two(first.clone()),
        &facts(["done", "pending", "gated", "gated"]),
        None,
    )?;
    let open = with(two(first), json!({"open_gates": ["wave-1"]}));
    check(
        "open",
        &open,
        &facts(["done", "pending", "pending", "gated"]),
        None,
    )?;
    let early = scene(&[dead(1, 1), ready(2, 1, json!({"b": "b\n"}))]);
    let facts = json!({
        "classification": of_tasks(&[(1, 1, "rerun_required"), (2, 1, "ready_for_integration")]),
        "integration_order": [id(2, 1)],
    });
    check("a wave that ran ahead", &early, &facts, None)
}
