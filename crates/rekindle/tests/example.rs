//! The example protocol of the test kit: one row of the registry brings it to every front end.

use anyhow::{Context as _, Result};
use rekindle_testkit::sandbox::Sandbox;
use serde_json::json;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ID: &str = "example:list";
const PAGE: &str = "# Release\n\n- [x] write\n- [ ] test\n- [ ] ship\n";

fn scene() -> Result<Sandbox> {
    let sandbox = Sandbox::new(BINARY)?;
    sandbox.write("CHECKLIST.md", PAGE)?;
    Ok(sandbox)
}

#[test]
fn status_inspect_plan_and_explain_show_it() -> Result<()> {
    let sandbox = scene()?;
    let status = sandbox.run(&["status", "--json"])?.json()?;
    assert_eq!(status["workflows"][0]["id"], ID, "{status}");
    let inspect = sandbox.run(&["inspect", ID, "--json"])?.json()?;
    assert_eq!(inspect["facts"]["tasks"], json!(["write", "test", "ship"]));
    let plan = sandbox.run(&["plan", ID])?;
    assert!(plan.stdout().contains("test"), "{}", plan.stdout());
    let explained = sandbox.run(&["explain", ID, "test"])?;
    assert!(explained.stdout().contains("a checked box is done"));
    Ok(())
}

#[test]
fn a_resume_does_every_open_task_once() -> Result<()> {
    let sandbox = scene()?;
    let agent = sandbox.script("agent.sh", "cat >> prompts\n")?;
    let ran = sandbox.run(&["resume", ID, "--yes", "--agent-command", &agent])?;
    assert_eq!(ran.code(), Some(0), "{}", ran.stderr());
    assert_eq!(sandbox.read("CHECKLIST.md")?, PAGE.replace("[ ]", "[x]"));
    let prompts = sandbox.read("prompts")?;
    assert_eq!(prompts.matches("Do this task: ").count(), 2, "{prompts}");
    Ok(())
}

#[test]
fn a_hook_and_the_mcp_server_offer_it() -> Result<()> {
    let sandbox = scene()?;
    let input = json!({"hook_event_name": "SessionStart", "cwd": sandbox.project()}).to_string();
    let hook = sandbox
        .typed(&["hook", "session-start"])
        .answering(&input)
        .run()?;
    assert!(hook.stdout().contains(ID), "{}", hook.stdout());
    let calls = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "list", "arguments": {}}}),
    ];
    let lines = calls.iter().map(ToString::to_string);
    let input = lines.collect::<Vec<_>>().join("\n") + "\n";
    let served = sandbox.typed(&["mcp"]).answering(&input).run()?;
    let stdout = served.stdout();
    let answer = stdout.lines().find(|line| line.contains("\"id\":2"));
    assert!(answer.context("no answer")?.contains(ID), "{stdout}");
    Ok(())
}
