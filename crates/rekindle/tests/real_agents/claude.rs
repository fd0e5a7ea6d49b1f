//! Claude Code.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::gate::Gate;
use serde_json::{Value, json};

use crate::programs;
use crate::scene::{RUN, Scene, TOOLS, repository};

/// The beginning of what a session is told.
const TOLD: &str = "rekindle: 1 workflow is interrupted in this project.";
const PRINT: [&str; 5] = ["-p", "go", "--output-format", "stream-json", "--verbose"];

fn scene(turns: &Value) -> Result<Scene> {
    let mut scene = Scene::new(turns)?;
    programs::claude(&mut scene);
    Ok(scene)
}

fn status(scene: &Scene) -> Result<Value> {
    let status = scene.rekindle(&["status", "--json"])?;
    Ok(serde_json::from_slice(&status.stdout)?)
}

/// Returns all that Claude Code has written down of its sessions in the project.
fn transcripts(scene: &Scene) -> Result<String> {
    let mut text = String::new();
    for folder in scene.home(".claude/projects").read_dir_utf8()? {
        for file in folder?.path().read_dir_utf8()? {
            text.push_str(&fs_err::read_to_string(file?.path()).unwrap_or_default());
        }
    }
    Ok(text)
}

#[test]
fn what_is_interrupted_reaches_the_model_and_settings_come_back() -> Result<()> {
    let scene = scene(&json!([]))?;
    let settings = scene.home(".claude/settings.json");
    fs_err::create_dir_all(scene.home(".claude"))?;
    let theirs = "{\n  \"includeCoAuthoredBy\": false\n}\n";
    fs_err::write(&settings, theirs)?;
    scene.rekindle(&["install", "claude", "--yes"])?;
    let ran = scene.run("claude", &PRINT)?;
    ensure!(ran.status.success(), "{ran:?}");
    let asked = scene.asked();
    ensure!(asked.contains(TOLD), "{asked}");
    ensure!(asked.contains("Resume T002 - Add endpoint"), "{asked}");
    // The end of the turn was noted by another hook.
    let noted = scene.sandbox.read(".rekindle/stopped.json")?;
    ensure!(noted.contains(r#""why":"done""#), "{noted}");
    ensure!(
        !scene.sandbox.path(".rekindle/hook.log").exists(),
        "trouble"
    );
    scene.rekindle(&["uninstall", "claude", "--yes"])?;
    assert_eq!(fs_err::read_to_string(&settings)?, theirs);
    Ok(())
}

#[test]
fn a_resume_is_planned_and_carried_out_by_the_tools_of_the_plugin_and_of_settings() -> Result<()> {
    let plugin = repository().join("plugin");
    let by_plugin = ["--plugin-dir", plugin.as_str()];
    for (server, arguments) in [
        ("mcp__plugin_rekindle_rekindle", &by_plugin[..]),
        ("mcp__rekindle", &[]),
    ] {
        let tool = |name: &str| format!("{server}__{name}");
        let used = ["plan", "resume", "next_step"].map(tool);
        // Claude Code gives the names of tools first, and what they take when it is asked for.
        let query = format!("select:{}", used.join(","));
        let scene = scene(&json!([
            {"tool": "ToolSearch", "input": {"query": query, "max_results": 5}},
            {"tool": tool("plan"), "input": {}},
            {"tool": tool("resume"), "input": {"digest": "DIGEST"}},
            {"tool": tool("next_step"), "input": {"result": "done"}},
        ]))?;
        if arguments.is_empty() {
            scene.rekindle(&["install", "claude", "--yes"])?;
        }
        let allowed = used.join(",");
        let arguments = [&PRINT[..], arguments, &["--allowedTools", &allowed]].concat();
        let ran = scene.run("claude", &arguments)?;
        ensure!(ran.status.success(), "{ran:?}");
        let asked = scene.asked();
        for name in TOOLS {
            ensure!(asked.contains(&tool(name)), "{name}: {asked}");
        }
        ensure!(asked.contains("exactly that plan"), "{asked}");
        scene.was_resumed()?;
        // The result of the step was recorded, and the next one came back.
        let told = Run::new(RUN).told(&scene.sandbox)?;
        ensure!(told.contains("\ntask_implemented T002 "), "{told}");
        ensure!(
            asked.contains("The work of task T002 is implemented."),
            "{asked}"
        );
    }
    Ok(())
}

#[test]
fn without_anything_interrupted_the_model_gets_no_briefing() -> Result<()> {
    let scene = scene(&json!([]))?;
    scene.rekindle(&["install", "claude", "--yes"])?;
    fs_err::remove_dir_all(scene.sandbox.path(".agent-memory"))?;
    let ran = scene.run("claude", &PRINT)?;
    ensure!(ran.status.success(), "{ran:?}");
    ensure!(!scene.asked().contains("rekindle: "), "{}", scene.asked());
    Ok(())
}

#[test]
fn a_usage_limit_is_noted() -> Result<()> {
    let scene = scene(&json!([{"status": 429}]))?;
    scene.rekindle(&["install", "claude", "--yes"])?;
    scene.run("claude", &PRINT)?;
    let last = status(&scene)?["last_session"].clone();
    assert_eq!(last["state"], "limited", "{last}");
    assert_eq!(last["agent"], "claude", "{last}");
    Ok(())
}

#[test]
fn a_session_that_was_killed_is_reported_with_its_tool_and_what_it_left() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut gate = Gate::new(Utf8Path::from_path(folder.path()).context("a path")?)?;
    let command = format!("{} true", gate.script());
    let scene =
        scene(&json!([{"tool": "Bash", "input": {"command": command, "description": "wait"}}]))?;
    let arguments = [&PRINT[..], &["--allowedTools", "Bash"]].concat();
    let running = scene.start("claude", &arguments)?;
    gate.wait()?;
    let alive = status(&scene)?["last_session"].clone();
    assert_eq!(alive["state"], "running", "{alive}");
    // Rows are written a moment after they came about.
    while !transcripts(&scene)?.contains("tool_use") {
        std::thread::yield_now();
    }
    running.kill()?;
    let died = status(&scene)?["last_session"].clone();
    assert_eq!(died["state"], "died", "{died}");
    let text = died["text"].as_str().unwrap_or_default();
    ensure!(text.contains("died in the middle of `Bash: "), "{died}");
    let left = died["processes"].as_array().cloned().unwrap_or_default();
    ensure!(!left.is_empty(), "{died}");
    gate.open()?;

    // The next session is told.
    scene.rekindle(&["install", "claude", "--yes"])?;
    let ran = scene.run("claude", &PRINT)?;
    ensure!(ran.status.success(), "{ran:?}");
    let asked = scene.asked();
    ensure!(
        asked.contains("the last Claude Code session died"),
        "{asked}"
    );
    Ok(())
}

#[test]
fn a_session_is_briefed_once_and_not_again_when_it_is_resumed() -> Result<()> {
    let scene = scene(&json!([]))?;
    scene.rekindle(&["install", "claude", "--yes"])?;
    let id = "3f2a9c10-5b1e-4c77-9a10-2d6c1b7e0001";
    for more in [["--session-id", id], ["--resume", id], ["--resume", id]] {
        let ran = scene.run("claude", &[&PRINT[..], &more].concat())?;
        ensure!(ran.status.success(), "{ran:?}");
    }
    let asked = scene.asked();
    let told = asked.lines().map(|request| request.matches(TOLD).count());
    assert_eq!(told.max(), Some(1), "{asked}");
    Ok(())
}

#[test]
fn a_compaction_is_no_death() -> Result<()> {
    let scene = scene(&json!([{"text": "It is done."}]))?;
    programs::claude_on_a_terminal(&scene)?;
    let mut terminal = scene.on_a_terminal("claude", &["Port the importer"])?;
    // The screen is painted word by word, so the transcript says when it is its turn.
    let holds = |text: &str| {
        // At first there is not even a folder.
        scene.wait_until(|| Ok(transcripts(&scene).is_ok_and(|all| all.contains(text))))
    };
    holds("turn_duration")?;
    terminal.answer("/compact")?;
    terminal.wait_for("compact")?;
    terminal.answer("\r")?;
    holds("compact_boundary")?;
    drop(terminal);
    scene.wait_until(|| Ok(status(&scene)?["last_session"]["state"] != "running"))?;
    let last = status(&scene)?["last_session"].clone();
    ensure!(last["state"] != "died", "{last}");
    let sessions = scene.rekindle(&["sessions", "--json"])?;
    let sessions: Value = serde_json::from_slice(&sessions.stdout)?;
    assert_eq!(sessions["sessions"], json!([]), "{sessions}");
    Ok(())
}
