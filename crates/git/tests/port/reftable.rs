//! Repositories that keep their refs in reftables, where `HEAD` is a dummy file.

use std::fs::File;
use std::time::{Duration, SystemTime};

use rekindle_git::{Expected, Version, head_name_on_disk};

use crate::fixture::Fixture;

/// Returns a repository with reftables, if the git of this machine can make one (since 2.45).
fn fixture() -> Option<Fixture> {
    let known_since = Version {
        major: 2,
        minor: 45,
        patch: 0,
    };
    if Fixture::empty().program.version() < known_since {
        return None;
    }
    let fixture = Fixture::with_init(&["--ref-format=reftable"]);
    fixture.write("base.txt", "base\n");
    fixture.commit_all("base");
    Some(fixture)
}

#[test]
fn a_checkout_of_a_branch_is_noticed_where_head_is_not_a_file() {
    let Some(fixture) = fixture() else { return };
    let repo = fixture.repo();
    let common_dir = repo.common_dir().unwrap();
    fixture.git(["branch", "run"]);
    let is_checked_out = |name: &str| repo.is_checked_out(&common_dir, name).unwrap();
    assert!(is_checked_out("main") && !is_checked_out("run"));
    let linked = fixture.root.join("linked");
    fixture.git(["worktree", "add", "--quiet", linked.as_str(), "run"]);
    assert!(is_checked_out("run"));
    fixture.git_in(&linked, ["checkout", "--quiet", "--detach"]);
    assert!(!is_checked_out("run"));
    fixture.git(["checkout", "--quiet", "run"]);
    assert!(is_checked_out("run") && !is_checked_out("main"));
}

#[test]
fn the_files_of_reftables_are_never_read_as_a_head() {
    let Some(fixture) = fixture() else { return };
    assert_eq!(head_name_on_disk(&fixture.dir), None);
    let head = fixture.repo().head_name().unwrap();
    assert_eq!(head.name.as_deref(), Some("main"));
}

#[test]
fn abandoned_locks_on_reftables_are_taken_away() {
    let Some(fixture) = fixture() else { return };
    let repo = fixture.repo();
    let one = repo.resolve("HEAD").unwrap().unwrap();
    let lock = |folder: &str| {
        let path = fixture.path(format!(".git/{folder}reftable/tables.list.lock"));
        let file = File::create(&path).unwrap();
        // As if a git had been killed a while ago.
        file.set_modified(SystemTime::now() - Duration::from_secs(60))
            .unwrap();
        path
    };
    let shared = lock("");
    repo.update_ref("refs/rekindle/run/x", &one, &Expected::Missing)
        .unwrap();
    assert!(!shared.exists());
    let linked = fixture.root.join("linked");
    fixture.git(["worktree", "add", "--quiet", "--detach", linked.as_str()]);
    let own = lock("worktrees/linked/");
    fixture.own(&linked).detach(&one).unwrap();
    assert!(!own.exists());
    let own = lock("worktrees/linked/");
    fixture.own(&linked).break_locks().unwrap();
    assert!(!own.exists());
}
