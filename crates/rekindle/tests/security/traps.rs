//! Files of ours that a clone, an archive or an agent can put anything in the place of.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::repository::{Project, WRITE, text};
use rekindle_testkit::sandbox::Sandbox;

use crate::BINARY;
use crate::scenes::{CASES, files, lay_out, run};

/// What takes the place of a file.
const TRAPS: [&str; 4] = [
    "ln -s /dev/zero",
    "mkfifo",
    "truncate -s 8G",
    "ln -s ../../../../../../../../etc/passwd",
];

/// Every command that looks at a project or goes on with its work.
const LOOKS: [&str; 12] = [
    "status",
    "sessions",
    "logs",
    "report --with-output -o -",
    "attach",
    "hook session-start --agent claude",
    "inspect",
    "plan",
    "resume --yes --agent-cmd true",
    "clean --yes",
    "rescue list",
    "hook stop --agent claude",
];

/// Runs a command with an end, in little memory.
fn run_bounded(project: &Project, words: &str) -> Output {
    let line = format!("ulimit -v 2000000; echo '{{}}' | timeout 60 {BINARY} {words}");
    project.shell(&line)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test lays out what a clone could bring"
)]
fn shell(line: &str) -> Result<()> {
    let ran = std::process::Command::new("sh")
        .args(["-c", line])
        .status()?;
    ensure!(ran.success(), "{line}");
    Ok(())
}

fn own_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        match path.file_name().and_then(|name| name.to_str()) {
            Some("worktrees" | ".gitignore") => {}
            _ if path.is_dir() => own_files(&path, found)?,
            _ => found.push(path),
        }
    }
    Ok(())
}

#[test]
fn nothing_in_the_place_of_a_file_of_ours_is_waited_for_or_read_without_end() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A B<A");
    project.run("exit 1", &["--verify", "true"]);
    let own = project.path().join(".rekindle");
    let names = [
        "stopped.json",
        "hook.log",
        "config.toml",
        "told.json",
        "notified.json",
        "finished.json",
        "muted",
        "worktrees/pool/0.json",
        "worktrees/pool/0.lock",
    ];
    let mut paths = names.map(|name| own.join(name)).to_vec();
    own_files(&own, &mut paths)?;
    ensure!(paths.len() > 6, "{paths:?}");
    // This run has had no plan that a journal is kept for.
    let lock = paths
        .iter()
        .find_map(|path| path.to_str()?.strip_suffix(".lock"));
    let journal = lock.context("a lock")?.replace("/locks/", "/journal/") + ".jsonl";
    fs_err::create_dir_all(own.join("journal"))?;
    paths.push(journal.into());
    for path in paths {
        let before = fs_err::read(&path).ok();
        for trap in TRAPS {
            let (shown, path) = (path.display(), path.as_path());
            project.shell(&format!("rm -rf '{shown}'; {trap} '{shown}'"));
            for words in LOOKS {
                let ran = run_bounded(&project, words);
                let code = ran.status.code().context("it was killed")?;
                let said = text(&ran.stderr);
                // `timeout` ends with 124, a shell with 128 and more for a signal, a panic with 101.
                ensure!(code < 100, "{trap} {shown} by {words}: {code} {said}");
            }
            let is_trap = path.symlink_metadata().is_ok();
            ensure!(is_trap, "{trap} {shown} is gone");
        }
        project.shell(&format!("rm -rf '{}'", path.display()));
        if let Some(before) = before {
            fs_err::write(&path, before)?;
        }
    }
    Ok(())
}

