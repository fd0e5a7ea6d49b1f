//! The steps that destroy, and where they refuse to.

use rekindle_git::{Checkout, Error, Repo};

use crate::fixture::{Fixture, files, paths};

#[test]
fn reset_and_clean_leave_ignored_kept_and_foreign_files() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "*.log\n");
    let base = fixture.commit_all("ignore");
    fixture.write("base.txt", "changed");
    fixture.write("staged", "x");
    fixture.git(["add", "staged"]);
    fixture.write("ignored.log", "x");
    fixture.write("folder/drop", "x");
    fixture.write("folder/deep/keep *[1]", "x");
    fixture.write("folder/deep/keep 11", "x");
    fixture.write(".kiln-artifacts/P1/log", "x");
    fixture.git(["init", "--quiet", "inside"]);
    fixture.write("inside/file", "x");

    let repo = fixture.repo();
    repo.reset_hard(&base).unwrap();
    assert_eq!(std::fs::read(fixture.path("base.txt")).unwrap(), b"base\n");
    assert!(!fixture.path("staged").exists());
    repo.clean(&paths(&["folder/deep/keep *[1]", ".kiln-artifacts"]))
        .unwrap();
    let left: Vec<Vec<u8>> = files(&fixture.dir).into_keys().collect();
    let left: Vec<&str> = left
        .iter()
        .map(|name| str::from_utf8(name).unwrap())
        .collect();
    let left: Vec<&str> = left
        .into_iter()
        .filter(|name| !name.contains(".git/"))
        .collect();
    assert_eq!(
        left,
        [
            ".gitignore",
            ".kiln-artifacts/P1/log",
            "base.txt",
            "folder/deep/keep *[1]",
            "ignored.log",
            "inside/file",
        ]
    );
}

#[test]
fn a_reset_moves_the_branch() {
    let fixture = Fixture::new();
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    fixture.commit_all("two");
    fixture.repo().reset_hard(&base).unwrap();
    assert_eq!(fixture.git_id(["rev-parse", "main"]), base);
}

/// Seen in the field: a worktree inside the project lost its `.git` file, and the reset that was
/// meant for it hit the project.
#[test]
fn a_worktree_that_lost_its_git_file_does_not_destroy_the_repository_around_it() {
    let fixture = Fixture::new();
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    let path = fixture.dir.join("trees/one");
    fixture
        .repo()
        .add_worktree(&path, &base, Checkout::Detached)
        .unwrap();
    std::fs::remove_file(path.join(".git")).unwrap();
    fixture.write("base.txt", "precious");
    fixture.write("untracked", "precious");
    let lost = Repo::at(&fixture.program, &path);
    let before = files(&fixture.dir);
    for result in [
        lost.reset_hard(&base),
        lost.clean(&[]),
        lost.rescue("w", "t").map(|_| ()),
    ] {
        let error = result.unwrap_err();
        let Error::NotTopLevel { dir, top_level } = &error else {
            panic!("{error}")
        };
        assert_eq!((dir, top_level), (&path, &fixture.dir));
    }
    assert_eq!(files(&fixture.dir), before);
}

#[test]
fn a_link_to_the_top_is_the_top() {
    let fixture = Fixture::new();
    fixture.write("new", "x");
    let link = fixture.root.join("link");
    std::os::unix::fs::symlink(&fixture.dir, &link).unwrap();
    Repo::at(&fixture.program, &link).clean(&[]).unwrap();
    assert!(!fixture.path("new").exists());
}
