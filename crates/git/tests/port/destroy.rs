//! The steps that destroy, and where they refuse to.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_git::{Checkout, Error, OwnWorktree, Repo};

use crate::fixture::{Fixture, files, paths};

/// Makes a worktree inside the project, as the engine does.
fn worktree(fixture: &Fixture, name: &str) -> Utf8PathBuf {
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    let path = fixture.dir.join("trees").join(name);
    let repo = fixture.repo();
    repo.add_worktree(&path, &base, Checkout::Detached).unwrap();
    path
}

#[test]
fn reset_and_clean_leave_ignored_kept_and_foreign_files() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "*.log\n");
    let base = fixture.commit_all("ignore");
    let path = worktree(&fixture, "one");
    let write = |name: &str, text: &str| fixture.write(format!("trees/one/{name}"), text);
    write("base.txt", "changed");
    write("staged", "x");
    fixture.git_in(&path, ["add", "staged"]);
    write("ignored.log", "x");
    write("folder/drop", "x");
    write("folder/deep/keep *[1]", "x");
    write("folder/deep/keep 11", "x");
    write(".kiln-artifacts/P1/log", "x");
    fixture.git_in(&path, ["init", "--quiet", "inside"]);
    write("inside/file", "x");

    let own = fixture.own(&path);
    own.reset_hard(&base).unwrap();
    assert_eq!(std::fs::read(path.join("base.txt")).unwrap(), b"base\n");
    assert!(!path.join("staged").exists());
    own.clean(&paths(&["folder/deep/keep *[1]", ".kiln-artifacts"]))
        .unwrap();
    let left: Vec<Vec<u8>> = files(&path).into_keys().collect();
    let left: Vec<&str> = left
        .iter()
        .map(|name| str::from_utf8(name).unwrap())
        .filter(|name| *name != ".git" && !name.contains(".git/"))
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
    let path = worktree(&fixture, "one");
    fixture.git_in(&path, ["switch", "--quiet", "-c", "task"]);
    fixture.git_in(&path, ["commit", "--quiet", "--allow-empty", "-m", "two"]);
    fixture.own(&path).reset_hard(&base).unwrap();
    assert_eq!(fixture.git_id(["rev-parse", "task"]), base);
}

/// What an agent does to the worktree at a path.
type Redirect = fn(&Fixture, &Utf8Path);

/// Returns the ways in which an agent can make its worktree lead elsewhere.
fn redirections() -> Vec<(&'static str, Redirect)> {
    fn link(path: &Utf8Path, text: &str) {
        std::fs::remove_file(path.join(".git")).unwrap();
        std::fs::write(path.join(".git"), text).unwrap();
    }
    fn registry(fixture: &Fixture, path: &Utf8Path) -> Utf8PathBuf {
        fixture
            .dir
            .join(".git/worktrees")
            .join(path.file_name().unwrap())
    }
    vec![
        ("no `.git`", |_, path| {
            std::fs::remove_file(path.join(".git")).unwrap();
        }),
        ("the user's repository", |fixture, path| {
            link(path, &format!("gitdir: {}/.git\n", fixture.dir));
        }),
        ("the user's repository, relative", |_, path| {
            link(path, "gitdir: ../../.git\n");
        }),
        ("another worktree", |fixture, path| {
            let other = worktree(fixture, "other");
            let text = std::fs::read_to_string(other.join(".git")).unwrap();
            link(path, &text);
        }),
        ("a repository elsewhere", |fixture, path| {
            let elsewhere = fixture.root.join("elsewhere");
            fixture.git(["init", "--quiet", elsewhere.as_str()]);
            link(path, &format!("gitdir: {elsewhere}/.git\n"));
        }),
        ("a repository of its own", |fixture, path| {
            std::fs::remove_file(path.join(".git")).unwrap();
            fixture.git_in(path, ["init", "--quiet"]);
        }),
        ("a link to the user's repository", |fixture, path| {
            std::fs::remove_file(path.join(".git")).unwrap();
            std::os::unix::fs::symlink(fixture.dir.join(".git"), path.join(".git")).unwrap();
        }),
        ("a link to another worktree's file", |fixture, path| {
            let other = worktree(fixture, "other");
            std::fs::remove_file(path.join(".git")).unwrap();
            std::os::unix::fs::symlink(other.join(".git"), path.join(".git")).unwrap();
        }),
        ("a pipe", |_, path| {
            std::fs::remove_file(path.join(".git")).unwrap();
            let made = std::process::Command::new("mkfifo")
                .arg(path.join(".git"))
                .status();
            assert!(made.unwrap().success());
        }),
        ("its folder is a link to the project", |fixture, path| {
            std::fs::rename(path, fixture.root.join("away")).unwrap();
            std::os::unix::fs::symlink(&fixture.dir, path).unwrap();
        }),
        ("its folder is a link to itself", |fixture, path| {
            std::fs::rename(path, fixture.root.join("away")).unwrap();
            std::os::unix::fs::symlink(fixture.root.join("away"), path).unwrap();
        }),
        ("the folder above it is a link", |fixture, path| {
            let above = path.parent().unwrap();
            std::fs::rename(above, fixture.root.join("away")).unwrap();
            std::os::unix::fs::symlink(fixture.root.join("away"), above).unwrap();
        }),
        ("registered at another path", |fixture, path| {
            let text = format!("{}/.git\n", fixture.dir);
            std::fs::write(registry(fixture, path).join("gitdir"), text).unwrap();
        }),
        ("another shared repository", |fixture, path| {
            let elsewhere = fixture.root.join("elsewhere");
            fixture.git(["init", "--quiet", elsewhere.as_str()]);
            let text = format!("{elsewhere}/.git\n");
            std::fs::write(registry(fixture, path).join("commondir"), text).unwrap();
        }),
        ("the user's index by a link", |fixture, path| {
            let index = registry(fixture, path).join("index");
            std::fs::remove_file(&index).unwrap();
            std::os::unix::fs::symlink(fixture.dir.join(".git/index"), &index).unwrap();
        }),
        ("the user's log of HEAD by a link", |fixture, path| {
            let log = registry(fixture, path).join("logs/HEAD");
            std::fs::remove_file(&log).unwrap();
            std::os::unix::fs::symlink(fixture.dir.join(".git/logs/HEAD"), &log).unwrap();
        }),
        ("forgotten by the repository", |fixture, path| {
            std::fs::remove_dir_all(registry(fixture, path)).unwrap();
        }),
    ]
}

