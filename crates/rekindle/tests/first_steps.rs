//! What a new user types: a run, a crash, `rekindle`, `rekindle resume`, Enter.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Output, Stdio};

use rekindle_testkit::repository::{Project, WRITE, kill, text};

fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_rekindle"))
}

/// Runs rekindle with this on standard input.
fn typed(project: &Project, arguments: &[&str], input: &str) -> Output {
    let mut command = project.command(arguments);
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that asks nothing may have ended before.
    stdin.write_all(input.as_bytes()).ok();
    drop(stdin);
    child.wait_with_output().unwrap()
}

#[track_caller]
fn assert_ended(output: &Output, code: i32, wanted: &[&str]) {
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{said}");
    for wanted in wanted {
        assert!(said.contains(wanted), "no `{wanted}` in: {said}");
    }
}

fn write(project: &Project, name: &str, contents: &str) {
    fs::write(project.path().join(name), contents).unwrap();
}

/// Writes an agent that can be executed, and returns how it is typed in the project's folder.
fn script(project: &Project, contents: &str) -> &'static str {
    let path = project.path().join("agent.sh");
    fs::write(&path, format!("#!/bin/sh\n{contents}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    "./agent.sh"
}

/// Kills every process of a project, the orchestrator first.
fn kill_everything(project: &Project) {
    while !project.processes().is_empty() {
        for pid in project.processes().keys() {
            kill(*pid, "KILL");
        }
        std::thread::yield_now();
    }
}

const PLAN: &str =
    "# Orders\n\n## T1: Add it\nVerify: `test -e T1.txt`\n\n## T2: Document it\nDepends on: T1\n";

#[test]
fn after_a_crash_resume_and_enter_go_on_without_an_option() {
    let project = project();
    write(&project, "plan.md", PLAN);
    let gate = project.path().join("gate");
    let agent = script(
        &project,
        &format!(
            "cat > /dev/null; echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; echo x > $REKINDLE_TASK.txt",
            gate.display()
        ),
    );
    let arguments = [
        "run", "plan.md", "--branch", "result", "--jobs", "1", "--yes",
    ];
    let arguments: Vec<&str> = arguments
        .into_iter()
        .chain(["--agent-cmd", agent])
        .collect();
    let mut run = project.command(&arguments).spawn().unwrap();
    while !gate.with_extension("in").exists() {
        std::thread::yield_now();
    }
    kill(run.id(), "KILL");
    run.wait().unwrap();
    kill_everything(&project);
    fs::write(&gate, "").unwrap();
    assert_ended(&project.rekindle(&[]), 0, &["`rekindle resume`"]);
    let resumed = typed(&project, &["resume"], "\n");
    assert_ended(
        &resumed,
        0,
        &[
            "Orders: 2 tasks",
            "done again  T1 (attempt 2)",
            "jobs        1",
            "branch      `result`",
            "`test -e T1.txt`",
            "Resume? [Y/n]",
        ],
    );
    assert_eq!(project.tasks(), "T1 T2");
}

#[test]
fn a_resume_uses_the_agent_of_the_run_unless_another_is_named() {
    let project = project();
    project.plan("A B");
    let failing = "cat > /dev/null; [ $REKINDLE_TASK = A ] || exit 1; echo x > A.txt";
    assert_ended(&project.run(failing, &["--retries", "0"]), 1, &[]);
    let retry = project.rekindle(&["retry", "B"]);
    assert_ended(&retry, 0, &[]);
    let again = typed(&project, &["resume"], "y\n");
    assert_ended(&again, 1, &[failing, "B"]);
    assert_ended(&project.rekindle(&["retry", "B"]), 0, &[]);
    assert_ended(
        &typed(&project, &["resume", "--agent-cmd", WRITE], "y\n"),
        0,
        &[],
    );
    assert_eq!(project.tasks(), "A B");
}

#[test]
fn a_command_in_a_record_that_this_user_never_agreed_to_needs_a_yes() {
    let project = project();
    project.plan("A");
    assert_ended(
        &project.run("cat > /dev/null; exit 1", &["--retries", "0"]),
        1,
        &[],
    );
    assert_ended(&project.rekindle(&["retry"]), 0, &[]);
    let folder = fs::read_dir(project.path().join(".agent-memory/runs")).unwrap();
    let run = folder
        .flatten()
        .next()
        .unwrap()
        .path()
        .join("rekindle-run.json");
    let record = fs::read_to_string(&run).unwrap();
    fs::write(&run, record.replace("exit 1", "touch ../../../../stolen")).unwrap();
    let resumed = typed(&project, &["resume"], "\n");
    assert_ended(
        &resumed,
        0,
        &["[y/N]", "touch ../../../../stolen", "a file of the project"],
    );
    assert!(!project.path().join("stolen").exists());
}

#[test]
fn a_question_that_nobody_answers_is_exit_3_and_a_no_is_exit_0() {
    let project = project();
    project.plan("A");
    let run = [
        "run",
        "plan.json",
        "--agent-cmd",
        "cat > /dev/null; exit 1",
        "--retries",
        "0",
    ];
    assert_ended(
        &typed(&project, &run, ""),
        3,
        &["nobody answered", "`--yes`"],
    );
    assert_ended(&typed(&project, &run, "n\n"), 0, &["nothing was changed"]);
    assert_ended(&typed(&project, &run, "\n"), 0, &["nothing was changed"]);
    assert_ended(&typed(&project, &run, "y\n"), 1, &[]);
    assert_ended(&project.rekindle(&["retry"]), 0, &[]);
    assert_ended(
        &typed(&project, &["resume"], ""),
        3,
        &["nobody answered", "`--yes`"],
    );
    assert_ended(
        &typed(&project, &["resume"], "n\n"),
        0,
        &["nothing was changed"],
    );
    let json = typed(&project, &["resume", "--json"], "");
    assert_ended(&json, 3, &["rekindle.error/1"]);
}

#[test]
fn an_agent_that_cannot_start_is_refused_before_anything_is_written() {
    let project = project();
    project.plan("A");
    write(&project, "plain.sh", "#!/bin/sh\n");
    write(&project, "odd.sh", "#!/opt/none/sh\n");
    let odd = project.path().join("odd.sh");
    fs::set_permissions(odd, fs::Permissions::from_mode(0o755)).unwrap();
    for (agent, why) in [
        (
            "no-such-agent --fast",
            "there is no program `no-such-agent`",
        ),
        ("./missing.sh", "missing.sh`"),
        ("./plain.sh", "is not executable"),
        ("./odd.sh", "needs `/opt/none/sh`"),
    ] {
        let refused = project.run(agent, &[]);
        assert_ended(&refused, 1, &["cannot start", why]);
    }
    assert!(!project.path().join(".agent-memory").exists());
}

#[test]
fn a_dry_run_shows_the_waves_and_writes_nothing() {
    let project = project();
    write(&project, "plan.md", PLAN);
    let shown = project.rekindle(&["run", "plan.md", "--agent-cmd", WRITE, "--dry-run"]);
    assert_ended(
        &shown,
        0,
        &[
            "Orders: 2 tasks",
            "wave 1\n  T1 Add it\nwave 2\n  T2 Document it (after T1)",
        ],
    );
    assert!(!project.path().join(".agent-memory").exists());
    assert!(!project.path().join(".rekindle").exists());
}

#[test]
fn a_run_of_a_plan_with_an_open_run_offers_to_resume_that_one() {
    let project = project();
    project.plan("A B");
    let stopped = "cat > /dev/null; [ $REKINDLE_TASK = A ] || exit 1; echo x > A.txt";
    assert_ended(&project.run(stopped, &["--retries", "0"]), 1, &[]);
    assert_ended(&project.rekindle(&["retry", "B"]), 0, &[]);
    let run = ["run", "plan.json", "--agent-cmd", WRITE];
    assert_ended(&typed(&project, &run, ""), 3, &["has an open run"]);
    // Enter resumes that run, and a second question shows what is left of it.
    assert_ended(&typed(&project, &run, "\ny\n"), 0, &["1 of 2 tasks left"]);
    assert_eq!(project.tasks(), "A B");
}

#[test]
fn failed_tasks_are_retried_or_skipped_all_at_once_by_what_the_hint_says() {
    let project = project();
    project.plan("A B C<B");
    let failing = "cat > /dev/null; exit 1";
    let run = project.run(failing, &["--retries", "0"]);
    assert_ended(
        &run,
        1,
        &["blocked A", "blocked B", "`rekindle retry --all --run "],
    );
    assert_ended(&project.rekindle(&["retry", "A", "X"]), 1, &["X"]);
    assert_eq!(
        project.events("task_ready", "A"),
        0,
        "nothing is recorded of a wrong call"
    );
    assert_ended(&project.rekindle(&["skip", "A"]), 0, &["skipped: A"]);
    let retried = project.rekindle(&["retry", "--all"]);
    assert_ended(&retried, 0, &["to be tried again: B", "rekindle resume"]);
    assert_ended(
        &project.rekindle(&["retry"]),
        0,
        &["no task waits for a person"],
    );
    assert_ended(&project.rekindle(&["skip"]), 2, &["no task was named"]);
    assert_ended(
        &project.rekindle(&["resume", "--yes", "--agent-cmd", WRITE]),
        0,
        &[],
    );
    assert_eq!(project.tasks(), "B C");
}

#[test]
fn a_canceled_run_is_over_and_what_landed_stays() {
    let project = project();
    project.plan("A B");
    let half = "cat > /dev/null; [ $REKINDLE_TASK = A ] || exit 1; echo x > A.txt";
    assert_ended(&project.run(half, &["--retries", "0"]), 1, &[]);
    assert_ended(&typed(&project, &["cancel"], ""), 3, &["1 of 2 tasks"]);
    assert_ended(
        &typed(&project, &["cancel"], "n\n"),
        0,
        &["nothing was changed"],
    );
    let canceled = project.rekindle(&["cancel", "--yes", "--json"]);
    assert_ended(&canceled, 0, &["rekindle.decided/1", "run_cancelled"]);
    assert_ended(&project.rekindle(&["resume"]), 0, &["Nothing to resume"]);
    assert_eq!(project.tasks(), "A");
}

#[test]
fn a_run_in_another_terminal_stops_after_its_running_tasks_or_at_once() {
    for (arguments, landed) in [(&["stop"][..], "A"), (&["stop", "--now"], "")] {
        let project = project();
        assert_ended_early(&project, arguments, landed);
    }
}

#[track_caller]
fn assert_ended_early(project: &Project, arguments: &[&str], landed: &str) {
    project.plan("A B<A");
    let gate = project.path().join("gate");
    let agent = format!(
        "cat > /dev/null; echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; echo x > $REKINDLE_TASK.txt",
        gate.display()
    );
    let words = [
        "run",
        "plan.json",
        "--branch",
        "result",
        "--yes",
        "--agent-cmd",
    ];
    let words: Vec<&str> = words.into_iter().chain([agent.as_str()]).collect();
    let mut run = project.command(&words).spawn().unwrap();
    while !gate.with_extension("in").exists() {
        std::thread::yield_now();
    }
    assert_ended(&project.rekindle(arguments), 0, &["to stop"]);
    if landed == "A" {
        fs::write(&gate, "").unwrap();
    }
    assert_eq!(run.wait().unwrap().code(), Some(1));
    assert_eq!(project.tasks(), landed);
    assert_ended(&project.rekindle(&["stop"]), 0, &["nobody is at work"]);
}

#[test]
fn an_agent_that_the_shell_cannot_run_ends_the_run_with_one_message_and_no_retry() {
    let project = project();
    project.plan("A B C");
    let run = project.run("cat > /dev/null; exec no-such-agent", &["--jobs", "1"]);
    assert_ended(
        &run,
        1,
        &["the agent cannot start: exit code 127", "no-such-agent"],
    );
    let said = text(&run.stderr);
    assert_eq!(said.matches("cannot start").count(), 1, "{said}");
    assert_eq!(project.events("task_started", "A"), 1);
    assert_eq!(project.events("task_started", "B"), 0);
    assert_ended(
        &project.rekindle(&["resume", "--yes", "--agent-cmd", WRITE]),
        0,
        &[],
    );
    assert_eq!(project.tasks(), "A B C");
}
