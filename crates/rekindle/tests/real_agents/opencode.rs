//! opencode.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::LIMIT;
use serde_json::{Value, json};

use crate::programs;
use crate::scene::Scene;

const GO: [&str; 4] = ["run", "--format", "json", "go"];

fn scene(turns: &Value) -> Result<Scene> {
    let mut scene = Scene::new(turns)?;
    programs::opencode(&mut scene)?;
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
fn a_session_is_briefed_once_however_often_the_model_is_asked() -> Result<()> {
    let scene = scene(&json!([]))?;
    scene.rekindle(&["install", "opencode", "--yes"])?;
    for arguments in [&GO[..], &["run", "--format", "json", "-c", "more"]] {
        let ran = scene.run("opencode", arguments)?;
        ensure!(ran.status.success(), "{ran:?}");
    }
    let told = "rekindle: 1 workflow is interrupted in this project.";
    let asked = scene.asked();
    let told = asked.lines().map(|request| request.matches(told).count());
    assert_eq!(told.max(), Some(1), "{asked}");
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
