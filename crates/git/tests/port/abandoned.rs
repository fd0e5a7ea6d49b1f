//! Locks that a killed git left, and those that somebody holds.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use rekindle_git::Expected;

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
    repo.reset_hard(&one).unwrap_err();
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
