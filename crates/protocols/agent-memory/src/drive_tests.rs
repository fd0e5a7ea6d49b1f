//! Runs a workflow from start to end with a fake agent: every plan is applied to a world in memory.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use jiff::{SignedDuration, Timestamp};
use rekindle_model::{Action, AgentTask, Ended, Intent, Plan, Report, Stop, Then};
use rekindle_world::MemoryWorld;

use super::AgentMemory;
use super::plan_tests::shown;
use super::scene_tests::{RUN, in_run, part, render};
use rekindle_protocol::{Ask, Case, Protocol};

/// A project that changes, and a clock that advances.
struct Drive {
    files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    now: Timestamp,
    /// How far the clock goes at every plan.
    tick: SignedDuration,
    /// Whether the session dies whenever an agent has ended: once before that is recorded, once after.
    dies: bool,
    n_agents: u32,
    /// The task graph that the fake agent writes.
    graph: &'static str,
    /// How each role ends, if not with success.
    fails: fn(&AgentTask) -> Option<Ended>,
    answers: Vec<&'static str>,
    trace: Vec<String>,
}

impl Drive {
    fn new(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| (in_run(RUN, path), text.as_bytes().to_vec()));
        Self {
            files: files.collect(),
            now: "2026-01-20T12:00:00Z".parse().unwrap(),
            tick: SignedDuration::from_secs(1),
            dies: false,
            n_agents: 0,
            graph: r#"{"tasks":[{"id":"T1"},{"id":"T2","dependencies":["T1"]}]}"#,
            fails: |_| None,
            answers: vec!["approve", "merged"],
            trace: Vec::new(),
        }
    }

    fn world(&self) -> MemoryWorld {
        let mut world = MemoryWorld::new("/project", self.now).folder(in_run(RUN, ""));
        for (path, contents) in &self.files {
            world = world.file(path, contents);
        }
        world
    }

    fn case(&self) -> Box<dyn Case> {
        let ask = Ask {
            name: Some(RUN.to_owned()),
            ..Ask::default()
        };
        AgentMemory.inspect(&self.world(), &ask)
    }

    fn plan(&mut self, intent: &Intent) -> Plan {
        self.now += self.tick;
        self.case()
            .plan(&self.world(), intent)
            .expect("a run is chosen")
    }

    fn write(&mut self, name: &str, text: &str) {
        self.files
            .insert(in_run(RUN, name), text.as_bytes().to_vec());
    }

    fn apply(&mut self, plan: &Plan) {
        for step in &plan.steps {
            if let Action::Append { log, record } = &step.action {
                let log = self.files.entry(log.clone()).or_default();
                log.extend_from_slice(record.as_bytes());
                log.push(b'\n');
            }
        }
        self.trace.push(shown(plan).replace('\n', "; "));
    }

    /// Does the work of a role.
    fn agent(&mut self, task: &AgentTask) -> Ended {
        if let Some(ended) = (self.fails)(task) {
            return ended;
        }
        match task.role {
            "spec-writer" => self.write("prd.md", "# PRD: x\n"),
            "planner" => self.write("plan.md", "# Implementation Plan: x\n"),
            "task-breaker" => self.write("task-graph.json", self.graph),
            "orchestrator" => self.write("constitution.md", "# x\n"),
            "cleanup" => self.write("cleanup-report.md", "# x\n"),
            "pr-prep" => self.write("pr-checklist.md", "# x\n"),
            "memory-consolidator" => self.write("summary.md", "# x\n"),
            _ => {}
        }
        Ended::Succeeded
    }

    /// Goes round until it stops, or until nobody answers.
    fn run(&mut self) -> Option<Stop> {
        let mut intent = Intent::Open;
        for _ in 0..300 {
            let plan = self.plan(&intent);
            self.apply(&plan);
            let log = plan.log;
            intent = match plan.then {
                Then::Stop(stop) => return Some(stop),
                Then::Again => Intent::GoOn { log },
                Then::Workers | Then::Check(_) => panic!("this protocol has no such plan"),
                Then::Agent(task) => {
                    let ended = self.agent(&task);
                    self.n_agents += 1;
                    let settle = Intent::Settle { log, task, ended };
                    match (self.dies, self.n_agents % 2) {
                        (false, _) => settle,
                        (true, 0) => {
                            let settled = self.plan(&settle);
                            self.apply(&settled);
                            Intent::Open
                        }
                        (true, _) => Intent::Open,
                    }
                }
                Then::Ask(question) => {
                    let said = |q: &str, a: &&str| match q {
                        crate::messages::APPROVAL => ["approve", "revise: x", "cancel"].contains(a),
                        crate::messages::ESCALATION => ["retry", "skip", "abort"].contains(a),
                        crate::messages::PULL_REQUEST => {
                            ["merged", "skip consolidation"].contains(a)
                        }
                        _ => false,
                    };
                    let place = self.answers.iter().position(|a| said(question.id, a))?;
                    Intent::Answer {
                        log,
                        question: question.id,
                        answer: self.answers.remove(place).to_owned(),
                        is_about_a_blocker: false,
                    }
                }
            };
        }
        panic!("it goes round for ever:\n{}", self.trace.join("\n"))
    }

    fn fact(&self, path: &str) -> String {
        render(part(&self.case().assessment().facts, path))
    }

    fn assert_complete(&mut self) {
        let stop = self.run();
        let trace = self.trace.join("\n");
        assert!(stop.is_some(), "{trace}");
        // The last session can die between the summary and its event.
        let outcome = self.fact("outcome");
        assert!(
            outcome == "run_completed" || self.dies && outcome == "summary.md",
            "{trace}"
        );
        assert_eq!(self.fact("next_action"), "{kind:none_run_complete}");
    }
}

