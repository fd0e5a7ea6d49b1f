//! What scripts rely on: equal exit codes for equal situations, and objects instead of sentences.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files they look at"
)]

use std::fs;

use rekindle_testkit::repository::{Project, WRITE, kill, run_words, text};
use serde_json::Value;

fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_rekindle"))
}

fn object(project: &Project, arguments: &[&str]) -> Value {
    let output = project.rekindle(arguments);
    let printed = text(&output.stdout);
    serde_json::from_str(printed.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{arguments:?}: {printed}{}", text(&output.stderr)))
}

#[track_caller]
fn assert_codes(project: &Project, expected: i32, situation: &str, commands: &[&str]) {
    let codes: Vec<(&str, Option<i32>)> = commands
        .iter()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (*line, project.rekindle(&words).status.code())
        })
        .collect();
    let wanted: Vec<(&str, Option<i32>)> = commands
        .iter()
        .map(|line| (*line, Some(expected)))
        .collect();
    assert_eq!(codes, wanted, "{situation}");
}

/// The commands that are about one run.
const ABOUT_A_RUN: [&str; 11] = [
    "inspect nope",
    "plan nope",
    "resume nope --yes",
    "logs nope",
    "attach nope",
    "explain nope T1",
    "retry --run nope",
    "skip T1 --run nope",
    "cancel nope --yes",
    "stop nope",
    "checkpoints nope",
];

#[test]
fn equal_situations_have_equal_exit_codes() {
    let project = project();
    assert_codes(
        &project,
        1,
        "an unknown name where nothing is",
        &ABOUT_A_RUN,
    );
    assert_codes(
        &project,
        1,
        "nothing to be about",
        &[
            "logs",
            "attach",
            "retry --all",
            "cancel --yes",
            "stop",
            "checkpoints",
        ],
    );
    assert_codes(
        &project,
        2,
        "a word that no command knows",
        &["nope", "run", "resume --nope"],
    );
    assert_codes(
        &project,
        1,
        "a file that is not there",
        &["run nope.md --yes --agent-cmd true", "inspect --from nope"],
    );
    project.plan("A B");
    let failing = "cat > /dev/null; [ $REKINDLE_TASK = A ] || exit 1; echo x > A.txt";
    let mut arguments = run_words(failing).to_vec();
    arguments.extend(["--retries", "0"]);
    assert_eq!(project.rekindle(&arguments).status.code(), Some(1));
    assert_codes(&project, 1, "an unknown name among others", &ABOUT_A_RUN);
    assert_codes(
        &project,
        1,
        "an unknown task",
        &[
            "logs agent-memory:20 nope",
            "retry nope",
            "skip nope",
            "explain agent-memory:20 nope",
        ],
    );
    assert_codes(
        &project,
        3,
        "a question that nobody answers",
        &["cancel", "run plan.json --agent-cmd true"],
    );
    assert_codes(
        &project,
        0,
        "looking at a run that needs a person",
        &["status", "inspect", "logs", "plan", "resume --dry-run"],
    );
    assert_codes(
        &project,
        1,
        "a run that cannot go on without a person",
        &["resume --yes", "attach"],
    );
}

#[test]
fn whoever_holds_a_run_keeps_every_command_that_changes_it_away() {
    let project = project();
    project.plan("A");
    let gate = project.path().join("gate");
    let agent = format!(
        "cat > /dev/null; echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; echo x > x",
        gate.display()
    );
    let mut run = project.command(&run_words(&agent)).spawn().unwrap();
    while !gate.with_extension("in").exists() {
        std::thread::yield_now();
    }
    assert_codes(
        &project,
        4,
        "another rekindle is at work",
        &[
            "resume --yes",
            "resume",
            "cancel --yes",
            "run plan.json --branch result --yes --agent-cmd true",
        ],
    );
    assert_codes(
        &project,
        0,
        "looking meanwhile",
        &["status", "inspect", "plan", "logs"],
    );
    kill(run.id(), "INT");
    fs::write(&gate, "").unwrap();
    assert!(run.wait().unwrap().success());
}

#[test]
fn a_bad_plan_is_reported_as_objects() {
    let project = project();
    fs::write(
        project.path().join("plan.md"),
        "## T1: One\nVerfy: `true`\n\n## T1: Two\n",
    )
    .unwrap();
    let failed = object(
        &project,
        &["run", "plan.md", "--json", "--yes", "--agent-cmd", WRITE],
    );
    assert_eq!(failed["schema"], "rekindle.error/1");
    let findings = failed["error"]["findings"].as_array().unwrap();
    let codes: Vec<&str> = findings
        .iter()
        .map(|finding| finding["code"].as_str().unwrap())
        .collect();
    assert!(codes.contains(&"MISSPELT_KEY"), "{failed:#}");
    let place = findings[0]["where"].as_str().unwrap();
    assert!(place.starts_with("plan.md:"), "{failed:#}");
}

#[test]
fn one_workflow_is_inspected_alone_and_its_plan_has_agent_and_tasks() {
    let project = project();
    project.plan("A B<A");
    let failing = "cat > /dev/null; exit 1";
    for _ in 0..2 {
        let mut arguments = vec!["run", "plan.json", "--yes", "--retries", "0", "--agent-cmd"];
        arguments.push(failing);
        assert_eq!(project.rekindle(&arguments).status.code(), Some(1));
    }
    let status = object(&project, &["status", "--json"]);
    let id = status["workflows"][0]["id"].as_str().unwrap();
    let name = id.strip_prefix("agent-memory:").unwrap();
    let inspected = object(&project, &["inspect", id, "--json"]);
    let runs = inspected["facts"]["runs"].as_object().unwrap();
    assert_eq!(runs.keys().collect::<Vec<_>>(), [name]);
    let text_of = project.rekindle(&["inspect", id]);
    let other = status["workflows"][1]["id"].as_str().unwrap();
    let other = other.strip_prefix("agent-memory:").unwrap();
    assert!(
        !text(&text_of.stdout).contains(other),
        "{}",
        text(&text_of.stdout)
    );
    let plan = object(&project, &["plan", id, "--json"]);
    assert_eq!(plan["outline"]["agent"], failing);
    let tasks = plan["outline"]["tasks"].as_array().unwrap();
    let states: Vec<(&str, &str)> = tasks
        .iter()
        .map(|task| {
            (
                task["id"].as_str().unwrap(),
                task["state"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(states, [("A", "blocked"), ("B", "left")]);
}
