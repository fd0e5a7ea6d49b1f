//! Worktrees: listed, added, removed, forgotten.

use std::path::Path;

use camino::Utf8Path;
use rekindle_git::{Checkout, Error, Removal, Repo, Worktree};

use crate::fixture::{Fixture, paths};

fn find(repo: &Repo, path: &Utf8Path) -> Option<Worktree> {
    repo.worktrees()
        .unwrap()
        .into_iter()
        .find(|worktree| worktree.path == path.as_std_path())
}

#[test]
fn all_states_of_a_worktree_are_listed() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let head = repo.resolve("HEAD").unwrap().unwrap();
    let at = |name: &str| fixture.root.join(name);
    repo.add_worktree(&at("detached"), &head, Checkout::Detached)
        .unwrap();
    repo.add_worktree(&at("on a\nbranch"), &head, Checkout::NewBranch("task/1"))
        .unwrap();
    repo.add_worktree(&at("gone"), &head, Checkout::Detached)
        .unwrap();
    repo.add_worktree(&at("locked"), &head, Checkout::Detached)
        .unwrap();
    std::fs::remove_dir_all(at("gone")).unwrap();
    fixture.git([
        "worktree",
        "lock",
        "--reason",
        "on a\nstick",
        at("locked").as_str(),
    ]);

    let worktrees = repo.worktrees().unwrap();
    assert_eq!(worktrees.len(), 5);
    assert_eq!(worktrees[0].path, fixture.dir.as_std_path());
    assert_eq!(worktrees[0].branch.as_deref(), Some("main"));
    assert_eq!(worktrees[0].head, Some(head));
    assert!(!worktrees[0].detached && !worktrees[0].bare);
    assert!(find(&repo, &at("detached")).unwrap().detached);
    let branch = find(&repo, &at("on a\nbranch")).unwrap();
    assert_eq!(
        (branch.branch.as_deref(), branch.detached),
        (Some("task/1"), false)
    );
    let gone = find(&repo, &at("gone")).unwrap();
    assert_eq!(
        gone.prunable.as_deref(),
        Some("gitdir file points to non-existent location")
    );
    let locked = find(&repo, &at("locked")).unwrap();
    assert_eq!(
        (locked.locked.as_deref(), locked.prunable),
        (Some("on a\nstick"), None)
    );
    // The list is the same from every worktree.
    assert_eq!(
        Repo::at(&fixture.program, at("detached"))
            .worktrees()
            .unwrap(),
        worktrees
    );

    repo.forget_worktree(&at("gone")).unwrap();
    repo.forget_worktree(&at("detached")).unwrap();
    assert!(find(&repo, &at("gone")).is_none());
    assert_eq!(repo.worktrees().unwrap().len(), 4);
}

#[test]
fn an_unborn_branch_has_no_commit_and_a_bare_repository_is_not_used() {
    let fixture = Fixture::empty();
    let worktrees = fixture.repo().worktrees().unwrap();
    assert_eq!(
        (&worktrees[0].head, worktrees[0].branch.as_deref()),
        (&None, Some("main"))
    );
    let bare = fixture.root.join("bare");
    fixture.git(["init", "--quiet", "--bare", bare.as_str()]);
    let error = Repo::at(&fixture.program, &bare).worktrees().unwrap_err();
    assert!(
        matches!(&error, Error::Bare(dir) if *dir == bare),
        "{error}"
    );
    assert!(error.is_no_repository());

    // A worktree of a bare repository has a `.git` of its own.
    fixture.commit_all("base");
    let (shared, linked) = (fixture.root.join("shared"), fixture.root.join("linked"));
    fixture.git(["clone", "--quiet", "--bare", ".", shared.as_str()]);
    let add = ["worktree", "add", "--quiet", "--detach", linked.as_str()];
    fixture.git_in(&shared, add);
    let worktrees = Repo::at(&fixture.program, &linked).worktrees().unwrap();
    assert!(worktrees[0].bare && worktrees[0].head.is_none());
    assert_eq!(worktrees[1].path, linked.as_std_path());
}

