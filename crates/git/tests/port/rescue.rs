//! What a rescue keeps, when there is none, and the way back.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use camino::Utf8PathBuf;
use rekindle_git::{ChangeKind, Checkout, Error, Expected, Mode, Removal, Repo, Rescue, Staged};

use crate::fixture::{Fixture, files, files_not_ignored};
use crate::status::conflict;

/// Restores a rescue and returns where.
pub(crate) fn restored(fixture: &Fixture, rescue: &Rescue) -> Utf8PathBuf {
    let into = fixture.root.join(format!("restored-{}", rescue.number));
    fixture.repo().restore(rescue, &into).unwrap();
    into
}

#[test]
fn every_file_comes_back_byte_by_byte_and_nothing_else_moves() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "*.log\ntracked-but-ignored.log\n");
    fixture.write("tracked-but-ignored.log", "1");
    fixture.git(["add", "--force", "tracked-but-ignored.log"]);
    fixture.write("deleted", "x");
    let head = fixture.commit_all("base");
    fixture.write("base.txt", b"changed\r\n\0\xff");
    fixture.write("tracked-but-ignored.log", "2");
    fixture.write("ignored.log", "not kept");
    std::fs::remove_file(fixture.path("deleted")).unwrap();
    for name in [
        b"new\nline".as_slice(),
        b"-dash",
        b"quo\"te\\",
        b"\xff\xfe",
        b"sp ace/deep",
    ] {
        fixture.write(OsStr::from_bytes(name), name);
    }
    fixture.write("script", "#!/bin/sh\n");
    fixture.make_executable("script");
    fixture.link("nowhere\nat all", "link");
    fixture.write("empty", "");

    let before = (fixture.state(), files(&fixture.dir));
    let rescue = fixture
        .repo()
        .rescue("kiln-teams:p 1", "phase-1:exec:task-1")
        .unwrap()
        .unwrap();
    assert_eq!((fixture.state(), files(&fixture.dir)), before);
    let name = "refs/rekindle/rescue/kiln-teams%3Ap%201/phase-1%3Aexec%3Atask-1/1";
    assert_eq!(rescue.name, name);
    assert_eq!(
        (rescue.workflow.as_str(), rescue.number),
        ("kiln-teams:p 1", 1)
    );
    assert_eq!(rescue.head, Some(head.clone()));
    assert_eq!(rescue.index, None);
    assert_eq!(fixture.git_id(["rev-parse", &format!("{name}^1")]), head);
    let body = fixture.git(["show", "-s", "--format=%B", name]);
    assert!(
        body.contains(&format!("Rekindle-Rescue-Worktree: {}\n", fixture.dir)),
        "{body}"
    );
    assert!(body.contains("Rekindle-Rescue-Branch: main\n"), "{body}");

    let into = restored(&fixture, &rescue);
    assert_eq!(files(&into), files_not_ignored(&fixture));
    assert!(!into.join("ignored.log").exists());
    assert_eq!((fixture.state(), files(&fixture.dir)), before);
    assert_eq!(fixture.repo().rescues().unwrap(), [rescue]);
}

#[test]
fn content_that_is_only_staged_is_kept_in_the_second_parent() {
    let fixture = Fixture::new();
    fixture.write("base.txt", "staged");
    fixture.write("only-staged", "staged");
    fixture.git(["add", "--all"]);
    fixture.write("base.txt", "on the disk");
    std::fs::remove_file(fixture.path("only-staged")).unwrap();
    let staged = fixture.git_id(["write-tree"]);
    let rescue = fixture.repo().rescue("w", "t").unwrap().unwrap();
    assert_eq!(rescue.index_tree, Some(staged.clone()));
    let index = rescue.index.clone().unwrap();
    assert_eq!(
        fixture.git_id(["rev-parse", &format!("{}^2", rescue.name)]),
        index
    );
    assert_eq!(
        fixture.git_id(["rev-parse", &format!("{index}^{{tree}}")]),
        staged
    );
    assert_eq!(
        files(&restored(&fixture, &rescue)),
        files_not_ignored(&fixture)
    );
}

#[test]
fn an_index_without_content_of_its_own_is_not_kept() {
    let fixture = Fixture::new();
    fixture.write("new", "x");
    fixture.git(["add", "new"]);
    let rescue = fixture.repo().rescue("w", "t").unwrap().unwrap();
    assert_eq!((rescue.index, rescue.index_tree), (None, None));
}

