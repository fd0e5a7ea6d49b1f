//! Which paths are read and written, and which are not.

use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Result, ensure};
use rekindle_testkit::conformance::Stage;
use serde_json::{Value, json};

use crate::scenes::{
    BINARY, NO_AGENT, alive, codes, dead, id, idle, landed, of_tasks, ready, scene, stage, subject,
    wave, with,
};

/// Returns the task list as one value.
fn listed(stage: &Stage, n_entries: u32) -> Result<Vec<Value>> {
    (1..=n_entries).map(|n| Ok(stage.task(n)?)).collect()
}

#[test]
fn a_task_list_file_is_read_in_three_forms_and_never_written() -> Result<()> {
    let forms: [fn(&[Value]) -> String; 3] = [
        |all| json!(all).to_string(),
        |all| json!({"tasks": all, "more": 1}).to_string(),
        |all| {
            all.iter()
                .map(Value::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        },
    ];
    for form in forms {
        let stage = wave(&[
            ready(1, 1, json!({"src/a.js": "a\n"})),
            dead(1, 2),
            idle(1, 3),
        ])?;
        let file = stage.sandbox().root().join("list.json");
        let text = form(&listed(&stage, 4)?);
        fs_err::write(&file, &text)?;
        fs_err::remove_dir_all(stage.task_list())?;
        let tasks = ["--tasks", file.as_str()];
        let answer = stage
            .typed("inspect", &[&tasks[..], &["--json"]].concat())
            .run()?
            .json()?;
        let classes = [
            (1, 1, "ready_for_integration"),
            (1, 2, "rerun_required"),
            (1, 3, "pending"),
        ];
        assert_eq!(answer["facts"]["classification"], of_tasks(&classes));
        let ran = stage.resume(&[&tasks[..], &["--agent-cmd", "echo x > x.txt"]].concat())?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert_eq!(stage.log()?, [subject(1, 1)]);
        assert_eq!(fs_err::read_to_string(&file)?, text);
        assert!(!stage.task_list().exists());
        assert!(stage.ledger()?.is_empty());
    }
    Ok(())
}

#[test]
fn a_missing_or_malformed_task_list_file_stops_the_resume() -> Result<()> {
    for text in [None, Some("no json"), Some("3"), Some("{\"tasks\": 1}")] {
        let stage = wave(&[ready(1, 1, json!({"src/a.js": "a\n"}))])?;
        let file = stage.sandbox().root().join("list.json");
        if let Some(text) = text {
            fs_err::write(&file, text)?;
        }
        let ran = stage.resume(&["--no-agent", "--tasks", file.as_str()])?;
        assert!(stage.log()?.is_empty(), "{ran}");
        ensure!(ran.code() == Some(1), "{ran}");
        ensure!(ran.stderr().contains(file.as_str()), "{ran}");
    }
    Ok(())
}

#[test]
fn a_torn_entry_keeps_the_gate_closed() -> Result<()> {
    let stage = wave(&[
        ready(1, 1, json!({"src/a.js": "a\n"})),
        dead(1, 2),
        idle(2, 1),
    ])?;
    let path = stage.task_list().join("2.json");
    let whole = fs_err::read_to_string(&path)?;
    fs_err::write(&path, &whole[..whole.len() / 2])?;
    let agent = ["--agent-cmd", "echo x > $REKINDLE_ATTEMPT.$$"];
    let ran = stage.resume(&agent)?;
    ensure!(ran.code() == Some(1), "{ran}");
    ensure!(ran.stderr().contains(path.as_str()), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1)]);
    assert_eq!(stage.task(3)?["status"], "pending");
    fs_err::write(&path, whole)?;
    let ran = stage.resume(&agent)?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1), subject(1, 2), subject(2, 1)]);
    Ok(())
}

#[test]
fn without_a_home_there_is_no_task_list() -> Result<()> {
    let stage = wave(&[ready(1, 1, json!({"src/a.js": "a\n"}))])?;
    let typed = stage.typed("inspect", &["--json"]).without("HOME");
    let answer = typed.run()?.json()?;
    assert_eq!(answer["facts"]["classification"], json!({}));
    let ran = stage
        .typed("resume", &["--yes", "--no-agent"])
        .without("HOME")
        .run()?;
    ensure!(ran.code() != Some(101), "{ran}");
    assert!(stage.log()?.is_empty(), "{ran}");
    assert!(!stage.state()?.contains("complete\n"));
    Ok(())
}

