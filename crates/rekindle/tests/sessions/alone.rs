//! One session, continued without a terminal.

use anyhow::Result;
use rekindle_testkit::sandbox::Sandbox;
use rekindle_testkit::transcripts::{Cut, Transcripts, claude_id, codex_id};

use crate::BINARY;

#[test]
fn the_agents_own_command_runs_once_and_gets_the_briefing() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    home.claude(&folder, "3f2a9c10", 10, "Fix the rounding", Cut::Tool)?;
    home.codex(&folder, "456789a6", 12, "Run the tests", Cut::Tool)?;
    for id in ["session:claude:3f2a9c10", "session:codex:456789a6"] {
        let ran = home.typed(&["resume", id, "--yes"]).run()?;
        let done = format!("done: `{id}` has ended its turn\n");
        assert!(
            ran.code() == Some(0) && ran.stderr().ends_with(&done),
            "{ran}"
        );
    }
    let calls = home.calls()?;
    let called: Vec<(&str, String)> = calls
        .iter()
        .map(|call| (call.program.as_str(), call.words.join(" ")))
        .collect();
    let claude = format!(
        "-p --output-format stream-json --verbose --resume {}",
        claude_id("3f2a9c10")
    );
    let codex = format!("exec --json resume {} -", codex_id("456789a6"));
    assert_eq!(called, [("claude", claude), ("codex", codex)]);
    for call in &calls {
        assert_eq!(call.folder, folder);
        assert_eq!(call.input.matches("rekindle continues it now").count(), 1);
    }
    Ok(())
}

#[test]
fn what_needs_a_person_or_cannot_go_on_is_refused_and_says_what_helps() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    let gone = sandbox.root().join("work/gone");
    home.claude(&folder, "3f2a9c10", 10, "Which one?", Cut::Question)?;
    home.claude(&folder, "4f2a9c10", 10, "Fix it", Cut::Limit)?;
    home.claude(&folder, "5f2a9c10", 10, "Fix it", Cut::Over)?;
    home.claude(&gone, "6f2a9c10", 10, "Fix it", Cut::Tool)?;
    home.gemini(&folder, "5d5d5d5d", 13, "Look around")?;
    for (args, code, said) in [
        (
            &["session:claude:3f2a9c10"][..],
            3,
            "waits for a person: AskUserQuestion: Postgres or SQLite?",
        ),
        (
            &["session:claude:4f2a9c10"],
            1,
            "it ends at 2026-01-20T14:30:00Z; `rekindle resume session:claude:4f2a9c10 --wait`",
        ),
        (
            &["session:claude:5f2a9c10"],
            0,
            "the last turn of the session is over",
        ),
        (
            &["session:claude:6f2a9c10"],
            1,
            "`rekindle resume session:claude:6f2a9c10 --in-folder DIR` goes on in another folder",
        ),
        (
            &["session:claude:6f2a9c10", "--in-folder", "/nowhere"],
            2,
            "there is no folder `/nowhere`",
        ),
        (
            &["session:gemini:5d5d5d5d", "--in-folder", "/tmp"],
            2,
            "can only be continued in its own folder",
        ),
        (
            &["session:claude:4f2a9c10", "--agent", "codex"],
            2,
            "--with codex` hands it over",
        ),
        (
            &["session:claude:6f2a9c10", "--with", "codex"],
            2,
            "there is no folder",
        ),
        (
            &["session:claude:4f2a9c10", "--with", "nobody"],
            2,
            "unknown agent `nobody`",
        ),
    ] {
        let args = [&["resume", "--yes"][..], args].concat();
        let ran = home.typed(&args).run()?;
        assert_eq!(ran.code(), Some(code), "{args:?}: {ran}");
        assert!(ran.stderr().contains(said), "{args:?}: {ran}");
    }
    assert_eq!(home.calls()?, []);
    Ok(())
}

