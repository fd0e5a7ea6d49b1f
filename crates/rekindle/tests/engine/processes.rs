//! Processes of a run: time limits, interrupts, and workers that outlive their orchestrator.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rekindle_testkit::repository::{Project, WRITE, kill, run_words, text};

use crate::assert_done;

#[test]
fn when_time_is_over_the_whole_tree_of_processes_is_ended() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let agent = r#"setsid sh -c 'trap "" TERM; while :; do sleep 100; done' & trap "" TERM; while :; do sleep 100; done"#;
    let output = project.run(agent, &["--timeout", "1s", "--retries", "0"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("it took longer than 1 s"), "{said}");
    assert_eq!(project.processes(), BTreeMap::new());
}

#[test]
fn what_an_agent_leaves_running_goes_when_it_ends() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let agent = "cat > /dev/null; setsid sh -c 'while :; do sleep 100; done' & echo x > A.txt";
    assert_done(&project.run(agent, &[]));
    assert_eq!(project.processes(), BTreeMap::new());
}

#[test]
fn a_second_orchestrator_learns_who_holds_the_run() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let gate = project.path().join("gate");
    let agent = format!(
        "cat > /dev/null; echo x > x; echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done",
        gate.display()
    );
    let mut first = project.command(&run_words(&agent)).spawn().unwrap();
    wait_for(&gate.with_extension("in"));
    let second = project.rekindle(&["resume", "--yes", "--agent-cmd", WRITE]);
    assert_eq!(second.status.code(), Some(4));
    let said = text(&second.stderr);
    assert!(said.contains(&format!("process {}", first.id())), "{said}");
    fs::write(&gate, "").unwrap();
    assert!(first.wait().unwrap().success());
}

#[test]
fn a_worker_that_outlives_its_orchestrator_is_found_and_not_doubled() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let gate = project.path().join("gate");
    let agent = format!(
        "cat > /dev/null; echo x >> {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; echo done > A.txt",
        gate.display()
    );
    let mut first = project.command(&run_words(&agent)).spawn().unwrap();
    wait_for(&gate.with_extension("in"));
    kill(first.id(), "KILL");
    first.wait().unwrap();
    // Nobody holds the run, but somebody is at work on it.
    let status = project.rekindle(&["status"]);
    let at_work = "running: a worker at `A`; the rekindle that started it has ended";
    assert!(text(&status.stdout).contains(at_work), "{status:?}");
    assert!(
        text(&status.stderr).contains("`rekindle resume"),
        "{status:?}"
    );
    let mut second = project
        .command(&["resume", "--yes", "--agent-cmd", &agent])
        .spawn()
        .unwrap();
    // The new orchestrator says that it found the worker, and only then the agent may end.
    let mut said = String::new();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(second.stderr.take().unwrap()));
    while !said.contains("still running") {
        said.push_str(&lines.next().unwrap().unwrap());
    }
    fs::write(&gate, "").unwrap();
    assert!(lines.all(|line| line.is_ok()));
    assert!(second.wait().unwrap().success());
    assert_eq!(project.landed(), [("A".to_owned(), 1)]);
    assert_eq!(
        fs::read_to_string(gate.with_extension("in")).unwrap(),
        "x\n"
    );
}

#[test]
fn one_interrupt_starts_nothing_new_and_lets_the_work_end() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    let gate = project.path().join("gate");
    let agent = gated(&gate);
    let mut run = project
        .command(&[
            "run",
            "plan.json",
            "--branch",
            "result",
            "--yes",
            "--jobs",
            "1",
            "--agent-cmd",
            &agent,
        ])
        .spawn()
        .unwrap();
    wait_for(&gate.with_extension("in"));
    kill(run.id(), "INT");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(run.stderr.take().unwrap()));
    while !lines
        .next()
        .unwrap()
        .unwrap()
        .contains("no new tasks are started")
    {}
    fs::write(&gate, "").unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(run.wait().unwrap().code(), Some(1), "{rest:?}");
    assert_eq!(project.landed(), [("A".to_owned(), 1)], "{rest:?}");
    assert_done(&project.rekindle(&["resume", "--yes", "--agent-cmd", &agent]));
    assert_eq!(project.tasks(), "A B");
}

#[test]
fn two_interrupts_end_the_workers_too_and_cost_no_attempt_more_than_needed() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let gate = project.path().join("gate");
    let agent = gated(&gate);
    let mut run = project.command(&run_words(&agent)).spawn().unwrap();
    wait_for(&gate.with_extension("in"));
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(run.stderr.take().unwrap()));
    kill(run.id(), "INT");
    while !lines
        .next()
        .unwrap()
        .unwrap()
        .contains("no new tasks are started")
    {}
    kill(run.id(), "INT");
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(run.wait().unwrap().code(), Some(1), "{rest:?}");
    assert_eq!(project.processes(), BTreeMap::new(), "{rest:?}");
    fs::write(&gate, "").unwrap();
    assert_done(&project.rekindle(&["resume", "--yes", "--agent-cmd", &agent]));
    assert_eq!(project.landed(), [("A".to_owned(), 2)]);
}

/// An agent that tells by a file that it is at work, and ends when another file is there.
fn gated(gate: &Path) -> String {
    format!(
        "cat > /dev/null; echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; echo x > $REKINDLE_TASK.txt",
        gate.display()
    )
}

/// Waits until a file is there; a test that waits in vain fails by the runner's limit.
fn wait_for(path: &Path) {
    while !path.exists() {
        std::thread::yield_now();
    }
}

/// A git that was killed in a worktree leaves its locks there; nothing of the work may get stuck behind them.
#[test]
fn locks_that_a_killed_git_left_in_a_worktree_lose_no_work() {
    for lock in [
        r#": > "$(git rev-parse --git-dir)/index.lock""#,
        r#": > "$(git rev-parse --git-dir)/HEAD.lock""#,
        "git worktree lock --reason initializing .",
    ] {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A");
        let agent = format!(
            "cat > /dev/null; if [ $REKINDLE_ATTEMPT = 1 ]; then echo half > half.txt; {lock}; kill -9 $$; fi; echo x > A.txt"
        );
        assert_done(&project.run(&agent, &[]));
        let refs = project.git(&[
            "for-each-ref",
            "--format=%(refname)",
            "refs/rekindle/rescue",
        ]);
        let [rescue] = refs.lines().collect::<Vec<_>>()[..] else {
            panic!("{lock}: {refs:?}");
        };
        assert_eq!(
            project.git(&["show", &format!("{rescue}:half.txt")]),
            "half\n"
        );
        assert_eq!(project.worktrees(), [""; 0], "{lock}");
        let left = project.shell("ls -d .rekindle/worktrees/*/*.left-* 2>/dev/null");
        assert_eq!(text(&left.stdout), "", "{lock}");
    }
}
