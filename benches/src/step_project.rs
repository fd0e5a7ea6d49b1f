//! A run half done, as a project to inspect or to append to.

use std::path::Path;

use xtask::files;

use crate::dialect::{Head, OWN, document, task_graph};
use crate::generate::Instant;

/// The run's name.
pub(crate) const RUN: &str = "20260105-0900-steps-a1b2";
/// An event of average length.
pub(crate) const EVENT: &str = r#"{"event_type":"task_implemented","run_id":"20260105-0900-steps-a1b2","timestamp":"2026-01-05T09:00:00.000000Z","actor":"executor-1","task_id":"T0001","details":{"attempt":1,"commit":"5f3ed2c6b3a8d1f0e9c7b6a5948372615f4e3d2c"}}"#;
/// 2026-01-05T09:00:00Z.
const START: u64 = 1_767_603_600;
/// The events of a completed task.
const EVENTS: [&str; 4] = [
    "task_started",
    "task_implemented",
    "task_verified",
    "task_completed",
];

/// Returns the time at which rekindle reads the project.
pub(crate) fn now() -> String {
    Instant(START + 86_400).long()
}

/// Writes the run into a folder that has none.
pub(crate) fn write(project: &Path, n_tasks: u32) -> Result<(), String> {
    let folder = project.join(".agent-memory/runs").join(RUN);
    let start = Instant(START);
    let ids: Vec<String> = (1..=n_tasks).map(|task| format!("T{task:04}")).collect();
    files::write(folder.join("task-graph.json"), task_graph(RUN, start, &ids))?;
    for name in ["prd.md", "plan.md"] {
        let text = document(RUN, "planner", start, "# Steps");
        files::write(folder.join(name), text)?;
    }
    let mut log = String::new();
    let mut at = start;
    let mut add = |kind, task, payload: &str| {
        at.0 += 1;
        let head = Head {
            kind,
            run: RUN,
            at,
            actor: "orchestrator",
            task,
        };
        log.push_str(&OWN.line(&head, payload));
    };
    add("run_started", None, "");
    for phase in 1..=3 {
        let payload = format!("\"from_phase\": {}, \"to_phase\": {phase}", phase - 1);
        add("phase_transition", None, &payload);
    }
    for id in &ids[..ids.len() / 2] {
        for kind in EVENTS {
            add(kind, Some(id), "");
        }
    }
    let name = format!("events/orchestrator/{}.jsonl", start.short());
    files::write(folder.join(name), log)
}