#[test]
fn both_sides_of_a_conflict_are_kept() {
    let fixture = Fixture::new();
    conflict(&fixture);
    let before = fixture.state();
    let rescue = fixture.repo().rescue("w", "t").unwrap().unwrap();
    assert_eq!(fixture.state(), before);
    assert_eq!(
        files(&restored(&fixture, &rescue)),
        files_not_ignored(&fixture)
    );
    let index = rescue.index.unwrap();
    let side = |stage: u32| {
        fixture.git([
            "show",
            &format!("{index}:.rekindle-conflict/{stage}/base.txt"),
        ])
    };
    assert_eq!(
        (side(1), side(2), side(3)),
        ("base".into(), "ours".into(), "theirs".into())
    );
}

#[test]
fn a_clean_worktree_whose_commit_is_held_elsewhere_needs_none() {
    let fixture = Fixture::new();
    fixture.git(["branch", "other"]);
    assert_eq!(fixture.repo().rescue("w", "t").unwrap(), None);
    fixture.git(["checkout", "--quiet", "--detach"]);
    assert_eq!(fixture.repo().rescue("w", "t").unwrap(), None);
    assert_eq!(fixture.git(["for-each-ref", "refs/rekindle"]), "");
}

#[test]
fn a_detached_commit_that_no_ref_holds_is_kept() {
    let fixture = Fixture::new();
    fixture.git(["checkout", "--quiet", "--detach"]);
    let commit = fixture.commit_all("on no branch");
    let rescue = fixture.repo().rescue("w", "t").unwrap().unwrap();
    assert_eq!(rescue.head, Some(commit.clone()));
    assert_eq!(
        fixture.git_id(["rev-parse", &format!("{}^1", rescue.name)]),
        commit
    );
    // Now it is held.
    assert_eq!(fixture.repo().rescue("w", "t").unwrap(), None);
}

/// The plain reset of a branch would leave these commits to the reflog alone.
#[test]
fn a_commit_that_only_the_checked_out_branch_holds_is_kept() {
    let fixture = Fixture::new();
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    fixture.git(["checkout", "--quiet", "-b", "task"]);
    assert_eq!(
        fixture.repo().rescue("w", "t").unwrap(),
        None,
        "main holds it"
    );
    let commit = fixture.commit_all("work of an agent");
    let rescue = fixture.repo().rescue("w", "t").unwrap().unwrap();
    fixture.git(["reset", "--quiet", "--hard", base.as_str()]);
    assert!(fixture.repo().is_ancestor(&commit, &rescue.commit).unwrap());
}

#[test]
fn an_unborn_branch_is_rescued_without_a_parent() {
    let fixture = Fixture::empty();
    assert_eq!(fixture.repo().rescue("w", "t").unwrap(), None);
    fixture.write("a", "1");
    fixture.git(["add", "a"]);
    fixture.write("a", "2");
    let rescue = fixture.repo().rescue("w", "t").unwrap().unwrap();
    assert_eq!(rescue.head, None);
    let index = rescue.index.clone().unwrap();
    assert_eq!(fixture.git(["show", &format!("{index}:a")]), "1");
    assert_eq!(
        files(&restored(&fixture, &rescue)),
        files_not_ignored(&fixture)
    );
}

