//! What a task is: one scene a row, looked at and not touched.

use anyhow::{Result, ensure};
use rekindle_testkit::conformance::difference;
use serde_json::{Value, json};

use crate::scenes::{
    alive, codes, dead, id, idle, landed, of_tasks, ready, scene, stage, wave, with,
};

/// Looks at a scene and compares the facts that are named, and the codes of warnings where they are.
fn check(about: &str, scene: &Value, facts: &Value, warnings: Option<&[&str]>) -> Result<()> {
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
fn is(about: &str, task: Value, class: &str, warnings: &[&str]) -> Result<()> {
    let facts = json!({"classification": {id(1, 1): class}});
    check(about, &scene(&[task]), &facts, Some(warnings))
}

const INCONSISTENT: [&str; 1] = ["INCONSISTENT_TASK"];
const STALE: [&str; 1] = ["STALE_HEARTBEAT"];
const NOTHING: [&str; 0] = [];

#[test]
fn a_success_counts_only_with_all_its_proof() -> Result<()> {
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
fn a_worktree_that_says_something_else_than_its_worker_is_no_proof() -> Result<()> {
    let operations = [
        ("nothing", "[]"),
        (
            "too much",
            r#"[{"op":"add","path":"src/a.js"},{"op":"add","path":"src/b.js"}]"#,
        ),
        ("another", r#"[{"op":"add","path":"src/b.js"}]"#),
        ("no list", r#"{"op":"add","path":"src/a.js"}"#),
        ("no path", r#"[{"op":"add"}]"#),
        ("outside", r#"[{"op":"add","path":"../src/a.js"}]"#),
        ("absolute", r#"[{"op":"add","path":"/src/a.js"}]"#),
        ("torn", r#"[{"op":"add","pa"#),
    ];
    for (about, text) in operations {
        let stage = wave(&[ready(1, 1, json!({"src/a.js": "a\n"}))])?;
        let path = stage
            .worktree(1, 1)
            .join(".kiln-artifacts/P1-T11/changed_ops.json");
        fs_err::write(path, text)?;
        let class = &stage.facts()?["classification"][id(1, 1)];
        ensure!(*class == "rerun_required", "{about}: {class}");
    }
    let spelled = r#"[{"op":"untracked","path":"./src//x/../a.js"},{"op":"add","path":".kiln-artifacts/P1-T11/x"}]"#;
    let stage = wave(&[ready(1, 1, json!({"src/a.js": "a\n"}))])?;
    let path = stage
        .worktree(1, 1)
        .join(".kiln-artifacts/P1-T11/changed_ops.json");
    fs_err::write(path, spelled)?;
    let class = &stage.facts()?["classification"][id(1, 1)];
    ensure!(*class == "ready_for_integration", "other spelling: {class}");
    Ok(())
}

#[test]
fn a_heartbeat_is_judged_by_its_stage_and_a_typo_kills_nobody() -> Result<()> {
    let rows: [(&str, Value, &str, &[&str]); 12] = [
        (
            "claimed 5",
            json!({"stage": "claimed", "heartbeat_age": 5}),
            "warning",
            &STALE,
        ),
        (
            "started 11",
            json!({"stage": "started", "heartbeat_age": 11}),
            "dead",
            &STALE,
        ),
        (
            "sharpening 15",
            json!({"stage": "sharpening", "heartbeat_age": 15}),
            "warning",
            &STALE,
        ),
        (
            "sharpened 15 and a second",
            json!({"stage": "sharpened", "heartbeat": "2026-02-16T14:44:59Z"}),
            "dead",
            &STALE,
        ),
        (
            "implemented 30",
            json!({"stage": "implemented", "heartbeat_age": 30}),
            "warning",
            &STALE,
        ),
        (
            "implementing a second late",
            json!({"heartbeat": "2026-02-16T14:29:59Z"}),
            "dead",
            &STALE,
        ),
        (
            "verifying 20",
            json!({"stage": "verifying", "heartbeat_age": 20}),
            "warning",
            &STALE,
        ),
        (
            "with an offset",
            json!({"heartbeat": "2026-02-16T15:55:00+01:00"}),
            "healthy",
            &NOTHING,
        ),
        (
            "unknown stage",
            json!({"stage": "implmenting", "heartbeat_age": 29}),
            "warning",
            &["STALE_HEARTBEAT", "UNKNOWN_STAGE"],
        ),
        (
            "future",
            json!({"heartbeat": "2026-02-16T16:00:00Z"}),
            "healthy",
            &["CLOCK_AHEAD"],
        ),
        ("unreadable", json!({"heartbeat": "soon"}), "dead", &STALE),
        (
            "number",
            json!({"heartbeat": 1_771_250_400}),
            "dead",
            &STALE,
        ),
    ];
    for (about, more, tier, warnings) in rows {
        let class = if tier == "dead" {
            "rerun_required"
        } else {
            "in_progress"
        };
        let facts = json!({
            "classification": of_tasks(&[(1, 1, class)]),
            "heartbeat": of_tasks(&[(1, 1, tier)]),
        });
        let task = with(alive(1, 1), more);
        check(about, &scene(&[task]), &facts, Some(warnings))?;
    }
    let mut silent = alive(1, 1);
    silent
        .as_object_mut()
        .map(|task| task.remove("heartbeat_age"));
    is("none", silent, "rerun_required", &STALE)
}

#[test]
fn orders_of_the_ledger_count_where_they_are_newer_than_the_heartbeat() -> Result<()> {
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
fn a_wave_waits_behind_every_gate_before_it() -> Result<()> {
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

#[test]
fn a_wave_without_a_gate_is_behind_its_own_tasks() -> Result<()> {
    for (first, class) in [
        (landed(1, 1, json!({"a": "a\n"})), "pending"),
        (alive(1, 1), "gated"),
    ] {
        let stage = wave(&[first, idle(2, 1)])?;
        fs_err::remove_file(stage.task_list().join("2.json"))?;
        stage.change_task(3, |task| task["blockedBy"] = json!([]))?;
        let classes = stage.facts()?["classification"].take();
        ensure!(classes[id(2, 1)] == class, "{classes}");
        ensure!(
            classes.as_object().is_some_and(|all| all.len() == 2),
            "{classes}"
        );
    }
    Ok(())
}

#[test]
fn names_are_read_in_both_spellings_and_sorted_by_number() -> Result<()> {
    let tasks: Vec<Value> = (1..=11)
        .map(|n| ready(1, n, json!({format!("src/{n}.js"): "x\n"})))
        .collect();
    let stage = wave(&tasks)?;
    for number in 1..=11 {
        stage.change_task(number, |task| task["metadata"]["kiln_wave"] = json!(1))?;
    }
    // Without a subject the worktree names the task.
    stage.change_task(3, |task| task["subject"] = json!("Third thing"))?;
    let order: Vec<String> = (1..=11).map(|n| id(1, n)).collect();
    assert_eq!(stage.facts()?["integration_order"], json!(order));
    Ok(())
}

#[test]
fn of_two_entries_of_a_task_the_newest_word_counts() -> Result<()> {
    let older = alive(1, 1);
    let rows = [
        (
            "sequence before heartbeat",
            json!({"sequence": 7}),
            json!({"sequence": 9, "kiln_last_heartbeat": "2026-02-16T10:00:00Z"}),
        ),
        (
            "a sequence before none",
            json!({}),
            json!({"sequence": 1, "kiln_last_heartbeat": "2026-02-16T10:00:00Z"}),
        ),
        (
            "later heartbeat",
            json!({}),
            json!({"kiln_last_heartbeat": "2026-02-16T14:59:00Z"}),
        ),
        ("later in the list", json!({}), json!({})),
    ];
    for (about, first, second) in rows {
        for is_swapped in [false, true] {
            let stage = wave(std::slice::from_ref(&older))?;
            let mut one = stage.task(1)?;
            let mut two = one.clone();
            one["metadata"] = with(one["metadata"].take(), first.clone());
            two["metadata"] = with(two["metadata"].take(), second.clone());
            two["metadata"]["kiln_stage"] = json!("failed");
            let (low, high) = if is_swapped { ("7", "1") } else { ("1", "7") };
            one["id"] = json!(low);
            two["id"] = json!(high);
            stage.write_task(low, &one)?;
            stage.write_task(high, &two)?;
            let class = stage.facts()?["classification"][id(1, 1)].take();
            let wanted = match about {
                "later in the list" if is_swapped => "in_progress",
                _ => "rerun_required",
            };
            ensure!(class == wanted, "{about}, {is_swapped}: {class}");
        }
    }
    Ok(())
}

#[test]
fn what_the_task_list_lacks_is_no_task_and_what_it_garbles_is_told() -> Result<()> {
    let mut scene = scene(&[landed(1, 1, json!({"a": "a\n"}))]);
    if let Some(plan) = scene["plan"].as_array_mut() {
        plan.push(json!({"id": "P1-T99", "title": "Forgotten", "wave": 1}));
    }
    let stage = stage(&scene)?;
    fs_err::write(stage.task_list().join("8.json"), "{\"id\": \"8\", \"subj")?;
    fs_err::write(stage.task_list().join("9.json"), "[]")?;
    stage.write_task(
        "10",
        &json!({"id": "10", "subject": "phase-1:plan:codex", "status": "pending"}),
    )?;
    stage.write_task(
        "11",
        &json!({"id": "11", "subject": "phase-2:exec:wave-1:task-1", "status": "pending"}),
    )?;
    let answer = stage.inspected()?;
    assert_eq!(
        answer["facts"]["classification"],
        of_tasks(&[(1, 1, "done")])
    );
    assert_eq!(
        codes(&answer),
        ["UNLISTED_TASK", "UNREADABLE_TASK", "UNREADABLE_TASK"]
    );
    Ok(())
}