#[test]
fn a_worktree_is_where_and_what_was_asked_for() {
    let fixture = Fixture::new();
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    fixture.commit_all("later");
    let repo = fixture.repo();
    for name in ["-dash", "with space"] {
        repo.add_worktree(Utf8Path::new(name), &base, Checkout::Detached)
            .unwrap();
        let there = Repo::at(&fixture.program, fixture.dir.join(name));
        assert_eq!(there.resolve("HEAD").unwrap().as_ref(), Some(&base));
        let own = fixture.own(&fixture.dir.join(name));
        repo.remove_worktree(&own, Removal::OnlyIfClean).unwrap();
        assert!(!fixture.path(name).exists());
    }
    let path = fixture.root.join("wt");
    for name in ["main", "-x", "a..b", ""] {
        let result = repo.add_worktree(&path, &base, Checkout::NewBranch(name));
        assert!(matches!(result, Err(Error::Failed { .. })), "{name}");
        assert!(!path.exists());
    }
}

#[test]
fn a_worktree_with_changes_is_removed_only_when_that_is_said() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let head = repo.resolve("HEAD").unwrap().unwrap();
    let path = fixture.root.join("wt");
    repo.add_worktree(&path, &head, Checkout::Detached).unwrap();
    std::fs::write(path.join("untracked"), "x").unwrap();
    let own = fixture.own(&path);
    let result = repo.remove_worktree(&own, Removal::OnlyIfClean);
    assert!(matches!(result, Err(Error::Failed { .. })));
    assert!(path.join("untracked").exists());
    repo.remove_worktree(&own, Removal::WithChanges).unwrap();
    assert!(!path.exists());
    assert!(find(&repo, &path).is_none());
}

#[test]
fn a_locked_worktree_stays() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let head = repo.resolve("HEAD").unwrap().unwrap();
    let path = fixture.root.join("wt");
    repo.add_worktree(&path, &head, Checkout::Detached).unwrap();
    fixture.git(["worktree", "lock", path.as_str()]);
    for removal in [Removal::OnlyIfClean, Removal::WithChanges] {
        assert!(repo.remove_worktree(&fixture.own(&path), removal).is_err());
        assert!(path.join("base.txt").exists());
    }
    std::fs::remove_dir_all(&path).unwrap();
    repo.forget_worktree(&path).unwrap();
    assert_eq!(find(&repo, &path).unwrap().locked.as_deref(), Some(""));
}

#[test]
fn a_worktree_with_a_repository_inside_stays() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let head = repo.resolve("HEAD").unwrap().unwrap();
    let path = fixture.root.join("wt");
    repo.add_worktree(&path, &head, Checkout::Detached).unwrap();
    fixture.git_in(&path, ["init", "--quiet", "inside"]);
    let error = repo
        .remove_worktree(&fixture.own(&path), Removal::WithChanges)
        .unwrap_err();
    let Error::Nested { dir, paths: inside } = &error else {
        panic!("{error}")
    };
    assert_eq!((dir, inside), (&path, &paths(&["inside"])));
    assert!(path.join("inside/.git").exists());
}

#[test]
fn a_missing_worktree_is_forgotten_and_no_other() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let head = repo.resolve("HEAD").unwrap().unwrap();
    let path = fixture.root.join("wt");
    repo.add_worktree(&path, &head, Checkout::Detached).unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    let away = fixture.root.join("on a stick");
    repo.add_worktree(&away, &head, Checkout::Detached).unwrap();
    std::fs::remove_dir_all(&away).unwrap();
    repo.forget_worktree(&path).unwrap();
    assert!(find(&repo, &path).is_none());
    assert!(find(&repo, &away).is_some());
    repo.forget_worktree(Utf8Path::new("/nowhere")).unwrap();
    assert_eq!(repo.worktrees().unwrap()[0].path, Path::new(&fixture.dir));
}

#[test]
fn what_the_index_or_the_last_commit_has_below_a_folder_is_tracked() {
    let fixture = Fixture::empty();
    let repo = fixture.repo();
    let tracked = |path: &str| {
        let found = repo.tracked(path).unwrap();
        let names = found.iter().map(ToString::to_string);
        names.collect::<Vec<_>>()
    };
    fixture.write(".state/staged", "1\n");
    fixture.write(".state*/x", "1\n");
    assert_eq!(tracked(".state"), [] as [String; 0]);
    fixture.git(["add", "-A"]);
    assert_eq!(tracked(".state"), [".state/staged"]);
    fixture.commit_all("both");
    fixture.git(["rm", "-rq", "--cached", ".state"]);
    assert_eq!(tracked(".state"), [".state/staged"]);
    fixture.commit_all("gone again");
    fixture.git(["rm", "-rq", "--cached", ".state"]);
    fixture.git(["commit", "-qm", "gone"]);
    assert_eq!(tracked(".state"), [] as [String; 0]);
    assert_eq!(tracked(".state*"), [".state*/x"]);
}
