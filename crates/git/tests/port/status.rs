//! `status` against plain git.

use rekindle_git::{State, StatusEntry};

use crate::fixture::{Fixture, paths};

#[test]
fn every_kind_of_change_is_seen_and_the_index_is_not_refreshed() {
    let fixture = Fixture::empty();
    for name in [
        "modified",
        "deleted",
        "moved \"from\"",
        "typed",
        "both",
        "same",
    ] {
        fixture.write(name, format!("{name}\n").repeat(9));
    }
    fixture.write(".gitignore", "*.log\n");
    fixture.commit_all("base");
    fixture.write("modified", "x");
    std::fs::remove_file(fixture.path("deleted")).unwrap();
    fixture.git(["mv", "moved \"from\"", "moved\nto"]);
    std::fs::remove_file(fixture.path("typed")).unwrap();
    fixture.link("same", "typed");
    fixture.write("both", "1");
    fixture.git(["add", "both"]);
    fixture.write("both", "22");
    fixture.write("folder/-new", "x");
    fixture.write("ignored.log", "x");
    // Touched but the same: a refresh of the index would be a write.
    fixture.write("same", "same\n".repeat(9));
    // Settings that would hide or rename something.
    for (name, value) in [
        ("status.showUntrackedFiles", "no"),
        ("status.renames", "false"),
        ("status.relativePaths", "true"),
        ("status.branch", "true"),
    ] {
        fixture.git(["config", name, value]);
    }

    let before = fixture.state();
    let entries = rekindle_git::Repo::at(&fixture.program, fixture.dir.join("folder"));
    let entries = entries.status().unwrap();
    assert_eq!(fixture.state(), before);

    let tracked = |path: &str, from: Option<&str>, staged, unstaged| StatusEntry::Tracked {
        path: path.into(),
        from: from.map(Into::into),
        staged,
        unstaged,
        is_submodule: false,
    };
    let expected = [
        tracked("both", None, State::Modified, State::Modified),
        tracked("deleted", None, State::Unchanged, State::Deleted),
        tracked("modified", None, State::Unchanged, State::Modified),
        tracked(
            "moved\nto",
            Some("moved \"from\""),
            State::Renamed,
            State::Unchanged,
        ),
        tracked("typed", None, State::Unchanged, State::TypeChanged),
        StatusEntry::Untracked {
            path: "folder/-new".into(),
        },
    ];
    assert_eq!(entries, expected);
    fixture.git(["reset", "--quiet", "--hard"]);
    fixture.git(["clean", "-fdq"]);
    assert_eq!(fixture.repo().status().unwrap(), []);
    assert_eq!(fixture.git(["status", "--porcelain"]), "");
}

#[test]
fn a_conflict_is_unmerged() {
    let fixture = Fixture::new();
    conflict(&fixture);
    let entries = fixture.repo().status().unwrap();
    assert_eq!(
        entries,
        [StatusEntry::Unmerged {
            path: "base.txt".into()
        }]
    );
}

#[test]
fn repositories_inside_the_worktree_are_listed_with_or_without_commits() {
    let fixture = Fixture::new();
    fixture.git(["init", "--quiet", "empty"]);
    fixture.git(["init", "--quiet", "deep/er"]);
    fixture.write("deep/er/file", "x");
    fixture.git_in(&fixture.dir.join("deep/er"), ["add", "file"]);
    fixture.git_in(
        &fixture.dir.join("deep/er"),
        ["commit", "--quiet", "-m", "x"],
    );
    fixture.git(["worktree", "add", "--quiet", "--detach", "trees/one"]);
    let expected = paths(&["deep/er", "empty", "trees/one"]);
    assert_eq!(fixture.repo().nested_repositories().unwrap(), expected);
    let below = rekindle_git::Repo::at(&fixture.program, fixture.dir.join("deep"));
    assert_eq!(below.nested_repositories().unwrap(), expected);
}

#[test]
fn ignored_files_are_listed_wherever_they_are_and_ignored_folders_once() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "*.log\nbuilt/\n");
    fixture.commit_all("ignore");
    assert!(fixture.repo().ignored().unwrap().is_empty());
    for name in [
        "built/deep/x",
        "new/kept",
        "new/neighbor.log",
        "only/a.log",
        "odd\nname.log",
        "! tricky",
    ] {
        fixture.write(name, "x");
    }
    fixture.git(["mv", "base.txt", "! moved"]);
    let expected = paths(&["built/", "new/neighbor.log", "odd\nname.log", "only/a.log"]);
    assert_eq!(fixture.repo().ignored().unwrap(), expected);
}

/// Leaves `base.txt` in conflict.
pub(crate) fn conflict(fixture: &Fixture) {
    fixture.git(["checkout", "--quiet", "-b", "side"]);
    fixture.write("base.txt", "theirs\n");
    fixture.commit_all("theirs");
    fixture.git(["checkout", "--quiet", "main"]);
    fixture.write("base.txt", "ours\n");
    fixture.commit_all("ours");
    assert!(
        !fixture
            .try_git(&fixture.dir, ["merge", "side"])
            .status
            .success()
    );
}
