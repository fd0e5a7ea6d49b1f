//! `rekindle hook`: what agents are told, what is written down, and that they never suffer from it.

#![cfg(target_os = "linux")]

mod attempt;
mod briefing;
mod notes;
mod once;
mod sessions;
mod trouble;

use anyhow::{Context as _, Result};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";
const SESSION: &str = "9134cf00-e3ef-419a-a946-a1369cd9cee5";

fn interrupted() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}

/// What Claude Code tells at every moment, with more about this one.
fn told(sandbox: &Sandbox, more: &Value) -> String {
    let mut told = json!({
        "session_id": SESSION,
        "transcript_path": format!("{}/home/.claude/projects/x/{SESSION}.jsonl", sandbox.root()),
        "cwd": sandbox.project(),
        "permission_mode": "default",
    });
    if let (Some(told), Some(more)) = (told.as_object_mut(), more.as_object()) {
        told.extend(more.clone());
    }
    told.to_string()
}

/// Calls a hook, which must end well and say nothing on standard error.
///
/// A session that starts has been told nothing before; what is told once is tested in `once.rs`.
fn call(sandbox: &Sandbox, moment: &str, more: &Value) -> Result<Ran> {
    fs_err::remove_file(sandbox.path(".rekindle/told.json")).ok();
    let ran = sandbox
        .typed(&["hook", moment, "--agent", "claude"])
        .answering(&told(sandbox, more))
        .run()?;
    assert_eq!((ran.code(), ran.stderr().as_ref()), (Some(0), ""), "{ran}");
    Ok(ran)
}

/// Returns what a session that starts is told; the answer must have exactly the fields that all agents take.
fn context(ran: &Ran) -> Result<String> {
    let answer = ran.json().with_context(|| ran.to_string())?;
    let text = answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .context("a text")?;
    let mut exactly = json!({"hookSpecificOutput": {
        "hookEventName": "SessionStart", "additionalContext": text}});
    let line = &answer["systemMessage"];
    if let Some(line) = line.as_str() {
        assert!(
            line.starts_with("rekindle: ") && line.lines().count() == 1,
            "{line}"
        );
        exactly["systemMessage"] = json!(line);
    }
    assert_eq!(answer, exactly);
    Ok(text.to_owned())
}

/// Returns what a client of the MCP server says in order to call a tool.
fn tool_call(tool: &str) -> String {
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": tool, "arguments": {}}}),
    ];
    let lines: Vec<String> = messages.iter().map(|line| format!("{line}\n")).collect();
    lines.concat()
}
