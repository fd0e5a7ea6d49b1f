//! How work lands: completely, once, and without overwriting changes.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::scenes::{NO_AGENT, alive, dead, ready, scene, stage, subject, wave, with};

const NOTHING: [&str; 0] = [];

#[test]
fn finished_work_lands_once_in_the_order_of_the_plan() -> Result<()> {
    let tasks = [
        ready(1, 1, json!({"src/a.js": "a\n"})),
        ready(1, 2, json!({"src/index.js": "2\n"})),
        ready(2, 1, json!({"src/c.js": "c\n"})),
    ];
    let mut scene = scene(&tasks);
    if let Some(plan) = scene["plan"].as_array_mut() {
        plan.swap(0, 1);
    }
    let stage = stage(&scene)?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    let all = [subject(1, 2), subject(1, 1), subject(2, 1)];
    assert_eq!(stage.log()?, all);
    assert_eq!(stage.sandbox().read("src/index.js")?, "2\n");
    assert_eq!(stage.git(&["status", "--porcelain", "--", ":!.kiln"])?, "");
    for (wave, number) in [(1, 1), (1, 2), (2, 1)] {
        let left = stage.worktree(wave, number).join(".kiln-artifacts");
        let moved = format!(".kiln/tracks/phase-1/artifacts/P1-T{wave}{number}");
        for file in ["changed_ops.json", "verify_summary.json", "sharpened.md"] {
            assert!(stage.sandbox().path(&moved).join(file).is_file());
        }
        assert!(!left.join(format!("P1-T{wave}{number}")).exists());
    }
    let state = stage.state()?;
    let done = format!("- **Last Completed Action:** {} — committed", subject(2, 1));
    assert!(state.contains(&done), "{state}");
    let files = stage.sandbox().files()?.except(".rekindle").except(".git");
    let again = stage.resume(&NO_AGENT)?;
    ensure!(again.code() == Some(0), "{again}");
    assert_eq!(stage.log()?, all);
    let after = stage.sandbox().files()?.except(".rekindle").except(".git");
    assert_eq!(files.changes(&after), NOTHING);
    Ok(())
}

#[test]
fn a_task_without_changes_lands_as_an_empty_commit() -> Result<()> {
    let stage = wave(&[with(ready(1, 1, json!({})), json!({"change": {}}))])?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1)]);
    assert_eq!(stage.git(&["diff", "--stat", "HEAD~1", "HEAD"])?, "");
    Ok(())
}

#[test]
fn foreign_content_stops_its_task_and_is_not_overwritten() -> Result<()> {
    for agent in [&NO_AGENT[..], &["--agent-cmd", "true"]] {
        let foreign = with(
            ready(1, 1, json!({"src/a.js": "a\n"})),
            json!({"integrated": "foreign"}),
        );
        let stage = wave(&[foreign, ready(1, 2, json!({"src/b.js": "b\n"}))])?;
        let ran = stage.resume(agent)?;
        ensure!(ran.code() == Some(1), "{ran}");
        ensure!(ran.stderr().contains("src/a.js"), "{ran}");
        assert_eq!(
            stage.sandbox().read("src/a.js")?,
            "// someone else's content\n"
        );
        assert_eq!(stage.log()?, [subject(1, 2)]);
        assert!(stage.ledger()?.is_empty());
        assert!(stage.worktree(1, 1).join("src/a.js").exists());
        // It lands when the path is free.
        fs_err::remove_file(stage.sandbox().path("src/a.js"))?;
        let ran = stage.resume(&NO_AGENT)?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert_eq!(stage.log()?, [subject(1, 2), subject(1, 1)]);
    }
    Ok(())
}

#[test]
fn every_form_of_a_users_change_at_a_path_of_a_task_stops_it() -> Result<()> {
    let changes: [(&str, &[&str]); 3] = [
        ("unstaged", &[]),
        ("staged", &["add", "src/index.js"]),
        ("committed", &["commit", "-qam", "mine"]),
    ];
    for (about, git) in changes {
        let stage = wave(&[ready(1, 1, json!({"src/index.js": "worker\n"}))])?;
        stage.sandbox().write("src/index.js", "mine\n")?;
        if !git.is_empty() {
            stage.git(git)?;
        }
        let status = stage.git(&["status", "--porcelain"])?;
        let ran = stage.resume(&NO_AGENT)?;
        ensure!(ran.code() == Some(1), "{about}: {ran}");
        assert_eq!(stage.sandbox().read("src/index.js")?, "mine\n", "{about}");
        assert_eq!(stage.git(&["status", "--porcelain"])?, status, "{about}");
    }
    // Content that equals the worker's is not a stranger.
    for (about, git) in changes {
        let stage = wave(&[ready(1, 1, json!({"src/index.js": "worker\n"}))])?;
        stage.sandbox().write("src/index.js", "worker\n")?;
        if !git.is_empty() {
            stage.git(git)?;
        }
        let ran = stage.resume(&NO_AGENT)?;
        ensure!(ran.code() == Some(0), "{about}: {ran}");
        assert_eq!(stage.log()?.last(), Some(&subject(1, 1)), "{about}");
        assert_eq!(
            stage.git(&["status", "--porcelain", "--", ":!.kiln"])?,
            "",
            "{about}"
        );
    }
    Ok(())
}

