//! STATE.md and the configuration: byte-exact edits, and the settings that count.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::scenes::{NO_AGENT, dead, id, idle, ready, scene, stage, subject, wave, with};

const NOTHING: [&str; 0] = [];

/// Returns the lines of the second text that are not in the first at the same place.
fn changed<'t>(before: &str, after: &'t str) -> Vec<&'t str> {
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    let same_head = before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a == b)
        .count();
    let rest = before.len().min(after.len()) - same_head;
    let tails = before.iter().rev().zip(after.iter().rev()).take(rest);
    let same_tail = tails.take_while(|(a, b)| a == b).count();
    after[same_head..after.len() - same_tail].to_vec()
}

#[test]
fn state_with_other_line_ends_and_sections_changes_only_in_its_lines() -> Result<()> {
    let stage = wave(&[dead(1, 1)])?;
    let text = stage
        .state()?
        .replace("## Regression Suite", "## Notes of mine\n\n| a | b |\n| - | - |\n| Retries | 7 |\n\n<!-- - **Paused:** true -->\n## Regression Suite")
        .replace('\n', "\r\n")
        + "trailing \u{fffd} without an end";
    stage.sandbox().write(".kiln/STATE.md", &text)?;
    let ran = stage.resume(&["--agent-cmd", "echo x > x.txt"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    let after = stage.state()?;
    let row = "| P1-T11 | 1 | 1 | 2026-02-16T15:00:00Z | dead-worker | none |\r\n";
    assert_eq!(after.matches(row).count(), 1, "{after}");
    let undone = after
        .replace(row, "")
        .replace(
            "- **Step Status:** complete\r\n",
            "- **Step Status:** in-progress\r\n",
        )
        .replace(
            "**Last Activity:** 2026-02-16T15:00:00Z",
            "**Last Activity:** 2026-02-16T14:40:00Z",
        )
        .replace(
            &format!("{} — committed", subject(1, 1)),
            "phase-1/wave-1: workers spawned",
        );
    assert_eq!(undone, text);
    Ok(())
}

#[test]
fn a_row_of_the_ledger_keeps_its_other_columns() -> Result<()> {
    let ledger = json!({"state": {"ledger": [
        ["P1-T99", "1", "1", "2026-02-16T13:00:00Z", "failed", "retry"],
        ["P1-T11", "wave-1", "1", "2026-02-16T13:00:00Z", "failed", "retry"],
        ["P1-T98", "1", "2", "2026-02-16T13:00:00Z", "failed", "halt"],
    ]}});
    let stage = stage(&with(scene(&[dead(1, 1)]), ledger))?;
    let before = stage.state()?;
    let ran = stage.resume(&["--agent-cmd", "exit 1"])?;
    ensure!(ran.code() == Some(1), "{ran}");
    let after = stage.state()?;
    let row = "| P1-T11 | wave-1 | 2 | 2026-02-16T15:00:00Z | dead-worker | halt |\n";
    assert!(after.contains(row), "{after}");
    assert_eq!(stage.ledger()?.len(), 3);
    let undone = after
        .replace(
            row,
            "| P1-T11 | wave-1 | 1 | 2026-02-16T13:00:00Z | failed | retry |\n",
        )
        .replace("Status:** failed", "Status:** in-progress");
    assert_eq!(changed(&before, &undone), NOTHING);
    Ok(())
}

#[test]
fn missing_or_corrupt_state_stops_with_kilns_text() -> Result<()> {
    let rows: [(&str, Option<&str>, &str); 4] = [
        (
            "missing",
            None,
            "Found .kiln/ but missing .kiln/STATE.md. Initialization appears incomplete. Run /kiln:init to reinitialize.",
        ),
        (
            "empty",
            Some(""),
            "STATE.md appears corrupted or unparseable.",
        ),
        (
            "binary",
            Some("\0\0\0"),
            "STATE.md appears corrupted or unparseable.",
        ),
        (
            "no phase",
            Some("- **Current Step:** execute\n- **Step Status:** in-progress\n"),
            "STATE.md appears corrupted or unparseable.",
        ),
    ];
    for (about, text, words) in rows {
        let stage = wave(&[ready(1, 1, json!({"a": "a\n"}))])?;
        match text {
            Some(text) => stage.sandbox().write(".kiln/STATE.md", text)?,
            None => fs_err::remove_file(stage.sandbox().path(".kiln/STATE.md"))?,
        }
        let files = stage.sandbox().files()?.except(".rekindle");
        let ran = stage.resume(&["--agent-cmd", "true"])?;
        ensure!(ran.code() == Some(1), "{about}: {ran}");
        let said = format!("{}{}", ran.stdout(), ran.stderr());
        ensure!(said.contains(words), "{about}: {ran}");
        let after = stage.sandbox().files()?.except(".rekindle");
        assert_eq!(files.changes(&after), NOTHING, "{about}");
    }
    Ok(())
}

#[test]
fn state_that_changed_since_it_was_read_is_not_written() -> Result<()> {
    let stage = wave(&[idle(1, 1), idle(2, 1)])?;
    let state = stage.sandbox().path(".kiln/STATE.md");
    let agent = stage.sandbox().script(
        "agent.sh",
        &format!("cat >/dev/null; echo '<!-- the host was here -->' >> {state}; echo $REKINDLE_TASK > $REKINDLE_ATTEMPT.$$"),
    )?;
    let ran = stage.resume(&["--agent-cmd", &agent])?;
    ensure!(ran.code() == Some(0), "{ran}");
    let after = stage.state()?;
    // Each round reads it again, so changes of the host in between are kept.
    assert_eq!(after.matches("the host was here").count(), 2, "{after}");
    assert!(after.contains("**Step Status:** complete"), "{after}");
    Ok(())
}

/// Runs a dead task with an agent that always fails, and returns how often it was called.
fn attempts(preferences: &Value) -> Result<(usize, Option<i32>)> {
    let stage = wave(&[dead(1, 1)])?;
    stage.sandbox().write(
        ".kiln/config.json",
        json!({"preferences": preferences}).to_string(),
    )?;
    let calls = stage.sandbox().root().join("calls");
    let script = format!("cat >/dev/null; echo x >> {calls}; exit 1");
    let agent = stage.sandbox().script("agent.sh", &script)?;
    let ran = stage.resume(&["--agent-cmd", &agent])?;
    let calls = fs_err::read_to_string(calls).unwrap_or_default();
    Ok((calls.lines().count(), ran.code()))
}

#[test]
fn the_number_of_retries_comes_from_the_configuration() -> Result<()> {
    let rows = [
        (json!({"maxRetries": 0}), 0),
        (json!({"maxRetries": 1}), 1),
        (json!({"maxRetries": 3}), 3),
        (json!({"maxRetries": "many"}), 2),
        (json!({"maxRetries": -1}), 2),
        (json!({"maxRetries": 1.5}), 2),
        (json!({"maxRetries": null}), 2),
        (json!({}), 2),
    ];
    for (preferences, wanted) in rows {
        let got = attempts(&preferences)?;
        ensure!(got == (wanted, Some(1)), "{preferences}: {got:?}");
    }
    Ok(())
}

#[test]
fn an_unknown_kind_of_concurrency_is_refused() -> Result<()> {
    let stage = wave(&[ready(1, 1, json!({"a": "a\n"}))])?;
    let config = json!({"preferences": {"executeConcurrency": "shared"}});
    stage
        .sandbox()
        .write(".kiln/config.json", config.to_string())?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(1), "{ran}");
    assert!(stage.log()?.is_empty());
    Ok(())
}

#[test]
fn a_gate_opens_only_when_the_checks_pass_on_main() -> Result<()> {
    let stage = wave(&[
        ready(1, 1, json!({"Makefile": "test:\n\ttest -e fixed\n"})),
        idle(2, 1),
    ])?;
    let config = json!({"tooling": {"testRunner": "make test"}});
    stage
        .sandbox()
        .write(".kiln/config.json", config.to_string())?;
    let agent = ["--agent-cmd", "echo x > x.txt"];
    let ran = stage.resume(&agent)?;
    ensure!(ran.code() == Some(1), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1)]);
    assert_eq!(stage.task(2)?["status"], "pending");
    assert_eq!(stage.facts()?["classification"][id(2, 1)], "gated");
    // It is fixed forward, with a commit.
    stage.sandbox().write("fixed", "")?;
    stage.git(&["add", "fixed"])?;
    stage.git(&["commit", "-qm", "fix"])?;
    let ran = stage.resume(&agent)?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(
        stage.log()?,
        [subject(1, 1), "fix".to_owned(), subject(2, 1)]
    );
    assert_eq!(stage.task(4)?["status"], "completed");
    Ok(())
}