#[test]
fn nothing_in_the_place_of_a_redo_record_is_waited_for_or_carried_out() -> Result<()> {
    for trap in TRAPS {
        let sandbox = lay_out("map", "20-monitor-failed-once")?;
        let words = ["map", "get_next_step"];
        // The first call makes the lock, by whose name the record is known.
        run(&sandbox, &words)?;
        let locks = sandbox.path(".rekindle/locks").read_dir_utf8()?;
        let names: Vec<String> = locks
            .filter_map(|lock| Some(lock.ok()?.file_name().to_owned()))
            .collect();
        let name = names
            .iter()
            .find_map(|name| name.strip_suffix(".transaction.lock"));
        let name = name.with_context(|| format!("{names:?}"))?;
        let redo = sandbox.path(format!(".rekindle/redo/{name}.json"));
        fs_err::create_dir_all(redo.parent().context("a folder")?)?;
        let line = format!("{trap} '{redo}'");
        shell(&line)?;
        let in_little = ["sh", "-c", r#"ulimit -v 2000000 && exec "$@""#, "sh"];
        let ran = sandbox.typed(&words).through(&in_little).run()?;
        assert_eq!(ran.code(), Some(1), "{trap}: {ran}");
        ensure!(
            ran.stderr().contains(redo.as_str()) || ran.stdout().contains(redo.as_str()),
            "{trap}: {ran}"
        );
    }
    Ok(())
}

#[test]
fn a_folder_of_ours_that_is_a_link_is_neither_read_nor_written() -> Result<()> {
    for folder in ["runs", "journal", "locks"] {
        let project = Project::new(BINARY);
        project.plan("A");
        project.run("exit 1", &["--verify", "true"]);
        let inside = project.path().join(".rekindle").join(folder);
        fs_err::create_dir_all(&inside)?;
        let moved = project.path().join("moved");
        fs_err::rename(&inside, &moved)?;
        symlink("../moved", &inside)?;
        let list = |line: &str| text(&project.shell(line).stdout);
        let digest = "find moved -type f | sort | xargs sha256sum";
        let before = list(digest);
        let ran = run_bounded(&project, "resume --yes --agent-cmd true");
        ensure!(!ran.status.success(), "{folder}");
        ensure!(
            text(&ran.stderr).contains("is a symbolic link"),
            "{}",
            text(&ran.stderr)
        );
        assert_eq!(list(digest), before, "{folder}");
    }
    Ok(())
}

/// Puts a link, then a second name, in the place of each state file and resumes.
#[test]
fn no_state_file_that_is_a_link_or_has_a_second_name_is_written() -> Result<()> {
    for (protocol, cases) in CASES {
        let count = files(&lay_out(protocol, cases[0])?)?.len();
        for number in 0..count {
            for is_link in [true, false] {
                let sandbox = lay_out(protocol, cases[0])?;
                let place = files(&sandbox)?.remove(number);
                let private = sandbox.path(".env");
                if is_link {
                    fs_err::rename(&place, &private)?;
                    symlink(&private, &place)?;
                } else {
                    fs_err::hard_link(&place, &private)?;
                }
                let before = fs_err::read(&private)?;
                let named = ["--protocol", protocol];
                for args in [
                    &[&["resume", "--yes", "--agent-cmd", "true"], &named[..]].concat()[..],
                    &["checkpoint"],
                ] {
                    let ran = run(&sandbox, args)?;
                    let after = fs_err::read(&private)?;
                    ensure!(after == before, "{protocol}: {place} by {args:?}: {ran}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn an_attempt_with_an_impossible_number_does_not_block_its_task() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    // The first attempt makes the folder of another and fails.
    let agent = format!(
        "d=$(echo {}/.rekindle/runs/*/A); [ -e $d/4294967295 ] || {{ mkdir $d/4294967295 $d/2; exit 1; }}; {WRITE}",
        project.path().display()
    );
    let ran = project.run(&agent, &["--verify", "true"]);
    ensure!(ran.status.success(), "{}", text(&ran.stderr));
    assert_eq!(project.landed(), [("A".to_owned(), 2)]);
    Ok(())
}

#[test]
fn a_huge_file_in_a_worktree_is_not_taken_in_and_not_lost() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let agent = format!(
        "d=$(echo {}/.rekindle/runs/*/A); [ -e $d/2 ] || truncate -s 60G big; {WRITE}",
        project.path().display()
    );
    let ran = project.run(&agent, &["--verify", "true"]);
    ensure!(ran.status.success(), "{}", text(&ran.stderr));
    assert_eq!(project.landed(), [("A".to_owned(), 2)]);
    let cleaned = project.rekindle(&["clean", "--yes"]);
    let said = text(&cleaned.stdout) + &text(&cleaned.stderr);
    ensure!(said.contains("too large for git: `big`"), "{said}");
    let kept = text(
        &project
            .shell("stat -c %s .rekindle/worktrees/*/A.left-1/big")
            .stdout,
    );
    assert_eq!(kept.trim(), (60_u64 << 30).to_string());
    Ok(())
}

#[test]
fn a_capture_is_for_its_owner_alone() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    Run::interrupted("20260119-0900-orders-api-k2l3").lay_out(&sandbox)?;
    let ran = sandbox.run(&["inspect", "--capture", "capture.json"])?;
    let mode = fs_err::metadata(sandbox.path("capture.json"))?
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600, "{ran}");
    Ok(())
}

#[test]
fn a_time_zone_that_names_a_device_or_a_pipe_is_refused() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let pipe = sandbox.root().join("pipe");
    shell(&format!("mkfifo '{pipe}'"))?;
    for zone in ["/dev/zero", ":/dev/zero", ":/dev/tty", pipe.as_str()] {
        let ran = sandbox.typed(&["status"]).with("TZ", zone).run()?;
        assert_eq!(ran.code(), Some(2), "{ran}");
        ensure!(ran.stderr().contains("TZ is not a time zone"), "{ran}");
    }
    Ok(())
}
