//! What other sessions of coding agents did and do in the project, told and heeded.

use anyhow::{Context as _, Result};
use rekindle_testkit::running::Running;
use rekindle_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use crate::{SESSION, call, context, interrupted, tool_call};

/// Names of sessions must be those of no other test, since processes are looked for by them.
fn session(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

/// Writes a transcript of a session that was begun in a folder and is in the middle of a tool.
fn transcript(sandbox: &Sandbox, folder: &str, session: &str) -> Result<()> {
    let name = folder.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let kept = sandbox.root().join("home/.claude/projects").join(name);
    fs_err::create_dir_all(&kept)?;
    let row = json!({"type": "assistant", "cwd": folder, "timestamp": "2026-01-19T10:05:00Z",
        "message": {"content": [{"type": "tool_use", "id": "a", "name": "Bash",
            "input": {"command": "cargo test"}}]}});
    fs_err::write(kept.join(format!("{session}.jsonl")), format!("{row}\n"))?;
    Ok(())
}

/// Puts a process on Claude Code's list.
fn list(sandbox: &Sandbox, session: &str, pid: u32, start: &str) -> Result<()> {
    let folder = sandbox.root().join("home/.claude/sessions");
    fs_err::create_dir_all(&folder)?;
    let entry = json!({"pid": pid, "sessionId": session, "procStart": start});
    fs_err::write(folder.join(format!("{pid}.json")), entry.to_string())?;
    Ok(())
}

/// Starts a process that lives until it is killed, and returns it with its start time.
fn alive(sandbox: &Sandbox) -> Result<(Running, String)> {
    let running = sandbox
        .typed(&[])
        .through(&["/bin/sh", "-c", "echo ready >&2; exec cat"])
        .start()?;
    running.wait_for("ready")?;
    let start = start_of(running.pid())?;
    Ok((running, start))
}

fn start_of(pid: u32) -> Result<String> {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, rest) = stat.rsplit_once(") ").context("a name")?;
    // It is field 22, and two stand before the rest.
    let start = rest.split(' ').nth(19).context("a start")?;
    Ok(start.to_owned())
}

fn started(sandbox: &Sandbox) -> Result<String> {
    context(&call(sandbox, "session-start", &json!({}))?)
}

#[test]
fn a_resumed_session_is_alive_though_the_killed_process_is_still_listed() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let session = session("taken-up");
    transcript(&sandbox, sandbox.project().as_str(), &session)?;
    let (living, start) = alive(&sandbox)?;
    // Whichever of the two is listed first.
    for dead in [1, 4_000_000] {
        list(&sandbox, &session, dead, "1")?;
    }
    let text = started(&sandbox)?;
    assert!(text.contains("died in the middle of"), "{text}");
    list(&sandbox, &session, living.pid(), &start)?;
    let text = started(&sandbox)?;
    let at_work = format!(
        "| another Claude Code session is at work here (process {})\n",
        living.pid()
    );
    assert!(text.contains(&at_work), "{text}");
    assert!(text.contains("ask the user first"), "{text}");
    living.kill()?;
    Ok(())
}

#[test]
fn nothing_is_done_next_to_a_session_at_work_unless_a_person_says_so() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let session = session("at-work");
    transcript(&sandbox, sandbox.project().as_str(), &session)?;
    let (living, start) = alive(&sandbox)?;
    list(&sandbox, &session, living.pid(), &start)?;
    let before = sandbox.files()?;
    let agent = sandbox.script("agent.sh", "echo ran > ran.txt\n")?;
    let resume = ["resume", "--yes", "--agent-cmd", agent.as_str()];
    insta::assert_snapshot!(sandbox.run(&resume)?, @"
    exit 4
    --- stderr
    error: another Claude Code session is at work here (process [PID])

    hint: wait until process [PID] has finished its turn, or stop that turn
    hint: to resume anyway, confirm it yourself: `rekindle resume agent-memory:20260119-0900-orders-api-k2l3` without `--yes`
    hint: see `rekindle explain SESSION_ALIVE`
    ");
    assert_eq!(before.changes(&sandbox.files()?), [""; 0]);
    // It is told wherever somebody looks.
    let plan = sandbox.run(&["plan"])?;
    assert!(plan.stderr().contains("is at work here"), "{plan}");
    for args in [["plan", "--json"], ["inspect", "--json"]] {
        let object = sandbox.run(&args)?.json()?;
        let findings = object["findings"].as_array().cloned().unwrap_or_default();
        let codes: Vec<&Value> = findings.iter().map(|finding| &finding["code"]).collect();
        assert!(codes.contains(&&json!("SESSION_ALIVE")), "{object}");
    }
    let called = sandbox
        .typed(&["mcp"])
        .answering(&tool_call("plan"))
        .run()?;
    assert!(called.stdout().contains("SESSION_ALIVE"), "{called}");
    // A person decides.
    let asked = ["resume", "--agent-cmd", agent.as_str()];
    let answered = sandbox.typed(&asked).answering("y\n").run()?;
    assert!(answered.stderr().contains("is at work here"), "{answered}");
    assert_eq!(sandbox.read("ran.txt")?, "ran\n", "{answered}");
    living.kill()?;
    Ok(())
}

