//! Worktrees that are stale, missing, not registered, locked or on the wrong branch.

use anyhow::{Result, bail, ensure};
use rekindle_testkit::repository::text;

use crate::cut::Cut;

/// Git's own record of the worktree that a command stands in.
const RECORD: &str = r#""$(git rev-parse --git-dir)""#;

/// Runs a line of shell in the worktree of a task that was cut off, and expects the task to land.
fn lands_after(damage: &str) -> Result<Cut> {
    let mut cut = Cut::new()?;
    cut.damage(damage)?;
    cut.lands_cleanly()?;
    ensure!(cut.places()?.len() == 2, "one agent for each attempt");
    Ok(cut)
}

/// Elsewhere a session that was resumed worked in the main checkout, since its worktree was a folder
/// that git did not know.
#[test]
fn claude_code_85339_a_folder_that_git_does_not_know_is_not_a_worktree() -> Result<()> {
    lands_after(&format!("rm -r {RECORD}"))?;
    Ok(())
}

/// Elsewhere the folder of the last session was forgotten, and the next one began somewhere else.
#[test]
fn claude_code_30906_the_second_attempt_is_in_the_same_worktree() -> Result<()> {
    let cut = lands_after("true")?;
    let places = cut.places()?;
    assert_eq!(places[0], places[1]);
    assert_eq!(cut.rescued().as_deref(), Some("half\n"));
    Ok(())
}

/// Elsewhere a restart landed on the branch of the task before.
#[test]
fn gastown_3772_a_worktree_on_another_branch_is_brought_back() -> Result<()> {
    let cut = lands_after("git checkout -q -b somebodys && git commit -q --allow-empty -m theirs")?;
    let kept = cut.project.git(&["log", "-1", "--format=%s", "somebodys"]);
    assert_eq!(kept, "theirs\n");
    Ok(())
}

/// Elsewhere worktrees were weeks behind, and what was measured in them was old code.
#[test]
fn gastown_4015_a_retry_begins_with_what_has_landed_meanwhile() -> Result<()> {
    let mut cut = Cut::new()?;
    let newer = "git update-ref refs/heads/result \
        $(git commit-tree -p result -m newer $(git mktree </dev/null))";
    ensure!(cut.project.shell(newer).status.success());
    cut.lands()?;
    // The newer commit took README away: work that had begun before it would have brought it back.
    assert_eq!(
        cut.project.git(&["ls-tree", "--name-only", "result"]),
        "A.txt\n"
    );
    Ok(())
}

/// Elsewhere a failed `worktree add` left an empty folder, in which every command of git meant the
/// repository around it.
#[test]
fn gastown_698_an_empty_folder_is_not_taken_for_a_worktree() -> Result<()> {
    lands_after("find . -mindepth 1 -delete && git worktree prune")?;
    Ok(())
}

/// Elsewhere a worktree with changes in it could not be used again.
#[test]
fn gastown_2536_a_dirty_worktree_is_used_again_and_its_dirt_is_kept() -> Result<()> {
    let dirt = "echo changed > README && git add README && echo again > README && mkdir -p d && echo x > d/x";
    let cut = lands_after(dirt)?;
    assert_eq!(cut.rescued().as_deref(), Some("half\n"));
    Ok(())
}

/// Elsewhere git said for ever that a worktree was missing but registered.
#[test]
fn beads_609_a_worktree_that_is_registered_and_gone_is_made_anew() -> Result<()> {
    lands_after(r#"cd / && rm -r "$OLDPWD""#)?;
    Ok(())
}

/// Elsewhere a folder that was there and not registered made every `continue` end in "already exists".
#[test]
fn agent_orch_540_a_folder_in_the_way_of_a_worktree_causes_no_loop() -> Result<()> {
    let cut = lands_after(&format!("rm -r {RECORD} .git && echo mine > mine.txt"))?;
    // Nobody but git could say whose it is, so it is put aside.
    let kept = cut
        .project
        .shell("cat .rekindle/worktrees/*/A.left-1/mine.txt");
    assert_eq!(text(&kept.stdout), "mine\n");
    Ok(())
}

/// Elsewhere a crash in the middle of `worktree add` left what nobody could use or remove.
#[test]
fn openclaw_103239_a_worktree_that_was_half_made_blocks_nobody() -> Result<()> {
    let mut cut = Cut::new()?;
    cut.damage(&format!("record={RECORD}; rm $record/HEAD $record/index"))?;
    cut.lands()?;
    // What git can not look into is put aside and kept.
    let [aside] = &cut.leftovers()[..] else {
        bail!("{:?}", cut.leftovers());
    };
    assert_eq!(fs_err::read_to_string(aside.join("half.txt"))?, "half\n");
    Ok(())
}

/// Elsewhere a worktree stayed locked as "initializing" after its folder was gone.
#[test]
fn orca_17653_a_lock_on_a_worktree_that_is_gone_holds_nobody_up() -> Result<()> {
    let lock = r#"git worktree lock --reason initializing . && cd / && rm -r "$OLDPWD""#;
    lands_after(lock)?;
    Ok(())
}

/// Elsewhere worktrees that dead processes had locked could never be used or removed.
#[test]
fn hermes_agent_56288_a_lock_of_a_dead_process_holds_nobody_up() -> Result<()> {
    let mut cut = Cut::new()?;
    cut.damage("git worktree lock --reason 'claimed by pid 4194303' .")?;
    cut.lands()?;
    assert_eq!(cut.rescued().as_deref(), Some("half\n"));
    // A lock with a reason is somebody's word: the worktree stays until it is taken back.
    let pooled = cut.project.pooled();
    let [locked] = &pooled[..] else {
        bail!("{pooled:?}");
    };
    let cleaned = cut.project.rekindle(&["clean", "--yes"]);
    assert_eq!(cleaned.status.code(), Some(1), "{}", text(&cleaned.stdout));
    cut.project.git(&["worktree", "unlock", locked]);
    let cleaned = cut.project.rekindle(&["clean", "--yes"]);
    ensure!(cleaned.status.success(), "{}", text(&cleaned.stderr));
    assert_eq!(cut.project.pooled(), [""; 0]);
    Ok(())
}