fn failed() -> Ended {
    Ended::Failed {
        reason: "it broke".to_owned(),
    }
}

#[test]
fn an_empty_run_completes() {
    let mut drive = Drive::new(&[]);
    drive.assert_complete();
    let expected = [
        "append session_resumed {\"next_action\":\"create_prd\",\"phase\":0,\"tasks_done\":0,\"tasks_total\":null}; print; again",
        "agent spec-writer",
        // The document exists, so phase 1 is inferred without a transition.
        "again",
        "agent planner",
        "again",
        "agent task-breaker",
        "again",
        "ask approval",
        "append phase_transition {\"from_phase\":1,\"notes\":\"approve\",\"to_phase\":2,\"trigger\":\"user_approval\"}; again",
        "agent orchestrator",
        "again",
        "append task_started T1 {\"attempt\":1}; agent executor T1 attempt 1",
        "append task_implemented T1 {\"attempt\":1}; again",
        "agent verifier T1 attempt 1",
        "append task_verified T1 {\"attempt\":1}; append task_completed T1 {\"attempt\":1}; again",
        "append task_started T2 {\"attempt\":1}; agent executor T2 attempt 1",
        "append task_implemented T2 {\"attempt\":1}; again",
        "agent verifier T2 attempt 1",
        "append task_verified T2 {\"attempt\":1}; append task_completed T2 {\"attempt\":1}; again",
        "agent verifier",
        "append phase_transition {\"from_phase\":2,\"to_phase\":3,\"trigger\":\"all_tasks_finished\"}; again",
        "agent cleanup",
        "append cleanup_completed; again",
        "agent pr-prep",
        "again",
        "ask pull_request",
        "append phase_transition {\"from_phase\":3,\"to_phase\":4,\"trigger\":\"merged\"}; again",
        "agent memory-consolidator",
        "append run_completed {\"tasks_completed\":2,\"total_tasks\":2}; again",
    ];
    assert_eq!(drive.trace[..expected.len()], expected);
    assert_eq!(drive.trace.len(), expected.len() + 1);
    assert_eq!(drive.fact("states"), "{T1:done,T2:done}");
    assert_eq!(drive.fact("findings"), "[]");
}

#[test]
fn completes_with_a_stopped_clock_and_killed_sessions() {
    for (tick, dies) in [(0, false), (1, true), (0, true)] {
        let mut drive = Drive::new(&[]);
        drive.tick = SignedDuration::from_secs(tick);
        drive.dies = dies;
        drive.assert_complete();
        assert_eq!(drive.fact("states"), "{T1:done,T2:done}");
        assert_eq!(drive.fact("failures"), "{}");
    }
}

