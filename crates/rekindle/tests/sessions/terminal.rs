//! On a terminal rekindle becomes the agent's own command, in the session's folder.

use anyhow::Result;
use rekindle_testkit::sandbox::Sandbox;
use rekindle_testkit::transcripts::{Cut, Transcripts, claude_id, codex_id, gemini_id};

use crate::BINARY;

/// What ends every briefing.
const GO_ON: &str = "Look at the state of the files first, then go on with that.\n";

#[test]
fn after_a_yes_the_process_is_the_agent_and_the_briefing_its_first_prompt() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    let transcript = home.claude(&folder, "3f2a9c10", 10, "Fix the rounding", Cut::Tool)?;
    let before = fs_err::read(&transcript)?;
    let typed = home.typed(&["resume", "session:claude:3f2a9c10"]);
    let mut terminal = typed.on_a_terminal()?;
    terminal.wait_for("Continue? [y/N] ")?;
    let pid = terminal.pid();
    terminal.answer("y\n")?;
    let (status, shown) = terminal.ended()?;
    assert!(status.success(), "{shown}");
    let command = format!("cd {folder} && claude --resume {}", claude_id("3f2a9c10"));
    assert!(shown.contains(&command), "{shown}");
    let calls = home.calls()?;
    let [call] = calls.as_slice() else {
        panic!("{calls:?}");
    };
    assert_eq!((call.pid, call.program.as_str()), (pid, "claude"));
    assert_eq!((&call.folder, call.input.as_str()), (&folder, "a terminal"));
    let [resume, id, briefing] = call.words.as_slice() else {
        panic!("{call:?}");
    };
    assert_eq!([resume, id], ["--resume", &claude_id("3f2a9c10")]);
    insta::assert_snapshot!(briefing, @r"
    This session was cut off at 2026-01-20T11:10:05Z; the program was killed and did not end the turn. rekindle continues it now.
    In flight: `Bash: pytest -q`. Its outcome is unknown: check whether it took effect before you repeat it.
    Branch main.
    The last prompt was (quoted, not new):
    > Fix the rounding
    Look at the state of the files first, then go on with that.
    ");
    assert_eq!(fs_err::read(&transcript)?, before);
    Ok(())
}

#[test]
fn each_program_gets_its_own_words() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    home.claude(&folder, "3f2a9c10", 10, "Which one?", Cut::Question)?;
    home.claude(&folder, "4f2a9c10", 11, "Fix it", Cut::Over)?;
    home.codex(&folder, "456789a6", 12, "Run the tests", Cut::Tool)?;
    home.gemini(&folder, "5d5d5d5d", 13, "Look around")?;
    // The session, its words, whether a briefing is the last of them.
    for (id, words, is_briefed) in [
        (
            "session:claude:3f2a9c10",
            vec!["--resume".to_owned(), claude_id("3f2a9c10")],
            false,
        ),
        (
            "session:claude:4f2a9c10",
            vec!["--resume".to_owned(), claude_id("4f2a9c10")],
            false,
        ),
        (
            "session:codex:456789a6",
            vec!["resume".to_owned(), codex_id("456789a6")],
            true,
        ),
        (
            "session:gemini:5d5d5d5d",
            vec![
                "--resume".to_owned(),
                gemini_id("5d5d5d5d"),
                "-i".to_owned(),
            ],
            true,
        ),
    ] {
        let mut terminal = home.typed(&["resume", id]).on_a_terminal()?;
        terminal.wait_for("Continue? [y/N] ")?;
        let pid = terminal.pid();
        terminal.answer("y\n")?;
        let (status, shown) = terminal.ended()?;
        assert!(status.success(), "{id}: {shown}");
        let calls = home.calls()?;
        let call = calls.iter().find(|call| call.pid == pid);
        let mut called = call.map(|call| call.words.clone()).unwrap_or_default();
        let last = called.pop_if(|last| last.ends_with(GO_ON));
        assert_eq!((called, last.is_some()), (words, is_briefed), "{id}");
    }
    Ok(())
}

#[test]
fn without_a_yes_nothing_is_started() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    home.claude(&folder, "3f2a9c10", 10, "Fix the rounding", Cut::Tool)?;
    for args in [
        &["resume", "session:claude:3f2a9c10"][..],
        &["resume", "session:claude:3f2a9c10", "--with", "codex"],
    ] {
        let mut terminal = home.typed(args).on_a_terminal()?;
        terminal.wait_for("Continue? [y/N] ")?;
        terminal.answer("\n")?;
        let (status, shown) = terminal.ended()?;
        assert!(
            status.success() && shown.contains("nothing was changed"),
            "{shown}"
        );
    }
    assert_eq!(home.calls()?, []);
    Ok(())
}

#[test]
fn a_hand_over_is_the_first_prompt_of_the_other_program() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    home.claude(&folder, "3f2a9c10", 10, "Fix the rounding", Cut::Tool)?;
    let page = home.typed(&["inspect", "session:claude:3f2a9c10", "--handover"]);
    let page = page.run()?.stdout().into_owned();
    let start = "# Hand-over of session:claude:3f2a9c10\n";
    assert!(
        page.starts_with(start) && page.contains("> Fix the rounding"),
        "{page}"
    );
    for (agent, before) in [
        ("codex", &[][..]),
        ("gemini", &["-i"]),
        ("opencode", &["--prompt"]),
        ("claude", &[]),
    ] {
        let args = ["resume", "session:claude:3f2a9c10", "--with", agent];
        let mut terminal = home.typed(&args).on_a_terminal()?;
        terminal.wait_for("Continue? [y/N] ")?;
        let pid = terminal.pid();
        terminal.answer("y\n")?;
        let (_, shown) = terminal.ended()?;
        let calls = home.calls()?;
        let Some(call) = calls.iter().find(|call| call.pid == pid) else {
            panic!("{agent}: {shown}");
        };
        assert_eq!((call.program.as_str(), &call.folder), (agent, &folder));
        let words: Vec<&str> = before.iter().copied().chain([page.as_str()]).collect();
        assert_eq!(call.words, words);
    }
    Ok(())
}
