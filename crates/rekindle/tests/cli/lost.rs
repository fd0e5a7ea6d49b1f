//! Results that cannot be written: to a full device that is a failure, to a closed pipe it is not.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::json;

use crate::{ORDERS, interrupted};

/// Runs a command with a redirection of the shell.
fn redirected(sandbox: &Sandbox, words: &[&str], input: &str, to: &str) -> Result<Ran> {
    let shell = format!("exec \"$0\" \"$@\" {to}");
    let typed = sandbox.typed(words).through(&["sh", "-c", &shell]);
    Ok(typed.answering(input).run()?)
}

/// Every command that a user can see, from the program's own help.
fn commands(sandbox: &Sandbox) -> Result<BTreeSet<String>> {
    let help = sandbox.run(&["-h"])?;
    let text = help.stdout().into_owned();
    let (_, list) = text.split_once("Commands:\n").context("no list")?;
    let list = list.lines().take_while(|line| !line.trim().is_empty());
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    Ok(names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect())
}

/// A call of each command that prints a result.
fn calls() -> Vec<Vec<&'static str>> {
    vec![
        vec!["sessions"],
        vec!["status"],
        vec!["inspect", ORDERS],
        vec!["logs"],
        vec!["plan", ORDERS],
        vec!["explain", "STALE_RUN"],
        vec!["resume", ORDERS, "--dry-run"],
        vec!["run", "missing.md"],
        vec!["checkpoint", "--reason", "x"],
        vec!["checkpoints"],
        vec!["retry", ORDERS],
        vec!["skip", "T001"],
        vec!["cancel", ORDERS],
        vec!["stop", ORDERS],
        vec!["rollback", "x"],
        vec!["validate"],
        vec!["migrate"],
        vec!["event", ORDERS, "note"],
        vec!["heartbeat", ORDERS],
        vec!["mute", ORDERS],
        vec!["install", "claude", "--dry-run"],
        vec!["uninstall", "claude", "--dry-run"],
        vec!["clean"],
        vec!["rescue", "list"],
        vec!["map", "get_next_step"],
        vec!["doctor"],
        vec!["init"],
        vec!["prune"],
        vec!["config"],
        vec!["completions", "bash"],
        vec!["man"],
        vec!["attach"],
        vec!["report", ORDERS],
        vec!["help"],
    ]
}

/// Commands that are not called here, with the reason.
const NOT_CALLED: [(&str, &str); 4] = [
    ("demo", "takes seconds; `--help` of it is tried"),
    ("torture", "takes minutes; `--help` of it is tried"),
    ("mcp", "has a test of its own"),
    ("hook", "has a test of its own: it never fails an agent"),
];

#[test]
fn a_result_that_does_not_fit_on_the_device_is_a_failure_of_every_command() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let mut called: BTreeSet<String> = NOT_CALLED
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    for words in calls() {
        called.extend(words.first().map(|name| (*name).to_owned()));
        let mut with_json = words.clone();
        with_json.push("--json");
        for words in [words, with_json] {
            let plain = sandbox.run(&words)?;
            let full = redirected(&sandbox, &words, "", "> /dev/full")?;
            if plain.stdout().is_empty() {
                ensure!(full.code() == plain.code(), "{words:?}: {full}");
                continue;
            }
            ensure!(full.code() != Some(0), "{words:?}: {full}");
            ensure!(
                full.stderr()
                    .contains("cannot write the result to standard output"),
                "{words:?}: {full}"
            );
            if plain.code() == Some(0) {
                ensure!(full.code() == Some(1), "{words:?}: {full}");
            }
            let full_errors = redirected(&sandbox, &words, "", "> /dev/full 2> /dev/full")?;
            ensure!(
                full_errors.code() == full.code(),
                "{words:?}: {full_errors}"
            );
        }
    }
    assert_eq!(
        called,
        commands(&sandbox)?,
        "a new command belongs in the table"
    );
    Ok(())
}

#[test]
fn help_and_version_that_cannot_be_written_are_failures() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let mut all: Vec<Vec<String>> = vec![
        vec!["--help".into()],
        vec!["-h".into()],
        vec!["--version".into()],
        vec!["help".into()],
    ];
    let names = commands(&sandbox)?
        .into_iter()
        .filter(|name| name != "help");
    all.extend(names.map(|name| vec![name, "--help".into()]));
    for words in all {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let full = redirected(&sandbox, &words, "", "> /dev/full")?;
        let expected = i32::from(words.first() != Some(&"hook"));
        ensure!(full.code() == Some(expected), "{words:?}: {full}");
        ensure!(full.stderr().contains("cannot write"), "{words:?}: {full}");
    }
    Ok(())
}

#[test]
fn a_closed_pipe_is_not_a_failure() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    for words in [
        &["man"][..],
        &["status"],
        &["status", "--json"],
        &["--help"],
    ] {
        let shell = "{ \"$0\" \"$@\"; echo \"code $?\" >&2; } | true";
        let ran = sandbox.typed(words).through(&["sh", "-c", shell]).run()?;
        ensure!(ran.stderr().contains("code 0"), "{words:?}: {ran}");
    }
    Ok(())
}

#[test]
fn a_hook_whose_answer_cannot_be_written_does_not_fail_the_agent_and_says_so_in_its_log()
-> Result<()> {
    let (sandbox, _) = interrupted()?;
    let told =
        json!({"cwd": sandbox.project(), "hook_event_name": "SessionStart", "source": "startup"});
    let words = ["hook", "session-start", "--agent", "claude"];
    let plain = sandbox.typed(&words).answering(&told.to_string()).run()?;
    ensure!(
        !plain.stdout().is_empty(),
        "it has something to say: {plain}"
    );
    let full = redirected(&sandbox, &words, &told.to_string(), "> /dev/full")?;
    ensure!(full.code() == Some(0), "{full}");
    let files = sandbox.files()?;
    let mut logs = files
        .iter()
        .filter(|(path, _)| path.as_str().contains("hook"));
    ensure!(
        logs.any(|(_, bytes)| String::from_utf8_lossy(bytes).contains("cannot write")),
        "{:?}",
        files.iter().map(|(path, _)| path).collect::<Vec<_>>()
    );
    Ok(())
}

#[test]
fn a_server_that_cannot_answer_ends_with_an_error() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let full = redirected(&sandbox, &["mcp"], &format!("{hello}\n"), "> /dev/full")?;
    ensure!(full.code() == Some(1), "{full}");
    ensure!(full.stderr().contains("could not be written"), "{full}");
    Ok(())
}

#[test]
fn a_recording_on_a_full_device_is_a_failure() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let ran = sandbox.run(&["inspect", ORDERS, "--capture", "/dev/full"])?;
    ensure!(ran.code() == Some(1), "{ran}");
    Ok(())
}