/// Seen in the field: a worktree inside the project lost its `.git` file, and the reset that was
/// meant for it hit the project. An agent can do the same on purpose, in many ways.
#[test]
fn a_worktree_that_leads_elsewhere_is_refused_before_and_after_it_was_opened() {
    for (way, redirect) in redirections() {
        let fixture = Fixture::new();
        let base = fixture.git_id(["rev-parse", "HEAD"]);
        let path = worktree(&fixture, "one");
        let opened = fixture.own(&path);
        fixture.write("base.txt", "precious");
        fixture.write("untracked", "precious");
        redirect(&fixture, &path);
        let before = files(&fixture.root);
        let common_dir = fixture.dir.join(".git");
        let refused = OwnWorktree::open(&fixture.program, &common_dir, &path).map(drop);
        for result in [
            refused,
            opened.reset_hard(&base),
            opened.clean(&[]),
            opened.detach(&base),
            opened.break_locks(),
            fixture
                .repo()
                .remove_worktree(&opened, rekindle_git::Removal::WithChanges),
            opened.clone().register_at(&fixture.root.join("x")),
        ] {
            result.expect_err(way);
        }
        assert_eq!(files(&fixture.root), before, "{way}");
    }
}

/// The file is exchanged between check and use: git gets the folder explicitly and does not read it.
#[test]
fn what_is_asked_of_an_opened_worktree_is_answered_by_its_own_git_folder() {
    let fixture = Fixture::new();
    let path = worktree(&fixture, "one");
    let own = fixture.own(&path);
    std::fs::write(path.join("new"), "x").unwrap();
    std::fs::write(path.join(".git"), format!("gitdir: {}/.git\n", fixture.dir)).unwrap();
    let head = own.repo().head().unwrap();
    assert_eq!(head.branch(), None, "the project has a branch checked out");
    own.repo().rescue("w", "t").unwrap().unwrap();
    assert_eq!(own.repo().top_level().unwrap(), path);
}

#[test]
fn a_worktree_is_registered_where_it_is_moved_to_and_gets_its_file_back() {
    let fixture = Fixture::new();
    let path = worktree(&fixture, "one");
    let aside = fixture.dir.join("trees/one.left-1");
    fixture.own(&path).register_at(&aside).unwrap();
    std::fs::rename(&path, &aside).unwrap();
    fixture.own(&aside);
    std::fs::remove_file(aside.join(".git")).unwrap();
    let repo = fixture.repo();
    assert!(repo.rejoin_worktree(&aside).unwrap());
    assert!(!repo.rejoin_worktree(&aside).unwrap());
    assert!(!repo.rejoin_worktree(&fixture.dir.join("trees")).unwrap());
    fixture.own(&aside);
    assert!(fixture.git_in(&aside, ["status", "--short"]).is_empty());
}

/// In a copy of a project the registered paths are in the original.
#[test]
fn nothing_of_the_original_is_touched_from_a_copy() {
    let fixture = Fixture::new();
    let path = worktree(&fixture, "one");
    let copy = fixture.root.join("copy");
    let copied = std::process::Command::new("cp")
        .args(["-a", fixture.dir.as_str(), copy.as_str()])
        .status();
    assert!(copied.unwrap().success());
    let before = files(&fixture.dir);
    let inside = copy.join("trees/one");
    let common_dir = copy.join(".git");
    let error = OwnWorktree::open(&fixture.program, &common_dir, &inside).unwrap_err();
    assert!(matches!(error, Error::NotOurWorktree { .. }), "{error}");
    // Nor is it a worktree of the original at that path.
    OwnWorktree::open(&fixture.program, &fixture.dir.join(".git"), &inside).unwrap_err();
    let there = Repo::at(&fixture.program, &copy);
    std::fs::remove_file(inside.join(".git")).unwrap();
    assert!(!there.rejoin_worktree(&inside).unwrap());
    there.forget_worktree(&path).unwrap();
    assert_eq!(files(&fixture.dir), before);
}

#[test]
fn a_commit_whose_objects_were_pruned_is_not_complete() {
    let fixture = Fixture::new();
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    fixture.write("new", "unheard of");
    let commit = fixture.commit_all("two");
    let repo = fixture.repo();
    assert!(repo.is_complete(&commit, Some(&base)).unwrap());
    for object in ["HEAD:new", "HEAD^{tree}", "HEAD"] {
        let id = fixture.git_id(["rev-parse", object]);
        let (folder, name) = id.as_str().split_at(2);
        let file = fixture.dir.join(".git/objects").join(folder).join(name);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(!repo.is_complete(&commit, Some(&base)).unwrap(), "{object}");
        std::fs::write(&file, bytes).unwrap();
    }
}
