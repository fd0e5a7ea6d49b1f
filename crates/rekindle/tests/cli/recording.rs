//! Commands that record: checkpoints, events, heartbeats.

use anyhow::Result;

use crate::{ORDERS, interrupted};

#[test]
fn a_checkpoint_is_recorded_and_listed() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    insta::assert_snapshot!(sandbox.run(&["checkpoints"])?, @"
    exit 0
    --- stdout
    No checkpoints yet.
    ");
    let before = sandbox.files()?;
    insta::assert_snapshot!(sandbox.run(&["checkpoint", "-m", "before the risky part"])?, @"
    exit 0
    --- stderr
    recorded in `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/orchestrator/20260120-120000.jsonl`
    ");
    let log = run.path("events/orchestrator/20260120-120000.jsonl");
    assert_eq!(before.changes(&sandbox.files()?), [format!("+ {log}")]);
    insta::assert_snapshot!(sandbox.read(&log)?, @r#"{"event_type":"checkpoint_created","run_id":"20260119-0900-orders-api-k2l3","timestamp":"2026-01-20T12:00:00Z","actor":"orchestrator","details":{"message":"before the risky part","next_action":"execute_task","phase":2,"tasks_done":1,"tasks_total":3}}"#);
    insta::assert_snapshot!(sandbox.run(&["checkpoints"])?, @"
    exit 0
    --- stdout
    1  2026-01-20T12:00:00Z  before the risky part
        .agent-memory/runs/20260119-0900-orders-api-k2l3/events/orchestrator/20260120-120000.jsonl:1
    ");
    Ok(())
}

#[test]
fn an_event_is_one_line_in_a_log_of_its_actor() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let before = sandbox.files()?;
    let event = [
        "event",
        ORDERS,
        "task_completed",
        "--task",
        "T002",
        "--actor",
        "worker-1",
        "--details",
        r#"{"files_modified":["a.rs"]}"#,
    ];
    insta::assert_snapshot!(sandbox.run(&event)?, @"
    exit 0
    --- stderr
    recorded in `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/worker-1/20260120-rekindle.jsonl`
    ");
    let folder = run.path("events/worker-1");
    let log = folder.join("20260120-rekindle.jsonl");
    let changes = [format!("+ {folder}"), format!("+ {log}")];
    assert_eq!(before.changes(&sandbox.files()?), changes);
    insta::assert_snapshot!(sandbox.read(&log)?, @r#"{"event_type":"task_completed","run_id":"20260119-0900-orders-api-k2l3","timestamp":"2026-01-20T12:00:00Z","actor":"worker-1","task_id":"T002","details":{"files_modified":["a.rs"]}}"#);
    assert!(sandbox.run(&[])?.stdout().contains("interrupted  2/3"));
    Ok(())
}

#[test]
fn heartbeats_of_one_day_go_into_one_log_and_change_no_state() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let before = sandbox.run(&["plan"])?.stdout().into_owned();
    sandbox.run(&["heartbeat", ORDERS, "T002"])?;
    let later = sandbox.typed(&["heartbeat", ORDERS, "T002"]);
    insta::assert_snapshot!(later.at("2026-01-20T12:00:30Z").run()?, @"
    exit 0
    --- stderr
    recorded in `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/rekindle/20260120-rekindle.jsonl`
    ");
    let log = run.path("events/rekindle/20260120-rekindle.jsonl");
    insta::assert_snapshot!(sandbox.read(&log)?, @r#"
    {"event_type":"heartbeat","run_id":"20260119-0900-orders-api-k2l3","timestamp":"2026-01-20T12:00:00Z","actor":"rekindle","task_id":"T002"}
    {"event_type":"heartbeat","run_id":"20260119-0900-orders-api-k2l3","timestamp":"2026-01-20T12:00:30Z","actor":"rekindle","task_id":"T002"}
    "#);
    let next = |plan: &str| {
        plan.lines()
            .find(|line| line.starts_with("Next: "))
            .map(str::to_owned)
    };
    let after = sandbox.run(&["plan"])?.stdout().into_owned();
    assert_eq!(
        next(&before),
        Some("Next: Resume T002 - Add endpoint (attempt 1)".to_owned())
    );
    assert_eq!(next(&before), next(&after));
    Ok(())
}

#[test]
fn events_of_runs_that_are_not_there_are_refused() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    insta::assert_snapshot!(sandbox.run(&["event", "nonsense", "task_completed"])?, @"
    exit 1
    --- stderr
    error: no workflow `nonsense` in this project

    hint: `agent-memory:20260119-0900-orders-api-k2l3` can be resumed
    hint: `rekindle` lists the workflows of this project
    hint: see `rekindle explain UNKNOWN_WORKFLOW`
    ");
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    Ok(())
}

#[test]
fn an_event_that_would_reach_nobody_is_refused_and_one_without_a_rule_is_reported() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let before = sandbox.files()?;
    insta::assert_snapshot!(sandbox.run(&["event", ORDERS, "task_completed", "--task", "T9"])?, @"
    exit 1
    --- stderr
    error: `agent-memory:20260119-0900-orders-api-k2l3` has no task `T9`

    hint: `rekindle inspect agent-memory:20260119-0900-orders-api-k2l3` lists its tasks
    ");
    insta::assert_snapshot!(sandbox.run(&["event", ORDERS, "task_completed"])?, @"
    exit 2
    --- stderr
    error: the event `task_completed` needs a task

    hint: name the task with `--task ID`
    ");
    assert_eq!(sandbox.run(&["heartbeat", ORDERS, "T9"])?.code(), Some(1));
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    // The catalogue of events is open: one that nobody knows is kept, and that it changes nothing is said.
    let misspelled = ["event", ORDERS, "task-finished", "--task", "T002"];
    insta::assert_snapshot!(sandbox.run(&misspelled)?, @"
    exit 0
    --- stderr
    recorded in `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/rekindle/20260120-rekindle.jsonl`
    hint: `task-finished` is recorded as activity: events of this type change no task
    ");
    let object = sandbox.run(&["event", ORDERS, "note", "--json"])?.json()?;
    assert_eq!(
        object["notes"].as_array().map(Vec::len),
        Some(1),
        "{object}"
    );
    // A task is made by telling of it.
    let made = ["event", ORDERS, "task_created", "--task", "T9"];
    assert_eq!(sandbox.run(&made)?.code(), Some(0));
    assert_eq!(sandbox.run(&["heartbeat", ORDERS, "T9"])?.code(), Some(0));
    let log = sandbox.read(run.path("events/rekindle/20260120-rekindle.jsonl"))?;
    assert_eq!(log.lines().count(), 4, "{log}");
    Ok(())
}

#[test]
fn events_that_are_none_are_wrong_usage_and_write_nothing() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    insta::assert_snapshot!(sandbox.run(&["event", ORDERS, "x", "--details", "{\"a\":"])?, @r#"
    exit 2
    --- stderr
    error: invalid value '{"a":' for '--details <JSON>': EOF while parsing a value at line 1 column 5

    For more information, try '--help'.
    "#);
    for wrong in [
        &["event", ORDERS, "x", "--details", "[]"][..],
        &["event", ORDERS, "x", "--details", "text"],
        &["event", ORDERS, "two words"],
        &["event", ORDERS, ""],
        &["event", ORDERS, "x", "--actor", "../../outside"],
        &["event", ORDERS, "x", "--actor", ".hidden"],
        &["event", ORDERS, "x", "--actor", "a/b"],
        &["event", ORDERS],
        &["event"],
        &["heartbeat", ORDERS],
        &["heartbeat", ORDERS, "T1", "--actor", "a\nb"],
    ] {
        let ran = sandbox.run(wrong)?;
        assert_eq!(ran.code(), Some(2), "{wrong:?}: {ran}");
        assert_eq!(ran.stdout(), "", "{wrong:?}");
    }
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    Ok(())
}