#[test]
fn a_session_whose_folder_is_gone_goes_on_where_a_person_says() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let gone = sandbox.root().join("work/gone");
    let other = home.folder("other")?;
    home.claude(&gone, "6f2a9c10", 10, "Fix it", Cut::Tool)?;
    let args = [
        "resume",
        "session:claude:6f2a9c10",
        "--yes",
        "--in-folder",
        other.as_str(),
    ];
    let ran = home.typed(&args).run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let folders: Vec<_> = home.calls()?.into_iter().map(|call| call.folder).collect();
    assert_eq!(folders, [other]);
    Ok(())
}

#[test]
fn a_worktree_that_git_still_lists_comes_back_by_the_command_that_is_shown() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let project = sandbox.project();
    home.git(project, &["init", "-q", "-b", "main"])?;
    home.git(project, &["commit", "-q", "--allow-empty", "-m", "start"])?;
    let worktree = sandbox.root().join("work/ledger wt");
    let add = [
        "worktree",
        "add",
        "-q",
        "-b",
        "feat/audit",
        worktree.as_str(),
    ];
    home.git(project, &add)?;
    home.claude(&worktree, "6f2a9c10", 10, "Fix it", Cut::Tool)?;
    fs_err::remove_dir_all(&worktree)?;
    let resume = ["resume", "session:claude:6f2a9c10", "--yes"];
    let ran = home.typed(&resume).run()?;
    let command = format!("git -C {project} worktree add -f '{worktree}' feat/audit");
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert!(ran.stderr().contains(&command), "{ran}");
    let typed = sandbox.typed(&[]).through(&["/bin/sh", "-c", &command]);
    assert_eq!(typed.run()?.code(), Some(0));
    assert_eq!(home.typed(&resume).run()?.code(), Some(0));
    let folders: Vec<_> = home.calls()?.into_iter().map(|call| call.folder).collect();
    assert_eq!(folders, std::slice::from_ref(&worktree));
    // Without its branch there is nothing to bring back.
    home.git(
        project,
        &["worktree", "remove", "--force", worktree.as_str()],
    )?;
    let ran = home.typed(&resume).run()?;
    assert!(!ran.stderr().contains("worktree add"), "{ran}");
    Ok(())
}

#[test]
fn a_limited_session_is_waited_for_and_not_started_before() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    home.claude(&folder, "4f2a9c10", 10, "Fix it", Cut::Limit)?;
    let resume = ["resume", "session:claude:4f2a9c10", "--yes", "--wait"];
    // The clock stands still, so that the time never comes.
    let waiting = home.typed(&resume).at("2026-01-20T14:29:00Z").start()?;
    waiting.wait_for("waiting until 2026-01-20T14:31:00Z")?;
    waiting.kill()?;
    assert_eq!(home.calls()?, []);
    // After it, it goes on at once.
    let ran = home.typed(&resume).at("2026-01-20T14:31:00Z").run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let calls = home.calls()?;
    let over = "stopped at 2026-01-20T11:10:05Z by a usage limit, which is over";
    assert!(
        calls.len() == 1 && calls[0].input.contains(over),
        "{calls:?}"
    );
    Ok(())
}

#[test]
fn a_hand_over_runs_in_the_folder_of_the_session() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    home.codex(&folder, "456789a6", 12, "Run the tests", Cut::Tool)?;
    let args = [
        "resume",
        "session:codex:456789a6",
        "--with",
        "claude",
        "--yes",
    ];
    let ran = home.typed(&args).run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let calls = home.calls()?;
    let [call] = calls.as_slice() else {
        panic!("{calls:?}");
    };
    assert_eq!((call.program.as_str(), &call.folder), ("claude", &folder));
    assert!(!call.words.contains(&"--resume".to_owned()), "{call:?}");
    assert!(
        call.input
            .starts_with("# Hand-over of session:codex:456789a6\n"),
        "{call:?}"
    );
    assert!(call.input.contains("> Run the tests\n"), "{call:?}");
    Ok(())
}
