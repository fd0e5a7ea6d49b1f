//! `rekindle clean`, end to end: what it says it loses, and what it does with what it can not remove.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;

use rekindle_testkit::repository::{Project, text};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");

/// Makes a project whose repository ignores logs and one folder.
fn project(tasks: &str) -> Project {
    let project = Project::new(BINARY);
    fs::write(project.path().join(".gitignore"), "*.log\nbuilt/\n").unwrap();
    project.git(&["add", ".gitignore"]);
    project.git(&["commit", "-qm", "ignore"]);
    project.plan(tasks);
    project
}

/// Leaves a worktree with files that git ignores, names with control characters among them.
fn with_ignored() -> Project {
    let project = project("A");
    let agent = r#"cat > /dev/null; echo precious > result.log; mkdir built new; echo x > built/x; echo x > new/kept
        echo x > new/beside.log; echo x > "$(printf 'odd\033[31m\nname.log')"; mkdir .rekindle; echo '*' > .rekindle/.gitignore
        exit 1"#;
    let run = project.run(agent, &["--retries", "0"]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    project
}

const LOST: &str = r"not saved, because git ignores them: `built/`, `new/beside.log`, `odd\u{1b}[31m\nname.log`, `result.log`";

#[test]
fn what_git_ignores_is_named_before_it_is_lost() {
    let project = with_ignored();
    let asked = project.rekindle(&["clean"]);
    let question = text(&asked.stderr);
    assert!(
        question.contains("without files that git ignores"),
        "{question}"
    );
    assert!(question.contains(&format!("    {LOST}\n")), "{question}");
    assert!(!question.contains(".rekindle/.gitignore"), "{question}");
    let cleaned = project.rekindle(&["clean", "--yes"]);
    assert!(cleaned.status.success(), "{}", text(&cleaned.stderr));
    let note = text(&cleaned.stderr);
    assert!(note.starts_with("note: "), "{note}");
    assert!(note.contains(LOST), "{note}");
    let kept = project.shell(
        "git ls-tree -r --name-only $(git for-each-ref --format='%(refname)' refs/rekindle/rescue)",
    );
    assert!(
        text(&kept.stdout).contains("new/kept\n"),
        "{}",
        text(&kept.stdout)
    );
}

#[test]
fn a_question_about_worktrees_without_ignored_files_promises_all() {
    let project = project("A");
    project.run(
        "cat > /dev/null; echo x > half; exit 1",
        &["--retries", "0"],
    );
    let asked = project.rekindle(&["clean"]);
    let question = text(&asked.stderr);
    assert!(
        question.contains("a backup of each is made first (see `rekindle rescue list`)"),
        "{question}"
    );
    assert!(!question.contains("ignores"), "{question}");
}

#[test]
fn programs_learn_what_was_not_kept() {
    let project = with_ignored();
    let cleaned = project.rekindle(&["clean", "--yes", "--json"]);
    let told: Value = serde_json::from_slice(&cleaned.stdout).unwrap();
    assert_eq!(
        told["removed"][0]["not_kept"],
        serde_json::json!([
            "built/",
            "new/beside.log",
            "odd\\u{1b}[31m\\nname.log",
            "result.log"
        ])
    );
}

/// Leaves three worktrees, the first of them with a repository in it.
fn with_a_repository() -> Project {
    let project = project("A B C");
    let agent = r#"cat > /dev/null; echo x > half.txt
        [ "$REKINDLE_TASK" = A ] && { git init -q sub; echo precious > sub/p; }; exit 1"#;
    let run = project.run(agent, &["--retries", "0", "--jobs", "3"]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    project
}

#[test]
fn a_worktree_that_cannot_be_removed_is_reported_and_the_others_go() {
    let project = with_a_repository();
    let cleaned = project.rekindle(&["clean", "--yes"]);
    let (said, failed) = (text(&cleaned.stdout), text(&cleaned.stderr));
    assert_eq!(cleaned.status.code(), Some(1), "{failed}");
    assert_eq!(said.matches("removed ").count(), 2, "{said}");
    let left = project.git(&["worktree", "list", "--porcelain"]);
    let left: Vec<&str> = left
        .lines()
        .filter_map(|line| line.strip_prefix("worktree "))
        .collect();
    let [_, left] = left.as_slice() else {
        panic!("{left:?}");
    };
    assert!(
        failed.contains(&format!("error: {left} could not be removed: ")),
        "{failed}"
    );
    assert!(failed.contains("`sub`"), "{failed}");
    assert!(failed.contains(&format!("`mv {left}/sub DIR`")), "{failed}");
    assert_eq!(
        fs::read_to_string(format!("{left}/sub/p")).unwrap(),
        "precious\n"
    );

    let again = project.rekindle(&["clean", "--yes", "--json"]);
    assert_eq!(again.status.code(), Some(1));
    let told: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(told["removed"], serde_json::json!([]));
    assert_eq!(told["kept"], serde_json::json!([left]));
    assert_eq!(told["failed"][0]["path"], *left);

    // What the hint says helps.
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = project.shell(&format!("mv {left}/sub {}", elsewhere.path().display()));
    assert!(moved.status.success());
    let cleaned = project.rekindle(&["clean", "--yes"]);
    assert!(cleaned.status.success(), "{}", text(&cleaned.stderr));
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_worktree_whose_folder_is_gone_is_forgotten() {
    let project = with_a_repository();
    fs::remove_dir_all(project.path().join(".rekindle/worktrees")).unwrap();
    let cleaned = project.rekindle(&["clean", "--yes"]);
    assert!(cleaned.status.success(), "{}", text(&cleaned.stderr));
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_task_that_lands_without_a_repository_of_its_agents_says_so() {
    let project = project("A");
    let agent = "cat > /dev/null; git init -q sub; echo precious > sub/p; echo A > A.txt";
    let run = project.run(agent, &[]);
    let said = text(&run.stderr);
    assert!(run.status.success(), "{said}");
    assert!(
        said.contains("A landed without the nested repositories that its agent created"),
        "{said}"
    );
    assert!(said.contains("`sub`\n"), "{said}");
    let left = project.git(&["worktree", "list", "--porcelain"]);
    let left = left
        .lines()
        .filter_map(|line| line.strip_prefix("worktree "))
        .nth(1)
        .unwrap();
    assert!(said.contains(&format!("they are in `{left}`")), "{said}");
    assert_eq!(
        fs::read_to_string(format!("{left}/sub/p")).unwrap(),
        "precious\n"
    );
}