#[test]
fn the_same_state_is_kept_once_and_another_gets_the_next_number() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    fixture.write("a", "1");
    let first = repo.rescue("w", "t").unwrap().unwrap();
    assert_eq!(repo.rescue("w", "t").unwrap(), Some(first.clone()));
    assert_eq!(repo.rescue("w", "other").unwrap().unwrap().number, 1);
    for number in 2..=11 {
        fixture.write("a", number.to_string());
        assert_eq!(repo.rescue("w", "t").unwrap().unwrap().number, number);
    }
    let numbers: Vec<u32> = repo
        .rescues()
        .unwrap()
        .iter()
        .map(|rescue| rescue.number)
        .collect();
    assert_eq!(numbers, [1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    // A number that was taken is not taken again, though others are free.
    repo.delete_ref(&first.name, &first.commit).unwrap();
    fixture.write("a", "again");
    assert_eq!(repo.rescue("w", "t").unwrap().unwrap().number, 12);
}

#[test]
fn rescues_made_at_the_same_time_get_numbers_of_their_own() {
    let fixture = Fixture::new();
    let head = fixture.git_id(["rev-parse", "HEAD"]);
    let repos: Vec<Repo> = (0..4)
        .map(|n| {
            let path = fixture.root.join(format!("wt{n}"));
            fixture
                .repo()
                .add_worktree(&path, &head, Checkout::Detached)
                .unwrap();
            std::fs::write(path.join("mine"), n.to_string()).unwrap();
            Repo::at(&fixture.program, path)
        })
        .collect();
    let mut numbers: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = repos
            .iter()
            .map(|repo| scope.spawn(|| repo.rescue("w", "t").unwrap().unwrap().number))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

#[test]
fn any_name_of_a_workflow_or_task_will_do() {
    let fixture = Fixture::new();
    fixture.write("a", "x");
    let repo = fixture.repo();
    let long = "x.".repeat(300);
    let names = [
        "",
        ".",
        "..",
        "a.lock",
        "-x",
        "a\nb: c",
        "../../heads/main",
        "@{",
        "żółw",
        &long,
    ];
    for name in names {
        let rescue = repo.rescue(name, name).unwrap().unwrap();
        assert_eq!(
            (rescue.workflow.as_str(), rescue.task.as_str()),
            (name, name)
        );
        fixture.git(["check-ref-format", &rescue.name]);
    }
    assert_eq!(repo.rescues().unwrap().len(), names.len());
    assert_eq!(
        fixture.git(["for-each-ref", "--format=%(refname)", "refs/heads"]),
        "refs/heads/main"
    );
}

#[test]
fn a_foreign_ref_among_the_rescues_is_passed_over() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let head = repo.resolve("HEAD").unwrap().unwrap();
    let tree = repo.tree_of("HEAD").unwrap().unwrap();
    repo.update_ref("refs/rekindle/rescue/odd", &head, &Expected::Missing)
        .unwrap();
    repo.update_ref("refs/rekindle/rescue/w/t/1", &tree, &Expected::Missing)
        .unwrap();
    assert_eq!(repo.rescues().unwrap(), []);
    fixture.write("a", "x");
    assert_eq!(repo.rescue("w", "t").unwrap().unwrap().number, 2);
}

#[test]
fn a_rescue_outlives_its_worktree() {
    let fixture = Fixture::new();
    let head = fixture.git_id(["rev-parse", "HEAD"]);
    let path = fixture.root.join("wt");
    fixture
        .repo()
        .add_worktree(&path, &head, Checkout::Detached)
        .unwrap();
    std::fs::write(path.join("untracked"), "precious").unwrap();
    let rescue = Repo::at(&fixture.program, &path)
        .rescue("w", "t")
        .unwrap()
        .unwrap();
    fixture
        .repo()
        .remove_worktree(&fixture.own(&path), Removal::WithChanges)
        .unwrap();
    fixture.git(["gc", "--quiet", "--prune=now"]);
    assert_eq!(
        fixture.repo().rescues().unwrap(),
        std::slice::from_ref(&rescue)
    );
    let into = restored(&fixture, &rescue);
    assert_eq!(std::fs::read(into.join("untracked")).unwrap(), b"precious");
}

/// After a power cut the ref must not be all that is left. git counts its flushes itself.
#[test]
fn a_rescue_is_flushed_to_the_disk_and_a_question_is_not() {
    let fixture = Fixture::new();
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    fixture.write("a", "x");
    let traced = |name: &str| {
        let file = fixture.root.join(name);
        let program = fixture
            .program
            .clone()
            .with_variable("GIT_TRACE2_EVENT", file.as_str());
        (Repo::at(&program, &fixture.dir), file)
    };
    let flushes = |file: Utf8PathBuf| {
        let trace = std::fs::read_to_string(file).unwrap();
        let counts = trace.lines().filter(|line| line.contains("hardware-flush"));
        counts.count()
    };
    let (repo, file) = traced("changes");
    repo.changes(&base).unwrap();
    assert_eq!(flushes(file), 0);
    let (repo, file) = traced("rescue");
    repo.rescue("w", "t").unwrap().unwrap();
    // At least the files, the tree, the commit and the ref.
    assert!(flushes(file) >= 4);
}

#[test]
fn nothing_is_restored_over_other_files() {
    let fixture = Fixture::new();
    fixture.write("a", "x");
    let rescue = fixture.repo().rescue("w", "t").unwrap().unwrap();
    let into = fixture.root.join("into");
    std::fs::create_dir(&into).unwrap();
    fixture.repo().restore(&rescue, &into).unwrap();
    assert!(into.join("a").exists());
    for occupied in [&into, &into.join("a")] {
        let result = fixture.repo().restore(&rescue, occupied);
        assert!(matches!(result, Err(Error::Occupied(dir)) if dir == *occupied));
    }
}

/// What `rescued` says of each file: its path, its letter, whether it is untracked.
fn said(repo: &Repo, rescue: &Rescue) -> Vec<(String, char, Option<bool>)> {
    let files = repo.rescued(rescue).unwrap();
    let letter = |kind: &ChangeKind| match kind {
        ChangeKind::Added => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Deleted => 'D',
        ChangeKind::TypeChanged => 'T',
        ChangeKind::Renamed { .. } => 'R',
    };
    files
        .iter()
        .map(|file| {
            let change = &file.change;
            (
                change.path.to_string(),
                letter(&change.kind),
                file.untracked,
            )
        })
        .collect()
}

#[test]
fn a_rescue_lists_the_differences_from_its_base_and_untracked_files() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    fixture.write("gone", "x");
    fixture.write("becomes-link", "x");
    let base = fixture.commit_all("more");
    std::fs::remove_file(fixture.path("gone")).unwrap();
    std::fs::remove_file(fixture.path("becomes-link")).unwrap();
    fixture.link("nowhere", "becomes-link");
    fixture.make_executable("base.txt");
    fixture.write("new\nfile", "x");
    let is = |name: &str, letter, untracked| (name.to_owned(), letter, Some(untracked));
    let tracked = [
        is("base.txt", 'M', false),
        is("becomes-link", 'T', false),
        is("gone", 'D', false),
    ];

    let nothing = repo.rescue("w", "t").unwrap().unwrap();
    assert_eq!(nothing.staged, Staged::Nothing);
    let expected = [&tracked[..], &[is("new\\nfile", 'A', true)]].concat();
    assert_eq!(said(&repo, &nothing), expected);
    let modes = &repo.rescued(&nothing).unwrap()[0].change;
    assert_eq!(modes.new.as_ref().unwrap().mode, Mode::Executable);

    // The same files, all staged, need no rescue of their own; so another file.
    fixture.write("staged", "x");
    fixture.git(["add", "--all"]);
    let everything = repo.rescue("w", "t").unwrap().unwrap();
    assert_eq!(everything.staged, Staged::Everything);
    let new = [is("new\\nfile", 'A', false), is("staged", 'A', false)];
    assert_eq!(said(&repo, &everything), [&tracked[..], &new].concat());

    fixture.write("untracked", "x");
    let apart = repo.rescue("w", "t").unwrap().unwrap();
    assert_eq!(apart.staged, Staged::Apart);
    let more = [is("untracked", 'A', true)];
    assert_eq!(said(&repo, &apart), [&tracked[..], &new, &more].concat());
    assert_eq!(apart.worktree.as_deref(), Some(fixture.dir.as_str()));
    assert_eq!(apart.branch.as_deref(), Some("main"));
    assert_eq!(apart.head, Some(base));
    assert_eq!(apart.short_name(), "w/t/3");
}

