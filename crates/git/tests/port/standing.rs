//! Single paths of a worktree, including those that `git status` omits.

use rekindle_git::{Indexed, Mode, RepoPath};

use crate::fixture::Fixture;

#[test]
fn a_file_hidden_from_git_status_is_still_read() {
    let fixture = Fixture::new();
    for name in ["assumed", "skipped", "plain", "gone"] {
        fixture.write(name, "a\n");
    }
    fixture.write(".gitignore", "*.log\n");
    fixture.commit_all("files");
    fixture.git(["update-index", "--assume-unchanged", "assumed"]);
    fixture.git(["update-index", "--skip-worktree", "skipped"]);
    for name in ["assumed", "skipped", "x.log", "-new"] {
        fixture.write(name, "b\n");
    }
    let paths = ["assumed", "skipped", "plain", "x.log", "-new", "not-there"].map(RepoPath::from);
    let index = fixture.git(["ls-files", "--stage", "-v"]);
    let found = fixture.repo().as_committed(&paths).unwrap();
    let changed = fixture.git(["hash-object", "assumed"]);
    let id = |name: &str| found[&RepoPath::from(name)].id.to_string();
    for name in ["assumed", "skipped", "x.log", "-new"] {
        assert_eq!(id(name), changed.trim(), "{name}");
    }
    assert_ne!(id("plain"), changed.trim());
    assert_eq!(found.len(), 5);
    assert_eq!(fixture.git(["ls-files", "--stage", "-v"]), index);
    let index = fixture.repo().index().unwrap();
    let is_sparse = |name: &str| match &index[&RepoPath::from(name)] {
        Indexed::Entry { is_sparse, entry } => *is_sparse && entry.mode == Mode::File,
        Indexed::Conflict => false,
    };
    assert!(is_sparse("skipped") && !is_sparse("assumed"));
}

#[test]
fn a_folder_that_became_a_file_is_laid_over_a_tree_and_staged() {
    let fixture = Fixture::new();
    fixture.write("d/a", "a\n");
    fixture.write("d/b", "b\n");
    fixture.write("f", "f\n");
    fixture.commit_all("files");
    let repo = fixture.repo();
    let base = repo.head().unwrap().commit().unwrap().clone();
    fixture.git(["rm", "-rq", "d", "f"]);
    fixture.write("d", "d\n");
    fixture.write("f/g", "g\n");
    let tree = repo.snapshot_tree(&[]).unwrap();
    let changes = repo.between(&base, &tree).unwrap();
    assert_eq!(repo.overlay(&base, &changes).unwrap(), tree);
    fixture.git(["read-tree", base.as_str()]);
    repo.stage(&changes).unwrap();
    assert_eq!(fixture.git(["write-tree"]).trim(), tree.as_str());
    assert!(repo.trusts_modes().unwrap());
    fixture.git(["config", "core.fileMode", "false"]);
    assert!(!repo.trusts_modes().unwrap());
}
