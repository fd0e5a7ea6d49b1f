//! Homes that nobody meant to be read: huge files, very many of them, pipes, links, and texts that a
//! shell would run.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::symlink;

use anyhow::Result;
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::gate::make_pipe;
use rekindle_testkit::sandbox::Sandbox;
use rekindle_testkit::transcripts::{Cut, Transcripts, claude_id};
use serde_json::Value;

use crate::BINARY;

/// The longest transcript that somebody has reported, in bytes.
const LONGEST: u64 = 9_400_000_000;
const MANY: usize = 100_000;
/// Address space for one process, in KiB; the binary itself takes a good part of it.
const LITTLE_MEMORY: &str = "ulimit -v 400000; exec \"$@\"";

fn listed(ran: &rekindle_testkit::sandbox::Ran) -> Result<Vec<Value>> {
    let found = ran.json()?;
    Ok(found["sessions"].as_array().cloned().unwrap_or_default())
}

/// Moves what is in a file behind a hole.
fn stretch(path: &Utf8Path) -> Result<()> {
    let rows = fs_err::read(path)?;
    let mut file = fs_err::File::create(path)?;
    file.seek(SeekFrom::Start(LONGEST - rows.len() as u64 - 1))?;
    file.write_all(b"\n")?;
    file.write_all(&rows)?;
    Ok(())
}

#[test]
fn a_transcript_of_nine_gigabytes_is_read_from_its_end_with_little_memory() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    let told = home.claude(&folder, "3f2a9c10", 10, "Fix the rounding", Cut::Tool)?;
    stretch(&told)?;
    // No line ends in it, and no row.
    let empty = home.claude(&folder, "4f2a9c10", 10, "x", Cut::Tool)?;
    fs_err::File::create(&empty)?.file().set_len(LONGEST)?;
    let ran = home
        .typed(&["sessions", "--json"])
        .through(&["/bin/sh", "-c", LITTLE_MEMORY, "sh"])
        .run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let states: Vec<(Value, Value)> = listed(&ran)?
        .into_iter()
        .map(|one| (one["id"].clone(), one["state"].clone()))
        .collect();
    assert_eq!(
        states,
        [
            ("session:claude:3f2a9c10".into(), "interrupted".into()),
            ("session:claude:4f2a9c10".into(), "unreadable".into()),
        ]
    );
    for args in [
        &["inspect", "session:claude:3f2a9c10", "--handover"][..],
        &["inspect", "session:claude:4f2a9c10"],
        &["status"],
    ] {
        let ran = home
            .typed(args)
            .through(&["/bin/sh", "-c", LITTLE_MEMORY, "sh"])
            .run()?;
        assert!(ran.code().is_some_and(|code| code < 2), "{args:?}: {ran}");
    }
    Ok(())
}

#[test]
fn of_a_hundred_thousand_transcripts_the_newest_are_read_and_the_others_counted() -> Result<()> {
    let sandbox = Sandbox::in_memory(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    let told = home.claude(&folder, "3f2a9c10", 10, "Fix the rounding", Cut::Tool)?;
    let shelf = told.parent().map(Utf8Path::to_owned).unwrap_or_default();
    for number in 0..MANY {
        let name = format!("{number:08x}-5b1e-4c77-9a10-2d6c1b7e0002.jsonl");
        fs_err::write(shelf.join(name), "{}\n")?;
    }
    // It is the newest.
    fs_err::write(&told, fs_err::read(&told)?)?;
    let ran = home.typed(&["sessions", "--json"]).run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let ids: Vec<Value> = listed(&ran)?.iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, ["session:claude:3f2a9c10"]);
    assert_eq!(ran.json()?["counts"]["older"], MANY + 1 - 400);
    Ok(())
}

#[test]
fn pipes_links_and_folders_in_the_place_of_transcripts_are_passed_over() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("ledger-api")?;
    let told = home.claude(&folder, "3f2a9c10", 10, "Fix the rounding", Cut::Tool)?;
    let shelf = told.parent().map(Utf8Path::to_owned).unwrap_or_default();
    let outside = sandbox.root().join("outside.jsonl");
    fs_err::copy(&told, &outside)?;
    let at = |short: &str| shelf.join(format!("{}.jsonl", claude_id(short)));
    symlink(&outside, at("aaaa1111"))?;
    symlink("/dev/zero", at("bbbb2222"))?;
    make_pipe(&at("cccc3333"))?;
    fs_err::create_dir(at("dddd4444"))?;
    symlink(&shelf, shelf.with_file_name("-linked"))?;
    make_pipe(&home.home().join(".claude/sessions.json"))?;
    let processes = home.home().join(".claude/sessions");
    fs_err::create_dir_all(&processes)?;
    make_pipe(&processes.join("1.json"))?;
    let tasks = home
        .home()
        .join(".claude/tasks")
        .join(claude_id("3f2a9c10"));
    fs_err::create_dir_all(&tasks)?;
    make_pipe(&tasks.join("1.json"))?;
    let rollouts = home.home().join(".codex/sessions/2026/01/20");
    fs_err::create_dir_all(&rollouts)?;
    let id = "019bdb10-aaaa-7bbb-8ccc-0123456789a6";
    make_pipe(&rollouts.join(format!("rollout-2026-01-20T11-00-00-{id}.jsonl")))?;
    let chats = home.home().join(".gemini/tmp/x/chats");
    fs_err::create_dir_all(&chats)?;
    make_pipe(&chats.join("session-2026-01-20T11-00-5d5d5d5d.jsonl"))?;
    let data = home.home().join(".local/share/opencode");
    fs_err::create_dir_all(&data)?;
    make_pipe(&data.join("opencode.db"))?;
    let ran = home.typed(&["sessions", "--json"]).run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let ids: Vec<Value> = listed(&ran)?.iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, ["session:claude:3f2a9c10"], "{ran}");
    Ok(())
}

/// The line is meant for a shell, and the folder's name is hostile.
#[test]
fn a_command_for_a_shell_runs_the_program_and_nothing_else() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let pwned: Utf8PathBuf = sandbox.root().join("pwned");
    let folder = home.folder("a'; touch pwned; echo '$(touch x)")?;
    let prompt = format!("\u{1b}[2J$(touch {pwned})`touch {pwned}`'; touch {pwned} #");
    let told = home.claude(&folder, "3f2a9c10", 10, &prompt, Cut::Tool)?;
    let before = fs_err::read(&told)?;
    let commands = home.typed(&["sessions", "--commands"]).run()?;
    let script = commands.stdout().into_owned();
    let ran = home
        .typed(&[])
        .from(sandbox.root())
        .through(&["/bin/sh", "-c", &script])
        .run()?;
    assert_eq!(ran.code(), Some(0), "{script}: {ran}");
    let resumed = home
        .typed(&["resume", "session:claude:3f2a9c10", "--yes"])
        .run()?;
    assert_eq!(resumed.code(), Some(0), "{resumed}");
    let folders: Vec<_> = home.calls()?.into_iter().map(|call| call.folder).collect();
    assert_eq!(folders.len(), 2, "{folders:?}");
    for place in [
        sandbox.root(),
        &folder,
        folder.parent().unwrap_or(&folder),
        sandbox.project(),
    ] {
        assert!(
            !place.join("pwned").exists() && !place.join("x").exists(),
            "{place}"
        );
    }
    for text in [&resumed.stderr(), &resumed.stdout()] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    assert_eq!(fs_err::read(&told)?, before);
    Ok(())
}
