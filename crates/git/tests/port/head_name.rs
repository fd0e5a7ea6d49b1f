//! What is checked out, by git's own name: read from files, and as git itself says it.

use camino::Utf8Path;
use rekindle_git::{HeadName, Repo, head_name_on_disk};

use crate::fixture::Fixture;

/// Returns git's own answer, and holds against it what the files say, where they say anything.
fn asked(fixture: &Fixture, dir: &Utf8Path) -> (HeadName, bool) {
    let asked = Repo::at(&fixture.program, dir).head_name().unwrap();
    let read = head_name_on_disk(dir);
    if let Some(read) = &read {
        assert_eq!(*read, asked, "{dir}");
    }
    (asked, read.is_some())
}

fn name(fixture: &Fixture) -> (Option<String>, bool) {
    let (head, is_read) = asked(fixture, &fixture.dir);
    assert_eq!(head.top_level, fixture.dir);
    (head.name, is_read)
}

#[test]
fn plain_branches_need_no_git() {
    let fixture = Fixture::new();
    assert_eq!(name(&fixture), (Some("main".to_owned()), true));
    for branch in [
        "feature/user/auth-v2",
        "fix/naïve-größe/№7",
        "日本語",
        "@.env",
        "a.b",
    ] {
        fixture.git(["checkout", "-q", "-B", branch]);
        assert_eq!(name(&fixture), (Some(branch.to_owned()), true), "{branch}");
    }
    fixture.git(["pack-refs", "--all"]);
    assert_eq!(name(&fixture), (Some("a.b".to_owned()), true));
    fixture.git(["checkout", "-q", "--detach"]);
    assert_eq!(name(&fixture), (Some("HEAD".to_owned()), true));
}

#[test]
fn a_branch_without_a_commit_has_no_name() {
    let fixture = Fixture::empty();
    assert_eq!(name(&fixture), (None, true));
}

#[test]
fn a_name_that_is_another_refs_too_is_left_to_git() {
    for other in [
        "refs/tags/main",
        "refs/remotes/main/HEAD",
        "refs/remotes/main",
        "refs/main",
    ] {
        for packed in [false, true] {
            let fixture = Fixture::new();
            fixture.git(["update-ref", other, "HEAD"]);
            if packed {
                fixture.git(["pack-refs", "--all"]);
            }
            let (name, is_read) = name(&fixture);
            assert!(!is_read, "{other}");
            assert_eq!(name.as_deref(), Some("heads/main"), "{other}");
        }
    }
}

#[test]
fn odd_repositories_are_left_to_git() {
    let settings = [
        ("core.warnAmbiguousRefs", "false"),
        ("extensions.worktreeConfig", "true"),
        ("include.path", "/dev/null"),
        ("core.worktree", ".."),
    ];
    for (key, value) in settings {
        let fixture = Fixture::new();
        fixture.git(["config", key, value]);
        assert!(!asked(&fixture, &fixture.dir).1, "{key}");
    }
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.dir.join("below")).unwrap();
    let (head, is_read) = asked(&fixture, &fixture.dir.join("below"));
    assert!(!is_read);
    assert_eq!(head.top_level, fixture.dir);
}

#[test]
fn another_worktree_has_a_name_of_its_own() {
    let fixture = Fixture::new();
    let other = fixture.root.join("other");
    fixture.git(["worktree", "add", "-q", "-b", "topic", other.as_str()]);
    let (head, is_read) = asked(&fixture, &other);
    assert!(is_read);
    assert_eq!(head.name.as_deref(), Some("topic"));
    assert_eq!(head.top_level, other);
    assert_eq!(head.git_dir, fixture.dir.join(".git/worktrees/other"));
    fixture.git(["tag", "topic"]);
    assert_eq!(
        asked(&fixture, &other).0.name.as_deref(),
        Some("heads/topic")
    );
}

#[test]
fn nothing_is_read_outside_a_repository() {
    let fixture = Fixture::new();
    assert_eq!(head_name_on_disk(&fixture.root), None);
    assert!(
        Repo::at(&fixture.program, &fixture.root)
            .head_name()
            .is_err()
    );
}
