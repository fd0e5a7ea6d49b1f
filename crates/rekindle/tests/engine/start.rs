//! The start of a run: plans that are read or refused, the confirmation, and the branch.

use std::fs;

use rekindle_testkit::repository::{Project, WRITE, text};

use crate::assert_done;

#[test]
fn a_plan_that_cannot_be_carried_out_is_refused_with_its_lines() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A<B B<A C<X C");
    let output = project.run(WRITE, &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    for expected in [
        "plan.json:2: these tasks depend on each other in a cycle: `A`, `B` [DEPENDENCY_CYCLE]",
        "plan.json:4: `C` needs `X`, but the plan has no such task [UNKNOWN_DEPENDENCY]",
        "plan.json:5: the id `C` is already used [DUPLICATE_TASK]",
    ] {
        assert!(said.contains(expected), "{said}");
    }
    assert!(!project.path().join(".agent-memory").exists());
}

#[test]
fn ids_with_stray_blanks_are_refused_with_their_lines() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let plan =
        "{\"tasks\":[\n{\"id\":\"A\"},\n{\"id\":\" B\"},\n{\"id\":\"C\\t\"},\n{\"id\":\"  \"}]}";
    fs::write(project.path().join("plan.json"), plan).unwrap();
    let output = project.run(WRITE, &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    for line in [3, 4, 5] {
        let wanted = format!("plan.json:{line}: ");
        let found = said.lines().find(|said| said.contains(&wanted));
        assert!(
            found.is_some_and(|found| found.contains("[UNSAFE_NAME]")),
            "{line}: {said}"
        );
    }
    assert!(!said.contains("plan.json:2:"), "{said}");
    assert!(!project.path().join(".agent-memory").exists());
}

#[test]
fn a_markdown_list_is_a_plan_too() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    fs::write(project.path().join("plan.md"), "# Greeting\n\n## T1: Write it\nVerify: `test -e T1.txt`\n\n- [ ] T2 Use it\n  - depends: T1\n").unwrap();
    let output = project.rekindle(&[
        "run",
        "plan.md",
        "--branch",
        "result",
        "--yes",
        "--agent-cmd",
        WRITE,
    ]);
    assert_done(&output);
    assert_eq!(project.tasks(), "T1 T2");
    let said = text(&output.stderr);
    for expected in [
        "done: 2 of 2 tasks landed in 2 attempts\n",
        "the work is on branch `result`\n",
        "hint: merge it into your branch with `git merge result`\n",
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_checkbox_without_an_id_is_reported_with_its_line_and_a_hint() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let run = |plan: &str| {
        fs::write(project.path().join("plan.md"), plan).unwrap();
        let words = ["--branch", "result", "--yes", "--agent-cmd", WRITE];
        project.rekindle(&[&["run", "plan.md"][..], &words].concat())
    };
    let one = run("1. [ ] T1 Write it\n2. [ ] T2 Use it (depends: T1)\n3. [ ] praise it\n");
    assert_done(&one);
    assert_eq!(project.tasks(), "T1 T2");
    let said = text(&one.stderr);
    assert!(said.contains("warning[TASK_WITHOUT_ID]"), "{said}");
    assert!(said.contains("plan.md:3"), "{said}");
}

#[test]
fn a_run_that_nobody_agrees_to_changes_nothing_and_says_so() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let words = [
        "run",
        "plan.json",
        "--branch",
        "result",
        "--agent-cmd",
        WRITE,
    ];
    let asked = project.rekindle(&words);
    assert_eq!(asked.status.code(), Some(3));
    let said = text(&asked.stderr);
    assert!(said.contains("nobody answered the question"), "{said}");
    assert!(said.contains("use `--yes` to agree in advance"), "{said}");
    let object = project.rekindle(&[&words[..], &["--json"]].concat());
    assert_eq!(object.status.code(), Some(3));
    let object: serde_json::Value = serde_json::from_slice(&object.stdout).unwrap();
    assert_eq!(object["schema"], "rekindle.error/1");
    assert_eq!(object["error"]["exit"], 3);
    assert!(!project.path().join(".agent-memory").exists());
}

#[test]
fn a_branch_that_somebody_works_on_is_never_used() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let output = project.rekindle(&[
        "run",
        "plan.json",
        "--branch",
        "main",
        "--yes",
        "--agent-cmd",
        WRITE,
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("the branch `main` is checked out"));
}

#[test]
fn a_name_that_cannot_be_a_branch_leaves_nothing_behind() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    for name in [
        "a b",
        "x..y",
        "x.lock",
        "HEAD",
        "@",
        "refs/heads/x",
        "main/x",
    ] {
        let output = project.rekindle(&[
            "run",
            "plan.json",
            "--branch",
            name,
            "--yes",
            "--agent-cmd",
            WRITE,
        ]);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{name}");
        assert!(
            !project.path().join(".agent-memory").exists(),
            "{name}: {}",
            text(&output.stderr)
        );
    }
}

#[test]
fn a_task_said_to_be_done_whose_commit_is_gone_is_done_again() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    // B fails by design; what matters is that A has landed.
    let agent = "cat > /dev/null; [ $REKINDLE_TASK = A ] && echo A > A.txt";
    let output = project.run(agent, &["--jobs", "1", "--retries", "0"]);
    assert_eq!(output.status.code(), Some(1));
    project.git(&["update-ref", "refs/heads/result", "main"]);
    let id = text(&project.rekindle(&["status", "--json"]).stdout);
    let id = id
        .split("\"id\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    assert_done(&project.rekindle(&["event", &id, "task_ready", "--task", "B"]));
    let one = ["resume", "--yes", "--jobs", "1", "--agent-cmd", WRITE];
    let output = project.rekindle(&one);
    assert_done(&output);
    assert!(
        text(&output.stderr).contains("its commit is not on the branch"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(project.tasks(), "A B");
}
