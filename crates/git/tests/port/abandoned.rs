//! Locks that a killed git left, and those that somebody holds.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;
use rekindle_git::{Expected, Repo};

use crate::fixture::Fixture;

const NAME: &str = "refs/rekindle/run/x";

#[test]
fn abandoned_locks_on_refs_are_taken_away_and_those_of_the_checkout_are_not() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let one = repo.resolve("HEAD").unwrap().unwrap();
    repo.update_ref(NAME, &one, &Expected::Missing).unwrap();
    let top = repo.dir().as_std_path();
    let lock = |name: &str| {
        let file = File::create(top.join(".git").join(name)).unwrap();
        // As if a git had been killed a while ago.
        file.set_modified(SystemTime::now() - Duration::from_secs(60))
            .unwrap();
        top.join(".git").join(name)
    };
    let on_ref = lock(&format!("{NAME}.lock"));
    let on_packed = lock("packed-refs.lock");
    repo.delete_ref(NAME, &one).unwrap();
    assert!(!on_ref.exists() && !on_packed.exists());
    let on_index = lock("index.lock");
    fixture.write("base.txt", "changed");
    let changes = repo.changes(&one).unwrap();
    repo.stage(&changes).unwrap_err();
    assert!(on_index.exists());
}

#[test]
fn a_lock_is_left_alone_while_a_git_is_alive_that_could_have_made_it() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let one = repo.resolve("HEAD").unwrap().unwrap();
    let mut alive = Command::new("git")
        .args(["cat-file", "--batch"])
        .current_dir(repo.dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let lock = repo.dir().join(".git/refs/rekindle/run/x.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    File::create(&lock).unwrap();
    repo.update_ref(NAME, &one, &Expected::Missing).unwrap_err();
    assert!(lock.exists());
    drop(alive.stdin.take());
    alive.wait().unwrap();
    repo.update_ref(NAME, &one, &Expected::Missing).unwrap();
}

#[test]
fn what_is_only_called_like_git_or_never_ends_holds_no_lock() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let one = repo.resolve("HEAD").unwrap().unwrap();
    let lock = repo.dir().join(".git/refs/rekindle/run/x.lock");
    // A shell under each name, which waits in a script that is called like the subcommand.
    for (name, subcommand, is_holder) in [
        ("gitstatusd", "gc", false),
        ("git", "fsmonitor--daemon", false),
        ("git", "gc", true),
    ] {
        let program = repo.dir().join(name);
        std::fs::copy("/bin/sh", &program).unwrap();
        std::fs::write(repo.dir().join(subcommand), "read line\n").unwrap();
        let mut alive = Command::new(&program)
            .args([subcommand, "daemon"])
            .current_dir(repo.dir())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
        File::create(&lock).unwrap();
        let made = repo.update_ref(NAME, &one, &Expected::Missing);
        assert_eq!(made.is_err(), is_holder, "{name} {subcommand}");
        assert_eq!(lock.exists(), is_holder, "{name} {subcommand}");
        drop(alive.stdin.take());
        alive.wait().unwrap();
        repo.delete_ref(NAME, &one).ok();
    }
}

/// Empties the file that git fills last when it registers a worktree.
fn half_registered(fixture: &Fixture) -> Utf8PathBuf {
    fixture.git(["worktree", "add", "--detach", "../half"]);
    let file = fixture.repo().dir().join(".git/worktrees/half/commondir");
    let empty = File::create(&file).unwrap();
    empty
        .set_modified(SystemTime::now() - Duration::from_secs(60))
        .unwrap();
    file
}

#[test]
fn a_half_registered_worktree_is_completed_once_work_may_begin() {
    let fixture = Fixture::new();
    let file = half_registered(&fixture);
    let repo = fixture.repo();
    let look = Repo::at(&repo.program().for_looking(), repo.dir());
    let error = look.worktrees().unwrap_err().to_string();
    assert!(error.contains("commondir"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), b"", "a look changes nothing");
    let work = Repo::at(&repo.program().clone().for_work(), repo.dir());
    assert_eq!(work.worktrees().unwrap().len(), 2);
    assert_eq!(std::fs::read(&file).unwrap(), b"../..\n");
    assert_eq!(look.worktrees().unwrap().len(), 2);
}

#[test]
fn a_worktree_that_git_is_registering_is_waited_for() {
    let fixture = Fixture::new();
    let file = half_registered(&fixture);
    // Another git fills the file after ours has failed to read it.
    let real = std::fs::canonicalize(fixture.repo().program().path()).unwrap();
    let script = format!(
        "'{}' \"$@\"; code=$?; [ $code = 0 ] || echo ../.. > '{file}'; exit $code",
        real.display()
    );
    let repo = Repo::at(&fixture.fake_program(&script), fixture.repo().dir());
    assert_eq!(repo.worktrees().unwrap().len(), 2);
}