#[test]
fn a_worktree_root_that_others_can_write_to_is_refused() -> Result<()> {
    let stage = wave(&[ready(1, 1, json!({"src/a.js": "a\n"})), dead(1, 2)])?;
    let above = stage.sandbox().root().join("worktrees");
    for folder in [stage.root(), above] {
        let set = |mode| fs_err::set_permissions(&folder, std::fs::Permissions::from_mode(mode));
        set(0o777)?;
        assert_eq!(
            codes(&stage.inspected()?)
                .iter()
                .filter(|code| **code == "UNTRUSTED_ROOT")
                .count(),
            1
        );
        for agent in [&NO_AGENT[..], &["--agent-cmd", "true"]] {
            let ran = stage.resume(agent)?;
            ensure!(ran.code() == Some(1), "{ran}");
            ensure!(ran.stderr().contains(folder.as_str()), "{ran}");
        }
        assert!(stage.log()?.is_empty());
        assert!(stage.worktree(1, 2).join("junk.txt").exists());
        set(0o755)?;
    }
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1)]);
    Ok(())
}

#[test]
fn orphans_are_reported_and_never_touched() -> Result<()> {
    let strays =
        json!({"stray_worktrees": ["phase-9-exec-wave-1-task-1"], "stray_folders": ["old things"]});
    let stage = stage(&with(scene(&[dead(1, 1)]), strays))?;
    fs_err::write(stage.root().join("file"), "x")?;
    let names = json!(["file", "old things", "phase-9-exec-wave-1-task-1"]);
    assert_eq!(stage.facts()?["orphaned"], names);
    let ran = stage.resume(&["--agent-cmd", "echo x > x.txt"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(ran.stdout().contains("old things"), "{ran}");
    assert_eq!(stage.facts()?["orphaned"], names);
    assert_eq!(
        fs_err::read_to_string(stage.root().join("old things/notes.txt"))?,
        "left over\n"
    );
    Ok(())
}

#[test]
fn work_lands_on_the_checked_out_branch_and_not_on_a_detached_head() -> Result<()> {
    let stage = wave(&[ready(1, 1, json!({"src/a.js": "a\n"}))])?;
    stage.git(&["checkout", "-q", "-b", "topic"])?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1)]);
    assert_eq!(
        stage.git(&["log", "--format=%s", "main"])?,
        "chore: scaffold\n"
    );

    let stage = wave(&[ready(1, 1, json!({"src/a.js": "a\n"}))])?;
    stage.git(&["checkout", "-q", "--detach"])?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(1), "{ran}");
    assert!(stage.log()?.is_empty());
    assert!(!stage.sandbox().path("src/a.js").exists());
    stage.git(&["checkout", "-q", "main"])?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1)]);
    Ok(())
}

#[test]
fn a_commit_of_the_same_name_before_the_wave_proves_nothing() -> Result<()> {
    let stage = wave(&[ready(1, 1, json!({"src/a.js": "a\n"}))])?;
    stage.git(&["commit", "-q", "--allow-empty", "-m", &subject(1, 1)])?;
    stage.git(&["commit", "-q", "--allow-empty", "-m", "later"])?;
    stage.git_in(
        &stage.worktree(1, 1),
        &["checkout", "-q", "--detach", "main"],
    )?;
    assert_eq!(
        stage.facts()?["classification"][id(1, 1)],
        "ready_for_integration"
    );
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(
        stage.log()?,
        [subject(1, 1), "later".to_owned(), subject(1, 1)]
    );
    Ok(())
}

#[test]
fn a_landed_task_stays_landed_without_its_worktree() -> Result<()> {
    let stage = wave(&[landed(1, 1, json!({"src/a.js": "a\n"})), idle(1, 2)])?;
    stage.git(&[
        "worktree",
        "remove",
        "--force",
        stage.worktree(1, 1).as_str(),
    ])?;
    assert_eq!(
        stage.facts()?["classification"],
        of_tasks(&[(1, 1, "done"), (1, 2, "pending")])
    );
    let ran = stage.resume(&["--agent-cmd", "echo x > x.txt"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1), subject(1, 2)]);
    let base = stage.git_in(&stage.worktree(1, 2), &["log", "-1", "--format=%s"])?;
    assert_eq!(base, "chore: scaffold\n");
    Ok(())
}

