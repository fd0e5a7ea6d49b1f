//! The crowded project: 1,000 runs of ten tasks each, with five documents and five logs of ten events.

use std::path::Path;

use xtask::files;

use crate::dialect::{Dialect, Head, OWN, document, task_graph};
use crate::generate::{Instant, Random, Recipe};

pub(crate) const RECIPE: Recipe = Recipe {
    name: "overview",
    sources: &[
        include_str!("overview_project.rs"),
        include_str!("dialect.rs"),
    ],
    make,
};

pub(crate) const N_RUNS: u64 = 1_000;
const N_TASKS: u64 = 10;
const N_EVENTS_A_LOG: u64 = 10;
/// 2026-01-05T09:00:00Z; a run starts every hour.
const START: u64 = 1_767_603_600;
const HOUR: u64 = 3600;

/// The last one writes the last event, so that a completed run stays completed.
const ACTORS: [&str; 5] = [
    "executor-1",
    "executor-2",
    "executor-3",
    "verifier",
    "orchestrator",
];

const DOCUMENTS: [&str; 4] = ["prd.md", "plan.md", "constitution.md", "discovery-notes.md"];

const DIALECT: Dialect = Dialect {
    compact: false,
    ..OWN
};

/// Returns the time at which rekindle reads the project, soon after its last event.
pub(crate) fn now() -> String {
    Instant(START + (N_RUNS + 1) * HOUR).long()
}

fn make(project: &Path) -> Result<String, String> {
    let mut random = Random(20_260_106);
    for number in 0..N_RUNS {
        make_run(project, number, &mut random)?;
    }
    // Every tenth run is complete.
    Ok((N_RUNS - N_RUNS / 10).to_string())
}

fn make_run(project: &Path, number: u64, random: &mut Random) -> Result<(), String> {
    let start = Instant(START + number * HOUR);
    let run = format!("{}-feature-{number}-r{:03}", start.short(), number % 1000);
    let folder = project.join(".agent-memory/runs").join(&run);
    let ids: Vec<String> = (1..=N_TASKS).map(|task| format!("T{task:03}")).collect();
    for name in DOCUMENTS {
        let heading = format!("# Feature {number}");
        let text = document(&run, "agentic-planner", start, &heading);
        files::write(folder.join(name), text)?;
    }
    let contract = document(&run, "task-breaker", start, "## Task: T001");
    files::write(folder.join("tasks/T001.md"), contract)?;
    files::write(
        folder.join("task-graph.json"),
        task_graph(&run, start, &ids),
    )?;
    for (offset, actor) in (0..).zip(ACTORS) {
        let mut log = String::new();
        for event in 0..N_EVENTS_A_LOG {
            let task = random.pick(&ids).as_str();
            let mut payload = String::new();
            let kind = match (actor, event) {
                ("orchestrator", 0) => "run_started",
                ("orchestrator", 1 | 2) => {
                    payload = format!("\"from_phase\": {}, \"to_phase\": {event}", event - 1);
                    "phase_transition"
                }
                ("orchestrator", 9) if number % 10 == 9 => "run_completed",
                ("verifier", _) => "task_verified",
                (_, 5..) => "task_implemented",
                (_, _) => "task_started",
            };
            let head = Head {
                kind,
                run: &run,
                at: Instant(start.0 + event * 300 + offset * 10),
                actor,
                task: kind.starts_with("task_").then_some(task),
            };
            log.push_str(&DIALECT.line(&head, &payload));
        }
        let name = format!("events/{actor}/{}.jsonl", start.short());
        files::write(folder.join(name), log)?;
    }
    Ok(())
}
