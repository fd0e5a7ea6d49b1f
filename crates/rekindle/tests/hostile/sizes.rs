//! Files of a gigabyte, arrays a million deep, and thousands of runs.

use anyhow::Result;
use rekindle_testkit::sandbox::Sandbox;
use serde_json::json;

use crate::{BINARY, ORDERS, codes, interrupted};

/// Runs a command in at most 150 MB of memory: what can not be mapped can not be resident.
const IN_LITTLE_MEMORY: [&str; 4] = ["sh", "-c", r#"ulimit -v 153600 && exec "$@""#, "sh"];

#[test]
fn a_line_of_a_gigabyte_is_passed_over_in_little_memory() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let log = sandbox.path(run.path("events/executor/huge.jsonl"));
    // Sparse, so that it takes no room on the disk.
    fs_err::File::create(&log)?.file().set_len(1 << 30)?;
    let typed = sandbox.typed(&["inspect", "-v"]).through(&IN_LITTLE_MEMORY);
    let ran = typed.run()?;
    fs_err::remove_file(log)?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let noticed = ran.stdout().split("findings: ").nth(1).map(str::to_owned);
    insta::assert_snapshot!(noticed.unwrap_or_default(), @"
    TRUNCATED_LINE
    note[OVERSIZED_LINE]: a line too long to be read
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/executor/huge.jsonl:1
    warning[TRUNCATED_LINE]: a log ends in the middle of a line, which did not count
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/executor/huge.jsonl:1
    hint: see `rekindle explain OVERSIZED_LINE`
    ");
    Ok(())
}

#[test]
fn the_limit_of_memory_is_one_that_can_be_met() -> Result<()> {
    let sandbox = Sandbox::new("/bin/sh")?;
    let much = "head -c 300000000 /dev/zero | tail -c 250000000 >/dev/null";
    let typed = sandbox.typed(&["-c", much]).through(&IN_LITTLE_MEMORY);
    assert_ne!(typed.run()?.stderr(), "");
    Ok(())
}

#[test]
fn a_graph_of_a_gigabyte_is_not_read_and_stops_the_resume() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let graph = sandbox.path(run.path("task-graph.json"));
    fs_err::File::create(&graph)?.file().set_len(1 << 30)?;
    let typed = sandbox.typed(&["resume", "--yes", "--no-agent"]);
    let ran = typed.through(&IN_LITTLE_MEMORY).run()?;
    fs_err::remove_file(graph)?;
    insta::assert_snapshot!(ran, @"
    exit 1
    --- stderr
    error: `agent-memory:20260119-0900-orders-api-k2l3` cannot be resumed

    hint: files that the state depends on cannot be read: `.agent-memory/runs/20260119-0900-orders-api-k2l3/task-graph.json: 1073741824 bytes long, over the limit of 268435456`; `rekindle explain UNREADABLE_FILE` says what to do
    hint: `rekindle inspect agent-memory:20260119-0900-orders-api-k2l3` shows where
    ");
    Ok(())
}

#[test]
fn arrays_in_arrays_a_million_deep_are_passed_over() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let deep = |n: usize| ("[".repeat(n), "]".repeat(n));
    let ((open, close), (short, shut)) = (deep(1_000_000), deep(1_000));
    let bombs = [
        format!("{open}{close}"),
        open,
        format!("{{\"event_type\":\"x\",\"details\":{short}{shut}}}"),
        format!("{{\"timestamp\":{short}{shut}}}"),
        "{\"a\":".repeat(10_000),
        format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000)),
    ];
    let after =
        r#"{"event_type":"task_completed","task_id":"T002","timestamp":"2026-01-19T11:00:00Z"}"#;
    let log = format!("{}\n{after}\n", bombs.join("\n"));
    sandbox.write(run.path("events/executor/bomb.jsonl"), log)?;
    let ran = sandbox.run(&["explain", ORDERS, "T002"])?;
    assert!(
        ran.stdout().contains("is done"),
        "what follows the bombs counts: {ran}"
    );
    assert_eq!(
        codes(&sandbox)?,
        [
            "BAD_TIMESTAMP",
            "CORRUPT_LINE",
            "MISSING_TIMESTAMP",
            "NON_OBJECT_LINE"
        ]
    );
    Ok(())
}

#[test]
fn a_graph_that_is_a_bomb_is_a_corrupt_graph() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let deep = "[".repeat(1_000_000);
    for bomb in [
        deep.clone(),
        format!("{{\"tasks\":{deep}"),
        format!("{{\"tasks\":[{{\"id\":\"T1\",\"dependencies\":{deep}"),
    ] {
        sandbox.write(run.path("task-graph.json"), bomb)?;
        let ran = sandbox.run(&["inspect"])?;
        assert_eq!(ran.code(), Some(0), "{ran}");
        assert_eq!(codes(&sandbox)?, ["CORRUPT_TASK_GRAPH", "MISSING_ARTIFACT"]);
    }
    Ok(())
}

#[test]
fn a_capture_that_is_a_bomb_is_refused() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    for bomb in [
        "[".repeat(1_000_000),
        "{\"schema\":".repeat(100_000),
        "\0".repeat(1000),
    ] {
        sandbox.write("capture", bomb)?;
        let ran = sandbox.run(&["inspect", "--from", "capture"])?;
        assert_eq!(ran.code(), Some(1), "{ran}");
    }
    Ok(())
}

#[test]
fn a_thousand_runs_and_a_log_of_many_lines_are_handled() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    for number in 0..1000 {
        let folder = format!(".agent-memory/runs/20260101-0900-many-{number:04}/events");
        fs_err::create_dir_all(sandbox.path(folder))?;
    }
    let line = r#"{"event_type":"heartbeat","task_id":"T002","timestamp":"2026-01-19T11:00:00Z"}"#;
    let log = format!("{line}\n").repeat(50_000);
    sandbox.write(run.path("events/executor/long.jsonl"), log)?;
    let ran = sandbox.run(&["status", "--json"])?;
    let workflows = ran.json()?["workflows"].as_array().map(Vec::len);
    assert_eq!(workflows, Some(1001));
    Ok(())
}

#[test]
fn a_huge_or_hostile_journal_of_a_repair_is_a_finding() -> Result<()> {
    let operation = "repair-0123456789abcdef01234567";
    let path = format!(".git/map-repairs/{operation}/journal.json");
    let huge = format!("{{\"frame\": \"{}\", \"stage\": 1}}", "A".repeat(50 << 20));
    let over = "A".repeat(65 << 20);
    let deep = "[".repeat(1 << 20);
    for hostile in [
        huge.as_bytes(),
        over.as_bytes(),
        deep.as_bytes(),
        b"\xff\x00",
    ] {
        let sandbox = Sandbox::new(BINARY)?;
        let init = [
            "sh",
            "-c",
            "git init -q -b main && git -c user.name=a -c user.email=b commit -q --allow-empty -m start",
        ];
        sandbox.typed(&[]).through(&init).run()?;
        let state =
            json!({"current_step_id": "2.3", "active_interruption": {"operation_id": operation}});
        sandbox.write(".map/main/step_state.json", state.to_string())?;
        sandbox.write(&path, hostile)?;
        for args in [
            &["inspect", "--json"][..],
            &["map", "get_next_step"],
            &["map", "abandon"],
        ] {
            let ran = sandbox.typed(args).through(&IN_LITTLE_MEMORY).run()?;
            assert!(matches!(ran.code(), Some(0 | 1 | 3)), "{args:?}: {ran}");
            assert!(ran.stdout().contains("map-repairs"), "{args:?}: {ran}");
        }
    }
    Ok(())
}