#[test]
fn an_edit_that_git_does_not_show_stops_a_landing() -> Result<()> {
    let stage = wave(&[ready(1, 1, json!({"src/index.js": "worker\n"}))])?;
    let sandbox = stage.sandbox();
    sandbox.write(".git/info/attributes", "*.js text=auto\n")?;
    let mine = sandbox.read("src/index.js")?.replace('\n', "\r\n");
    sandbox.write("src/index.js", &mine)?;
    assert_eq!(stage.git(&["diff", "--", "src"])?, "");
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(1), "{ran}");
    ensure!(ran.stderr().contains("`src/index.js`"), "{ran}");
    assert_eq!(sandbox.read("src/index.js")?, mine);
    assert!(stage.log()?.is_empty());
    Ok(())
}

#[test]
fn a_file_of_the_user_where_a_folder_is_needed_is_not_removed() -> Result<()> {
    let rows = [
        (json!({"lib/deep/a.js": "a\n"}), "lib", "mine\n"),
        (json!({"lib": "a\n"}), "lib/mine.js", "mine\n"),
    ];
    for (write, path, text) in rows {
        let stage = wave(&[ready(1, 1, write)])?;
        stage.sandbox().write(path, text)?;
        let ran = stage.resume(&NO_AGENT)?;
        ensure!(ran.code() == Some(1), "{path}: {ran}");
        assert_eq!(stage.sandbox().read(path)?, text);
        assert!(stage.log()?.is_empty(), "{path}");
    }
    Ok(())
}

#[test]
fn changes_of_the_user_at_other_paths_are_kept() -> Result<()> {
    let stage = wave(&[
        ready(1, 1, json!({"src/index.js": "1\n", "src/new.js": "n\n"})),
        with(
            ready(1, 2, json!({})),
            json!({"change": {"delete": ["src/legacy.js"]}}),
        ),
    ])?;
    let sandbox = stage.sandbox();
    sandbox.write("README.md", "staged\n")?;
    sandbox.write("mine/new.txt", "staged and new\n")?;
    stage.git(&["add", "README.md", "mine/new.txt"])?;
    sandbox.write("README.md", "and changed again\n")?;
    sandbox.write("package.json", "{}\n")?;
    sandbox.write("src/notes.txt", "untracked\n")?;
    stage.git(&["rm", "-q", "--cached", "src/log.js"])?;
    let look = || -> Result<(String, String, String)> {
        let rest = [
            ":!.kiln",
            ":!src/index.js",
            ":!src/new.js",
            ":!src/legacy.js",
        ];
        let of = |command: &[&str]| stage.git(&[command, &["--"], &rest].concat());
        Ok((
            of(&["status", "--porcelain", "-uall"])?,
            of(&["diff", "--cached"])?,
            of(&["diff"])?,
        ))
    };
    let before = look()?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1), subject(1, 2)]);
    assert_eq!(look()?, before);
    let changed = stage.git(&["diff", "--name-only", "HEAD~2", "HEAD"])?;
    assert_eq!(changed, "src/index.js\nsrc/legacy.js\nsrc/new.js\n");
    Ok(())
}

#[test]
fn nothing_lands_in_a_wave_with_a_live_worker() -> Result<()> {
    let stage = wave(&[
        ready(1, 1, json!({"src/a.js": "a\n"})),
        alive(1, 2),
        dead(1, 3),
    ])?;
    for agent in [&NO_AGENT[..], &["--agent-cmd", "true"]] {
        let ran = stage.resume(agent)?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert!(stage.log()?.is_empty(), "{ran}");
        assert!(stage.ledger()?.is_empty(), "{ran}");
        assert_eq!(stage.task(3)?["status"], "in_progress");
    }
    // Another wave is not blocked.
    let stage = wave(&[alive(1, 1), ready(2, 1, json!({"src/b.js": "b\n"}))])?;
    stage.resume(&NO_AGENT)?;
    assert_eq!(stage.log()?, [subject(2, 1)]);
    Ok(())
}

#[test]
fn a_worker_that_committed_blocks_no_other_and_lands_nothing() -> Result<()> {
    let own = with(
        ready(1, 1, json!({"src/a.js": "a\n"})),
        json!({"staged": true, "commit": true}),
    );
    let stage = wave(&[own, ready(1, 2, json!({"src/b.js": "b\n"}))])?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 2)]);
    Ok(())
}

#[test]
fn worktrees_with_different_bases_stop_the_wave() -> Result<()> {
    let stage = wave(&[
        ready(1, 1, json!({"src/a.js": "a\n"})),
        ready(1, 2, json!({"src/b.js": "b\n"})),
    ])?;
    stage.git(&["commit", "-q", "--allow-empty", "-m", "later"])?;
    stage.git_in(
        &stage.worktree(1, 2),
        &["checkout", "-q", "--detach", "main"],
    )?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(1), "{ran}");
    ensure!(ran.stderr().contains("different bases"), "{ran}");
    assert_eq!(stage.log()?, ["later"]);
    Ok(())
}
