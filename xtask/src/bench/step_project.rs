//! A run of some tasks, half of them done, as a project to look at or to append to.

use std::fs;
use std::path::Path;

use super::dialect::{
    Blanks, Dialect, Head, Payload, Run, Seconds, Value, Words, document, task_graph,
};
use super::generate::Instant;

/// The run's name.
pub(super) const RUN: &str = "20260105-0900-steps-a1b2";
/// An event of usual length.
pub(super) const EVENT: &str = r#"{"event_type":"task_implemented","run_id":"20260105-0900-steps-a1b2","timestamp":"2026-01-05T09:00:00.000000Z","actor":"executor-1","task_id":"T0001","details":{"attempt":1,"commit":"5f3ed2c6b3a8d1f0e9c7b6a5948372615f4e3d2c"}}"#;
/// 2026-01-05T09:00:00Z.
const BEGIN: u64 = 1_767_603_600;

const DIALECT: Dialect = Dialect {
    kind_key: "event_type",
    words: Words::Underscores,
    blanks: Blanks::None,
    payload: Payload::Details,
    seconds: Seconds::Whole,
    run: Run::Named,
};

/// Returns the time at which the project is to be looked at.
pub(super) fn now() -> String {
    Instant(BEGIN + 86_400).long()
}

/// Writes the run into a folder that has none.
pub(super) fn lay_out(project: &Path, n_tasks: u32) -> Result<(), String> {
    write(project, n_tasks).map_err(|e| format!("cannot make a run: {e}"))
}

fn write(project: &Path, n_tasks: u32) -> std::io::Result<()> {
    let folder = project.join(".agent-memory/runs").join(RUN);
    let begin = Instant(BEGIN);
    let ids: Vec<String> = (1..=n_tasks).map(|task| format!("T{task:04}")).collect();
    fs::create_dir_all(folder.join("events/orchestrator"))?;
    fs::write(folder.join("task-graph.json"), task_graph(RUN, begin, &ids))?;
    for name in ["prd.md", "plan.md"] {
        fs::write(
            folder.join(name),
            document(RUN, "planner", begin, "# Steps"),
        )?;
    }
    let mut log = String::new();
    let mut at = begin;
    let mut say = |kind: &'static str, task, payload: &[(&str, Value)]| {
        at.0 += 1;
        let head = Head {
            kind,
            run: RUN,
            at,
            actor: "orchestrator",
            task,
        };
        DIALECT.line(&mut log, &head, payload);
    };
    say("run_started", None, &[]);
    for (from, to) in [(0, 1), (1, 2), (2, 3)] {
        let payload = [
            ("from_phase", Value::Number(from)),
            ("to_phase", Value::Number(to)),
        ];
        say("phase_transition", None, &payload);
    }
    for id in &ids[..ids.len() / 2] {
        for kind in [
            "task_started",
            "task_implemented",
            "task_verified",
            "task_completed",
        ] {
            say(kind, Some(id), &[]);
        }
    }
    let name = format!("{}.jsonl", begin.short());
    fs::write(folder.join("events/orchestrator").join(name), log)
}
