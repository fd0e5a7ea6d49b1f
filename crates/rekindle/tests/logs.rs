//! What agents printed is one command away, and a project is found from a folder below it.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files they look at"
)]

use std::fs;
use std::process::Output;

use rekindle_testkit::repository::{Project, text};

fn run(project: &Project, agent: &str) -> Output {
    let options = ["--yes", "--retries", "0", "--agent-cmd", agent];
    project.rekindle(&[&["run", "plan.json", "--branch", "result"][..], &options].concat())
}

fn printed(project: &Project, arguments: &[&str]) -> String {
    let output = project.rekindle(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn the_output_of_a_task_is_shown_without_naming_the_run() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    run(
        &project,
        "cat > /dev/null; echo 'working on it'; touch $REKINDLE_TASK",
    );
    assert_eq!(
        printed(&project, &["logs", "A"]),
        "A (attempt 1)\n  working on it\n"
    );
    let both = "A (attempt 1)\n  working on it\nB (attempt 1)\n  working on it\n";
    assert_eq!(printed(&project, &["logs"]), both);
    // Nobody works on it any more, so following ends.
    assert_eq!(
        printed(&project, &["logs", "B", "-f"]),
        "B | working on it\n"
    );
    let missing = project.rekindle(&["logs", "C"]);
    assert_eq!(missing.status.code(), Some(1));
    let json = printed(&project, &["logs", "A", "--json"]);
    assert!(json.contains(r#""lines":["working on it"]"#), "{json}");
}

#[test]
fn an_earlier_attempt_is_shown_by_its_number() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let agent =
        "cat > /dev/null; echo attempt $REKINDLE_ATTEMPT; touch x; [ $REKINDLE_ATTEMPT = 2 ]";
    let options = ["--yes", "--branch", "result", "--agent-cmd", agent];
    project.rekindle(&[&["run", "plan.json"][..], &options].concat());
    assert_eq!(
        printed(&project, &["logs", "A"]),
        "A (attempt 2)\n  attempt 2\n"
    );
    let first = printed(&project, &["logs", "A", "--attempt", "1"]);
    assert_eq!(first, "A (attempt 1)\n  attempt 1\n");
}

#[test]
fn a_failure_shows_the_last_lines_and_the_command_for_all_of_them() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let failed = run(
        &project,
        "cat > /dev/null; seq 1 30; echo no such table; exit 3",
    );
    let said = text(&failed.stderr);
    assert!(said.contains("  | 30\n  | no such table\n"), "{said}");
    assert!(!said.contains("  | 20\n"), "{said}");
    assert!(said.contains(" A` shows all of its output\n"), "{said}");
    let quiet = project.rekindle(&["-q", "logs", "nothing-of-that-name"]);
    assert!(
        !text(&quiet.stderr).contains("hint:"),
        "{}",
        text(&quiet.stderr)
    );
}

#[test]
fn a_command_in_a_subfolder_finds_the_project_above() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let below = project.path().join("src/deep");
    fs::create_dir_all(&below).unwrap();
    let command = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.current_dir(&below).output().unwrap()
    };
    let agent = "cat > /dev/null; touch $REKINDLE_TASK";
    let ran = command(&["run", "../../plan.json", "--yes", "--agent-cmd", agent]);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    assert!(!below.join(".agent-memory").exists());
    let listed = command(&["-a"]);
    assert!(
        text(&listed.stdout).contains("complete  1/1"),
        "{}",
        text(&listed.stdout)
    );
    let said = text(&listed.stderr);
    assert!(
        said.contains(&format!(
            "note: the project is `{}`",
            project.path().display()
        )),
        "{said}"
    );
    // A folder that is named is meant exactly.
    let named = project.rekindle(&["-C", "src", "-a"]);
    assert!(
        text(&named.stdout).starts_with("Nothing to resume"),
        "{}",
        text(&named.stdout)
    );
}