#[test]
fn without_a_commit_every_file_of_a_rescue_is_new_and_looking_stores_nothing() {
    let fixture = Fixture::empty();
    fixture.write("a", "1");
    let repo = fixture.repo();
    let rescue = repo.rescue("w", "t").unwrap().unwrap();
    let objects = || fixture.git(["count-objects", "-v"]);
    let before = objects();
    assert_eq!(said(&repo, &rescue), [("a".to_owned(), 'A', Some(true))]);
    assert_eq!(objects(), before);
}

#[test]
fn a_rescue_in_an_older_format_does_not_record_untracked_files() {
    let fixture = Fixture::new();
    let base = fixture.git(["rev-parse", "HEAD"]);
    fixture.write("new", "x");
    let message = format!("old\n\nRekindle-Rescue-Head: {base}\n");
    fixture.git(["add", "new"]);
    fixture.git(["commit", "--quiet", "-m", &message]);
    fixture.git(["update-ref", "refs/rekindle/rescue/w/t/1", "HEAD"]);
    let rescue = fixture.repo().rescues().unwrap().remove(0);
    assert_eq!((rescue.staged, &rescue.worktree), (Staged::Untold, &None));
    let expected = [("new".to_owned(), 'A', None)];
    assert_eq!(said(&fixture.repo(), &rescue), expected);
}

#[test]
fn commits_that_only_a_rescue_has_are_listed_newest_first() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    fixture.git(["checkout", "--quiet", "--detach"]);
    for name in ["one", "two", "three"] {
        fixture.commit_all(name);
    }
    let rescue = repo.rescue("w", "t").unwrap().unwrap();
    assert_eq!(said(&repo, &rescue), []);
    let head = rescue.head.unwrap();
    let subjects = |most| -> Vec<String> {
        let commits = repo.log_of_own(&head, most).unwrap();
        commits.into_iter().map(|commit| commit.subject).collect()
    };
    assert_eq!(subjects(9), ["three", "two", "one"]);
    assert_eq!(subjects(2), ["three", "two"]);
    fixture.git(["tag", "kept", "HEAD~1"]);
    assert_eq!(subjects(9), ["three"]);
}
