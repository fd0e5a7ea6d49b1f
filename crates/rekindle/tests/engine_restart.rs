//! What holds over several orchestrators: who may land, what is counted, what is confirmed.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;
use std::path::Path;
use std::process::{Child, Output};

use rekindle_testkit::repository::{Project, WRITE, kill, text};

#[track_caller]
fn assert_done(output: &Output) {
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[track_caller]
fn assert_says(output: &Output, wanted: &str) {
    let said = text(&output.stderr);
    assert!(said.contains(wanted), "no `{wanted}` in: {said}");
}

/// Starts a run on the branch `result` without waiting for it.
fn start(project: &Project, agent: &str, more: &[&str]) -> Child {
    let mut arguments = vec!["run", "plan.json", "--branch", "result", "--yes"];
    arguments.extend(["--agent-cmd", agent]);
    arguments.extend(more);
    project.command(&arguments).spawn().unwrap()
}

/// Returns the ids of all runs, oldest first.
fn runs(project: &Project) -> Vec<String> {
    let mut found: Vec<(std::time::SystemTime, String)> =
        fs::read_dir(project.path().join(".agent-memory/runs"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|run| {
                let settings = run.path().join("rekindle-run.json");
                let made = fs::metadata(settings).unwrap().modified().unwrap();
                (made, run.file_name().to_string_lossy().into_owned())
            })
            .collect();
    found.sort();
    found.into_iter().map(|(_, id)| id).collect()
}

/// An agent that tells by a file that it is at work, and ends when another file is there.
fn gated(gate: &Path) -> String {
    format!(
        "cat > /dev/null; echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; echo x > $REKINDLE_TASK.txt",
        gate.display()
    )
}

/// Waits until something holds; a test that waits in vain fails by the runner's limit.
fn wait_until(holds: impl Fn() -> bool) {
    while !holds() {
        std::thread::yield_now();
    }
}

#[test]
fn a_branch_is_one_runs_at_a_time_and_free_when_its_holder_is_dead() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let failed = project.run(
        "cat > /dev/null; exit 1",
        &["--retries", "3", "--max-cost", "0"],
    );
    assert_eq!(failed.status.code(), Some(1));
    let first = runs(&project).remove(0);
    let gate = project.path().join("gate");
    let mut second = start(&project, &gated(&gate), &[]);
    wait_until(|| gate.with_extension("in").exists());
    let holder = format!("process {} (`run agent-memory:", second.id());
    // A third run, and a resume of the first one, would land on the same branch.
    let third = project.run(WRITE, &[]);
    assert_eq!(third.status.code(), Some(4), "{}", text(&third.stderr));
    assert_says(&third, "another run is landing on the branch `result`");
    assert_says(&third, &holder);
    assert_eq!(
        runs(&project).len(),
        2,
        "a refused run leaves nothing behind"
    );
    let resume = [
        "resume",
        &first,
        "--yes",
        "--max-cost",
        "9",
        "--agent-cmd",
        WRITE,
    ];
    let resumed = project.rekindle(&resume);
    assert_eq!(resumed.status.code(), Some(4), "{}", text(&resumed.stderr));
    assert_says(&resumed, &holder);
    kill(second.id(), "KILL");
    second.wait().unwrap();
    assert_done(&project.rekindle(&resume));
    assert_eq!(project.tasks(), "A");
}