#[test]
fn what_a_dead_session_left_is_reported_before_its_work_is_done_again() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let session = session("left");
    transcript(&sandbox, sandbox.project().as_str(), &session)?;
    let left = sandbox
        .typed(&[])
        .with("CLAUDE_CODE_SESSION_ID", session)
        .through(&["/bin/sh", "-c", "echo ready >&2; exec cat"])
        .start()?;
    left.wait_for("ready")?;
    let agent = sandbox.script("agent.sh", "echo ran > ran.txt\n")?;
    let ran = sandbox.run(&["resume", "--yes", "--agent-cmd", &agent])?;
    let told = format!("are still running: {}", left.pid());
    assert!(ran.stderr().contains("[SESSION_LEFTOVERS]"), "{ran}");
    assert!(ran.stderr().contains(&told), "{ran}");
    assert_eq!(sandbox.read("ran.txt")?, "ran\n", "{ran}");
    left.kill()?;
    Ok(())
}

#[test]
fn the_session_that_calls_us_is_not_another_one() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let session = session("calls");
    transcript(&sandbox, sandbox.project().as_str(), &session)?;
    // A server that an agent started is not told the session, but it descends from its process.
    list(
        &sandbox,
        &session,
        std::process::id(),
        &start_of(std::process::id())?,
    )?;
    let agent = sandbox.script("agent.sh", "echo ran > ran.txt\n")?;
    let ran = sandbox.run(&["resume", "--yes", "--agent-cmd", &agent])?;
    assert!(!ran.stderr().contains("session"), "{ran}");
    assert_eq!(sandbox.read("ran.txt")?, "ran\n", "{ran}");
    Ok(())
}

#[test]
fn a_codex_that_calls_us_is_known_by_its_variable() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let day = sandbox.root().join("home/.codex/sessions/2026/01/19");
    fs_err::create_dir_all(&day)?;
    let at = "2026-01-19T10:05:00Z";
    let rows = [
        json!({"timestamp": at, "type": "session_meta",
            "payload": {"id": SESSION, "cwd": sandbox.project()}}),
        json!({"timestamp": at, "type": "event_msg", "payload": {"type": "task_started"}}),
    ];
    let text = format!("{}\n{}\n", rows[0], rows[1]);
    let file = format!("rollout-2026-01-19T10-00-00-{SESSION}.jsonl");
    fs_err::write(day.join(file), text)?;
    let status = sandbox.run(&["status"])?;
    assert!(status.stderr().contains("Codex session"), "{status}");
    let called = sandbox
        .typed(&["status"])
        .with("CODEX_THREAD_ID", SESSION)
        .run()?;
    assert!(!called.stderr().contains("Codex"), "{called}");
    Ok(())
}

#[test]
fn a_session_that_was_started_in_a_folder_below_is_one_of_the_project() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    fs_err::create_dir(sandbox.path(".git"))?;
    sandbox.write("src/deep/x", "")?;
    let deep = sandbox.path("src/deep");
    transcript(&sandbox, deep.as_str(), &session("below"))?;
    let below = json!({"cwd": deep, "session_id": SESSION});
    let text = context(&call(&sandbox, "session-start", &below)?)?;
    let died = "the last Claude Code session died in the middle of `Bash: cargo test`";
    assert!(text.contains(died), "{text}");
    let status = sandbox.run(&["status"])?;
    assert!(status.stderr().contains(died), "{status}");
    Ok(())
}
