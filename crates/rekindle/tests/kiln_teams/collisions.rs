//! Paths that more than one task touches: the whole wave is compared before anything is written.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::scenes::{NO_AGENT, dead, id, landed, ready, subject, wave, with};

/// Resumes where tasks collide: nothing may change, and both are named.
fn collide(about: &str, tasks: &[Value], path: &str, owners: [(u32, u32); 2]) -> Result<()> {
    let stage = wave(tasks)?;
    let collisions = stage.facts()?["collisions"].take();
    let owners = owners.map(|(wave, number)| id(wave, number));
    ensure!(
        collisions == json!([{"path": path, "tasks": owners}]),
        "{about}: {collisions}"
    );
    let shown = stage.sandbox().run(&["inspect"])?;
    let [one, other] = owners;
    let lines = format!("collisions:\n  - path: {path}\n    tasks: {one}, {other}\n");
    ensure!(shown.stdout().contains(&lines), "{about}: {shown}");
    let files = || anyhow::Ok(stage.sandbox().files()?.except(".rekindle"));
    let (before, log) = (files()?, stage.log()?);
    for agent in [&NO_AGENT[..], &["--agent-cmd", "true"]] {
        let ran = stage.resume(agent)?;
        ensure!(ran.code() == Some(1), "{about}: {ran}");
        ensure!(ran.stderr().contains(path), "{about}: {ran}");
    }
    assert_eq!(stage.log()?, log, "{about}");
    let changes = before.changes(&files()?);
    // Reading a worktree may refresh git's cache of it.
    let changes: Vec<&String> = changes
        .iter()
        .filter(|line| !line.ends_with("index"))
        .collect();
    ensure!(changes.is_empty(), "{about}: {changes:?}");
    Ok(())
}

#[test]
fn a_path_that_two_finished_tasks_touch_stops_everything() -> Result<()> {
    let free = || ready(1, 3, json!({"src/free.js": "f\n"}));
    let two = |one: Value, other: Value| [ready(1, 1, one), ready(1, 2, other), free()];
    let pair = [(1, 1), (1, 2)];
    collide(
        "same file",
        &two(json!({"src/a.js": "1\n"}), json!({"src/a.js": "2\n"})),
        "src/a.js",
        pair,
    )?;
    collide(
        "same text",
        &two(json!({"src/a.js": "1\n"}), json!({"src/a.js": "1\n"})),
        "src/a.js",
        pair,
    )?;
    collide(
        "file and folder",
        &two(json!({"lib": "1\n"}), json!({"lib/a/b.js": "2\n"})),
        "lib",
        pair,
    )?;
    let renames = with(
        ready(1, 2, json!({})),
        json!({"change": {"rename": [["src/log.js", "src/util/log.js"]]}}),
    );
    let edits = ready(1, 1, json!({"src/log.js": "1\n"}));
    collide(
        "source of a rename",
        &[edits, renames, free()],
        "src/log.js",
        pair,
    )?;
    let peer = landed(1, 1, json!({"src/a.js": "1\n"}));
    collide(
        "a landed peer",
        &[peer, ready(1, 2, json!({"src/a.js": "2\n"}))],
        "src/a.js",
        pair,
    )?;
    Ok(())
}

#[test]
fn unfinished_work_never_collides() -> Result<()> {
    let stage = wave(&[
        ready(1, 1, json!({"src/index.js": "1\n"})),
        dead(1, 2),
        landed(1, 3, json!({"src/x.js": "1\n"})),
    ])?;
    assert_eq!(stage.facts()?["collisions"], json!([]));
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 3), subject(1, 1)]);
    Ok(())
}
