//! Marks that are missing although a commit proves the work, and marks of huge lists.

use rekindle_testkit::repository::{Project, WRITE};

use crate::stage::{assert_ended, project, said};
use crate::{committed, json};

const FILE: &str = "specs/001-a/tasks.md";
const TASKS: &str = "# Tasks: A\n\n- [ ] T001 first\n- [ ] T002 second\n- [ ] T003 third\n";

/// A feature whose first task has landed in a commit that could not mark it.
fn unmarked(tasks: &str) -> Project {
    let project = project();
    committed(&project, FILE, tasks);
    fs_err::write(project.path().join("a.txt"), "done\n").unwrap();
    project.git(&["add", "-A"]);
    let message =
        "[T001] first\n\nRekindle-Run: r\nRekindle-Task: T001\nRekindle-List: spec-kit:001-a\n";
    project.git(&["commit", "-qm", message]);
    project
}

#[test]
fn a_landed_commit_proves_a_task_done_even_if_it_touched_no_file_of_the_list() {
    let project = unmarked(TASKS);
    let found = json(&project, &["inspect", "spec-kit:001-a", "--json"]);
    assert_eq!(found["facts"]["states"]["T001"], "done");
    let codes = found["findings"].as_array().unwrap().iter();
    let codes: Vec<&str> = codes.map(|one| one["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"MARK_MISSING"), "{codes:?}");
}

#[test]
fn a_run_begins_with_the_missing_mark() {
    let project = unmarked(TASKS);
    let words = ["resume", "spec-kit:001-a", "--branch", "result", "--yes"];
    let ran = project.rekindle(&[&words[..], &["--agent-cmd", WRITE]].concat());
    assert_ended(&ran, 0, &["done: 2 of 2 tasks landed"]);
    let left = project.git(&["show", &format!("result:{FILE}")]);
    assert_eq!(left, TASKS.replace("[ ]", "[X]"));
    let subjects = project.git(&["log", "--format=%s", "main..result"]);
    assert_eq!(
        subjects,
        "[T003] third\n[T002] second\nMark what has landed of spec-kit:001-a\n"
    );
}

#[test]
fn in_place_and_where_nothing_else_is_left_the_mark_is_made_in_the_checkout() {
    for (tasks, flag) in [(TASKS, &["--in-place"][..]), ("- [ ] T001 first\n", &[])] {
        let project = unmarked(tasks);
        let words = ["resume", "spec-kit:001-a", "--yes", "--agent-cmd", "true"];
        let ran = project.rekindle(&[&words[..], flag].concat());
        assert_ended(&ran, 0, &[]);
        let left = fs_err::read_to_string(project.path().join(FILE)).unwrap();
        assert_eq!(left, tasks.replace("[ ]", "[X]"));
    }
}

#[test]
fn a_commit_of_a_branch_that_is_not_checked_out_marks_nothing_here() {
    let project = unmarked("- [ ] T001 first\n");
    project.git(&["branch", "elsewhere"]);
    project.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let facts = &json(&project, &["inspect", "spec-kit:001-a", "--json"])["facts"];
    assert_eq!(facts["states"]["T001"], "done", "its work is on a branch");
    let ran = project.rekindle(&["resume", "spec-kit:001-a", "--yes", "--agent-cmd", "true"]);
    said(&ran, 0);
    let left = fs_err::read_to_string(project.path().join(FILE)).unwrap();
    assert_eq!(left, "- [ ] T001 first\n");
}

#[test]
fn one_mark_in_a_list_of_100000_tasks_changes_one_byte() {
    let project = project();
    let mut text = String::from("\u{feff}# Tasks: huge\r\n\r\n");
    for n in 0..100_000 {
        let mark = if n < 99_999 { "x" } else { " " };
        text.push_str(&format!(
            "- [{mark}] T{n:06} Do the thing in src/file_{n}.rs\r\n"
        ));
    }
    committed(&project, FILE, &text);
    let words = [
        "resume",
        "spec-kit:001-a",
        "--in-place",
        "--yes",
        "--agent-cmd",
        "true",
    ];
    assert_ended(&project.rekindle(&words), 0, &[]);
    let left = fs_err::read(project.path().join(FILE)).unwrap();
    let changed = text.bytes().zip(&left).filter(|(old, new)| old != *new);
    assert_eq!((left.len(), changed.count()), (text.len(), 1));
    let end = String::from_utf8_lossy(&left[left.len() - 60..]).into_owned();
    assert!(end.contains("[X] T099999"), "{end}");
}
