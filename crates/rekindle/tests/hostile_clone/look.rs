//! Everything that only looks at a project: commands, hook events, MCP tools and resources.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::Hostile;

/// The reading commands; a question is answered by the end of the input, which means no.
pub(crate) const COMMANDS: &[&[&str]] = &[
    &[],
    &["--json"],
    &["-v"],
    &["status"],
    &["status", "--json"],
    &["inspect"],
    &["inspect", "--json"],
    &["plan"],
    &["plan", "--json"],
    &["resume", "--dry-run"],
    &["resume"],
    &["doctor"],
    &["doctor", "--json"],
    &["checkpoints"],
    &["rescue", "list"],
    &["validate"],
    &["clean"],
    &["explain", "T1"],
    &["sessions"],
    &["sessions", "--json"],
    &["--everywhere"],
    &["resume", "sessions"],
    &["report", "-o", "-"],
    &["report", "--json"],
    &["report", "--with-output", "-o", "-"],
    &["report", "--svg", "graph", "-o", "-"],
    &["report", "--trace", "-o", "-"],
    &["logs"],
    &["logs", "-f"],
    &["attach"],
    &["run", "bait-plan.md", "--dry-run", "--agent-cmd", "true"],
    &["run", "bait-plan.md", "--agent-cmd", "true"],
    &[
        "run",
        "bait-plan.md",
        "--update-plan",
        "--agent-cmd",
        "true",
    ],
    &["retry"],
    &["retry", "T001"],
    &["skip", "T001"],
    &["cancel"],
    &["stop"],
    &["rescue", "show", "1"],
    &["rescue", "restore", "1"],
    &["migrate"],
    &["checkpoints", "--archive"],
    &["install", "claude"],
    &["install", "map"],
    &["uninstall", "claude"],
    &["map", "peek_current_step"],
    &["map", "get_plan_progress"],
    &["map", "build_resume_briefing"],
];

const EVENTS: [&str; 6] = [
    "session-start",
    "pre-compact",
    "session-end",
    "stop",
    "stop-failure",
    "post-tool-use",
];

/// Looks with everything there is; nothing may run.
pub(crate) fn with_everything(hostile: &Hostile) -> Result<()> {
    let sandbox = &hostile.sandbox;
    let nothing_ran = |what: &str| -> Result<()> {
        let ran = hostile.ran()?;
        ensure!(ran.is_empty(), "{what} ran {ran:?}");
        Ok(())
    };
    let ids = workflows(hostile)?;
    nothing_ran("status --json")?;
    let mut lines: Vec<Vec<&str>> = COMMANDS.iter().map(|words| words.to_vec()).collect();
    for id in &ids {
        lines.extend([
            vec!["inspect", id],
            vec!["plan", id],
            vec!["resume", id, "--dry-run"],
            vec!["explain", id, "T001"],
            vec!["checkpoints", id],
            vec!["checkpoints", id, "--archive"],
            vec!["resume", id],
            vec!["report", id, "-o", "-"],
            vec!["logs", id],
            vec!["logs", id, "T001"],
            vec!["attach", id],
            vec!["retry", "T001", "--run", id],
            vec!["cancel", id],
            vec!["stop", id],
            vec!["rollback", id, "CP-001"],
        ]);
    }
    let capture = sandbox.root().join("capture.json");
    lines.push(vec!["inspect", "--capture", capture.as_str()]);
    for words in &lines {
        let ran = sandbox.run(words)?;
        ensure!(matches!(ran.code(), Some(0..=4)), "{words:?}: {ran}");
        nothing_ran(&format!("{words:?}"))?;
    }
    for event in EVENTS {
        let input = json!({
            "session_id": "s1",
            "hook_event_name": event,
            "cwd": sandbox.project().as_str(),
            "source": "startup",
        });
        let typed = sandbox.typed(&["hook", event, "--agent", "claude"]);
        typed.answering(&input.to_string()).run()?;
        nothing_ran(event)?;
    }
    let ran = sandbox.typed(&["mcp"]).answering(&frames(&ids)).run()?;
    nothing_ran("mcp")?;
    let n_answers = ran.stdout().lines().count();
    ensure!(n_answers > 10, "mcp answered {n_answers} times: {ran}");
    Ok(())
}

/// Returns the ids of the workflows that are found.
fn workflows(hostile: &Hostile) -> Result<Vec<String>> {
    let ran = hostile.sandbox.run(&["status", "--json"])?;
    let json = ran.json().with_context(|| ran.to_string())?;
    let list = json["workflows"].as_array().cloned().unwrap_or_default();
    let ids = list.iter().filter_map(|workflow| workflow["id"].as_str());
    let ids: Vec<String> = ids.map(str::to_owned).collect();
    ensure!(!ids.is_empty(), "no workflow is found: {ran}");
    Ok(ids)
}

/// Returns a conversation that calls every tool and reads every resource. `resume` and `rollback`
/// without a digest only show what they would do.
fn frames(ids: &[String]) -> String {
    let client = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let mut calls = vec![
        ("initialize", client),
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("tools/call", tool("list", &json!({}))),
    ];
    for id in ids {
        for name in [
            "brief",
            "inspect",
            "plan",
            "resume",
            "next_step",
            "checkpoints",
        ] {
            calls.push(("tools/call", tool(name, &json!({ "id": id }))));
        }
        let explain = json!({"id": id, "task": "T001"});
        calls.push(("tools/call", tool("explain", &explain)));
        let rollback = json!({"id": id, "checkpoint": "last"});
        calls.push(("tools/call", tool("rollback", &rollback)));
        for part in ["brief", "documents/tasks.md"] {
            let uri = format!("rekindle://workflow/{id}/{part}");
            calls.push(("resources/read", json!({ "uri": uri })));
        }
    }
    let mut lines = String::new();
    for (id, (method, params)) in calls.into_iter().enumerate() {
        let frame = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        lines.push_str(&format!("{frame}\n"));
        if id == 0 {
            let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            lines.push_str(&format!("{initialized}\n"));
        }
    }
    lines
}

fn tool(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}
