//! Nine histories, as words and as drawings: whatever happened, a report can be made of it.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use crate::BINARY;
use crate::orders::{ID, report};

const BOSS: &str = "orchestrator";

/// An event: the time of the day, who wrote it, what it is, its task, its attempt.
type Event = (&'static str, &'static str, &'static str, &'static str, u32);

/// A run of some tasks, each of which needs the one before, and its events.
fn lay_out(n_tasks: usize, events: &[Event], more: &[&str]) -> Result<Sandbox> {
    let sandbox = Sandbox::new(BINARY)?;
    let settings = json!({
        "schema": "rekindle.run-settings/1", "branch": "result", "base": "0123456789012345678901234567890123456789",
        "verify": [], "retries": 2, "timeout_seconds": 60, "title": "Nine", "plan": "plan.json", "jobs": 2,
    });
    let mut run = Run::new(ID).document("rekindle-run.json", &settings.to_string());
    for document in ["prd.md", "plan.md", "constitution.md"] {
        run = run.document(document, "# Document\n");
    }
    for n in 1..=n_tasks {
        let needs = format!("T{}", n - 1);
        let needs: &[&str] = if n > 1 { &[&needs] } else { &[] };
        run = run.task(&format!("T{n}"), &format!("Step {n}"), needs);
    }
    let begin = [(0, 1), (1, 2)].map(|(from, to)| {
        line(
            "09:00:00",
            BOSS,
            "phase_transition",
            None,
            &json!({"from_phase": from, "to_phase": to}),
        )
    });
    let events = events.iter().map(|&(at, actor, kind, task, attempt)| {
        let task = (!task.is_empty()).then_some(task);
        let details = match kind {
            "session_resumed" => json!({}),
            "usage_limited" => json!({"attempt": attempt, "until": "2026-01-19T10:00:00Z"}),
            "task_failed" => {
                json!({"attempt": attempt, "category": "verification", "error": "a check failed"})
            }
            _ => json!({"attempt": attempt}),
        };
        (actor, line(at, actor, kind, task, &details))
    });
    for (actor, line) in begin.into_iter().map(|line| (BOSS, line)).chain(events) {
        run = run.line(actor, &line);
    }
    for line in more {
        run = run.line(BOSS, line);
    }
    run.lay_out(&sandbox)?;
    if n_tasks == 0 {
        let graph = json!({"run_id": ID, "tasks": []});
        sandbox.write(run.path("task-graph.json"), graph.to_string())?;
    }
    Ok(sandbox)
}

fn line(at: &str, actor: &str, kind: &str, task: Option<&str>, details: &Value) -> String {
    json!({
        "event_type": kind, "run_id": ID, "timestamp": format!("2026-01-19T{at}Z"),
        "actor": actor, "task_id": task, "details": details,
    })
    .to_string()
}

/// Returns what a report of the scene says: story, tasks with their place in the graph, the timeline
/// without what all drawings share, and the trace.
fn told(sandbox: &Sandbox) -> Result<String> {
    let picture = report(sandbox, &["--json"])?.json()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut told = String::new();
    for sentence in picture["story"].as_array().context("story")? {
        writeln!(told, "{}", text(sentence))?;
    }
    for task in picture["tasks"].as_array().context("tasks")? {
        let place = format!("{}.{}", task["layer"], task["place"]);
        writeln!(
            told,
            "{} at {place}: {}",
            text(&task["id"]),
            text(&task["word"])
        )?;
        let attempts = task["attempts"].as_array().context("attempts")?;
        let is_over = ["done", "skipped"].contains(&text(&task["state"]).as_str());
        let is_killed = attempts.last().is_some_and(|last| last["end"] == "killed");
        ensure!(
            !(is_over && is_killed),
            "a killed attempt was forgotten: {task}"
        );
    }
    let svg = report(sandbox, &["--svg", "timeline", "-o", "-"])?;
    let svg = svg.stdout();
    let (_, body) = svg.split_once("</defs>").context("patterns")?;
    writeln!(told, "---{body}---")?;
    told.push_str(&report(sandbox, &["--trace", "-o", "-"])?.stdout());
    Ok(told)
}

macro_rules! shown {
    ($sandbox:expr) => {
        let told = told(&$sandbox)?;
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(told);
        });
    };
}

const FIRST: [Event; 4] = [
    ("09:01:00", "executor-1", "task_claimed", "T1", 1),
    ("09:10:00", "executor-1", "task_implemented", "T1", 1),
    ("09:10:05", BOSS, "task_completed", "T1", 1),
    ("09:11:00", "executor-1", "task_claimed", "T2", 1),
];

#[test]
fn calm() -> Result<()> {
    let rest = [
        ("09:20:00", "executor-1", "task_implemented", "T2", 1),
        ("09:20:05", BOSS, "task_completed", "T2", 1),
        ("09:21:00", BOSS, "run_completed", "", 0),
    ];
    shown!(lay_out(2, &[&FIRST[..], &rest].concat(), &[])?);
    Ok(())
}

