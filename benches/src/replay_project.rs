//! The large run: 1,000 tasks, 1,000,000 events of ten actors in eighty logs.
//!
//! Every event has its own second, so the last event of a task decides its state, and the generator knows
//! what a reader must find.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use xtask::files;

use crate::dialect::{Dialect, Head, OWN, document, task_graph};
use crate::generate::{Instant, Random, Recipe};
use crate::replay_events::{self, Event, State};

pub(crate) const RECIPE: Recipe = Recipe {
    name: "replay",
    sources: &[
        include_str!("replay_project.rs"),
        include_str!("replay_events.rs"),
        include_str!("dialect.rs"),
    ],
    make,
};

pub(crate) const N_EVENTS: u64 = 1_000_000;
const N_TASKS: usize = 1_000;
const LOGS_AN_ACTOR: u64 = 8;
const RUN: &str = "20260105-0900-bulk-migration-b3n7";
/// 2026-01-05T09:00:00Z, as in the run's name.
const START: u64 = 1_767_603_600;

/// Returns the time at which rekindle reads the project, soon after its last event.
pub(crate) fn now() -> String {
    Instant(START + N_EVENTS + 3600).long()
}

/// Returns the run's logs, sorted.
pub(crate) fn logs(project: &Path) -> Result<Vec<PathBuf>, String> {
    files::list_all(&run_folder(project).join("events"))
}

fn run_folder(project: &Path) -> PathBuf {
    project.join(".agent-memory/runs").join(RUN)
}

const UPSTREAM: Dialect = Dialect {
    kind_key: "type",
    compact: false,
    details: false,
    ..OWN
};
const CATALOG: Dialect = Dialect {
    hyphens: true,
    ..OWN
};
const SPACED: Dialect = Dialect {
    compact: false,
    ..OWN
};
const WITHOUT_RUN: Dialect = Dialect {
    names_run: false,
    ..CATALOG
};
const WITH_FRACTIONS: Dialect = Dialect {
    compact: false,
    fractions: true,
    ..CATALOG
};

/// Names, shares of all events in a thousand, and dialects; the name says what an actor does.
const ACTORS: [(&str, u64, Dialect); 10] = [
    ("orchestrator", 80, UPSTREAM),
    ("planner", 10, UPSTREAM),
    ("task-breaker", 10, UPSTREAM),
    ("executor-1", 140, CATALOG),
    ("executor-2", 140, OWN),
    ("executor-3", 140, SPACED),
    ("executor-4", 140, WITHOUT_RUN),
    ("executor-5", 140, WITH_FRACTIONS),
    ("verifier-1", 100, UPSTREAM),
    ("verifier-2", 100, CATALOG),
];

fn make(project: &Path) -> Result<String, String> {
    let folder = run_folder(project);
    let ids: Vec<String> = (1..=N_TASKS).map(|task| format!("T{task:04}")).collect();
    write_documents(&folder, &ids)?;
    let mut random = Random(20_260_105);
    let mut actors = ACTORS.map(|(name, share, dialect)| Actor {
        name,
        share,
        dialect,
        task: 0,
        n_left: 0,
        n_lines: 0,
        log: None,
    });
    let mut states = vec![State::Pending; N_TASKS];
    for second in 0..N_EVENTS {
        let at = Instant(START + second);
        let opening = replay_events::opening(second);
        let mut turn = if opening.is_some() {
            0
        } else {
            random.below(1000)
        };
        let actor = actors.iter_mut().find(|actor| {
            let is_found = turn < actor.share;
            turn = turn.saturating_sub(actor.share);
            is_found
        });
        let actor = actor.ok_or("the shares do not add up to a thousand")?;
        let task = opening.is_none();
        let event = opening.unwrap_or_else(|| actor.next_event(&mut random));
        let task = task.then_some(actor.task);
        if let (Some(state), Some(task)) = (event.state, task) {
            states[task] = state;
        }
        let head = Head {
            kind: event.kind,
            run: RUN,
            at,
            actor: actor.name,
            task: task.map(|task| ids[task].as_str()),
        };
        let line = actor.dialect.line(&head, &event.payload);
        actor.write(&folder, at, &line)?;
    }
    for log in actors.iter_mut().filter_map(|actor| actor.log.as_mut()) {
        log.flush()
            .map_err(|e| format!("cannot write a log: {e}"))?;
    }
    let count = |wanted: State| states.iter().filter(|state| **state == wanted).count();
    Ok(format!(
        r#""counts":{{"pending":{},"in_progress":{},"done":{},"failed":{},"blocked":{},"skipped":0}}"#,
        count(State::Pending),
        count(State::InProgress),
        count(State::Done),
        count(State::Failed),
        count(State::Blocked),
    ))
}

fn write_documents(folder: &Path, ids: &[String]) -> Result<(), String> {
    let start = Instant(START);
    let graph = task_graph(RUN, start, ids);
    files::write(folder.join("task-graph.json"), graph)?;
    for (name, actor, heading) in [
        ("prd.md", "agentic-spec-writer", "# PRD"),
        ("plan.md", "agentic-planner", "# Implementation Plan"),
        ("constitution.md", "agentic-orchestrator", "# Constitution"),
    ] {
        let text = document(RUN, actor, start, &format!("{heading}: Bulk migration"));
        files::write(folder.join(name), text)?;
    }
    for id in ids {
        let text = document(RUN, "task-breaker", start, &format!("## Task: {id}"));
        files::write(folder.join(format!("tasks/{id}.md")), text)?;
    }
    Ok(())
}

struct Actor {
    name: &'static str,
    share: u64,
    dialect: Dialect,
    task: usize,
    /// How many more events it writes about this task before it takes another.
    n_left: u64,
    n_lines: u64,
    log: Option<BufWriter<File>>,
}

impl Actor {
    fn next_event(&mut self, random: &mut Random) -> Event {
        let is_new = self.n_left == 0;
        if is_new {
            self.task = usize::try_from(random.below(N_TASKS as u64)).unwrap_or(0);
            self.n_left = 20 + random.below(60);
        }
        self.n_left -= 1;
        replay_events::next(self.name, self.task, is_new, random)
    }

    /// Appends a line, and starts a new log after an eighth of all lines.
    fn write(&mut self, folder: &Path, at: Instant, line: &str) -> Result<(), String> {
        let lines_a_log = N_EVENTS * self.share / 1000 / LOGS_AN_ACTOR;
        let n_logs = self.n_lines / lines_a_log;
        let is_new = self.n_lines.is_multiple_of(lines_a_log) && n_logs < LOGS_AN_ACTOR;
        self.n_lines += 1;
        let path = folder.join(format!("events/{}/{}.jsonl", self.name, at.short()));
        if is_new {
            files::write(&path, "")?;
        }
        let mut append = || {
            if is_new && let Some(mut full) = self.log.replace(BufWriter::new(File::create(&path)?))
            {
                full.flush()?;
            }
            self.log
                .as_mut()
                .map_or(Ok(()), |log| log.write_all(line.as_bytes()))
        };
        append().map_err(|e| format!("cannot write `{}`: {e}", path.display()))
    }
}
