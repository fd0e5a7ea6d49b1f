//! The crowded project: 1,000 runs of ten tasks each, with five documents and five logs of ten events.

use std::io;
use std::path::Path;

use super::dialect::{
    Blanks, Dialect, Head, Payload, Run, Seconds, Value, Words, document, task_graph,
};
use super::generate::{Instant, Random, Recipe};

pub(super) const RECIPE: Recipe = Recipe {
    name: "overview",
    sources: &[
        include_str!("overview_project.rs"),
        include_str!("dialect.rs"),
    ],
    make,
};

pub(super) const N_RUNS: u64 = 1_000;
const N_TASKS: u64 = 10;
const N_EVENTS_A_LOG: u64 = 10;
/// 2026-01-05T09:00:00Z; a run begins every hour.
const BEGIN: u64 = 1_767_603_600;
const HOUR: u64 = 3600;

/// The last one has the last word, so that a run that ends stays ended.
const ACTORS: [&str; 5] = [
    "executor-1",
    "executor-2",
    "executor-3",
    "verifier",
    "orchestrator",
];

const DOCUMENTS: [&str; 4] = ["prd.md", "plan.md", "constitution.md", "discovery-notes.md"];

const DIALECT: Dialect = Dialect {
    kind_key: "event_type",
    words: Words::Underscores,
    blanks: Blanks::One,
    payload: Payload::Details,
    seconds: Seconds::Whole,
    run: Run::Named,
};

/// Returns the time at which the project is to be looked at, soon after its last event.
pub(super) fn now() -> String {
    Instant(BEGIN + (N_RUNS + 1) * HOUR).long()
}

fn make(project: &Path) -> io::Result<String> {
    let mut random = Random::new(20_260_106);
    for number in 0..N_RUNS {
        run(project, number, &mut random)?;
    }
    // Every tenth run is over.
    Ok((N_RUNS - N_RUNS / 10).to_string())
}

fn run(project: &Path, number: u64, random: &mut Random) -> io::Result<()> {
    let begin = Instant(BEGIN + number * HOUR);
    let id = format!("{}-feature-{number}-r{:03}", begin.short(), number % 1000);
    let folder = project.join(".agent-memory/runs").join(&id);
    let ids: Vec<String> = (1..=N_TASKS).map(|task| format!("T{task:03}")).collect();
    std::fs::create_dir_all(folder.join("tasks"))?;
    for name in DOCUMENTS {
        let text = document(
            &id,
            "agentic-planner",
            begin,
            &format!("# Feature {number}"),
        );
        std::fs::write(folder.join(name), text)?;
    }
    let contract = document(&id, "task-breaker", begin, "## Task: T001");
    std::fs::write(folder.join("tasks/T001.md"), contract)?;
    std::fs::write(folder.join("task-graph.json"), task_graph(&id, begin, &ids))?;
    for (place, actor) in (0..).zip(ACTORS) {
        let mut log = String::new();
        for event in 0..N_EVENTS_A_LOG {
            let at = Instant(begin.0 + event * 300 + place * 10);
            let task = random.pick(&ids).as_str();
            let (kind, payload) = match (actor, event) {
                ("orchestrator", 0) => ("run_started", vec![]),
                ("orchestrator", 1 | 2) => (
                    "phase_transition",
                    vec![
                        ("from_phase", Value::Number(event - 1)),
                        ("to_phase", Value::Number(event)),
                    ],
                ),
                ("orchestrator", 9) if number % 10 == 9 => ("run_completed", vec![]),
                ("verifier", _) => ("task_verified", vec![]),
                (_, 5..) => ("task_implemented", vec![]),
                (_, _) => ("task_started", vec![]),
            };
            let head = Head {
                kind,
                run: &id,
                at,
                actor,
                task: kind.starts_with("task_").then_some(task),
            };
            DIALECT.line(&mut log, &head, &payload);
        }
        let events = folder.join("events").join(actor);
        std::fs::create_dir_all(&events)?;
        std::fs::write(events.join(format!("{}.jsonl", begin.short())), log)?;
    }
    Ok(())
}
