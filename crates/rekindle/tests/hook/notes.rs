//! What is written down when a turn, a conversation or a session ends.

use anyhow::Result;
use rekindle_testkit::agent_memory::{DILIGENT_AGENT, Run};
use rekindle_testkit::gate::Gate;
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::{Value, json};

use crate::{ORDERS, call, context, interrupted, told};

/// A moment at which the run is in use: an hour after its last event.
const SOON: &str = "2026-01-19T11:00:00Z";

/// Calls a hook of a session that used a tool for this.
fn after_using(sandbox: &Sandbox, command: &str, time: &str, moment: &str) -> Result<()> {
    let used = json!({"type": "assistant", "message": {"content": [{"type": "tool_use",
        "id": "a", "name": "Bash", "input": {"command": command}}]}});
    let folder = sandbox.root().join("home/.claude/projects/x");
    fs_err::create_dir_all(&folder)?;
    let transcript = folder.join(format!("{}.jsonl", crate::SESSION));
    fs_err::write(transcript, format!("{used}\n"))?;
    at(sandbox, time, moment)
}

fn at(sandbox: &Sandbox, time: &str, moment: &str) -> Result<()> {
    let ran = sandbox
        .typed(&["hook", moment, "--agent", "claude"])
        .answering(&told(
            sandbox,
            &json!({"reason": "other", "trigger": "auto"}),
        ))
        .at(time)
        .run()?;
    assert_eq!((ran.code(), ran.stdout().as_ref()), (Some(0), ""), "{ran}");
    Ok(())
}

fn checkpoints(sandbox: &Sandbox, run: &str) -> Result<Vec<String>> {
    let list = sandbox.run(&["checkpoints", run, "--json"])?.json()?;
    let notes = list["checkpoints"].as_array().cloned().unwrap_or_default();
    let note = |one: &Value| one["note"].as_str().unwrap_or_default().to_owned();
    Ok(notes.iter().map(note).collect())
}

#[test]
fn a_checkpoint_is_made_once_for_all_that_happened() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    after_using(&sandbox, "rekindle resume --yes", SOON, "pre-compact")?;
    assert_eq!(
        checkpoints(&sandbox, ORDERS)?,
        ["Claude Code: before the conversation was compacted"]
    );
    at(&sandbox, "2026-01-19T11:05:00Z", "session-end")?;
    assert_eq!(checkpoints(&sandbox, ORDERS)?.len(), 1);
    let event = json!({"event_type": "task_completed", "task_id": "T002", "timestamp": "2026-01-19T11:10:00Z"});
    sandbox.write(run.path("events/executor/z.jsonl"), format!("{event}\n"))?;
    at(&sandbox, "2026-01-19T11:15:00Z", "session-end")?;
    assert_eq!(
        checkpoints(&sandbox, ORDERS)?.last().map(String::as_str),
        Some("Claude Code: at the end of a session")
    );
    Ok(())
}

#[test]
fn only_a_run_that_the_session_worked_on_and_that_does_not_rest_gets_a_checkpoint() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    let resume = "rekindle resume --yes";
    after_using(&sandbox, resume, "2026-01-25T12:00:00Z", "session-end")?;
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    let resting = Run::interrupted("20250318-0900-billing-c3d4");
    resting.lay_out(&sandbox)?;
    for role in fs_err::read_dir(sandbox.path(resting.path("events")))? {
        for log in fs_err::read_dir(role?.path())? {
            let log = log?.path();
            let old = fs_err::read_to_string(&log)?.replace("2026-01", "2025-03");
            fs_err::write(&log, old)?;
        }
    }
    let another = Run::interrupted("20260118-0900-search-e5f6");
    another.lay_out(&sandbox)?;
    let read = "cat .agent-memory/runs/20260118-0900-search-e5f6/plan.md .agent-memory/runs/20250318-0900-billing-c3d4/plan.md";
    after_using(&sandbox, read, SOON, "session-end")?;
    assert_eq!(checkpoints(&sandbox, "20260118-0900-search-e5f6")?.len(), 1);
    // Though something happened in it, it is another session's.
    assert_eq!(checkpoints(&sandbox, ORDERS)?.len(), 0);
    assert_eq!(
        checkpoints(&sandbox, "20250318-0900-billing-c3d4")?.len(),
        0
    );
    Ok(())
}

/// The briefing that a session was told names workflows too; that is no work on them.
#[test]
fn a_session_that_worked_on_nothing_makes_no_checkpoint() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    Run::interrupted("20260118-0900-search-e5f6").lay_out(&sandbox)?;
    let before = sandbox.files()?;
    at(&sandbox, SOON, "session-end")?;
    for command in ["cargo test", "rekindle status"] {
        after_using(&sandbox, command, SOON, "pre-compact")?;
    }
    let said = json!({"type": "user", "message": {"content": format!("| agent-memory:{ORDERS}")}});
    let transcript = format!("home/.claude/projects/x/{}.jsonl", crate::SESSION);
    fs_err::write(sandbox.root().join(transcript), format!("{said}\n"))?;
    at(&sandbox, SOON, "session-end")?;
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    Ok(())
}

#[test]
fn what_another_rekindle_works_on_is_left_alone_and_reported() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let gate = Gate::new(sandbox.root())?;
    let stop = gate.script();
    let script = format!("if [ $REKINDLE_ROLE = executor ]; then {stop} fi\n{DILIGENT_AGENT}");
    let agent = sandbox.script("agent.sh", &script)?;
    let typed = sandbox.typed(&["resume", "--yes", "--agent-cmd", &agent]);
    let at_work = typed.at(SOON).start()?;
    gate.wait()?;
    after_using(&sandbox, "rekindle status", SOON, "session-end")?;
    assert_eq!(checkpoints(&sandbox, ORDERS)?, [""; 0]);
    let log = sandbox.read(".rekindle/hook.log")?;
    let held = format!("{SOON} session-end: `agent-memory:{ORDERS}` is in use: ");
    assert!(log.starts_with(&held) && log.lines().count() == 1, "{log}");
    let text = context(&call(&sandbox, "session-start", &json!({}))?)?;
    assert!(text.contains("do not touch it, at work: "), "{text}");
    at_work.kill()?;
    Ok(())
}

