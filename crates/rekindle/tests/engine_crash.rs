//! The engine dies at every named point, at every passing of it, and goes on.
//!
//! Needs the feature `crash-points`:
//! `cargo test -p rekindle --features crash-points --test engine_crash`.

use std::os::unix::process::ExitStatusExt as _;

use rekindle_app::ENGINE_CRASH_POINTS;
use rekindle_testkit::repository::{Project, WRITE, text};

const ABORTED: i32 = 6;

#[test]
fn a_death_at_any_point_of_the_engine_leaves_no_trace() {
    for point in ENGINE_CRASH_POINTS {
        let mut passing = 1;
        while dies_at(&format!("{point}:{passing}")) {
            passing += 1;
        }
        assert!(passing > 1, "{point} is never reached");
    }
}

/// Lets a run die, resumes it, and looks at the end. Returns whether it died.
#[expect(
    clippy::unwrap_used,
    reason = "a test whose binary can not be started fails by panicking"
)]
fn dies_at(place: &str) -> bool {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B<A C");
    let run = [
        "run",
        "plan.json",
        "--branch",
        "result",
        "--yes",
        "--agent-cmd",
        WRITE,
    ];
    let first = project
        .command(&run)
        .env("REKINDLE_CRASH_AT", place)
        .output()
        .unwrap();
    let died = first.status.signal() == Some(ABORTED);
    if died {
        let resume = ["resume", "--yes", "--agent-cmd", WRITE];
        let second = project.rekindle(&resume);
        assert!(second.status.success(), "{place}: {}", text(&second.stderr));
    } else {
        assert!(first.status.success(), "{place}: {}", text(&first.stderr));
    }
    let mut landed: Vec<String> = project.landed().into_iter().map(|(task, _)| task).collect();
    landed.sort();
    assert_eq!(landed, ["A", "B", "C"], "{place}");
    for task in landed {
        let written = project.git(&["show", &format!("result:{task}.txt")]);
        assert_eq!(written, format!("{task}\n"), "{place}");
    }
    let inspected = text(&project.rekindle(&["inspect", "--json"]).stdout);
    assert!(
        inspected.contains("\"incomplete\":[]"),
        "{place}: {inspected}"
    );
    for task in ["A", "B", "C"] {
        let log = project.events("task_completed", task);
        assert_eq!(
            log, 1,
            "{place}: {task} was said to be completed {log} times"
        );
    }
    assert!(project.processes().is_empty(), "{place}");
    died
}