#[test]
fn a_project_in_a_subfolder_gets_work_of_the_whole_repository() -> Result<()> {
    let stage = Stage::new(
        BINARY,
        &scene(&[ready(1, 1, json!({"src/a.js": "a\n"})), dead(1, 2)]),
    )?;
    let project = stage.sandbox().project().to_owned();
    let top = project.parent().unwrap_or(&project).to_owned();
    for number in [1, 2] {
        stage.git(&[
            "worktree",
            "remove",
            "--force",
            stage.worktree(1, number).as_str(),
        ])?;
    }
    fs_err::remove_dir_all(project.join(".git"))?;
    stage.git_in(&top, &["init", "-q", "-b", "main"])?;
    stage.git_in(&top, &["add", "-A"])?;
    stage.git_in(&top, &["commit", "-qm", "chore: scaffold"])?;
    for number in [1, 2] {
        let path = stage.worktree(1, number);
        stage.git_in(&top, &["worktree", "add", "-q", "--detach", path.as_str()])?;
    }
    let there = stage.worktree(1, 1);
    fs_err::write(there.join("ledger-api/src/a.js"), "a\n")?;
    fs_err::write(there.join("beside.txt"), "b\n")?;
    let artifacts = there.join(".kiln-artifacts/P1-T11");
    fs_err::create_dir_all(&artifacts)?;
    let operations =
        r#"[{"op":"add","path":"ledger-api/src/a.js"},{"op":"add","path":"beside.txt"}]"#;
    fs_err::write(artifacts.join("changed_ops.json"), operations)?;
    fs_err::write(
        artifacts.join("verify_summary.json"),
        r#"{"result":"pass"}"#,
    )?;
    let ran = stage.resume(&["--agent-cmd", "echo x > x.txt"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1), subject(1, 2)]);
    assert_eq!(stage.sandbox().read("src/a.js")?, "a\n");
    assert_eq!(stage.sandbox().read("x.txt")?, "x\n");
    assert_eq!(fs_err::read_to_string(top.join("beside.txt"))?, "b\n");
    let status = stage.git_in(&top, &["status", "--porcelain", "--", ":!ledger-api/.kiln"])?;
    assert_eq!(status, "");
    Ok(())
}

#[test]
fn an_unreadable_gate_is_closed() -> Result<()> {
    let stage = wave(&[landed(1, 1, json!({"src/a.js": "a\n"})), idle(2, 1)])?;
    fs_err::write(stage.task_list().join("2.json"), "{\"id\": \"2\", \"sub")?;
    let ran = stage.resume(&["--agent-cmd", "echo b > src/b.js"])?;
    ensure!(ran.code() == Some(1), "{ran}");
    ensure!(ran.stderr().contains("2.json"), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1)]);
    assert_eq!(stage.task(3)?["status"], "pending");
    Ok(())
}

#[test]
fn a_commit_without_a_title_is_a_proof() -> Result<()> {
    let mut scene = scene(&[ready(1, 1, json!({"src/a.js": "a\n"}))]);
    scene["plan"][0]["title"] = json!("");
    let stage = stage(&scene)?;
    for _ in 0..2 {
        let ran = stage.resume(&["--agent-cmd", "echo again > src/again.js"])?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert_eq!(stage.log()?, ["phase-1/P1-T11:"]);
    }
    assert!(stage.ledger()?.is_empty());
    Ok(())
}

