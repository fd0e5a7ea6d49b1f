//! The machine went down with many sessions open: each is told right, and those that are safe go on.

use std::collections::BTreeMap;

use anyhow::Result;
use camino::Utf8PathBuf;
use rekindle_testkit::sandbox::Sandbox;
use rekindle_testkit::transcripts::{Called, Cut, Transcripts};
use serde_json::{Value, json};

use crate::BINARY;

/// Lays out six sessions in three folders and a worktree that is gone; returns their transcripts.
fn rebooted(home: &Transcripts<'_>) -> Result<BTreeMap<&'static str, Utf8PathBuf>> {
    let [ledger, web, notes] = ["ledger-api", "web", "notes"].map(|name| home.folder(name));
    let (ledger, web, notes) = (ledger?, web?, notes?);
    for repository in [&ledger, &web] {
        home.git(repository, &["init", "-q", "-b", "main"])?;
        home.git(
            repository,
            &["commit", "-q", "--allow-empty", "-m", "start"],
        )?;
    }
    let worktree = ledger.with_file_name("ledger-wt");
    home.git(&ledger, &["worktree", "add", "-q", worktree.as_str()])?;
    let written = [
        (
            "session:claude:aaaa1111",
            home.claude(&ledger, "aaaa1111", 10, "Fix the rounding", Cut::Tool)?,
        ),
        (
            "session:codex:bbbb2222",
            home.codex(&ledger, "bbbb2222", 20, "Port the importer", Cut::Tool)?,
        ),
        (
            "session:claude:cccc3333",
            home.claude(&web, "cccc3333", 30, "Which one?", Cut::Question)?,
        ),
        (
            "session:claude:dddd4444",
            home.claude(&web, "dddd4444", 40, "Build it", Cut::Limit)?,
        ),
        (
            "session:gemini:eeee5555",
            home.gemini(&notes, "eeee5555", 50, "Look around")?,
        ),
        (
            "session:claude:ffff6666",
            home.claude(&worktree, "ffff6666", 15, "Audit it", Cut::Tool)?,
        ),
    ];
    fs_err::remove_dir_all(&worktree)?;
    Ok(BTreeMap::from(written))
}

#[test]
fn after_a_reboot_exactly_the_safe_sessions_go_on_each_once_in_its_folder() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let transcripts = rebooted(&home)?;
    let bytes = || -> Result<BTreeMap<&str, Vec<u8>>> {
        let read = transcripts
            .iter()
            .map(|(id, path)| Ok((*id, fs_err::read(path)?)));
        read.collect()
    };
    let before = bytes()?;

    insta::assert_snapshot!(home.typed(&["--everywhere"]).run()?, @r#"
    exit 0
    --- stdout
    notes
      session:gemini:eeee5555   interrupted 9 minutes ago   "Look around"
    ledger-api (main)
      session:codex:bbbb2222   interrupted 39 minutes ago in `exec_command: make slow`   "Port the importer"
      session:claude:aaaa1111   interrupted 49 minutes ago in `Bash: pytest -q`   "Fix the rounding"
    ledger-wt (main; the folder is gone)
      session:claude:ffff6666   interrupted 44 minutes ago in `Bash: pytest -q`, not safe: its folder is gone   "Audit it"
    web (main)
      session:claude:cccc3333   waiting for a person 29 minutes ago for `AskUserQuestion: Postgres or SQLite?`   "Which one?"
      session:claude:dddd4444   limited until 2026-01-20T14:30:00Z   "Build it"
    --- stderr
    hint: continue one with `rekindle resume session:gemini:eeee5555`, all that are safe with `rekindle resume --all --everywhere`
    "#);

    // Programs write to their own transcripts only.
    home.then("id=; for word in \"$@\"; do case $word in *-*-*-*-*) id=$word;; esac; done\n\
               find \"$HOME/.claude\" \"$HOME/.codex\" -name \"*$id.jsonl\" -exec sh -c 'echo \"{}\" >>\"$1\"' - {} \\;\n")?;
    let ran = home
        .typed(&["resume", "--all", "--everywhere", "--yes"])
        .run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    insta::assert_snapshot!(ran.stdout(), @r"
    `session:claude:aaaa1111` has ended its turn
    `session:codex:bbbb2222` has ended its turn
    `session:gemini:eeee5555` has ended its turn
    `session:claude:ffff6666` was left alone: its folder is gone
    `session:claude:cccc3333` was left alone: it waits for a person
    `session:claude:dddd4444` was left alone: a usage limit holds
    ");
    let work = sandbox.root().join("work");
    let calls = home.calls()?;
    let called: Vec<(&str, &str)> = calls
        .iter()
        .map(|call| {
            (
                call.program.as_str(),
                call.folder
                    .strip_prefix(&work)
                    .map_or("", |folder| folder.as_str()),
            )
        })
        .collect();
    assert_eq!(
        called,
        [
            ("claude", "ledger-api"),
            ("codex", "ledger-api"),
            ("gemini", "notes")
        ]
    );
    assert!(
        calls
            .iter()
            .all(|call| call.input.contains("outcome is unknown")),
        "{calls:?}"
    );
    let after = bytes()?;
    let changed: Vec<&&str> = before
        .keys()
        .filter(|id| before[*id] != after[*id])
        .collect();
    assert_eq!(
        changed,
        [&"session:claude:aaaa1111", &"session:codex:bbbb2222"]
    );
    Ok(())
}

/// Each stand-in notes when it begins and when it ends.
#[test]
fn in_a_folder_one_session_goes_on_at_a_time() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folders = ["a", "b", "c"].map(|name| home.folder(name));
    for (number, folder) in folders.into_iter().enumerate() {
        let folder = folder?;
        home.claude(&folder, &format!("{number}aaa1111"), 10, "x", Cut::Tool)?;
        home.codex(&folder, &format!("{number}bbb2222"), 11, "x", Cut::Tool)?;
    }
    home.then("mkdir \"$PWD/busy\" || echo \"two in $PWD\" >>\"$HOME/wrong\"; ls >/dev/null; rmdir \"$PWD/busy\"\n")?;
    let args = ["resume", "--all", "--everywhere", "--yes", "--jobs", "6"];
    let ran = home.typed(&args).run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert_eq!(home.calls()?.len(), 6);
    assert!(!home.home().join("wrong").exists());
    Ok(())
}

#[test]
fn who_is_meant_depends_on_the_folder_and_the_options() -> Result<()> {
    let names = |calls: &[Called]| -> Vec<String> {
        let ids = calls.iter().flat_map(|call| call.words.iter());
        let ids = ids.filter(|word| word.matches('-').count() == 4);
        let mut ids: Vec<String> = ids.map(|id| id[..8].to_owned()).collect();
        ids.sort();
        ids
    };
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let here = sandbox.project().to_owned();
    let elsewhere = home.folder("elsewhere")?;
    home.claude(&here, "aaaa1111", 10, "x", Cut::Tool)?;
    home.claude(&elsewhere, "bbbb2222", 10, "x", Cut::Tool)?;
    let scripted = home.claude(&here, "cccc3333", 10, "x", Cut::Tool)?;
    let rows = fs_err::read_to_string(&scripted)?.replace("\"typed\"", "\"sdk\"");
    fs_err::write(&scripted, rows)?;
    home.claude(&here, "dddd4444", 10, "x", Cut::Limit)?;
    for (options, now, expected) in [
        (&[][..], "2026-01-20T12:00:00Z", vec!["aaaa1111"]),
        (
            &["--headless"],
            "2026-01-20T12:00:00Z",
            vec!["aaaa1111", "cccc3333"],
        ),
        (
            &["--everywhere"],
            "2026-01-20T12:00:00Z",
            vec!["aaaa1111", "bbbb2222"],
        ),
        // The limit is over.
        (&[], "2026-01-20T14:40:00Z", vec!["aaaa1111", "dddd4444"]),
        // A week later nobody misses them.
        (
            &["--everywhere", "--headless"],
            "2026-01-28T14:40:00Z",
            vec![],
        ),
    ] {
        let args = [&["resume", "--all", "--yes"], options].concat();
        let ran = home.typed(&args).at(now).run()?;
        assert_eq!(ran.code(), Some(0), "{args:?}: {ran}");
        assert_eq!(names(&home.calls()?), expected, "{args:?}: {ran}");
        fs_err::remove_dir_all(home.home().join("called"))?;
        fs_err::create_dir(home.home().join("called"))?;
    }
    Ok(())
}

#[test]
fn one_question_lists_what_goes_on_and_what_does_not() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let here = sandbox.project().to_owned();
    home.claude(&here, "aaaa1111", 10, "x", Cut::Tool)?;
    home.claude(&here, "bbbb2222", 11, "x", Cut::Question)?;
    let ran = home.typed(&["resume", "--all"]).answering("n\n").run()?;
    insta::assert_snapshot!(ran, @r"
    exit 0
    --- stderr
    1 session is continued:
      session:claude:aaaa1111   cd [PROJECT] && claude -p --output-format stream-json --verbose --resume aaaa1111-5b1e-4c77-9a10-2d6c1b7e0001
      session:claude:bbbb2222   left alone: it waits for a person
    Continue? [y/N] nothing was changed
    ");
    assert_eq!(home.calls()?, []);
    let ran = home.typed(&["resume", "--all", "--yes", "--json"]).run()?;
    let object: Value = ran.json()?;
    assert_eq!(object["schema"], "rekindle.sessions-continued/1");
    assert_eq!(object["continued"][0]["outcome"], json!("done"), "{object}");
    assert_eq!(
        object["left"][0]["reason"],
        json!("it waits for a person"),
        "{object}"
    );
    Ok(())
}
