//! `changes` and `snapshot_tree` against plain git.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, UNIX_EPOCH};

use rekindle_git::{Change, ChangeKind, Mode, ObjectId, Repo, RepoPath};

use crate::fixture::{Fixture, files, paths};

fn shown(changes: &[Change]) -> Vec<String> {
    let show = |change: &Change| match &change.kind {
        ChangeKind::Added => format!("A {}", change.path),
        ChangeKind::Modified => format!("M {}", change.path),
        ChangeKind::Deleted => format!("D {}", change.path),
        ChangeKind::TypeChanged => format!("T {}", change.path),
        ChangeKind::Renamed { from } => format!("R {from} {}", change.path),
    };
    changes.iter().map(show).collect()
}

/// What plain git finds when everything is really added. Call it last: it changes the index.
fn by_plain_git(fixture: &Fixture, base: &ObjectId) -> Vec<String> {
    fixture.git(["add", "--all"]);
    let args = [
        "diff",
        "--cached",
        "--name-status",
        "-z",
        "-M",
        base.as_str(),
    ];
    let output = fixture.try_git(&fixture.dir, args).stdout;
    let mut fields = output.split(|byte| *byte == 0);
    let mut lines = Vec::new();
    while let Some([status, ..]) = fields.next() {
        let mut line = char::from(*status).to_string();
        for _ in 0..if *status == b'R' { 2 } else { 1 } {
            line.extend([format!(" {}", RepoPath::new(fields.next().unwrap()))]);
        }
        lines.push(line);
    }
    lines
}

#[test]
fn staged_unstaged_renamed_and_untracked_changes_are_all_there() {
    let fixture = Fixture::empty();
    for name in [
        "edited",
        "edited-staged",
        "gone",
        "gone-staged",
        "from",
        "from-staged",
        "script",
    ] {
        fixture.write(name, format!("{name}\n").repeat(20));
    }
    fixture.write("typed", "x");
    fixture.write("cached-away", "still here");
    fixture.write(".gitignore", "*.log\n");
    let base = fixture.commit_all("base");
    fixture.commit_all("a commit on top of the base");

    fixture.write("edited", "x");
    fixture.write("edited-staged", "x");
    fixture.git(["add", "edited-staged"]);
    std::fs::remove_file(fixture.path("gone")).unwrap();
    fixture.git(["rm", "--quiet", "gone-staged"]);
    std::fs::rename(fixture.path("from"), fixture.path("to")).unwrap();
    fixture.git(["mv", "from-staged", "to-staged"]);
    fixture.make_executable("script");
    std::fs::remove_file(fixture.path("typed")).unwrap();
    fixture.link("nowhere", "typed");
    fixture.git(["rm", "--quiet", "--cached", "cached-away"]);
    fixture.write("added-then-removed", "x");
    fixture.git(["add", "added-then-removed"]);
    std::fs::remove_file(fixture.path("added-then-removed")).unwrap();
    fixture.write("binary", b"\0\x01\xff");
    fixture.write("intended", "x");
    fixture.git(["add", "--intent-to-add", "intended"]);
    fixture.write("ignored.log", "x");
    for name in [
        b"new\nline".as_slice(),
        b"-dash",
        b"quo\"te",
        b"\xff\xfe",
        b":(top)magic",
        b"*",
    ] {
        fixture.write(OsStr::from_bytes(name), name);
    }

    let before = (fixture.state(), files(&fixture.dir.join(".git")));
    let changes = fixture.repo().changes(&base).unwrap();
    assert_eq!(
        (fixture.state(), files(&fixture.dir.join(".git"))),
        before,
        "a trace is left"
    );

    let lines = shown(&changes);
    for line in [
        "M edited",
        "D gone-staged",
        "R from to",
        "T typed",
        "A \\xff\\xfe",
        "A intended",
    ] {
        assert!(
            lines.iter().any(|other| other == line),
            "{line} is not in {lines:?}"
        );
    }
    let script = changes
        .iter()
        .find(|change| change.path == "script".into())
        .unwrap();
    let (old, new) = (script.old.as_ref().unwrap(), script.new.as_ref().unwrap());
    assert_eq!((old.mode, new.mode), (Mode::File, Mode::Executable));
    assert_eq!(old.id, new.id);
    let binary = changes
        .iter()
        .find(|change| change.path == "binary".into())
        .unwrap();
    let hash = fixture.git_id(["hash-object", "binary"]);
    assert_eq!(binary.new.as_ref().map(|entry| &entry.id), Some(&hash));
    assert_eq!(binary.old, None);

    assert_eq!(lines, by_plain_git(&fixture, &base));
}

#[test]
fn a_worktree_as_its_base_has_no_changes() {
    let fixture = Fixture::new();
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    assert_eq!(fixture.repo().changes(&base).unwrap(), []);
}

#[test]
fn an_unborn_branch_is_compared_with_the_empty_tree() {
    let fixture = Fixture::empty();
    let repo = fixture.repo();
    let nothing = repo.empty_tree().unwrap();
    assert_eq!(repo.changes(&nothing).unwrap(), []);
    fixture.write("a", "x");
    assert_eq!(shown(&repo.changes(&nothing).unwrap()), ["A a"]);
    assert_eq!(repo.snapshot_tree(&paths(&["a"])).unwrap(), nothing);
}