#[test]
fn a_usage_limit_is_noted_with_its_end_and_reported_until_the_work_goes_on() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let limit = json!({"error": "rate_limit",
        "last_assistant_message": "You've hit your limit · resets 3pm"});
    assert_eq!(call(&sandbox, "stop-failure", &limit)?.stdout(), "");
    let noted: Value = serde_json::from_str(&sandbox.read(".rekindle/stopped.json")?)?;
    assert_eq!(
        noted,
        json!({"schema": "rekindle.stopped/1", "agent": "claude", "session": crate::SESSION,
            "at": "2026-01-20T12:00:00Z", "why": "limit", "until": "2026-01-20T15:00:00Z"})
    );
    let told = "the last Claude Code session stopped at a usage limit that is over at 2026-01-20T15:00:00Z, 2026-01-20T12:00:00Z";
    insta::assert_snapshot!(sandbox.run(&["status"])?, @"
    exit 0
    --- stdout
    ID    STATE        TASKS  AGE        TITLE
    2026  interrupted  1/3    1 day ago  20260119-0900-orders-api-k2l3, phase 2 (execution)
    --- stderr
    note: the last Claude Code session stopped at a usage limit that is over at 2026-01-20T15:00:00Z, 2026-01-20T12:00:00Z
    hint: go on with `rekindle resume`
    ");
    let another = json!({"session_id": "another"});
    let text = context(&call(&sandbox, "session-start", &another)?)?;
    assert!(text.contains(told), "{text}");
    // The session itself is alive and has got over it.
    let text = context(&call(
        &sandbox,
        "session-start",
        &json!({"source": "compact"}),
    )?)?;
    assert!(!text.contains("usage limit"), "{text}");
    let event = json!({"event_type": "task_completed", "task_id": "T002", "timestamp": "2026-01-20T13:00:00Z"});
    sandbox.write(run.path("events/executor/z.jsonl"), format!("{event}\n"))?;
    let later = sandbox
        .typed(&["status"])
        .at("2026-01-20T14:00:00Z")
        .run()?;
    assert!(!later.stderr().contains("usage limit"), "{later}");
    Ok(())
}

/// Calls a hook of a session at a time.
fn called(sandbox: &Sandbox, session: &str, time: &str, moment: &str, more: &Value) -> Result<Ran> {
    let mut more = more.clone();
    more["session_id"] = json!(session);
    let typed = sandbox.typed(&["hook", moment, "--agent", "claude"]);
    Ok(typed.answering(&told(sandbox, &more)).at(time).run()?)
}

#[test]
fn a_limit_that_holds_is_reported_next_to_other_sessions_that_are_done() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let limit = json!({"error": "rate_limit",
        "last_assistant_message": "You've hit your limit · resets 3pm"});
    let [noon, two, three] =
        ["12:00", "14:00", "15:00"].map(|hour| format!("2026-01-20T{hour}:00Z"));
    called(&sandbox, "limited", &noon, "stop-failure", &limit)?;
    let is_told = |time: &str| -> Result<bool> {
        let status = sandbox.typed(&["status"]).at(time).run()?;
        Ok(status.stderr().contains("usage limit"))
    };
    called(&sandbox, "another", &two, "stop", &json!({}))?;
    assert!(is_told(&two)?);
    // Whoever takes the limited session up is told of it for as long as it holds.
    let goes_on = json!({"source": "resume"});
    for (time, expected) in [(&two, true), (&three, false)] {
        let text = context(&called(
            &sandbox,
            "limited",
            time,
            "session-start",
            &goes_on,
        )?)?;
        assert_eq!(text.contains("usage limit"), expected, "{text}");
    }
    // Its own next turn takes its place at any time, that of another one when the limit is over.
    let noted = sandbox.read(".rekindle/stopped.json")?;
    called(&sandbox, "limited", &two, "stop", &json!({}))?;
    assert!(!is_told(&two)?);
    sandbox.write(".rekindle/stopped.json", &noted)?;
    called(&sandbox, "another", &three, "stop", &json!({}))?;
    assert!(!is_told(&three)?);
    Ok(())
}

#[test]
fn an_error_is_noted_and_a_turn_that_is_done_takes_its_place() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let error =
        json!({"error": "authentication_failed", "last_assistant_message": "Please run /login"});
    call(&sandbox, "stop-failure", &error)?;
    let status = sandbox.run(&["status"])?;
    let told = "stopped with an error: authentication_failed: Please run /login";
    assert!(status.stderr().contains(told), "{status}");
    call(&sandbox, "stop", &json!({"last_assistant_message": "done"}))?;
    let status = sandbox.run(&["status"])?;
    assert!(!status.stderr().contains("session"), "{status}");
    Ok(())
}

#[test]
fn a_note_that_is_damaged_says_nothing() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let plain = sandbox.run(&["status"])?.to_string();
    for bytes in [
        &b"{"[..],
        b"",
        b"\xff",
        b"{\"schema\":\"rekindle.stopped/9\"}",
    ] {
        sandbox.write(".rekindle/stopped.json", bytes)?;
        assert_eq!(sandbox.run(&["status"])?.to_string(), plain);
        call(&sandbox, "session-start", &json!({}))?;
    }
    Ok(())
}
