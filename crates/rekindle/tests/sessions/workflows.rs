//! A session that worked on a workflow of another protocol is shown with it, and the workflow wins.

use anyhow::Result;
use rekindle_testkit::sandbox::Sandbox;
use rekindle_testkit::transcripts::{Cut, Transcripts};
use serde_json::{Value, json};

use crate::BINARY;

const TASKS: &str = "# Tasks\n\n- [x] T001 Set up\n- [ ] T002 Add albums in src/albums.rs\n";

/// A project with a list of tasks, a session that worked on it and one that did not.
fn scene(sandbox: &Sandbox) -> Result<Transcripts<'_>> {
    let home = Transcripts::new(sandbox)?;
    for (file, text) in [
        ("spec.md", "# Feature Specification: Photo Albums\n"),
        ("plan.md", "# Implementation Plan\n"),
        ("tasks.md", TASKS),
    ] {
        sandbox.write(format!("specs/001-photo-albums/{file}"), text)?;
    }
    let here = sandbox.project();
    let edited = ["src/albums.rs", "specs/001-photo-albums/tasks.md"];
    home.claude_with(here, "aaaa1111", 10, "Go on", Cut::Tool, &edited)?;
    home.claude_with(here, "bbbb2222", 11, "Tell me", Cut::Tool, &["README.md"])?;
    Ok(home)
}

#[test]
fn the_session_is_in_the_line_of_its_workflow_and_programs_see_the_link() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = scene(&sandbox)?;
    let status = home.typed(&["status"]).run()?;
    let shown = status.stdout();
    let mut lines = shown.lines().skip_while(|line| !line.contains("001-"));
    assert!(
        lines
            .next()
            .is_some_and(|line| line.contains("Photo Albums")),
        "{shown}"
    );
    let of_session = lines.next().unwrap_or_default();
    assert!(
        of_session.starts_with("    session:claude:aaaa1111  interrupted in `Bash: pytest -q`"),
        "{shown}"
    );
    assert_eq!(shown.matches("aaaa1111").count(), 1, "{shown}");
    assert_eq!(shown.matches("bbbb2222").count(), 1, "{shown}");
    let workflow = json!("spec-kit:001-photo-albums");
    let inspected = |id: &str| -> Result<Value> {
        Ok(home.typed(&["inspect", id, "--json"]).run()?.json()?["facts"]["workflow"].clone())
    };
    assert_eq!(inspected("session:claude:aaaa1111")?, workflow);
    assert_eq!(inspected("session:claude:bbbb2222")?, Value::Null);
    let status = home.typed(&["status", "--json"]).run()?.json()?;
    let listed = home.typed(&["sessions", "--json"]).run()?.json()?;
    for (list, key) in [
        (&status["workflows"], "worked_on"),
        (&listed["sessions"], "workflow"),
    ] {
        let of = |id: &str| {
            let found = list.as_array()?.iter().find(|one| one["id"] == id)?;
            Some(found[key].clone())
        };
        assert_eq!(
            of("session:claude:aaaa1111"),
            Some(workflow.clone()),
            "{list}"
        );
        assert_eq!(of("session:claude:bbbb2222"), Some(Value::Null), "{list}");
    }
    Ok(())
}

#[test]
fn the_workflow_is_resumed_and_not_its_session() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = scene(&sandbox)?;
    let ran = home
        .typed(&["resume", "--no-agent", "--json", "--yes"])
        .run()?;
    assert_eq!(ran.json()?["id"], "spec-kit:001-photo-albums", "{ran}");
    for scope in [
        &["resume", "--all", "--yes"][..],
        &["resume", "--all", "--everywhere", "--yes"],
    ] {
        let ran = home.typed(scope).run()?;
        let left = "`session:claude:aaaa1111` was left alone: it worked on `spec-kit:001-photo-albums`: `rekindle resume spec-kit:001-photo-albums` goes on with that\n";
        assert!(ran.stdout().contains(left), "{ran}");
    }
    let calls = home.calls()?;
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(
        calls
            .iter()
            .all(|call| call.words.iter().any(|word| word.starts_with("bbbb2222"))),
        "{calls:?}"
    );
    // Who names it gets it, and is told of the workflow.
    let mut terminal = home
        .typed(&["resume", "session:claude:aaaa1111"])
        .on_a_terminal()?;
    terminal.wait_for("`rekindle resume spec-kit:001-photo-albums` goes on with that")?;
    terminal.answer("n\n")?;
    terminal.ended()?;
    Ok(())
}

/// A session never comes without its name where another protocol has something open.
#[test]
fn the_only_session_is_picked_only_where_nothing_else_is_open() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    home.claude(sandbox.project(), "bbbb2222", 11, "Tell me", Cut::Tool)?;
    let ran = home
        .typed(&["resume", "--no-agent", "--json", "--yes"])
        .run()?;
    assert_eq!(ran.json()?["id"], "session:claude:bbbb2222", "{ran}");
    sandbox.write(
        "specs/001-photo-albums/spec.md",
        "# Feature Specification: Photo Albums\n",
    )?;
    sandbox.write("specs/001-photo-albums/tasks.md", TASKS)?;
    let ran = home
        .typed(&["resume", "--no-agent", "--json", "--yes"])
        .run()?;
    assert_eq!(ran.json()?["id"], "spec-kit:001-photo-albums", "{ran}");
    Ok(())
}
