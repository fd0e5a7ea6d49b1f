//! Work that an agent had finished when everything was killed: it is checked and delivered, and no agent
//! is started for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};

use rekindle_testkit::repository::{Project, kill, run_words, text};

use crate::assert_done;

/// A run whose check waits, the first time, after the agent has ended.
struct Stage {
    project: Project,
    gate: PathBuf,
    agent: String,
    check: String,
}

impl Stage {
    fn new() -> Self {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A");
        let beside = |name: &str| project.path().join(name);
        let gate = beside("gate");
        let agent = format!(
            "cat > /dev/null; echo x >> {}; echo done > A.txt",
            beside("begun").display()
        );
        let check = format!(
            "echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; test -e A.txt",
            gate.display()
        );
        Self {
            project,
            gate,
            agent,
            check,
        }
    }

    /// Starts the run and waits until the check is at work.
    fn start(&self, more: &[&str]) -> Child {
        let mut words = run_words(&self.agent).to_vec();
        words.extend(["--verify", &self.check]);
        words.extend(more);
        let run = self.project.command(&words).spawn().unwrap();
        wait_until(|| self.gate.with_extension("in").exists());
        run
    }

    /// Starts the run, kills everything while the check is at work, and lets the next check pass.
    fn cut_short(&self, more: &[&str]) {
        let mut run = self.start(more);
        kill(run.id(), "KILL");
        run.wait().unwrap();
        wait_until(|| {
            let left = self.project.processes();
            for pid in left.keys() {
                kill(*pid, "KILL");
            }
            left.is_empty()
        });
        self.open();
    }

    fn open(&self) {
        fs::write(&self.gate, "").unwrap();
    }

    fn resume(&self, more: &[&str]) -> Output {
        let words = ["resume", "--yes", "--agent-cmd", &self.agent];
        self.project.rekindle(&[&words[..], more].concat())
    }

    /// Returns how often the agent was started.
    fn n_begun(&self) -> usize {
        let begun = fs::read_to_string(self.project.path().join("begun")).unwrap();
        begun.lines().count()
    }

    fn log(&self) -> PathBuf {
        let mut open = vec![self.project.path().join(".agent-memory/runs")];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                let entries = fs::read_dir(&path).unwrap();
                open.extend(entries.map(|entry| entry.unwrap().path()));
            } else if path.file_name().is_some_and(|name| name == "A-1.jsonl") {
                return path;
            }
        }
        panic!("the attempt has no log");
    }
}

fn wait_until(holds: impl Fn() -> bool) {
    while !holds() {
        std::thread::yield_now();
    }
}

#[track_caller]
fn assert_says(output: &Output, wanted: &str) {
    let said = text(&output.stderr);
    assert!(said.contains(wanted), "no `{wanted}` in: {said}");
}

const GOES_ON: &str = "continue A (attempt 1): its agent has done the work; now it is checked";

#[test]
fn work_that_was_finished_when_everything_was_killed_lands_without_its_agent() {
    for more in [&[][..], &["--fresh-worktrees"]] {
        let stage = Stage::new();
        stage.cut_short(more);
        assert_eq!(stage.project.events("agent_ended", "A"), 1);
        let resumed = stage.resume(more);
        assert_done(&resumed);
        assert_says(&resumed, GOES_ON);
        assert_says(&resumed, "done: 1 of 1 task landed in 1 attempt\n");
        assert_eq!(stage.n_begun(), 1);
        assert_eq!(stage.project.landed(), [("A".to_owned(), 1)]);
        for event in ["task_claimed", "task_started", "agent_ended"] {
            assert_eq!(stage.project.events(event, "A"), 1, "{event}");
        }
    }
}

#[test]
fn an_attempt_that_starts_over_gets_a_new_agent() {
    let stage = Stage::new();
    stage.cut_short(&[]);
    assert_done(&stage.resume(&["--restart"]));
    assert_eq!(stage.n_begun(), 2);
    assert_eq!(stage.project.landed(), [("A".to_owned(), 2)]);
}

#[test]
fn a_worker_that_is_killed_in_a_check_is_followed_by_one_that_checks_again() {
    let stage = Stage::new();
    let run = stage.start(&[]);
    let processes = stage.project.processes();
    let worker = processes.iter().find(|(_, line)| line.contains(" worker "));
    kill(*worker.unwrap().0, "KILL");
    stage.open();
    let ended = run.wait_with_output().unwrap();
    assert_done(&ended);
    let lost =
        "lost A (attempt 1): its worker was killed by signal 9; the work is checked and delivered";
    assert_says(&ended, lost);
    assert_says(&ended, GOES_ON);
    assert_eq!(stage.n_begun(), 1);
}

#[test]
fn a_check_that_is_killed_is_repeated_and_its_agent_is_not() {
    let stage = Stage {
        check: "test -e \"$REKINDLE_PROJECT/killed\" || { echo > \"$REKINDLE_PROJECT/killed\"; kill -9 $$; }"
            .to_owned(),
        ..Stage::new()
    };
    let mut words = run_words(&stage.agent).to_vec();
    words.extend(["--verify", &stage.check]);
    let ended = stage.project.rekindle(&words);
    assert_done(&ended);
    assert_says(
        &ended,
        "its check was killed by signal 9; the work is checked and delivered",
    );
    assert_eq!(stage.n_begun(), 1);
}

#[test]
fn work_that_was_finished_before_the_machine_went_down_is_not_trusted() {
    let stage = Stage::new();
    stage.cut_short(&[]);
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    edit(
        &stage.log(),
        boot.trim(),
        "00000000-0000-0000-0000-000000000000",
    );
    assert_done(&stage.resume(&[]));
    assert_eq!(stage.n_begun(), 2);
}

#[test]
fn work_in_a_worktree_that_somebody_removed_is_done_again() {
    let stage = Stage::new();
    stage.cut_short(&[]);
    let worktrees = stage.project.path().join(".rekindle/worktrees");
    fs::remove_dir_all(worktrees).unwrap();
    assert_done(&stage.resume(&[]));
    assert_eq!(stage.n_begun(), 2);
}

/// Replaces a text in a file, which must have it.
fn edit(path: &Path, from: &str, to: &str) {
    let before = fs::read_to_string(path).unwrap();
    assert!(before.contains(from), "{before}");
    fs::write(path, before.replace(from, to)).unwrap();
}