#[test]
fn two_interruptions() -> Result<()> {
    let rest = [
        ("09:30:00", BOSS, "session_resumed", "", 0),
        ("09:30:01", BOSS, "attempt_interrupted", "T2", 1),
        ("09:31:00", "executor-1", "task_claimed", "T2", 2),
        ("09:35:00", "executor-1", "heartbeat", "T2", 2),
        ("10:30:00", BOSS, "session_resumed", "", 0),
        ("10:30:01", BOSS, "attempt_interrupted", "T2", 2),
        ("10:31:00", "executor-2", "task_claimed", "T2", 3),
        ("10:40:00", "executor-2", "task_implemented", "T2", 3),
        ("10:40:05", BOSS, "task_completed", "T2", 3),
        ("10:41:00", BOSS, "run_completed", "", 0),
    ];
    shown!(lay_out(2, &[&FIRST[..], &rest].concat(), &[])?);
    Ok(())
}

#[test]
fn a_usage_limit() -> Result<()> {
    let rest = [
        ("09:20:00", "executor-1", "usage_limited", "T2", 1),
        ("10:00:10", "executor-1", "task_claimed", "T2", 2),
        ("10:10:00", "executor-1", "task_failed", "T2", 2),
        ("10:11:00", "executor-1", "task_claimed", "T2", 3),
        ("10:20:00", "executor-1", "task_implemented", "T2", 3),
        ("10:20:05", BOSS, "task_completed", "T2", 3),
        ("10:21:00", BOSS, "run_completed", "", 0),
    ];
    shown!(lay_out(2, &[&FIRST[..], &rest].concat(), &[])?);
    Ok(())
}

#[test]
fn everything_killed() -> Result<()> {
    shown!(lay_out(3, &FIRST, &[])?);
    Ok(())
}

#[test]
fn a_torn_log() -> Result<()> {
    let torn = ["{\"event_type\":\"task_comp", "null", "\u{fffd}"];
    shown!(lay_out(2, &FIRST, &torn)?);
    Ok(())
}

#[test]
fn a_clock_that_went_back() -> Result<()> {
    let rest = [
        ("08:30:00", BOSS, "session_resumed", "", 0),
        ("08:31:00", "executor-1", "task_claimed", "T2", 2),
        ("08:40:00", "executor-1", "task_implemented", "T2", 2),
        ("08:40:05", BOSS, "task_completed", "T2", 2),
    ];
    shown!(lay_out(2, &[&FIRST[..], &rest].concat(), &[])?);
    Ok(())
}

#[test]
fn no_tasks() -> Result<()> {
    shown!(lay_out(0, &[], &[])?);
    Ok(())
}

#[test]
fn one_task() -> Result<()> {
    shown!(lay_out(1, &FIRST[..3], &[])?);
    Ok(())
}

/// A run of so many tasks of which most are done; one was killed and done again, one needs a person.
pub(crate) fn many(n: usize) -> Result<Sandbox> {
    let sandbox = Sandbox::new(BINARY)?;
    let started = json!({"feature_name": "Many"});
    let mut run = Run::in_execution(ID).event("09:00", "run_started", &started);
    for n in 0..n {
        let id = format!("T{n:05}");
        let needs = (n > 0).then(|| format!("T{:05}", n / 3));
        let needs: Vec<&str> = needs.as_deref().into_iter().collect();
        run = run.task(&id, &format!("Step {n} of many"), &needs);
        if n % 7 != 6 {
            run = run.task_event("09:40", "task_started", &id).task_event(
                "09:50",
                "task_completed",
                &id,
            );
        }
    }
    run = run.task_event("09:55", "task_blocked", "T00006");
    run.lay_out(&sandbox)?;
    Ok(sandbox)
}

#[test]
fn ten_thousand_tasks() -> Result<()> {
    let sandbox = many(10_000)?;
    let picture = report(&sandbox, &["--json"])?.json()?;
    let tasks = picture["tasks"].as_array().context("tasks")?;
    assert_eq!(tasks.len(), 10_000);
    assert_eq!(picture["counts"]["done"], 8572);
    // The longest way: each task needs one of a third of its number.
    let deepest = tasks.iter().filter_map(|task| task["layer"].as_u64()).max();
    assert_eq!(deepest, Some(9));
    let svg = report(&sandbox, &["--svg", "timeline", "-o", "-"])?;
    let svg = svg.stdout();
    assert_eq!(svg.matches("<g data-task=").count(), 400);
    ensure!(
        svg.contains("data-task=\"6\""),
        "the task that needs a person is left out"
    );
    ensure!(
        svg.contains("9,600 more tasks are not drawn"),
        "{}",
        svg.len()
    );
    let graph = report(&sandbox, &["--svg", "graph", "-o", "-"])?;
    ensure!(graph.stdout().contains("step 10: "), "{}", graph.stdout());
    Ok(())
}
