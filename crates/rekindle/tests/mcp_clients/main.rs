//! The MCP server with clients that others wrote: the Python SDK and the inspector.
//!
//! Needs the feature `mcp-clients` and the clients themselves; `cargo xtask test` has both.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::bifrost::FEATURE;
use rekindle_testkit::process::Call;
use rekindle_testkit::sandbox::{LIMIT, Sandbox};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";

/// Every tool in the order of the list, with arguments that are fit for the run.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("list", json!({})),
        ("brief", json!({})),
        ("inspect", json!({"id": ORDERS})),
        ("plan", json!({})),
        // An empty digest stands for that of the plan before.
        ("resume", json!({"digest": ""})),
        ("next_step", json!({})),
        ("explain", json!({"task": "T002"})),
        (
            "report_event",
            json!({"event": "task_started", "task": "T002"}),
        ),
        ("heartbeat", json!({"task": "T002"})),
        ("checkpoint", json!({"message": "x"})),
        ("checkpoints", json!({})),
    ]
}

/// The tool that comes after those, with arguments that are fit for a feature of Bifrost.
fn last_call() -> (&'static str, Value) {
    ("rollback", json!({"id": FEATURE, "checkpoint": "CP-002"}))
}

fn feature() -> Result<Sandbox> {
    let sandbox = Sandbox::new(BINARY)?;
    rekindle_testkit::bifrost::feature(&sandbox)?;
    Ok(sandbox)
}

fn interrupted() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}

/// Runs a program of others in the project and returns the JSON that it prints.
fn client(sandbox: &Sandbox, program: &str, args: &[String]) -> Result<Value> {
    let call = Call {
        program,
        args,
        folder: sandbox.project(),
        environment: sandbox.environment(),
        stdin: "",
        limit: LIMIT,
    };
    let output = call.run()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {said}", output.status);
    let printed = String::from_utf8(output.stdout)?;
    serde_json::from_str(&printed).with_context(|| format!("{printed}\n{said}"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test is told where the clients are"
)]
fn installed(variable: &str) -> Result<String> {
    std::env::var(variable).with_context(|| format!("{variable} names no client"))
}

#[test]
fn the_python_sdk_lists_everything_and_calls_every_tool() -> Result<()> {
    let script = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp_clients/client.py");
    let python = installed("REKINDLE_TEST_PYTHON")?;
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let (sandbox, run) = interrupted()?;
        let mut all = calls();
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        all.push(("next_step", json!({"result": "done"})));
        let args = [
            script.as_str(),
            mode,
            &json!(all).to_string(),
            BINARY,
            "mcp",
        ];
        let seen = client(&sandbox, &python, &args.map(str::to_owned))?;
        assert_eq!(seen["version"], version);
        assert_eq!(seen["tools"], json!(names));
        let objects = seen["objects"].as_array().context("no objects")?;
        assert_eq!(objects.len(), all.len());
        assert_eq!(objects[all.len() - 1]["step"]["who"], "verifier");
        assert_eq!(seen["resources"].as_array().map(Vec::len), Some(8));
        let n_prompts = 1 + rekindle_app::protocol_names().len();
        assert_eq!(seen["prompts"].as_array().map(Vec::len), Some(n_prompts));
        let told = run.told(&sandbox)?;
        ensure!(told.contains("session_resumed"), "{told}");

        let (name, mut arguments) = last_call();
        let plan = json!([name, arguments]);
        arguments["digest"] = json!("");
        let both = json!([plan, [name, arguments]]);
        let args = [script.as_str(), mode, &both.to_string(), BINARY, "mcp"];
        let seen = client(&feature()?, &python, &args.map(str::to_owned))?;
        assert_eq!(seen["objects"][1]["schema"], "rekindle.turn/1");
    }
    Ok(())
}

#[test]
fn the_inspector_lists_and_calls_every_tool() -> Result<()> {
    let inspector = installed("REKINDLE_TEST_INSPECTOR")?;
    let (sandbox, _) = interrupted()?;
    let feature = feature()?;
    let inspect_in = |sandbox: &Sandbox, method: &str, more: &[String]| {
        let fixed = [&inspector, "--cli", BINARY, "mcp", "--method", method];
        let args: Vec<String> = fixed.iter().map(ToString::to_string).collect();
        client(sandbox, "node", &[&args, more].concat())
    };
    let inspect = |method: &str, more: &[String]| inspect_in(&sandbox, method, more);
    let listed = inspect("tools/list", &[])?;
    let tools = listed["tools"].as_array().context("no tools")?;
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let called: Vec<&str> = calls().iter().map(|(name, _)| *name).collect();
    assert_eq!(names, called);
    // Each call is a server of its own, so what one has shown the next does not know.
    let each = calls()
        .into_iter()
        .filter(|(name, _)| *name != "resume" && *name != "next_step");
    for (name, arguments) in each.chain([last_call()]) {
        let mut more = vec!["--tool-name".to_owned(), name.to_owned()];
        for (key, value) in arguments.as_object().into_iter().flatten() {
            more.push("--tool-arg".to_owned());
            more.push(format!("{key}={}", value.as_str().unwrap_or_default()));
        }
        let place = if name == last_call().0 {
            &feature
        } else {
            &sandbox
        };
        let result = inspect_in(place, "tools/call", &more)?;
        assert_eq!(result["isError"], false, "{name}: {result}");
        ensure!(result["structuredContent"]["schema"].is_string(), "{name}");
    }
    for (method, list, n) in [
        ("resources/list", "resources", 8),
        ("resources/templates/list", "resourceTemplates", 2),
        (
            "prompts/list",
            "prompts",
            1 + rekindle_app::protocol_names().len(),
        ),
    ] {
        let seen = inspect(method, &[])?;
        assert_eq!(seen[list].as_array().map(Vec::len), Some(n), "{seen}");
    }
    Ok(())
}
