//! What git itself would hide or convert is kept all the same.

use rekindle_git::Repo;

use crate::fixture::{Fixture, OnDisk, files, files_not_ignored};
use crate::rescue::restored;

/// Rescues, restores, and compares with the disk and with what git said before.
fn check(fixture: &Fixture) {
    let before = (fixture.state(), files(&fixture.dir));
    let rescue = fixture
        .repo()
        .rescue("w", "t")
        .unwrap()
        .expect("there is something to keep");
    assert_eq!((fixture.state(), files(&fixture.dir)), before);
    assert_eq!(
        files(&restored(fixture, &rescue)),
        files_not_ignored(fixture)
    );
}

#[test]
fn line_ends_are_kept_although_git_would_convert_them() {
    let fixture = Fixture::empty();
    fixture.write(".gitattributes", "*.txt text eol=crlf\n*.sh text eol=lf\n");
    fixture.write("tracked.txt", "one\r\ntwo\r\n");
    fixture.commit_all("base");
    fixture.write("mixed.txt", "one\ntwo\r\n");
    fixture.write("dos.sh", "one\r\ntwo\r\n");
    // A plain snapshot converts, as the repository wants.
    let tree = fixture.repo().snapshot_tree(&[]).unwrap();
    let blob = format!("{tree}:dos.sh");
    let stored = fixture.try_git(&fixture.dir, ["cat-file", "blob", &blob]);
    assert_eq!(stored.stdout, b"one\ntwo\n");
    check(&fixture);
}

#[test]
fn line_ends_are_kept_with_autocrlf() {
    let fixture = Fixture::new();
    fixture.git(["config", "core.autocrlf", "input"]);
    fixture.git(["config", "core.safecrlf", "true"]);
    fixture.write("new", "one\r\ntwo\n");
    // Plain git does not even add this file.
    assert!(
        !fixture
            .try_git(&fixture.dir, ["add", "new"])
            .status
            .success()
    );
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    assert_eq!(fixture.repo().changes(&base).unwrap().len(), 1);
    check(&fixture);
}

#[test]
fn filters_keywords_and_encodings_are_passed_over() {
    let fixture = Fixture::empty();
    fixture.git(["config", "filter.upper.clean", "tr a-z A-Z"]);
    fixture.git(["config", "filter.broken.clean", "false"]);
    fixture.git(["config", "filter.broken.required", "true"]);
    fixture.write("wide", b"\xff\xfea\0\n\0");
    fixture.write("tracked.up", "words");
    let attributes = "*.up filter=upper\n*.id ident\nwide working-tree-encoding=UTF-16LE-BOM\n";
    fixture.write(".gitattributes", attributes);
    fixture.commit_all("base");
    fixture.write("new.up", "words");
    fixture.write("new.id", "$Id: something else $\n");
    fixture.write("new.bin", "x");
    fixture.write(".git/info/attributes", "*.bin filter=broken\n");
    check(&fixture);
}

#[test]
fn a_file_marked_assume_unchanged_is_saved() {
    let fixture = Fixture::new();
    fixture.git(["branch", "other"]);
    fixture.git(["update-index", "--assume-unchanged", "base.txt"]);
    assert_eq!(fixture.repo().rescue("w", "t").unwrap(), None);
    fixture.write("base.txt", "secretly changed");
    assert_eq!(fixture.git(["status", "--porcelain"]), "");
    check(&fixture);
}

