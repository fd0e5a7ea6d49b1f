//! Files that are torn, odd, or written by many at once, and disks that are full.

use anyhow::{Result, ensure};
use rekindle_testkit::agent_memory::Run;
use serde_json::{Value, json};

use crate::{NOTHING, ORDERS, interrupted, states};

/// Runs a command with a disk on which no file can grow: writing fails, and nobody is killed for it.
const ON_A_FULL_DISK: [&str; 4] = ["sh", "-c", r#"trap '' XFSZ; ulimit -f 0; exec "$@""#, "sh"];

fn completed(task: &str) -> Value {
    json!({"event_type": "task_completed", "task_id": task, "timestamp": "2026-01-19T11:00:00Z"})
}

/// Elsewhere half of a line was followed by its second copy, and the session was gone from the list.
#[test]
fn codex_24425_half_a_line_and_its_second_copy_count_once() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let line = completed("T002").to_string();
    let log = format!("{}{line}\n{line}\n", &line[..line.len() / 2]);
    sandbox.write(run.path("events/executor/torn.jsonl"), &log)?;
    let expected = json!({"T001": "done", "T002": "done", "T003": "pending"});
    assert_eq!(states(&sandbox)?, expected);
    let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert_eq!(sandbox.read(run.path("events/executor/torn.jsonl"))?, log);
    Ok(())
}

/// Elsewhere one record without its number made a resume refuse the whole session.
#[test]
fn codex_45150_one_odd_record_takes_nothing_else_away() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let odd = [
        "{}",
        "[]",
        "null",
        "{\"event_type\":7}",
        "{\"task_id\":\"T003\"}",
        "",
        "\u{feff}",
    ];
    let log = format!("{}\n{}\n", odd.join("\n"), completed("T002"));
    sandbox.write(run.path("events/executor/odd.jsonl"), log)?;
    let expected = json!({"T001": "done", "T002": "done", "T003": "pending"});
    assert_eq!(states(&sandbox)?, expected);
    let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    Ok(())
}

/// Elsewhere two instances corrupted one file sixteen times in an hour.
#[test]
fn claude_code_29003_many_writers_at_once_leave_whole_lines() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let long = "x".repeat(20_000);
    let mut writers = Vec::new();
    for number in 0..16 {
        let note = json!({"number": number, "long": long}).to_string();
        let args = [
            "event",
            ORDERS,
            "note",
            "--actor",
            "many",
            "--details",
            &note,
        ];
        writers.push(sandbox.typed(&args).start()?);
    }
    for writer in writers {
        let output = writer.finish()?;
        ensure!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    // A line that is no JSON would be an error here.
    let events = run.events(&sandbox)?;
    let mut numbers: Vec<u64> = events
        .iter()
        .filter_map(|(_, event)| event["details"]["number"].as_u64())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..16).collect::<Vec<_>>());
    Ok(())
}

/// Elsewhere the mending of a corrupt file made hundreds of copies of it.
#[test]
fn claude_code_28923_what_is_corrupt_is_not_copied_again_and_again() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    sandbox.write(run.path("task-graph.json"), "{\"tasks\": [{")?;
    let before = sandbox.files()?;
    for _ in 0..5 {
        for args in [
            &["status"][..],
            &["inspect"],
            &["resume", "--yes", "--no-agent"],
        ] {
            sandbox.run(args)?;
        }
    }
    let after = sandbox.files()?.except(".rekindle");
    // That it was taken up is said each time; nothing else is written.
    let events = format!("+ {}", run.path("events/orchestrator"));
    let changes = before.except(".rekindle").changes(&after);
    let others: Vec<&String> = changes
        .iter()
        .filter(|line| !line.starts_with(&events))
        .collect();
    assert_eq!(others, NOTHING);
    Ok(())
}

/// Elsewhere a full disk left the one file that mattered empty.
#[test]
fn claude_code_6016_a_full_disk_leaves_every_file_as_it_was() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let before = sandbox.files()?.except(".rekindle");
    let resume = ["resume", "--yes", "--no-agent"];
    let full = sandbox.typed(&resume).through(&ON_A_FULL_DISK).run()?;
    assert_eq!(full.code(), Some(1), "{full}");
    assert!(full.stderr().contains("File too large"), "{full}");
    assert_eq!(
        before.changes(&sandbox.files()?.except(".rekindle")),
        NOTHING
    );
    let ran = sandbox.run(&resume)?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert_eq!(run.told(&sandbox)?, "session_resumed\n");
    Ok(())
}

/// Elsewhere one corrupt database kept every session from working for hours.
#[test]
fn caro_1124_one_corrupt_workflow_blocks_no_other() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let other = Run::interrupted("20260118-0900-billing-c3d4");
    other.lay_out(&sandbox)?;
    sandbox.write(run.path("task-graph.json"), [0xff; 64])?;
    sandbox.write(
        format!(".rekindle/journal/agent-memory-{ORDERS}.jsonl"),
        [0; 64],
    )?;
    let blocked = sandbox.run(&["resume", ORDERS, "--yes", "--no-agent"])?;
    let ran = sandbox.run(&["resume", other.id(), "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert_eq!(other.told(&sandbox)?, "session_resumed\n", "{blocked}");
    let status = sandbox.run(&["status"])?;
    for id in [ORDERS, other.id()] {
        assert!(status.stdout().contains(id), "{status}");
    }
    Ok(())
}
