//! A task that the last session of a coding agent was working on is in progress.

use anyhow::Result;
use rekindle_testkit::sandbox::Sandbox;
use rekindle_testkit::transcripts::{Cut, Transcripts};
use serde_json::{Value, json};

const LIST: &str = "specs/001-albums/tasks.md";
const TASKS: &str =
    "# Tasks: Albums\n\n- [x] T001 Set up\n- [ ] T002 Add albums\n- [ ] T003 Share them\n";
const OTHER: &str = "specs/002-share/tasks.md";

fn scene(sandbox: &Sandbox) -> Result<Transcripts<'_>> {
    let home = Transcripts::new(sandbox)?;
    sandbox.write(LIST, TASKS)?;
    sandbox.write(OTHER, "# Tasks: Share\n\n- [ ] T002 Link\n")?;
    Ok(home)
}

fn states(home: &Transcripts<'_>, list: &str) -> Result<Value> {
    let ran = home.typed(&["inspect", list, "--json"]).run()?;
    Ok(ran.json()?["facts"]["states"].clone())
}

#[test]
fn the_entry_of_its_to_do_list_names_the_task() -> Result<()> {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"))?;
    let home = scene(&sandbox)?;
    let here = sandbox.project();
    let file = home.claude_with(here, "aaaa1111", 10, "Go on", Cut::Tool, &[LIST])?;
    let todos = json!([
        {"content": "T001 Set up", "status": "completed"},
        {"content": "T002: Add albums", "status": "in_progress"},
        {"content": "T003 Share them", "status": "pending"},
    ]);
    let block =
        json!({"type": "tool_use", "id": "t9", "name": "TodoWrite", "input": {"todos": todos}});
    let row = json!({"type": "assistant", "uuid": "a-9", "timestamp": "2026-01-20T11:12:00Z",
        "cwd": here.as_str(), "message": {"id": "m9", "content": [block], "stop_reason": "tool_use"}});
    let before = fs_err::read_to_string(&file)?;
    fs_err::write(&file, format!("{before}{row}\n"))?;
    let expected = json!({"T001": "done", "T002": "in_progress", "T003": "pending"});
    assert_eq!(states(&home, "spec-kit:001-albums")?, expected);
    let other = json!({"T002": "pending"});
    assert_eq!(
        states(&home, "spec-kit:002-share")?,
        other,
        "of another list"
    );
    let why = home
        .typed(&["explain", "spec-kit:001-albums", "T002"])
        .run()?;
    let said = why.stdout();
    assert!(
        said.contains("the last session of a coding agent was working on it"),
        "{said}"
    );
    // A mark says more than a trace.
    sandbox.write(LIST, TASKS.replace("[ ] T002", "[x] T002"))?;
    let expected = json!({"T001": "done", "T002": "done", "T003": "pending"});
    assert_eq!(states(&home, "spec-kit:001-albums")?, expected);
    Ok(())
}

#[test]
fn so_does_a_command_of_the_format_that_names_list_and_task() -> Result<()> {
    for (prompt, of_first, of_other) in [
        (
            "/speckit.implement 002-share T002",
            "pending",
            "in_progress",
        ),
        ("/speckit.implement 001-albums", "pending", "pending"),
        ("Tell me about T002", "pending", "pending"),
    ] {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"))?;
        let home = scene(&sandbox)?;
        home.claude(sandbox.project(), "aaaa1111", 10, prompt, Cut::Tool)?;
        let first = states(&home, "spec-kit:001-albums")?;
        let other = states(&home, "spec-kit:002-share")?;
        let found = (first["T002"].as_str(), other["T002"].as_str());
        assert_eq!(found, (Some(of_first), Some(of_other)), "{prompt}");
    }
    Ok(())
}
