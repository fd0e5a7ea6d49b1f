//! opencode.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::LIMIT;
use serde_json::{Value, json};

use crate::scene::Scene;

const GO: [&str; 4] = ["run", "--format", "json", "go"];

fn scene(turns: &Value) -> Result<Scene> {
    let mut scene = Scene::new(turns)?;
    // It would ask for lists of models, for releases and for programs.
    for name in ["MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD", "SHARE"] {
        scene.set(&format!("OPENCODE_DISABLE_{name}"), "1");
    }
    let models = json!({"m": {"name": "m"}});
    let options = json!({"baseURL": format!("{}/v1", scene.address()), "apiKey": "none"});
    let provider = json!({"npm": "@ai-sdk/anthropic", "options": options, "models": models});
    let config = json!({"provider": {"scripted": provider}, "model": "scripted/m", "small_model": "scripted/m"});
    fs_err::create_dir_all(scene.home(".config/opencode"))?;
    fs_err::write(
        scene.home(".config/opencode/opencode.json"),
        config.to_string(),
    )?;
    Ok(scene)
}

#[test]
fn what_is_interrupted_reaches_the_model() -> Result<()> {
    let scene = scene(&json!([]))?;
    scene.rekindle(&["install", "opencode", "--yes"])?;
    let ran = scene.run("opencode", &GO)?;
    ensure!(ran.status.success(), "{ran:?}");
    let told = "rekindle: 1 workflow is interrupted in this project.";
    ensure!(scene.asked().contains(told), "{}", scene.asked());
    ensure!(
        !scene.sandbox.path(".rekindle/hook.log").exists(),
        "trouble"
    );
    Ok(())
}

#[test]
fn a_session_that_was_killed_is_distinguished_from_one_that_is_at_work() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut gate = Gate::new(Utf8Path::from_path(folder.path()).context("a path")?)?;
    let command = format!("{} true", gate.script());
    let input = json!({"command": command, "description": "Wait"});
    let scene = scene(&json!([{"tool": "bash", "input": input}]))?;
    let running = scene.start("opencode", &GO)?;
    let process = gate.wait()?;
    let died = scene.told_of_the_killed(running)?;
    assert_eq!(
        (&died["state"], &died["agent"]),
        (&json!("died"), &json!("opencode"))
    );
    let text = died["text"].as_str().unwrap_or_default();
    ensure!(text.contains("in the middle of `bash: "), "{died}");
    // It starts tools in sessions of their own, so they do not go with it.
    ensure!(text.contains("are still running"), "{died}");
    gate.open()?;
    wait_until_gone(process, LIMIT)?;
    Ok(())
}