#[test]
fn a_file_replaced_by_a_folder_or_a_link_to_one_is_followed() {
    let fixture = Fixture::empty();
    fixture.write("file", "x");
    fixture.write("folder/a", "x");
    fixture.write("linked/a", "y");
    let base = fixture.commit_all("base");
    std::fs::remove_file(fixture.path("file")).unwrap();
    fixture.write("file/inside", "1");
    std::fs::remove_dir_all(fixture.path("folder")).unwrap();
    fixture.write("folder", "2");
    std::fs::remove_dir_all(fixture.path("linked")).unwrap();
    fixture.link("file", "linked");
    let lines = shown(&fixture.repo().changes(&base).unwrap());
    assert_eq!(lines, by_plain_git(&fixture, &base));
    assert_eq!(lines.len(), 6);
}

/// git recognizes an unchanged file by its size and times, and looks closer only at files not older
/// than the index. A copy of the index that is newer than the index would miss this change.
#[test]
fn a_change_in_the_same_tick_as_the_index_is_seen() {
    let fixture = Fixture::new();
    fixture.git(["config", "core.trustctime", "false"]);
    // Long past, since some builds of git compare whole seconds.
    let tick = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let set_time = |path: &str| {
        let file = File::options()
            .write(true)
            .open(fixture.path(path))
            .unwrap();
        file.set_modified(tick).unwrap();
    };
    fixture.write("base.txt", "old!\n");
    set_time("base.txt");
    let base = fixture.commit_all("one");
    fixture.write("base.txt", "new!\n");
    set_time("base.txt");
    set_time(".git/index");
    assert_eq!(
        shown(&fixture.repo().changes(&base).unwrap()),
        ["M base.txt"]
    );
    assert_eq!(by_plain_git(&fixture, &base), ["M base.txt"]);
}

#[test]
fn changes_are_those_of_the_whole_worktree_from_any_folder_of_it() {
    let fixture = Fixture::new();
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    fixture.write("sub/a", "x");
    fixture.write("b", "x");
    let repo = Repo::at(&fixture.program, fixture.dir.join("sub"));
    assert_eq!(shown(&repo.changes(&base).unwrap()), ["A b", "A sub/a"]);
}

#[test]
fn repositories_inside_are_left_out_and_do_not_stop_us() {
    let fixture = Fixture::new();
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    fixture.git(["init", "--quiet", "without-commit"]);
    fixture.git(["worktree", "add", "--quiet", "--detach", "trees/*"]);
    fixture.write("trees/note", "x");
    assert_eq!(
        shown(&fixture.repo().changes(&base).unwrap()),
        ["A trees/note"]
    );
    // Plain git does not get over it.
    assert!(
        !fixture
            .try_git(&fixture.dir, ["add", "--all"])
            .status
            .success()
    );
}

#[test]
fn what_is_excluded_is_as_in_head() {
    let fixture = Fixture::empty();
    fixture.write(".kiln/STATE.md", "before");
    fixture.write(".kiln/gone", "before");
    fixture.write("src/a", "before");
    fixture.commit_all("base");
    fixture.write(".kiln/STATE.md", "after");
    fixture.git(["add", "--all"]);
    fixture.write(".kiln/STATE.md", "after that");
    fixture.write(".kiln/new", "x");
    fixture.git(["add", ".kiln/new"]);
    std::fs::remove_file(fixture.path(".kiln/gone")).unwrap();
    fixture.write(".kiln-artifacts/log", "x");
    fixture.write(".kiln-other", "x");
    fixture.write("src/a", "after");
    let before = fixture.state();

    let exclude = paths(&[".kiln", ".kiln-artifacts/"]);
    let tree = fixture.repo().snapshot_tree(&exclude).unwrap();
    assert_eq!(fixture.state(), before);
    let listed = fixture.git(["ls-tree", "-r", "--name-only", tree.as_str()]);
    assert_eq!(listed, ".kiln-other\n.kiln/STATE.md\n.kiln/gone\nsrc/a");
    let content = |path: &str| fixture.git(["show", &format!("{tree}:{path}")]);
    assert_eq!(
        (content(".kiln/STATE.md"), content("src/a")),
        ("before".into(), "after".into())
    );
}

#[test]
fn a_snapshot_is_what_a_commit_of_everything_would_be() {
    let fixture = Fixture::empty();
    // Filters apply: a snapshot is made to be committed.
    fixture.write(".gitattributes", "*.txt text eol=crlf\n");
    fixture.write("a.txt", "one\r\ntwo\r\n");
    fixture.write("sparse", "x");
    fixture.commit_all("base");
    fixture.git(["config", "core.splitIndex", "true"]);
    fixture.git(["update-index", "--split-index", "--skip-worktree", "sparse"]);
    std::fs::remove_file(fixture.path("sparse")).unwrap();
    fixture.write("b.txt", "three\r\n");
    // A split index would leave its other half in the repository.
    let shared = || {
        let names = files(&fixture.dir.join(".git")).into_keys();
        names
            .filter(|name| name.starts_with(b"sharedindex"))
            .collect::<Vec<_>>()
    };
    let before = (fixture.state(), shared());
    let tree = fixture.repo().snapshot_tree(&[]).unwrap();
    assert_eq!((fixture.state(), shared()), before);
    assert_eq!(before.1.len(), 1);
    fixture.git(["add", "--all"]);
    assert_eq!(tree, fixture.git_id(["write-tree"]));
    assert_eq!(fixture.git(["show", &format!("{tree}:b.txt")]), "three");
    assert_eq!(fixture.git(["show", &format!("{tree}:sparse")]), "x");
}
