//! Codex CLI.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::LIMIT;
use serde_json::{Value, json};

use crate::programs;
use crate::scene::{Scene, TOOLS};

const TOLD: &str = "rekindle: 1 workflow is interrupted in this project.";

fn scene(turns: &Value) -> Result<Scene> {
    let scene = Scene::new(turns)?;
    programs::codex(&scene)?;
    scene.rekindle(&["install", "codex", "--yes"])?;
    Ok(scene)
}

#[test]
fn what_is_interrupted_reaches_the_model_once_the_user_trusts_the_hooks() -> Result<()> {
    let scene = scene(&json!([]))?;
    let go = ["exec", "--json", "--skip-git-repo-check", "go"];
    let ran = scene.run("codex", &go)?;
    ensure!(ran.status.success(), "{ran:?}");
    // Nobody has trusted them, and nothing was done to make it look so.
    ensure!(scene.asked().contains("\"model\""), "{}", scene.asked());
    ensure!(!scene.asked().contains(TOLD), "{}", scene.asked());

    // Codex's own way for a user who answers for the hooks of one call.
    let trusting = [&go[..1], &["--dangerously-bypass-hook-trust"], &go[1..]].concat();
    let ran = scene.run("codex", &trusting)?;
    ensure!(ran.status.success(), "{ran:?}");
    ensure!(scene.asked().contains(TOLD), "{}", scene.asked());
    let noted = scene.sandbox.read(".rekindle/stopped.json")?;
    ensure!(noted.contains(r#""agent":"codex""#), "{noted}");
    ensure!(
        !scene.sandbox.path(".rekindle/hook.log").exists(),
        "trouble"
    );
    scene.rekindle(&["uninstall", "codex", "--yes"])?;
    ensure!(
        !scene.home(".codex/hooks.json").exists(),
        "it is still there"
    );
    let config = fs_err::read_to_string(scene.home(".codex/config.toml"))?;
    ensure!(!config.contains("rekindle"), "{config}");
    Ok(())
}

#[test]
fn a_resume_is_planned_by_tools_and_carried_out_once_the_user_allows_it() -> Result<()> {
    let scene = scene(&json!([
        {"tool": "tool_search", "input": {"query": "rekindle resume", "limit": 20}},
        {"tool": "plan", "namespace": "mcp__rekindle", "input": {}},
        {"tool": "resume", "namespace": "mcp__rekindle", "input": {"digest": "DIGEST"}},
        {"text": "not allowed"},
        {"tool": "plan", "namespace": "mcp__rekindle", "input": {}},
        {"tool": "resume", "namespace": "mcp__rekindle", "input": {"digest": "DIGEST"}},
        {"text": "declined"},
        {"tool": "plan", "namespace": "mcp__rekindle", "input": {}},
        {"tool": "resume", "namespace": "mcp__rekindle", "input": {"digest": "DIGEST"}},
    ]))?;
    let go = ["exec", "--json", "--skip-git-repo-check", "go"];
    let ran = scene.run("codex", &go)?;
    ensure!(ran.status.success(), "{ran:?}");
    // Looking is free. What changes something is refused where there is nobody to ask.
    let asked = scene.asked();
    ensure!(asked.contains("rekindle.proposal/1"), "{asked}");
    ensure!(asked.contains("requires approval"), "{asked}");
    ensure!(!asked.contains("rekindle.turn/1"), "{asked}");
    for name in TOOLS {
        ensure!(
            asked.contains(&format!("\"name\":\"{name}\"")),
            "{name}: {asked}"
        );
    }

    // Who allows the tool has not agreed to the plan yet: Codex declines the question for a user who
    // is not there.
    let allowing = "mcp_servers.rekindle.tools.resume.approval_mode=\"approve\"";
    let ran = scene.run("codex", &[&go[..1], &["-c", allowing], &go[1..]].concat())?;
    ensure!(ran.status.success(), "{ran:?}");
    let asked = scene.asked();
    ensure!(
        asked.contains("the question to the user was declined: nothing was changed"),
        "{asked}"
    );
    ensure!(!asked.contains("rekindle.turn/1"), "{asked}");

    // Codex's own way for a user who agrees to all that it would ask in one call.
    let agreeing = ["-s", "danger-full-access"];
    let ran = scene.run("codex", &[&go[..1], &agreeing, &go[1..]].concat())?;
    ensure!(ran.status.success(), "{ran:?}");
    scene.was_resumed()
}

#[test]
fn a_session_that_was_killed_is_distinguished_from_one_that_is_at_work() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut gate = Gate::new(Utf8Path::from_path(folder.path()).context("a path")?)?;
    let command = format!("{} true", gate.script());
    let scene = scene(&json!([{"tool": "exec_command", "input": {"cmd": command}}]))?;
    let go = [
        "exec",
        "--json",
        "--skip-git-repo-check",
        "-s",
        "danger-full-access",
        "go",
    ];
    let running = scene.start("codex", &go)?;
    let process = gate.wait()?;
    let died = scene.told_of_the_killed(running)?;
    assert_eq!(
        (&died["state"], &died["agent"]),
        (&json!("died"), &json!("codex"))
    );
    let text = died["text"].as_str().unwrap_or_default();
    ensure!(text.contains("in the middle of `exec_command: "), "{died}");
    gate.open()?;
    wait_until_gone(process, LIMIT)?;
    Ok(())
}
