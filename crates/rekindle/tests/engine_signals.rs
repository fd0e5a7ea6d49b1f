//! Signals at moments at which they are easily missed or misunderstood.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Child;

use rekindle_testkit::repository::{Project, WRITE, kill, text};

const RUN: [&str; 6] = [
    "run",
    "plan.json",
    "--branch",
    "result",
    "--yes",
    "--agent-cmd",
];

/// The lines that a run says on standard error.
struct Said(std::io::Lines<BufReader<std::process::ChildStderr>>);

impl Said {
    fn by(run: &mut Child) -> Self {
        Self(BufReader::new(run.stderr.take().unwrap()).lines())
    }

    /// Reads on until a line has the text, and returns all that was said until then.
    #[track_caller]
    fn until(&mut self, wanted: &str) -> String {
        let mut said = String::new();
        while !said.contains(wanted) {
            let line = self.0.next();
            let line = line.unwrap_or_else(|| panic!("no `{wanted}` in: {said}"));
            said.push_str(&line.unwrap());
            said.push('\n');
        }
        said
    }

    fn rest(self) -> String {
        self.0.map(|line| line.unwrap() + "\n").collect()
    }
}

fn wait_until(holds: impl Fn() -> bool) {
    while !holds() {
        std::thread::yield_now();
    }
}

#[test]
fn a_check_that_leaves_a_stubborn_process_does_not_make_the_orchestrator_deaf() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    let pid = project.path().join("pid");
    // B is checked a second time on the integrated tree, and there the check leaves something behind.
    let agent = r"cat > /dev/null; [ $REKINDLE_TASK = A ] || while ! git log --format=%s result | grep -q '\[A\]'; do sleep 0.05; done
        echo x > $REKINDLE_TASK.txt";
    let check = format!(
        r#"case $REKINDLE_WORKTREE in */.integration)
            setsid sh -c 'trap "" TERM; echo $$ > {0}; while :; do sleep 0.05; done' > /dev/null 2>&1 &
            while [ ! -s {0} ]; do sleep 0.05; done;; esac"#,
        pid.display()
    );
    let mut arguments = RUN.to_vec();
    arguments.extend([agent, "--jobs", "2", "--verify", &check]);
    let mut run = project.command(&arguments).spawn().unwrap();
    let mut said = Said::by(&mut run);
    wait_until(|| fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')));
    kill(run.id(), "INT");
    let before = said.until("no new tasks are started");
    assert!(!before.contains("landed B"), "{before}");
    kill(
        fs::read_to_string(&pid).unwrap().trim().parse().unwrap(),
        "KILL",
    );
    let rest = said.rest();
    assert!(rest.contains("landed B"), "{rest}");
    assert!(run.wait().unwrap().success(), "{rest}");
}

#[test]
fn a_worker_that_dies_while_all_is_being_stopped_is_left_for_a_resume() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let gate = project.path().join("gate");
    let agent = format!(
        "cat > /dev/null; echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; echo x > x",
        gate.display()
    );
    let mut arguments = RUN.to_vec();
    arguments.push(&agent);
    let mut run = project.command(&arguments).spawn().unwrap();
    let mut said = Said::by(&mut run);
    wait_until(|| gate.with_extension("in").exists());
    kill(run.id(), "INT");
    said.until("no new tasks are started");
    let workers = project.processes();
    let (worker, _) = workers
        .iter()
        .find(|(_, line)| line.contains(" worker "))
        .unwrap();
    kill(*worker, "KILL");
    let rest = said.rest();
    assert!(
        rest.contains(
            "A (attempt 1): its worker was killed by signal 9; `rekindle resume` tries the task again"
        ),
        "{rest}"
    );
    assert_eq!(run.wait().unwrap().code(), Some(1));
    assert_eq!(project.events("attempt_interrupted", "A"), 0);
}

#[test]
fn two_interrupts_at_the_moment_of_a_workers_start_leave_nothing_running() {
    for pause in 0..6_u32 {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A B");
        let mut arguments = RUN.to_vec();
        arguments.push("cat > /dev/null; while :; do sleep 0.05; done");
        let mut run = project.command(&arguments).spawn().unwrap();
        let mut said = Said::by(&mut run);
        said.until("start A");
        // Each round comes a little later in the worker's first moments; none of them is awaited.
        for _ in 0..pause * 20 {
            std::thread::yield_now();
        }
        kill(run.id(), "INT");
        said.until("no new tasks are started");
        kill(run.id(), "INT");
        let rest = said.rest();
        assert_eq!(run.wait().unwrap().code(), Some(1), "{rest}");
        assert!(!rest.contains("the task is tried again"), "{rest}");
        wait_until(|| {
            !project
                .processes()
                .values()
                .any(|line| line.contains("git"))
        });
        assert_eq!(project.processes(), BTreeMap::new(), "{rest}");
        let resumed = project.rekindle(&["resume", "--yes", "--agent-cmd", WRITE]);
        assert!(resumed.status.success(), "{}", text(&resumed.stderr));
        assert_eq!(project.landed().len(), 2);
    }
}