#[test]
fn a_file_marked_skip_worktree_is_saved() {
    let fixture = Fixture::new();
    fixture.git(["branch", "other"]);
    fixture.git(["update-index", "--skip-worktree", "base.txt"]);
    fixture.write("base.txt", "local settings");
    assert_eq!(fixture.git(["status", "--porcelain"]), "");
    check(&fixture);
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_not_taken_for_deleted() {
    let fixture = Fixture::empty();
    fixture.write("in/a", "x");
    fixture.write("out/b", "x");
    fixture.commit_all("base");
    fixture.git(["sparse-checkout", "set", "in"]);
    assert!(!fixture.path("out/b").exists());
    fixture.write("in/new", "x");
    let rescue = fixture.repo().rescue("w", "t").unwrap().unwrap();
    let listed = fixture.git(["ls-tree", "-r", "--name-only", rescue.commit.as_str()]);
    assert_eq!(listed, "in/a\nin/new\nout/b");
    // A file that was put where the checkout leaves files out is kept too.
    fixture.write("out/stray", "x");
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    let changes = fixture.repo().changes(&base).unwrap();
    let changed: Vec<String> = changes
        .iter()
        .map(|change| change.path.to_string())
        .collect();
    assert_eq!(changed, ["in/new", "out/stray"]);
    let rescue = fixture.repo().rescue("w", "t").unwrap().unwrap();
    let listed = fixture.git(["ls-tree", "-r", "--name-only", rescue.commit.as_str()]);
    assert_eq!(listed, "in/a\nin/new\nout/b\nout/stray");
}

#[test]
fn the_excludes_of_the_repository_hold() {
    let fixture = Fixture::new();
    fixture.write(".git/info/exclude", ".kiln-snapshot/\n");
    fixture.write("excludes", "*.tmp\n");
    fixture.git([
        "config",
        "core.excludesFile",
        fixture.dir.join("excludes").as_str(),
    ]);
    fixture.write(".kiln-snapshot/big", "x");
    fixture.write("a.tmp", "x");
    check(&fixture);
    let restored = files(&fixture.root.join("restored-1"));
    assert_eq!(
        restored.keys().collect::<Vec<_>>(),
        [&b"base.txt".to_vec(), &b"excludes".to_vec()]
    );
}

#[test]
fn repositories_with_long_ids_and_split_indexes_are_rescued() {
    let fixture = Fixture::with_init(&["--object-format=sha256"]);
    fixture.write("a", "1");
    fixture.commit_all("base");
    fixture.git(["config", "core.splitIndex", "true"]);
    fixture.git(["config", "core.untrackedCache", "true"]);
    fixture.write("a", "2");
    fixture.git(["add", "a"]);
    fixture.write("a", "3");
    let rescue = fixture.repo().rescue("w", "t").unwrap().unwrap();
    assert_eq!(rescue.commit.as_str().len(), 64);
    assert!(rescue.index.is_some());
    assert_eq!(
        files(&restored(&fixture, &rescue)),
        files_not_ignored(&fixture)
    );
}

#[test]
fn a_repository_inside_does_not_stop_a_rescue() {
    let fixture = Fixture::new();
    fixture.git(["init", "--quiet", "inside"]);
    fixture.write("inside/file", "theirs");
    fixture.write("new", "ours");
    let rescue = fixture.repo().rescue("w", "t").unwrap().unwrap();
    let kept = files(&restored(&fixture, &rescue));
    let new = OnDisk::File {
        bytes: b"ours".to_vec(),
        is_executable: false,
    };
    assert_eq!(kept.get(b"new".as_slice()), Some(&new));
    assert_eq!(kept.len(), 2);
}

#[test]
fn a_changed_submodule_does_not_fail_the_rescue() {
    let fixture = Fixture::new();
    let inner = fixture.root.join("inner");
    fixture.git(["clone", "--quiet", ".", inner.as_str()]);
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
    ];
    fixture.git(add.into_iter().chain([inner.as_str(), "sub"]));
    fixture.commit_all("with a submodule");
    fixture.git(["branch", "other"]);
    assert_eq!(fixture.repo().rescue("w", "t").unwrap(), None);
    fixture.write("sub/base.txt", "changed inside");
    assert_eq!(fixture.repo().status().unwrap().len(), 1);
    // Its content is its own repository's affair.
    assert_eq!(fixture.repo().rescue("w", "t").unwrap(), None);
    let inside = Repo::at(&fixture.program, fixture.dir.join("sub"));
    assert!(inside.rescue("w", "t").unwrap().is_some());
}
