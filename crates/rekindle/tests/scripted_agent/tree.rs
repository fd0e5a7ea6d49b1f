//! Agents and what they start, ended as a whole: at the time limit, after success, by a person.

use std::collections::BTreeMap;
use std::time::Duration;

use rekindle_testkit::gate::Gate;
use rekindle_testkit::repository::kill;
use rekindle_testkit::running::wait_until_gone;

use crate::stage::{Ran, Stage};

#[test]
fn an_agent_that_hangs_is_ended_with_all_it_started_when_its_time_is_over() {
    // The first ends when it is asked to; the second and its grandchild have to be killed.
    let deaf = "stream claude\nwrite B.txt x\nignore-term\nfork-grandchild pid\nhang";
    let stage = Stage::new("A B", &[("A", "stream claude\nhang"), ("B", deaf)]);
    stage
        .run(&["--timeout", "1s", "--retries", "0", "--jobs", "2"])
        .stopped()
        .says(&[
            "stopped: 0 of 2 tasks landed in 2 attempts\n",
            "blocked A: it failed once: it took longer than 1 s\n",
            "blocked B: it failed once: it took longer than 1 s\n",
        ]);
    assert_eq!(stage.project.processes(), BTreeMap::new());
    assert_eq!(stage.project.landed(), []);
}

#[test]
fn a_grandchild_that_ignores_term_does_not_outlive_an_agent_that_succeeds() {
    // It holds the agent's outputs open too, which must not keep the worker waiting.
    let work = "stream claude\nfork-grandchild pid\nwrite A.txt x";
    let stage = Stage::new("A", &[("A", work)]);
    stage.run(&[]).done();
    assert_eq!(stage.tree(), "A.txt README");
    let pid = stage.note("pid").parse().unwrap();
    wait_until_gone(pid, Duration::ZERO).unwrap();
    assert_eq!(stage.project.processes(), BTreeMap::new());
}

#[test]
fn two_interrupts_end_an_agent_that_ignores_term_and_its_grandchild() {
    let stage = Stage::new("A", &[]);
    let gate = Gate::new(&stage.beside("")).unwrap();
    let knock = gate.knock();
    let work =
        format!("session s-1\nstream claude\nignore-term\nfork-grandchild pid\nrun {knock}\nhang");
    stage.script("A.1", &work);
    stage.script("A.2", "stream claude\nwrite A.txt by $SESSION");
    let running = stage.start(&["--retries", "0"]);
    gate.wait().unwrap();
    kill(running.pid(), "INT");
    running.wait_for("no new tasks are started").unwrap();
    kill(running.pid(), "INT");
    Ran::of(running)
        .stopped()
        .says(&["stopped: 0 of 1 task landed in 1 attempt\n"]);
    let pid = stage.note("pid").parse().unwrap();
    wait_until_gone(pid, Duration::ZERO).unwrap();
    assert_eq!(stage.project.processes(), BTreeMap::new());
    // It was a person's wish and no failure, so the work goes on where the agent was.
    Ran::of(stage.rekindle("resume --yes --agent scripted", &[], &[])).done();
    assert_eq!(stage.landed("A.txt"), "by s-1\n");
}