#[test]
fn other_kinds_of_runs_complete() {
    let bootstrap = r#"{"tasks":[{"id":"D1"},{"id":"B1"},{"id":"Q1"}]}"#;
    let base = r#"{"tasks":[{"id":"T1"}]}"#;
    let old = r#"{"type":"run_started","run_id":"20260101-0900-old-aaaa","timestamp":"2026-01-19T10:00:00Z"}"#;
    let torn =
        "{\"type\":\"run_started\",\"timestamp\":\"2026-01-19T10:00:00Z\"}\n{\"type\":\"task_sta";
    for (files, graph) in [
        // Small: a constitution and nothing else.
        (vec![("constitution.md", "x")], base),
        // Later numberings, from the first phase on and in the middle.
        (vec![("bootstrap-plan.md", "x")], bootstrap),
        (vec![("workflow-state.json", "{}")], base),
        (vec![], bootstrap),
        // A renamed folder, and a log that was torn.
        (vec![("events/a/a.jsonl", old)], base),
        (vec![("events/a/a.jsonl", torn)], base),
    ] {
        let mut drive = Drive::new(&files);
        drive.graph = graph;
        drive.assert_complete();
    }
}

#[test]
fn a_revised_plan_needs_a_new_approval() {
    let mut drive = Drive::new(&[]);
    drive.answers = vec!["revise: x", "approve", "skip consolidation"];
    drive.assert_complete();
    assert_eq!(drive.answers, Vec::<&str>::new());
    assert!(drive.trace.contains(
        &"append phase_transition {\"from_phase\":1,\"notes\":\"revise: x\",\"to_phase\":1,\"trigger\":\"user_revision\"}; agent planner".to_owned()
    ));
}

#[test]
fn a_cancelled_run_is_over() {
    let mut drive = Drive::new(&[]);
    drive.answers = vec!["cancel"];
    drive.run();
    assert_eq!(drive.fact("outcome"), "run_cancelled");
}

#[test]
fn asks_the_user_after_three_failures() {
    let executor: fn(&AgentTask) -> Option<Ended> =
        |task| (task.role == "executor" && task.attempt <= 3).then(failed);
    let verifier: fn(&AgentTask) -> Option<Ended> =
        |task| (task.role == "verifier" && task.task.is_some()).then(failed);
    for fails in [executor, verifier] {
        let mut drive = Drive::new(&[]);
        drive.fails = fails;
        assert_eq!(drive.run(), None, "nobody answers");
        assert_eq!(drive.fact("next_action"), "{kind:escalate_user,task:T1}");
        assert_eq!(drive.fact("failures"), "{T1:3}");
        assert_eq!(drive.trace.last().unwrap(), "ask escalation");

        // After the skip its dependent is blocked.
        drive.answers = vec!["skip"];
        let stop = drive.run().unwrap();
        assert_eq!(stop.reason, "every remaining task is blocked");
        assert_eq!(drive.fact("states"), "{T1:skipped,T2:blocked}");
        assert_eq!(
            drive.fact("next_action"),
            "{kind:resolve_blockers,tasks:[T2]}"
        );
    }
}

#[test]
fn a_successful_retry_continues_the_run() {
    let mut drive = Drive::new(&[]);
    drive.answers = vec!["approve", "retry", "merged"];
    drive.fails = |task| {
        let is_early = task.role == "executor" && task.attempt <= 3;
        (is_early && task.task.as_deref() == Some("T1")).then(failed)
    };
    drive.assert_complete();
    assert_eq!(drive.fact("states"), "{T1:done,T2:done}");
    assert_eq!(drive.fact("failures"), "{}");
}

#[test]
fn an_unblocked_task_continues_the_run() {
    let mut drive = Drive::new(&[("verifications/T1.md", "---\nresult: blocked\n---\n")]);
    drive.run();
    assert_eq!(drive.fact("states"), "{T1:blocked,T2:pending}");
    drive.write("verifications/T1.md", "---\nresult: passed\n---\n");
    let lifted = drive.plan(&Intent::Report(Report {
        event: "task-ready".to_owned(),
        actor: "rekindle".to_owned(),
        task: Some("T1".to_owned()),
        details: None,
    }));
    drive.apply(&lifted);
    drive.assert_complete();
}

#[test]
fn a_reopened_run_completes_again() {
    let mut drive = Drive::new(&[]);
    drive.assert_complete();
    let reopened = drive.plan(&Intent::Report(Report {
        event: "task_failed".to_owned(),
        actor: "verifier".to_owned(),
        task: Some("T2".to_owned()),
        details: None,
    }));
    drive.apply(&reopened);
    assert_eq!(drive.fact("complete"), "false");
    assert_eq!(drive.fact("next_action"), "{kind:run_consolidation}");
    drive.assert_complete();
}