#[test]
fn a_wave_without_worktrees_starts_before_its_first_commit() -> Result<()> {
    let gone = |task| with(task, json!({"worktree": "none"}));
    let stage = wave(&[
        gone(ready(1, 1, json!({}))),
        gone(ready(1, 2, json!({}))),
        gone(dead(1, 3)),
    ])?;
    // The second came first, and a person's commit lies between the two.
    let subjects = [subject(1, 2), "fix: by hand".to_owned(), subject(1, 1)];
    for subject in &subjects {
        stage.git(&["commit", "-q", "--allow-empty", "-m", subject.as_str()])?;
    }
    let ran = stage.resume(&["--agent-cmd", "echo c > src/c.js"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    let [second, by_hand, first] = subjects;
    assert_eq!(stage.log()?, [second, by_hand, first, subject(1, 3)]);
    assert_eq!(stage.ledger()?.len(), 1);
    Ok(())
}

#[test]
fn a_task_on_main_is_done_without_its_worktree() -> Result<()> {
    // Its peer's worktree was recreated at a later commit, or its report is the only evidence.
    let lost = json!({"worktree_lost": true});
    let stage = wave(&[
        with(landed(1, 1, json!({"src/a.js": "a\n"})), lost.clone()),
        alive(1, 2),
    ])?;
    let worktree = stage.worktree(1, 2);
    stage.git(&[
        "-C",
        worktree.as_str(),
        "checkout",
        "-q",
        "--detach",
        "main",
    ])?;
    let facts = stage.facts()?;
    assert_eq!(facts["classification"][id(1, 1)], "done");

    let bare = json!({"artifacts": "none", "status": "in_progress"});
    let stage = wave(&[with(
        with(landed(1, 1, json!({"src/a.js": "a\n"})), lost),
        bare,
    )])?;
    let facts = stage.facts()?;
    assert_eq!(facts["classification"][id(1, 1)], "done");
    Ok(())
}

#[test]
fn a_worktree_made_ahead_does_not_set_the_base_of_a_wave() -> Result<()> {
    let mut scene = scene(&[ready(1, 1, json!({"src/a.js": "a\n"})), idle(2, 1)]);
    scene["stray_worktrees"] = json!(["phase-1-exec-wave-2-task-1"]);
    let stage = stage(&scene)?;
    let ran = stage.resume(&["--agent-cmd", "cp src/a.js src/b.js"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1), subject(2, 1)]);
    assert_eq!(stage.sandbox().read("src/b.js")?, "a\n");
    Ok(())
}

#[test]
fn a_lock_on_a_lost_worktree_spends_no_retries() -> Result<()> {
    let stage = wave(&[dead(1, 1)])?;
    let worktree = stage.worktree(1, 1);
    stage.git(&["worktree", "lock", worktree.as_str()])?;
    fs_err::remove_dir_all(&worktree)?;
    let ran = stage.resume(&["--agent-cmd", "echo a > src/a.js"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1)]);
    assert_eq!(stage.ledger()?.len(), 1);
    Ok(())
}

#[test]
fn work_that_git_cannot_show_is_neither_landed_nor_repeated() -> Result<()> {
    let loop_of_links = "ln -sf changed_ops.json .kiln-artifacts/P1-T11/changed_ops.json";
    let broken_index = r#"echo broken > "$(git rev-parse --git-path index)""#;
    for (damage, told) in [
        (broken_index, format!("what {} has changed", id(1, 1))),
        (loop_of_links, "evidence of P1-T11".to_owned()),
    ] {
        let stage = wave(&[ready(1, 1, json!({"src/a.js": "a\n"}))])?;
        let worktree = stage.worktree(1, 1);
        let script = format!("cd {worktree} && {damage}");
        let damaged = stage.typed("", &[]).through(&["sh", "-c", &script]).run()?;
        ensure!(damaged.code() == Some(0), "{damaged}");
        let agent = ["--agent-cmd", "echo again > src/a.js"];
        let ran = stage.resume(&agent)?;
        ensure!(ran.code() == Some(1), "{ran}");
        ensure!(ran.stderr().contains(&told), "{ran}");
        assert!(stage.log()?.is_empty());
        assert!(stage.ledger()?.is_empty());
        assert_eq!(fs_err::read_to_string(worktree.join("src/a.js"))?, "a\n");
        // As the hint says.
        fs_err::rename(&worktree, stage.sandbox().root().join("away"))?;
        let ran = stage.resume(&agent)?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert_eq!(stage.log()?, [subject(1, 1)]);
        assert_eq!(stage.sandbox().read("src/a.js")?, "again\n");
    }
    Ok(())
}
