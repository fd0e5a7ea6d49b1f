//! The plugin for Claude Code, and the one for opencode in a stand-in for it.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::scene::{Scene, repository};

#[test]
fn plugin_and_marketplace_are_valid_by_the_strictest_rules() -> Result<()> {
    let scene = Scene::new(&json!([]))?;
    for folder in [repository().join("plugin"), repository().to_owned()] {
        let ran = scene.run(
            "claude",
            &["plugin", "validate", "--strict", folder.as_str()],
        )?;
        ensure!(ran.status.success(), "{ran:?}");
    }
    Ok(())
}

#[test]
fn the_plugin_informs_the_model_what_is_interrupted_and_brings_its_skills() -> Result<()> {
    let mut scene = Scene::new(&json!([]))?;
    let address = scene.address();
    scene.set("ANTHROPIC_BASE_URL", &address);
    scene.set("ANTHROPIC_API_KEY", "none");
    scene.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    let plugin = repository().join("plugin");
    let ran = scene.run("claude", &["-p", "go", "--plugin-dir", plugin.as_str()])?;
    ensure!(ran.status.success(), "{ran:?}");
    let asked = scene.asked();
    ensure!(asked.contains("1 workflow is interrupted"), "{asked}");
    for skill in ["resume", "kiln-resume", "map-resume"] {
        ensure!(
            asked.contains(&format!("rekindle:{skill}")),
            "{skill}: {asked}"
        );
    }
    Ok(())
}

/// Plays opencode: loads the plugin, passes two messages of the user on, and ends the turn.
const PLAY: &str = r#"
const { Rekindle } = await import(process.argv[1]);
const hooks = await Rekindle({ directory: process.cwd() });
const messages = ["msg_1", "msg_2"].map((id) => ({
  message: { id, sessionID: "ses_1" },
  parts: [{ id: `prt_of_${id}`, messageID: id, sessionID: "ses_1", type: "text", text: "go" }],
}));
for (const message of messages) await hooks["chat.message"]({ sessionID: "ses_1" }, message);
await hooks["tool.execute.after"]({ sessionID: "ses_1", tool: "bash", args: { command: "true" } });
const error = { name: "APIError", data: { message: "Too Many Requests" } };
await hooks.event({ event: { type: "session.error", properties: { sessionID: "ses_1", error } } });
await hooks.event({ event: { type: "other" } });
const config = { mcp: { other: 1 } };
await hooks.config(config);
console.log(JSON.stringify([messages.map(({ parts }) => parts), config]));
"#;

#[test]
fn the_plugin_for_opencode_calls_the_same_hooks() -> Result<()> {
    let scene = Scene::new(&json!([]))?;
    scene.rekindle(&["install", "opencode", "--yes"])?;
    let plugin = scene.home(".config/opencode/plugin/rekindle.js");
    // Node takes it for a module by this name; opencode's own runtime by its contents.
    let module = scene.home("rekindle.mjs");
    fs_err::copy(&plugin, &module)?;
    let ran = scene.node(&["--input-type=module", "-e", PLAY, module.as_str()])?;
    ensure!(ran.status.success(), "{ran:?}");
    let (messages, config): ([Vec<Value>; 2], Value) = serde_json::from_slice(&ran.stdout)?;
    let server = json!({"type": "local", "command": ["rekindle", "mcp"], "enabled": true});
    assert_eq!(config, json!({"mcp": {"rekindle": server, "other": 1}}));
    // What is told stays in the conversation, so it is told once.
    let [first, second] = &messages;
    assert_eq!((first.len(), second.len()), (2, 1), "{messages:?}");
    let told = &first[1];
    let text = told["text"].as_str().unwrap_or_default();
    ensure!(text.contains("1 workflow is interrupted"), "{told}");
    let belongs = json!(["msg_1", "ses_1", "text", true]);
    let names = ["messageID", "sessionID", "type", "synthetic"];
    assert_eq!(json!(names.map(|name| &told[name])), belongs, "{told}");
    let id = told["id"].as_str().unwrap_or_default();
    ensure!(id.starts_with("prt_"), "{told}");
    let noted = scene.sandbox.read(".rekindle/stopped.json")?;
    ensure!(
        noted.contains(r#""agent":"opencode","session":"ses_1""#),
        "{noted}"
    );
    ensure!(noted.contains(r#""why":"limit""#), "{noted}");
    Ok(())
}
