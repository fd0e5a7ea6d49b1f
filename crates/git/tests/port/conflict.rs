//! An index with conflicts that nobody has resolved.

use rekindle_git::{Error, RepoPath};

use crate::fixture::Fixture;

/// Returns a repository in the middle of a merge with a conflict in `base.txt` and in `sub/odd name`.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("sub/odd name", "base\n");
    fixture.commit_all("two");
    fixture.git(["checkout", "--quiet", "-b", "other"]);
    for (branch, text) in [("other", "theirs\n"), ("main", "ours\n")] {
        fixture.git(["checkout", "--quiet", branch]);
        fixture.write("base.txt", text);
        fixture.write("sub/odd name", text);
        fixture.commit_all(text);
    }
    let merge = fixture.try_git(&fixture.dir, ["merge", "other"]);
    assert!(!merge.status.success());
    fixture
}

#[test]
fn unresolved_conflicts_are_named_with_what_helps() {
    let fixture = fixture();
    let repo = fixture.repo();
    let error = repo.staged().unwrap_err();
    let names: [RepoPath; 2] = ["base.txt".into(), "sub/odd name".into()];
    assert!(
        matches!(&error, Error::Conflicted { paths, .. } if *paths == names),
        "{error}"
    );
    let words = error.to_string();
    let both = "unresolved merge conflicts in `base.txt`, `sub/odd name`";
    assert!(words.contains(both), "{words}");
    let helps = format!("git -C '{}' status", fixture.dir);
    assert!(words.contains(&helps), "{words}");
}

#[test]
fn what_git_can_answer_in_spite_of_conflicts_is_answered() {
    let fixture = fixture();
    let repo = fixture.repo();
    let head = fixture.git_id(["rev-parse", "HEAD"]);
    assert_eq!(repo.status().unwrap().len(), 2);
    assert_eq!(repo.changes(&head).unwrap().len(), 2);
    assert_eq!(repo.index().unwrap().len(), 2);
    repo.snapshot_tree(&[]).unwrap();
    assert!(repo.rescue("w", "t").unwrap().is_some());
}
