//! What a run costs: every attempt counts, over all orchestrators, and silence is not nothing.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;
use std::path::Path;
use std::process::Output;

use rekindle_testkit::repository::{Project, WRITE, kill, text};

/// Makes `script` the project's agent, which speaks this stream.
fn agent(project: &Project, stream: &str, script: &str) {
    let file = project.path().join(".rekindle/agent.sh");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, format!("cat > /dev/null\n{script}")).unwrap();
    let config = format!(
        "[agent]\ndefault = \"mine\"\n[agents.mine]\ncommand = \"sh {}\"\nstream = \"{stream}\"\n",
        file.display()
    );
    fs::write(project.path().join(".rekindle/config.toml"), config).unwrap();
}

/// The last event of Claude's stream, with a cost.
fn result(is_error: bool, cost: &str) -> String {
    let subtype = if is_error {
        "error_during_execution"
    } else {
        "success"
    };
    format!(
        r#"echo '{{"type":"result","subtype":"{subtype}","is_error":{is_error},"terminal_reason":"completed","num_turns":1,"session_id":"5e5510-1","total_cost_usd":{cost},"result":"x"}}'"#
    )
}

#[track_caller]
fn assert_says(output: &Output, wanted: &str) {
    let said = text(&output.stderr);
    assert!(said.contains(wanted), "no `{wanted}` in: {said}");
}

const RUN: [&str; 6] = ["run", "plan.json", "--branch", "result", "--yes", "--jobs"];

fn run(project: &Project, more: &[&str]) -> Output {
    let mut arguments = RUN.to_vec();
    arguments.push("1");
    arguments.extend(more);
    project.rekindle(&arguments)
}

#[test]
fn failed_attempts_cost_too() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let script = format!(
        "if [ $REKINDLE_ATTEMPT = 1 ]; then {}; exit 1; fi; echo x > x; {}",
        result(true, "0.20"),
        result(false, "0.30")
    );
    agent(&project, "claude-json", &script);
    let output = run(&project, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_says(&output, "cost: $0.50\n");
}

#[test]
fn the_limit_that_a_run_was_started_with_holds_over_restarts_until_another_is_given() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    let script = format!(
        "if [ $REKINDLE_TASK = A ]; then {}; exit 1; fi; echo x > x; {}",
        result(true, "0.40"),
        result(false, "0.10")
    );
    agent(&project, "claude-json", &script);
    let output = run(&project, &["--retries", "0", "--max-cost", "0.30"]);
    assert_eq!(output.status.code(), Some(1));
    assert_says(&output, "the budget is used up");
    let again = project.rekindle(&["resume", "--yes"]);
    assert_says(&again, "the budget is used up");
    assert_says(&again, "cost: $0.40\n");
    assert_eq!(project.tasks(), "", "{}", text(&again.stderr));
    let more = project.rekindle(&["resume", "--yes", "--max-cost", "5"]);
    assert_says(&more, "cost: $0.50\n");
    assert_eq!(project.tasks(), "B", "{}", text(&more.stderr));
}

#[test]
fn what_a_stopped_or_killed_attempt_had_spent_counts() {
    for (victim, signals) in [("orchestrator", 2), ("worker", 0)] {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A");
        let gate = project.path().join("gate");
        let step = r#"echo '{"type":"step_finish","sessionID":"s1","part":{"cost":0.25,"reason":"REASON"}}'"#;
        let script = format!(
            "{}; if [ ! -e {gate} ]; then echo in > {gate}.in; while :; do sleep 0.05; done; fi; echo x > x; {}",
            step.replace("REASON", "tool-calls"),
            step.replace("REASON", "stop"),
            gate = gate.display()
        );
        agent(&project, "opencode-json", &script);
        let mut arguments = RUN.to_vec();
        arguments.push("1");
        let mut first = project.command(&arguments).spawn().unwrap();
        wait_for(&gate.with_extension("in"));
        wait_until(|| project.events("agent_cost", "A") == 1);
        fs::write(&gate, "").unwrap();
        if signals == 2 {
            let mut lines =
                std::io::BufRead::lines(std::io::BufReader::new(first.stderr.take().unwrap()));
            kill(first.id(), "INT");
            while !lines.next().unwrap().unwrap().contains("no new tasks") {}
            kill(first.id(), "INT");
            lines.for_each(drop);
            assert_eq!(first.wait().unwrap().code(), Some(1));
        } else {
            kill(first.id(), "KILL");
            first.wait().unwrap();
            for (pid, line) in project.processes() {
                if line.contains(" worker ") {
                    kill(pid, "KILL");
                }
            }
        }
        let output = project.rekindle(&["resume", "--yes"]);
        assert!(
            output.status.success(),
            "{victim}: {}",
            text(&output.stderr)
        );
        assert_says(&output, "cost: $0.75\n");
    }
}

#[test]
fn a_limit_that_cannot_hold_is_said_once_and_the_cost_is_unknown() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    let output = project.run(WRITE, &["--max-cost", "1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert_eq!(
        said.matches("does not report its cost").count(),
        1,
        "{said}"
    );
    assert_says(&output, "--agent claude");
    assert_says(&output, "cost: not reported by the agent");
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let output = project.run(WRITE, &["--json"]);
    let said = text(&output.stdout);
    assert!(
        said.contains(r#""cost_microdollars":null,"attempts_without_cost":1"#),
        "{said}"
    );
}

/// Waits until something holds; a test that waits in vain fails by the runner's limit.
fn wait_until(holds: impl Fn() -> bool) {
    while !holds() {
        std::thread::yield_now();
    }
}

fn wait_for(path: &Path) {
    wait_until(|| path.exists());
}
