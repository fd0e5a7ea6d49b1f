//! An agent that does nothing, and says that it is done.

use rekindle_testkit::repository::WRITE;

use crate::stage::{assert_ended, project, said, write};

const RUN: [&str; 8] = [
    "run",
    "plan.md",
    "--branch",
    "result",
    "--yes",
    "--retries",
    "0",
    "--agent-cmd",
];

/// An agent that works on the first task and only talks about the second.
const TALKER: &str =
    r#"cat > /dev/null; if [ "$REKINDLE_TASK" = T1 ]; then echo x > T1; else echo All good.; fi"#;

#[test]
fn an_attempt_that_only_talks_has_failed_with_its_last_words_and_what_helps() {
    let project = project();
    write(&project, "plan.md", "## T1: a\n## T2: b\n");
    let ran = project.rekindle(&[&RUN[..], &[TALKER]].concat());
    assert_ended(
        &ran,
        1,
        &[
            "blocked T2: it failed once: it changed nothing; its last words: All good.; if nothing has to be changed, say `Allow-Empty: yes` below it in the plan\n",
        ],
    );
    assert_eq!(project.tasks(), "T1");
}

#[test]
fn a_check_that_passes_or_leaves_files_does_not_hide_that_nothing_was_done() {
    for check in ["true", "touch built", "exit 1"] {
        let project = project();
        write(&project, "plan.md", "## T1: a\n## T2: b\n");
        let more = [TALKER, "--verify", check];
        let ran = project.rekindle(&[&RUN[..], &more].concat());
        let said = said(&ran, 1);
        let is_named = said.contains("failed T2 (attempt 1): it changed nothing; its last words");
        assert!(is_named, "{check}: {said}");
        let landed = if check == "exit 1" { "" } else { "T1" };
        assert_eq!(project.tasks(), landed, "{check}");
    }
}

#[test]
fn a_task_that_is_allowed_to_change_nothing_lands() {
    for (name, plan) in [
        ("plan.md", "## T1: a\n## T2: look at it\nAllow-Empty: yes\n"),
        (
            "plan.json",
            r#"{"tasks":[{"id":"T1"},{"id":"T2","allow_empty":true}]}"#,
        ),
    ] {
        let project = project();
        write(&project, name, plan);
        let mut words = RUN;
        words[1] = name;
        let ran = project.rekindle(&[&words[..], &[TALKER]].concat());
        assert_ended(&ran, 0, &["landed T2 as ", "nothing changed in T2\n"]);
        assert_eq!(project.landed().len(), 2, "{name}");
    }
}

#[test]
fn the_prompt_says_that_something_has_to_change_and_the_next_attempt_why_the_last_failed() {
    let project = project();
    write(
        &project,
        "plan.md",
        "## T1: a\n## T2: b\nAllow-Empty: yes\n",
    );
    let agent = r#"cat > .prompt; cp .prompt "$PWD/../../../../seen-$REKINDLE_TASK-$REKINDLE_ATTEMPT"; rm .prompt"#;
    let ran = project.rekindle(&[
        "run",
        "plan.md",
        "--branch",
        "result",
        "--yes",
        "--retries",
        "1",
        "--agent-cmd",
        agent,
    ]);
    said(&ran, 1);
    let seen = |name: &str| fs_err::read_to_string(project.path().join(name)).unwrap();
    let demand = "An attempt that changes no file counts as failed.";
    assert!(seen("seen-T1-1").contains(demand));
    assert!(!seen("seen-T2-1").contains(demand));
    let second = seen("seen-T1-2");
    assert!(second.contains("it changed nothing"), "{second}");
}

#[test]
fn a_task_of_a_list_lands_with_its_mark_alone_if_the_agent_made_it() {
    let project = project();
    let list = "# Tasks: shop\n\n## Phase 1: Setup\n\n- [ ] T001 Write it\n- [ ] T002 Run the tests\n- [ ] T003 Run them again\n";
    fs_err::create_dir_all(project.path().join("specs/001-shop")).unwrap();
    write(&project, "specs/001-shop/spec.md", "# Shop\n");
    write(&project, "specs/001-shop/tasks.md", list);
    project.git(&["add", "specs"]);
    project.git(&["commit", "-qm", "list"]);
    let agent = format!(
        "case $REKINDLE_TASK in T001) {WRITE};; T002) sed -i 's/\\[ \\] T002/[x] T002/' specs/001-shop/tasks.md;; *) echo Passed.;; esac"
    );
    let ran = project.rekindle(&[
        "run",
        "specs/001-shop/tasks.md",
        "--branch",
        "result",
        "--yes",
        "--retries",
        "0",
        "--agent-cmd",
        &agent,
    ]);
    assert_ended(
        &ran,
        1,
        &[
            "it changed nothing; its last words: Passed.; if nothing has to be changed, its agent marks the task in the list",
        ],
    );
    assert_eq!(project.tasks(), "T001 T002");
    let marked = project.git(&["show", "result:specs/001-shop/tasks.md"]);
    assert_eq!(
        marked,
        list.replace("[ ] T001", "[X] T001")
            .replace("[ ] T002", "[X] T002")
    );
}
