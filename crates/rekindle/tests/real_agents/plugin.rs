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

/// Plays opencode: loads the plugin, asks for the system prompt twice, and ends the turn.
const PLAY: &str = r#"
const { Rekindle } = await import(process.argv[1]);
const hooks = await Rekindle({ directory: process.cwd() });
const output = { system: ["first"] };
await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, output);
await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, output);
await hooks["tool.execute.after"]({ sessionID: "ses_1" });
const error = { name: "APIError", data: { message: "Too Many Requests" } };
await hooks.event({ event: { type: "session.error", properties: { sessionID: "ses_1", error } } });
await hooks.event({ event: { type: "other" } });
const config = { mcp: { other: 1 } };
await hooks.config(config);
console.log(JSON.stringify([output.system, config]));
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
    let (system, config): (Vec<String>, Value) = serde_json::from_slice(&ran.stdout)?;
    let server = json!({"type": "local", "command": ["rekindle", "mcp"], "enabled": true});
    assert_eq!(config, json!({"mcp": {"rekindle": server, "other": 1}}));
    assert_eq!(system.len(), 3, "{system:?}");
    ensure!(
        system[1].contains("1 workflow is interrupted"),
        "{system:?}"
    );
    assert_eq!(system[1], system[2]);
    let noted = scene.sandbox.read(".rekindle/stopped.json")?;
    ensure!(
        noted.contains(r#""agent":"opencode","session":"ses_1""#),
        "{noted}"
    );
    ensure!(noted.contains(r#""why":"limit""#), "{noted}");
    Ok(())
}
