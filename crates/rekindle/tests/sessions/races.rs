//! Never two writers: what happens between the look and the start.

use std::io::Write as _;

use anyhow::Result;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::running::Running;
use rekindle_testkit::sandbox::Sandbox;
use rekindle_testkit::transcripts::{Cut, Transcripts};

use crate::BINARY;

const RESUME: [&str; 2] = ["resume", "session:claude:3f2a9c10"];

/// Starts a process that lives until it is killed, and returns it with its start time.
fn alive(sandbox: &Sandbox) -> Result<(Running, String)> {
    let script =
        "read -r line </proc/$$/stat; set -- ${line##*) }; echo started ${20} >&2; exec cat";
    let running = sandbox
        .typed(&[])
        .through(&["/bin/sh", "-c", script])
        .start()?;
    let said = running.wait_for_line("started ")?;
    let start = said.trim_start_matches("started ").trim().to_owned();
    Ok((running, start))
}

#[test]
fn of_two_resumes_at_once_one_starts() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    home.claude(&folder, "3f2a9c10", 10, "Fix the rounding", Cut::Tool)?;
    let mut gate = Gate::new(sandbox.root())?;
    home.then(&gate.script())?;
    let resume = [&RESUME[..], &["--yes"]].concat();
    let first = home.typed(&resume).start()?;
    gate.wait()?;
    for args in [
        &resume[..],
        &[
            "resume",
            "session:claude:3f2a9c10",
            "--with",
            "codex",
            "--yes",
        ],
        &["resume", "--all", "--everywhere", "--yes"],
    ] {
        let second = home.typed(args).run()?;
        let said = format!("{}{}", second.stdout(), second.stderr());
        assert!(
            said.contains("`session:claude:3f2a9c10` is in use"),
            "{args:?}: {second}"
        );
        assert_ne!(second.code(), Some(0), "{args:?}");
    }
    gate.open()?;
    let first = first.finish()?;
    assert!(first.status.success(), "{first:?}");
    assert_eq!(home.calls()?.len(), 1);
    Ok(())
}

/// A program that rekindle became has no parent that would hold a claim.
#[test]
fn what_rekindle_became_holds_the_session_too() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    home.claude(&folder, "3f2a9c10", 10, "Fix the rounding", Cut::Tool)?;
    let mut gate = Gate::new(sandbox.root())?;
    home.then(&gate.script())?;
    let mut terminal = home.typed(&RESUME).on_a_terminal()?;
    terminal.wait_for("Continue? [y/N] ")?;
    terminal.answer("y\n")?;
    gate.wait()?;
    let pid = terminal.pid();
    let second = home.typed(&[&RESUME[..], &["--yes"]].concat()).run()?;
    assert_eq!(second.code(), Some(4), "{second}");
    let held = format!("process {pid}, which rekindle started, has the session open");
    assert!(second.stderr().contains(&held), "{second}");
    gate.open()?;
    terminal.ended()?;
    assert_eq!(home.calls()?.len(), 1);
    Ok(())
}

#[test]
fn what_changes_while_the_question_is_open_starts_nothing() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    let transcript = home.claude(&folder, "3f2a9c10", 10, "Fix the rounding", Cut::Tool)?;
    // Somebody else goes on with it.
    let mut terminal = home.typed(&RESUME).on_a_terminal()?;
    terminal.wait_for("Continue? [y/N] ")?;
    let row = r#"{"type":"user","uuid":"x","timestamp":"2026-01-20T11:50:00Z","message":{"content":"more"}}"#;
    let mut file = fs_err::OpenOptions::new().append(true).open(&transcript)?;
    writeln!(file, "{row}")?;
    terminal.answer("y\n")?;
    let (status, shown) = terminal.ended()?;
    assert_eq!(status.code(), Some(1), "{shown}");
    assert!(shown.contains("WORLD_MOVED"), "{shown}");
    // A holder comes, whose rows are not written yet.
    let mut terminal = home.typed(&RESUME).on_a_terminal()?;
    terminal.wait_for("Continue? [y/N] ")?;
    let (holder, start) = alive(&sandbox)?;
    home.claude_process("3f2a9c10", holder.pid(), &start)?;
    terminal.answer("y\n")?;
    let (status, shown) = terminal.ended()?;
    assert_eq!(status.code(), Some(1), "{shown}");
    // With it nothing is even asked.
    let ran = home.typed(&[&RESUME[..], &["--yes"]].concat()).run()?;
    assert_eq!(ran.code(), Some(4), "{ran}");
    let held = format!("process {} has the session open", holder.pid());
    assert!(ran.stderr().contains(&held), "{ran}");
    holder.kill()?;
    assert_eq!(home.calls()?, []);
    Ok(())
}

#[test]
fn the_number_of_a_dead_process_says_nothing_of_the_living() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    home.claude(&folder, "3f2a9c10", 10, "Fix the rounding", Cut::Tool)?;
    let (other, start) = alive(&sandbox)?;
    let inspect = || {
        home.typed(&["inspect", "session:claude:3f2a9c10", "--json"])
            .run()
    };
    home.claude_process("3f2a9c10", other.pid(), "1")?;
    assert_eq!(inspect()?.json()?["facts"]["state"], "interrupted");
    home.claude_process("3f2a9c10", other.pid(), &start)?;
    assert_eq!(inspect()?.json()?["facts"]["state"], "running");
    other.kill()?;
    assert_eq!(inspect()?.json()?["facts"]["state"], "interrupted");
    Ok(())
}
