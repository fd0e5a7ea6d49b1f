//! What a killed program leaves in each of its states, and that its session goes on from there.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::LIMIT;
use serde_json::{Value, json};

use super::{PROMPT, Program};
use crate::programs;

#[test]
fn killed_while_the_model_speaks_it_is_an_open_turn_and_goes_on() -> Result<()> {
    for &program in Program::ALL {
        let scene = Program::scene(&json!([{"hang": true}]))?;
        let running = scene.start(program.name(), program.arguments())?;
        scene.wait_for_hanging(1)?;
        // The prompt is written before the answer, but perhaps a moment later.
        let known = if program == Program::Gemini {
            "interrupted"
        } else {
            "running"
        };
        scene.wait_for_session(known, "turn")?;
        drop(running);
        let session = scene.wait_for_session("interrupted", "turn")?;
        assert_eq!(session["prompt"], PROMPT, "{session}");
        assert_eq!(session["safe"], true, "{session}");
        scene.continues(&session)?;
        assert_eq!(scene.sessions()?, Vec::<Value>::new(), "{program:?}");
    }
    Ok(())
}

#[test]
fn killed_in_a_tool_its_outcome_is_unknown_and_what_still_runs_is_told() -> Result<()> {
    for &program in Program::ALL {
        let folder = tempfile::tempdir()?;
        let mut gate = Gate::new(Utf8Path::from_path(folder.path()).context("a path")?)?;
        let (scene, running, tool) = program.in_a_tool(&gate, &[])?;
        let is_gemini = program == Program::Gemini;
        if is_gemini {
            scene.wait_for_session("interrupted", "turn")?;
        } else {
            scene.wait_for_session("running", "tool")?;
        }
        drop(running);
        if program == Program::Codex {
            let locks = scene.home(".codex/thread-writer-locks");
            ensure!(locks.read_dir_utf8()?.next().is_some(), "no lock is left");
        }
        // Its call is on disk only with the result.
        let kind = if is_gemini { "turn" } else { "tool" };
        let session = scene.wait_for_session("interrupted", kind)?;
        let told = scene.continues(&session)?;
        ensure!(told.contains("outcome is unknown"), "{told}");
        if is_gemini {
            ensure!(told.contains("a tool may have run"), "{told}");
            let copies = scene.home(".local/state/rekindle/agent-sessions/copies");
            let copies = copies.read_dir_utf8()?.next().context("a copy")??;
            assert_eq!(copies.path().read_dir_utf8()?.count(), 2);
        } else if program == Program::Codex {
            // Its tools go with it.
            assert_eq!(session["reasons"], json!([]), "{session}");
        } else {
            // They outlive the others.
            assert_eq!(session["reasons"], json!(["left_processes"]), "{session}");
            ensure!(
                told.contains(&format!("process {tool} (")),
                "{tool}: {told}"
            );
        }
        gate.open()?;
        wait_until_gone(tool, LIMIT)?;
    }
    Ok(())
}

#[test]
fn killed_while_a_person_is_asked_it_waits_for_a_person() -> Result<()> {
    let ask = json!({"questions": [{
        "question": "Postgres or SQLite?", "header": "Store", "multiSelect": false,
        "options": [{"label": "Postgres", "description": "a server"}, {"label": "SQLite", "description": "a file"}],
    }]});
    for (turn, kind, step) in [
        (
            json!({"tool": "Write", "input": {"file_path": "a.txt", "content": "x"}}),
            "permission",
            "Write: a.txt",
        ),
        (
            json!({"tool": "AskUserQuestion", "input": ask}),
            "question",
            "AskUserQuestion: Postgres or SQLite?",
        ),
    ] {
        let scene = Program::scene(&json!([turn]))?;
        programs::claude_on_a_terminal(&scene)?;
        let arguments = ["--permission-mode", "manual", PROMPT];
        let terminal = scene.on_a_terminal("claude", &arguments)?;
        // That it waits for a permission is only in the file of the process.
        scene.wait_for_session("running", kind)?;
        drop(terminal);
        let session = scene.wait_for_session("waiting_for_person", kind)?;
        assert_eq!(session["open"]["step"], step, "{session}");
        // Nobody but a person answers it.
        let id = session["id"].as_str().context("an id")?;
        let asked = scene.n_asked();
        let refused = scene.tried(&["resume", id, "--yes"])?;
        assert_eq!(refused.status.code(), Some(3), "{refused:?}");
        assert_eq!(scene.n_asked(), asked);
        // On a terminal the program itself is opened, without a prompt.
        let mut terminal = scene.on_a_terminal("rekindle", &["resume", id])?;
        terminal.wait_for("Continue? [y/N] ")?;
        terminal.answer("y\n")?;
        // The call stays open until the person says something.
        let open = if kind == "permission" { "tool" } else { kind };
        scene.wait_for_session("running", open)?;
        assert!(!scene.asked().contains(super::BRIEFING));
    }
    Ok(())
}

#[test]
fn killed_while_nothing_is_open_it_is_finished() -> Result<()> {
    let scene = Program::scene(&json!([{"text": "It is done."}]))?;
    programs::claude_on_a_terminal(&scene)?;
    let terminal = scene.on_a_terminal("claude", &[PROMPT])?;
    scene.wait_for_session("running", "none")?;
    drop(terminal);
    // What is finished is counted and not listed.
    scene.wait_for_sessions(<[Value]>::is_empty)?;
    let listed = scene.rekindle(&["sessions", "--json"])?;
    let listed: Value = serde_json::from_slice(&listed.stdout)?;
    assert_eq!(listed["counts"]["finished"], 1, "{listed}");
    Ok(())
}
