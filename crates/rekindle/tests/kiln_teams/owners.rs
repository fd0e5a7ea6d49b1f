//! Two projects with the same team name never touch each other's tasks.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::scenes::{NO_AGENT, codes, dead, idle, ready, wave};

/// Makes a worktree one of another repository, as in the list of another clone.
fn give_away(worktree: &camino::Utf8Path, other: &camino::Utf8Path) -> Result<String> {
    let git_dir = other.join(".git/worktrees").join("theirs");
    fs_err::create_dir_all(&git_dir)?;
    let text = format!("gitdir: {git_dir}\n");
    fs_err::write(worktree.join(".git"), &text)?;
    Ok(text)
}

#[test]
fn tasks_and_worktrees_of_another_project_are_reported_and_never_touched() -> Result<()> {
    let stage = wave(&[ready(1, 1, json!({"a": "a\n"})), dead(1, 2), idle(1, 3)])?;
    let other = stage.root().join("another-clone");
    let mut links = Vec::new();
    for number in 1..=2 {
        let worktree = stage.worktree(1, number);
        links.push((worktree.join(".git"), give_away(&worktree, &other)?));
    }
    // A worktree that does not exist yet is recognized by the hash of its project.
    stage.change_task(3, |task| {
        let slug = "phase-1-exec-wave-1-task-3";
        task["metadata"]["kiln_worktree"] = json!(format!("/tmp/kiln-0123456789ab/{slug}"));
    })?;
    let list = || -> Result<Vec<Vec<u8>>> {
        (1..=3)
            .map(|n| Ok(fs_err::read(stage.task_list().join(format!("{n}.json")))?))
            .collect()
    };
    let before = list()?;
    let answer = stage.inspected()?;
    ensure!(codes(&answer).contains(&"OTHER_PROJECT_TASK"), "{answer}");
    ensure!(answer.to_string().contains(other.as_str()), "{answer}");
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() != Some(0), "it went on");
    ensure!(list()? == before, "a task file was changed");
    for (link, text) in links {
        ensure!(fs_err::read_to_string(&link)? == text, "{link}");
    }
    Ok(())
}
