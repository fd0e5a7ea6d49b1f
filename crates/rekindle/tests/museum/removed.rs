//! Work that is lost by cleaning up or by merging.

use anyhow::{Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::repository::{Project, WRITE, run_words, text};

use crate::BINARY;

/// Lets a task fail for good, so that its worktree is kept with what is in it.
fn failed() -> Result<(Project, String)> {
    let project = Project::new(BINARY);
    project.plan("A");
    let agent = "cat > /dev/null; echo 1 > committed; git add -A; git commit -qm mine; echo 2 > precious; exit 1";
    let run = project.run(agent, &["--retries", "0"]);
    ensure!(run.status.code() == Some(1), "{}", text(&run.stderr));
    let listed = project.git(&["worktree", "list", "--porcelain"]);
    let worktree = listed
        .lines()
        .filter_map(|line| line.strip_prefix("worktree "))
        .nth(1);
    let worktree = worktree.unwrap_or_default().to_owned();
    Ok((project, worktree))
}

/// Elsewhere a cleanup by age removed a worktree with changes and one with a commit that was nowhere else.
#[test]
fn claude_code_74719_nothing_is_removed_by_its_age() -> Result<()> {
    let (project, worktree) = failed()?;
    for words in [
        &["status"][..],
        &["doctor"],
        &["resume", "--yes", "--agent-cmd", WRITE],
        &["clean"],
    ] {
        let mut command = project.command(words);
        command
            .env("REKINDLE_NOW", "2036-01-01T00:00:00Z")
            .output()?;
    }
    let kept = Utf8Path::new(&worktree).join("precious");
    assert_eq!(fs_err::read_to_string(kept)?, "2\n");
    Ok(())
}

/// Elsewhere a look by git that failed was taken for "nothing to lose", and the work was deleted by force.
#[test]
fn hermes_agent_88113_what_git_cannot_look_at_is_kept() -> Result<()> {
    for damage in [
        "rm .git",
        "echo nonsense > .git",
        r#"echo x > "$(git rev-parse --git-dir)/index""#,
    ] {
        let (project, worktree) = failed()?;
        let done = project.shell(&format!("cd {worktree} && {damage}"));
        ensure!(done.status.success(), "{}", text(&done.stderr));
        let cleaned = project.rekindle(&["clean", "--yes"]);
        let kept = fs_err::read_to_string(Utf8Path::new(&worktree).join("precious"));
        let rescued = project.shell("git show $(git for-each-ref --format='%(refname)' refs/rekindle/rescue | head -1):precious");
        let is_there = kept.is_ok_and(|kept| kept == "2\n") || rescued.stdout == b"2\n";
        assert!(
            is_there,
            "{damage}: {}{}",
            text(&cleaned.stdout),
            text(&cleaned.stderr)
        );
    }
    Ok(())
}

/// Elsewhere the merge of a worktree brought 150 files back that had been deleted meanwhile.
#[test]
fn get_shit_done_1756_what_was_deleted_stays_deleted() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let beside = tempfile::tempdir()?;
    let mut gate = Gate::new(Utf8Path::from_path(beside.path()).unwrap_or(Utf8Path::new("/")))?;
    let agent = format!("cat > /dev/null\n{}\necho x > A.txt", gate.script());
    let run = run_words(&agent);
    let running = project.start(&run, &[]);
    gate.wait()?;
    let delete = "git update-ref refs/heads/result $(git commit-tree -p result -m deleted $(git mktree </dev/null))";
    ensure!(project.shell(delete).status.success());
    gate.open()?;
    let output = running.finish()?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        project.git(&["ls-tree", "--name-only", "result"]),
        "A.txt\n"
    );
    Ok(())
}

/// Elsewhere a worktree was deleted in the middle of a task, and the next command called it a success.
#[test]
fn trusty_tools_5661_a_worktree_deleted_under_its_agent_is_not_a_success() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let agent = r#"cat > /dev/null; [ $REKINDLE_ATTEMPT = 1 ] && { rm -rf "$PWD"; exit 0; }; echo x > A.txt"#;
    let run = project.run(agent, &[]);
    let said = text(&run.stderr);
    ensure!(run.status.success(), "{said}");
    assert!(said.contains("failed A (attempt 1)"), "{said}");
    assert_eq!(project.landed(), [("A".to_owned(), 2)]);
    Ok(())
}
