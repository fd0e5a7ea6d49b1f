//! The system's clock is set back or forward between a run, a kill and a resume.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;
use std::process::Output;

use rekindle_testkit::repository::{Project, WRITE, run_words, text};

/// What the clock says at each step; the first is that of the run.
const CLOCKS: [[&str; 4]; 5] = [
    // An hour back each time.
    [
        "2026-05-04T12:00:00Z",
        "2026-05-04T11:00:00Z",
        "2026-05-04T10:00:00Z",
        "2026-05-04T09:00:00Z",
    ],
    // Months back.
    [
        "2026-05-04T12:00:00Z",
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z",
        "2025-01-01T00:00:00Z",
    ],
    // Far ahead, and back again.
    [
        "2026-05-04T12:00:00Z",
        "2031-01-01T00:00:00Z",
        "2026-05-04T13:00:00Z",
        "2026-05-04T14:00:00Z",
    ],
    // The epoch, as on a board without a battery.
    [
        "2026-05-04T12:00:00Z",
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:01Z",
        "2026-05-05T12:00:00Z",
    ],
    // It stands still.
    [
        "2026-05-04T12:00:00Z",
        "2026-05-04T12:00:00Z",
        "2026-05-04T12:00:00Z",
        "2026-05-04T12:00:00Z",
    ],
];

fn at(project: &Project, now: &str, words: &[&str]) -> Output {
    let mut command = project.command(words);
    command.env("REKINDLE_NOW", now).output().unwrap()
}

/// Returns the only run.
fn run_of(project: &Project) -> String {
    let mut runs = fs::read_dir(project.path().join(".agent-memory/runs")).unwrap();
    let run = runs.next().unwrap().unwrap();
    run.file_name().into_string().unwrap()
}

#[track_caller]
fn assert_complete(project: &Project, now: &str, tasks: usize) {
    let status = at(project, now, &["status", "--all"]);
    let said = text(&status.stdout);
    let wanted = format!("{tasks}/{tasks}");
    assert!(
        said.contains("complete") && said.contains(&wanted),
        "{now}: {said}"
    );
}

#[test]
fn a_task_that_is_opened_again_is_done_whatever_the_clock_says() {
    for clock in CLOCKS {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A B C<B");
        let all_but_b =
            r"cat > /dev/null; [ $REKINDLE_TASK != B ] || exit 3; echo x > $REKINDLE_TASK.txt";
        let mut words = run_words(all_but_b).to_vec();
        words.extend(["--retries", "0"]);
        let ran = at(&project, clock[0], &words);
        assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stderr));
        let run = run_of(&project);
        let ready = ["event", &run, "task_ready", "--task", "B"];
        assert!(at(&project, clock[1], &ready).status.success());
        let resume = ["resume", "--yes", "--agent-cmd", WRITE];
        let resumed = at(&project, clock[2], &resume);
        assert!(
            resumed.status.success(),
            "{clock:?}: {}",
            text(&resumed.stderr)
        );
        assert_eq!(project.tasks(), "A B C", "{clock:?}");
        assert_complete(&project, clock[3], 3);
    }
}

#[test]
fn a_run_that_is_killed_is_complete_after_its_resume_whatever_the_clock_says() {
    for clock in CLOCKS {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A B<A C<B");
        // The worker of B outlives its orchestrator and delivers by the old clock.
        let agent = r"cat > /dev/null; root=$PWD/../../../..
            if [ $REKINDLE_TASK = B ]; then touch $root/at-b; while [ ! -e $root/go ]; do sleep 0.02; done; fi
            echo x > $REKINDLE_TASK.txt";
        let running = project.start(&run_words(agent), &[("REKINDLE_NOW", clock[0])]);
        while !project.path().join("at-b").exists() {
            std::thread::yield_now();
        }
        drop(running);
        fs::write(project.path().join("go"), "").unwrap();
        let resume = ["resume", "--yes", "--agent-cmd", WRITE];
        let resumed = at(&project, clock[1], &resume);
        assert!(
            resumed.status.success(),
            "{clock:?}: {}",
            text(&resumed.stderr)
        );
        assert_eq!(project.tasks(), "A B C", "{clock:?}");
        assert_complete(&project, clock[2], 3);
        // A resume of a complete run finds it complete.
        let again = at(&project, clock[3], &resume);
        assert!(again.status.success(), "{clock:?}: {}", text(&again.stderr));
        assert_complete(&project, clock[3], 3);
    }
}
