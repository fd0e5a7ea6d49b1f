//! A list that is edited while a run of it is open, and what the next run begins with.

use rekindle_testkit::repository::{Project, text};

use crate::committed;
use crate::stage::{assert_ended, project, said, write};

const FILE: &str = "specs/001-a/tasks.md";
const TASKS: &str =
    "# Tasks: A\n\n- [ ] T001 first\n- [ ] T002 second\n- [ ] T003 third\n- [ ] T004 fourth\n";
/// Fails at the second task until `fixed` is there; each task says which work it saw.
const AGENT: &str = r#"cat > /dev/null; [ "$REKINDLE_TASK" = T002 ] && [ ! -e ../../../../fixed ] && exit 3; seen=$(ls T00* 2> /dev/null | tr '\n' ' '); printf %s "$seen" > "$REKINDLE_TASK""#;

/// A run that waits at the second task.
fn stopped() -> Project {
    let project = project();
    committed(&project, FILE, TASKS);
    let words = ["run", FILE, "--yes", "--retries", "0", "--agent-cmd", AGENT];
    said(&project.rekindle(&words), 1);
    write(&project, "fixed", "");
    // The list is what is shown; its run is meant.
    assert_ended(
        &project.rekindle(&["retry", "T002"]),
        0,
        &["to be tried again: T002"],
    );
    project
}

fn run(project: &Project) -> String {
    let runs = fs_err::read_dir(project.path().join(".agent-memory/runs")).unwrap();
    let mut names: Vec<String> = runs
        .map(|run| run.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names.remove(0)
}

fn branches(project: &Project) -> Vec<String> {
    let names = project.git(&[
        "branch",
        "--list",
        "--format=%(refname:short)",
        "rekindle/*",
    ]);
    names.lines().map(str::to_owned).collect()
}

#[test]
fn what_the_list_no_longer_has_is_left_out_and_what_is_new_comes_with_the_next_resume() {
    let project = stopped();
    let edited = "# Tasks: A\n\n- [ ] T001 first, in other words\n- [ ] T002 second\n- [ ] T004 fourth\n- [ ] T005 fifth\n";
    write(&project, FILE, edited);
    // The run knows its agent, so none has to be named.
    let ran = project.rekindle(&["resume", "--yes"]);
    let note = "taken over from specs/001-a/tasks.md: `T003`: left out; `T004`: needs\n";
    assert_ended(&ran, 0, &[note, "done: 3 of 4 tasks landed"]);
    let branch = branches(&project).remove(0);
    let at = |path: &str| project.git(&["show", &format!("{branch}:{path}")]);
    assert_eq!(at("T004"), "T001 T002 ", "it still waits for the others");
    let marked = TASKS.replace("[ ]", "[X]").replace("[X] T003", "[ ] T003");
    assert_eq!(at(FILE), marked);
    let ran = project.rekindle(&["resume", "spec-kit:001-a", "--yes", "--agent-cmd", AGENT]);
    assert_ended(&ran, 0, &["done: 1 of 1 task landed"]);
    assert_eq!(
        branches(&project),
        std::slice::from_ref(&branch),
        "it goes on there"
    );
    assert_eq!(at("T005"), "T001 T002 T004 ");
    assert_eq!(at(FILE), edited.replace("[ ]", "[X]"));
}

#[test]
fn a_task_that_somebody_ticked_is_not_done_again() {
    let project = stopped();
    write(&project, FILE, &TASKS.replace("[ ] T003", "[x] T003"));
    let ran = project.rekindle(&["resume", "--yes"]);
    assert_ended(&ran, 0, &["`T003`: left out", "done: 3 of 4 tasks landed"]);
}

#[test]
fn a_list_that_was_lost_leaves_nothing_out() {
    for lost in ["", "# Tasks: A\n"] {
        let project = stopped();
        write(&project, FILE, lost);
        let ran = project.rekindle(&[
            "resume",
            "--yes",
            &format!("agent-memory:{}", run(&project)),
        ]);
        assert_ended(&ran, 0, &["done: 4 of 4 tasks landed"]);
    }
}

#[test]
fn a_merged_branch_is_not_continued_and_one_that_lacks_commits_neither() {
    for words in [
        &["merge", "-q", "result"][..],
        &["commit", "-q", "--allow-empty", "-m", "on"],
    ] {
        let project = project();
        committed(&project, FILE, "- [ ] T001 first\n");
        let resume = ["resume", "spec-kit:001-a", "--yes", "--agent-cmd", AGENT];
        said(
            &project.rekindle(&[&resume[..], &["--branch", "result"]].concat()),
            0,
        );
        project.git(words);
        let more = project.git(&["show", &format!("HEAD:{FILE}")]) + "- [ ] T005 fifth\n";
        committed(&project, FILE, &more);
        assert_ended(&project.rekindle(&resume), 0, &["done: 1 of 1 task landed"]);
        assert_eq!(branches(&project).len(), 1, "a branch of its own");
    }
}

#[test]
fn the_suggested_merge_works_although_the_documents_are_not_committed() {
    let project = project();
    fs_err::create_dir_all(project.path().join("specs/001-a")).unwrap();
    write(&project, FILE, TASKS);
    write(&project, "specs/001-a/spec.md", "# A\n\nText.\n");
    write(&project, "fixed", "");
    let ran = project.rekindle(&[
        "resume",
        "--yes",
        "--agent-cmd",
        AGENT,
        "--branch",
        "result",
    ]);
    let said = said(&ran, 0);
    let hint = "put yours aside and merge: `";
    let (_, command) = said.split_once(hint).unwrap_or_else(|| panic!("{said}"));
    let command = command.split('`').next().unwrap();
    let merged = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(project.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(merged.status.success(), "{}", text(&merged.stderr));
    let here = fs_err::read_to_string(project.path().join(FILE)).unwrap();
    assert_eq!(here, TASKS.replace("[ ]", "[X]"));
    let aside = project.git(&["show", &format!("stash@{{0}}^3:{FILE}")]);
    assert_eq!(aside, TASKS, "nothing is lost");
}
