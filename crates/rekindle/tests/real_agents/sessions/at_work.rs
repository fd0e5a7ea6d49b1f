//! A session that somebody is at work in: nothing is started beside it.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::gate::Gate;
use serde_json::{Value, json};

use super::{PROMPT, Program};
use crate::scene::Scene;

fn gate(folder: &tempfile::TempDir) -> Result<Gate> {
    Ok(Gate::new(
        Utf8Path::from_path(folder.path()).context("a path")?,
    )?)
}

/// Returns the transcripts of Claude Code and Codex.
fn transcripts(scene: &Scene) -> Result<Vec<(camino::Utf8PathBuf, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut folders = vec![
        scene.home(".claude/projects"),
        scene.home(".codex/sessions"),
    ];
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        for entry in folder.read_dir_utf8()? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.into_path());
            } else if entry.path().extension() == Some("jsonl") {
                found.push((entry.path().to_owned(), fs_err::read(entry.path())?));
            }
        }
    }
    found.sort();
    Ok(found)
}

#[test]
fn a_session_at_work_is_running_and_a_resume_starts_nothing() -> Result<()> {
    for &program in Program::ALL {
        // Gemini keeps nothing from which its processes could be told.
        if program == Program::Gemini {
            continue;
        }
        let folder = tempfile::tempdir()?;
        let mut gate = gate(&folder)?;
        let (scene, running, _) = program.in_a_tool(&gate, &[])?;
        let session = scene.wait_for_session("running", "tool")?;
        let id = session["id"].as_str().context("an id")?;
        let (asked, before) = (scene.n_asked(), transcripts(&scene)?);
        for args in [
            &["resume", id, "--yes"][..],
            &["resume", id, "--with", "claude", "--yes"],
        ] {
            let refused = scene.tried(args)?;
            let said = String::from_utf8_lossy(&refused.stderr);
            assert_eq!(refused.status.code(), Some(4), "{args:?}: {said}");
            ensure!(said.contains("SESSION_HELD"), "{args:?}: {said}");
        }
        let all = scene.rekindle(&["resume", "--all", "--headless", "--yes"])?;
        let said = String::from_utf8_lossy(&all.stdout);
        ensure!(said.contains("No session was continued."), "{said}");
        assert_eq!(scene.n_asked(), asked, "{program:?}");
        ensure!(
            transcripts(&scene)? == before,
            "{program:?}: a transcript has changed"
        );
        gate.open()?;
        let ended = running.finish()?;
        ensure!(ended.status.success(), "{ended:?}");
        assert_eq!(scene.sessions()?, Vec::<Value>::new(), "{program:?}");
    }
    Ok(())
}

#[test]
fn a_program_that_comes_between_the_look_and_the_start_keeps_the_session_alone() -> Result<()> {
    let first = tempfile::tempdir()?;
    let mut first = gate(&first)?;
    let second = tempfile::tempdir()?;
    let mut second = gate(&second)?;
    let program = Program::Claude;
    let more = [program.runs(&format!("{} true", second.script()))];
    let (scene, running, _) = program.in_a_tool(&first, &more)?;
    let session = scene.wait_for_session("running", "tool")?;
    running.kill()?;
    first.open()?;
    let id = session["id"].as_str().context("an id")?;
    let mut terminal = scene.on_a_terminal("rekindle", &["resume", id])?;
    terminal.wait_for("Continue? [y/N] ")?;
    let own = session["session"].as_str().context("an id")?;
    let resumed = ["-p", "Go on", "--resume", own, "--allowedTools", "Bash"];
    let other = scene.start(program.name(), &resumed)?;
    second.wait()?;
    terminal.answer("y\n")?;
    let (status, shown) = terminal.ended()?;
    assert_eq!(status.code(), Some(1), "{shown}");
    ensure!(shown.contains("WORLD_MOVED"), "{shown}");
    second.open()?;
    let ended = other.finish()?;
    ensure!(ended.status.success(), "{ended:?}");
    ensure!(
        !scene.asked().contains(super::BRIEFING),
        "{}",
        scene.asked()
    );
    Ok(())
}

#[test]
fn of_two_resumes_at_once_one_starts_the_program() -> Result<()> {
    let first = tempfile::tempdir()?;
    let mut first = gate(&first)?;
    let second = tempfile::tempdir()?;
    let mut second = gate(&second)?;
    let program = Program::Codex;
    let more = [program.runs(&format!("{} true", second.script()))];
    let (scene, running, tool) = program.in_a_tool(&first, &more)?;
    let session = scene.wait_for_session("running", "tool")?;
    drop(running);
    first.open()?;
    rekindle_testkit::running::wait_until_gone(tool, rekindle_testkit::sandbox::LIMIT)?;
    let id = session["id"].as_str().context("an id")?;
    let resume = ["resume", id, "--yes"];
    // Codex asks nobody in a sandbox of its own, which not every machine allows.
    fs_err::write(
        scene.home(".codex/config.toml"),
        format!(
            "sandbox_mode = \"danger-full-access\"\n{}",
            fs_err::read_to_string(scene.home(".codex/config.toml"))?
        ),
    )?;
    let one = scene.start_rekindle(&resume)?;
    second.wait()?;
    let other = scene.tried(&resume)?;
    assert_eq!(other.status.code(), Some(4), "{other:?}");
    second.open()?;
    let one = one.finish()?;
    ensure!(one.status.success(), "{one:?}");
    let asked = scene.asked();
    let last = asked.lines().last().unwrap_or_default();
    assert_eq!(last.matches(super::BRIEFING).count(), 1, "{last}");
    Ok(())
}

/// The pid of a dead program is given to another one, and its lock file is left behind.
#[test]
fn what_a_dead_program_left_does_not_make_it_alive() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut gate = gate(&folder)?;
    let (scene, running, _) = Program::Claude.in_a_tool(&gate, &[])?;
    scene.wait_for_session("running", "tool")?;
    running.kill()?;
    gate.open()?;
    let list = scene.home(".claude/sessions");
    let mut left = list
        .read_dir_utf8()?
        .filter_map(|entry| Some(entry.ok()?.into_path()));
    let left = left
        .find(|path| path.extension() == Some("json"))
        .context("the file of the dead process")?;
    let mut process: Value = serde_json::from_slice(&fs_err::read(&left)?)?;
    let ours = std::process::id();
    process["pid"] = json!(ours);
    fs_err::write(list.join(format!("{ours}.json")), process.to_string())?;
    let session = scene.wait_for_session("interrupted", "tool")?;
    assert_eq!(
        (&session["alive"], &session["prompt"]),
        (&json!(false), &json!(PROMPT))
    );
    Ok(())
}
