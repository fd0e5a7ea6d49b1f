//! The large run: 1,000 tasks, 1,000,000 events of ten actors in eighty logs.
//!
//! Every event has a second of its own, so the last event about a task decides its state, and the
//! maker can say what a reader must find.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::dialect::{
    Blanks, Dialect, Head, Payload, Run, Seconds, Value, Words, document, task_graph,
};
use super::generate::{Instant, Random, Recipe};

pub(super) const RECIPE: Recipe = Recipe {
    name: "replay",
    sources: &[
        include_str!("replay_project.rs"),
        include_str!("dialect.rs"),
    ],
    make,
};

pub(super) const N_EVENTS: u64 = 1_000_000;
const N_TASKS: usize = 1_000;
const LOGS_AN_ACTOR: u64 = 8;
const RUN: &str = "20260105-0900-bulk-migration-b3n7";
/// 2026-01-05T09:00:00Z, as the run's name says.
const BEGIN: u64 = 1_767_603_600;

/// Returns the time at which the project is to be looked at, soon after its last event.
pub(super) fn now() -> String {
    Instant(BEGIN + N_EVENTS + 3600).long()
}

/// Returns the run's logs in the order of their paths.
pub(super) fn logs(project: &Path) -> io::Result<Vec<PathBuf>> {
    let mut logs = Vec::new();
    for actor in std::fs::read_dir(run_folder(project).join("events"))? {
        for log in std::fs::read_dir(actor?.path())? {
            logs.push(log?.path());
        }
    }
    logs.sort();
    Ok(logs)
}

fn run_folder(project: &Path) -> PathBuf {
    project.join(".agent-memory/runs").join(RUN)
}

/// What an actor does.
#[derive(Debug, Clone, Copy)]
enum Role {
    Orchestrator,
    Planner,
    Executor,
    Verifier,
}

/// An actor with its share of all events, in a thousand.
type Cast = (&'static str, Role, u64, Dialect);

const UPSTREAM: Dialect = Dialect {
    kind_key: "type",
    words: Words::Underscores,
    blanks: Blanks::One,
    payload: Payload::Top,
    seconds: Seconds::Whole,
    run: Run::Named,
};
const CATALOG: Dialect = Dialect {
    kind_key: "event_type",
    words: Words::Hyphens,
    blanks: Blanks::None,
    payload: Payload::Details,
    seconds: Seconds::Whole,
    run: Run::Named,
};

const ACTORS: [Cast; 10] = [
    ("orchestrator", Role::Orchestrator, 80, UPSTREAM),
    ("planner", Role::Planner, 10, UPSTREAM),
    ("task-breaker", Role::Planner, 10, UPSTREAM),
    ("executor-1", Role::Executor, 140, CATALOG),
    (
        "executor-2",
        Role::Executor,
        140,
        Dialect {
            words: Words::Underscores,
            ..CATALOG
        },
    ),
    (
        "executor-3",
        Role::Executor,
        140,
        Dialect {
            payload: Payload::Details,
            kind_key: "event_type",
            ..UPSTREAM
        },
    ),
    (
        "executor-4",
        Role::Executor,
        140,
        Dialect {
            run: Run::Unnamed,
            ..CATALOG
        },
    ),
    (
        "executor-5",
        Role::Executor,
        140,
        Dialect {
            blanks: Blanks::One,
            seconds: Seconds::Fraction,
            ..CATALOG
        },
    ),
    ("verifier-1", Role::Verifier, 100, UPSTREAM),
    ("verifier-2", Role::Verifier, 100, CATALOG),
];

/// What a task is after an event, in the order of the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Pending,
    InProgress,
    Done,
    Failed,
    Blocked,
}

/// What happened: the type, what it says of the task, and the payload.
struct Happening {
    kind: &'static str,
    state: Option<State>,
    payload: Vec<(&'static str, Value)>,
}

fn make(project: &Path) -> io::Result<String> {
    let folder = run_folder(project);
    let ids: Vec<String> = (1..=N_TASKS)
        .map(|number| format!("T{number:04}"))
        .collect();
    documents(&folder, &ids)?;
    let mut random = Random::new(20_260_105);
    let mut actors: Vec<Actor> = ACTORS.iter().map(|cast| Actor::new(*cast)).collect();
    let mut states = vec![State::Pending; N_TASKS];
    let mut line = String::new();
    for second in 0..N_EVENTS {
        let at = Instant(BEGIN + second);
        let turn = if second < 3 { 0 } else { random.below(1000) };
        let actor = at_turn(&mut actors, turn);
        let happening = match opening(second) {
            Some(happening) => happening,
            None => actor.does(&mut random),
        };
        let task = (second >= 3).then_some(actor.task);
        if let (Some(state), Some(task)) = (happening.state, task) {
            states[task] = state;
        }
        let head = Head {
            kind: happening.kind,
            run: RUN,
            at,
            actor: actor.cast.0,
            task: task.map(|task| ids[task].as_str()),
        };
        line.clear();
        actor.cast.3.line(&mut line, &head, &happening.payload);
        actor.write(&folder, at, &line)?;
    }
    for actor in &mut actors {
        actor.close()?;
    }
    Ok(told(&states))
}

/// Says what a reader must find, in the words of `rekindle inspect --json` without blanks.
fn told(states: &[State]) -> String {
    let count = |wanted: State| states.iter().filter(|state| **state == wanted).count();
    format!(
        r#""counts":{{"pending":{},"in_progress":{},"done":{},"failed":{},"blocked":{},"skipped":0}}"#,
        count(State::Pending),
        count(State::InProgress),
        count(State::Done),
        count(State::Failed),
        count(State::Blocked),
    )
}

fn documents(folder: &Path, ids: &[String]) -> io::Result<()> {
    let begin = Instant(BEGIN);
    std::fs::create_dir_all(folder.join("tasks"))?;
    for (name, actor, heading) in [
        ("prd.md", "agentic-spec-writer", "# PRD: Bulk migration"),
        (
            "plan.md",
            "agentic-planner",
            "# Implementation Plan: Bulk migration",
        ),
        (
            "constitution.md",
            "agentic-orchestrator",
            "# Constitution: Bulk migration",
        ),
    ] {
        std::fs::write(folder.join(name), document(RUN, actor, begin, heading))?;
    }
    std::fs::write(folder.join("task-graph.json"), task_graph(RUN, begin, ids))?;
    for id in ids {
        let text = document(RUN, "task-breaker", begin, &format!("## Task: {id}"));
        std::fs::write(folder.join("tasks").join(format!("{id}.md")), text)?;
    }
    Ok(())
}

/// The first three events bring the run to its second phase.
fn opening(second: u64) -> Option<Happening> {
    let (kind, payload) = match second {
        0 => (
            "run_started",
            vec![("feature_name", text("Bulk migration"))],
        ),
        1 | 2 => (
            "phase_transition",
            vec![
                ("from_phase", Value::Number(second - 1)),
                ("to_phase", Value::Number(second)),
                ("trigger", text("user_approval")),
            ],
        ),
        _ => return None,
    };
    Some(Happening {
        kind,
        state: None,
        payload,
    })
}

fn at_turn(actors: &mut [Actor], turn: u64) -> &mut Actor {
    let mut rest = turn;
    let at = actors
        .iter()
        .position(|actor| match rest.checked_sub(actor.cast.2) {
            Some(left) => {
                rest = left;
                false
            }
            None => true,
        });
    &mut actors[at.unwrap_or(0)]
}

struct Actor {
    cast: Cast,
    task: usize,
    /// How many more events it tells of this task before it turns to another.
    n_left: u64,
    n_lines: u64,
    n_logs: u64,
    log: Option<BufWriter<File>>,
}

impl Actor {
    fn new(cast: Cast) -> Self {
        Self {
            cast,
            task: 0,
            n_left: 0,
            n_lines: 0,
            n_logs: 0,
            log: None,
        }
    }

    /// Decides what it does next: it stays with a task for a while.
    fn does(&mut self, random: &mut Random) -> Happening {
        let begins = self.n_left == 0;
        if begins {
            self.task = usize::try_from(random.below(N_TASKS as u64)).unwrap_or(0);
            self.n_left = 20 + random.below(60);
        }
        self.n_left -= 1;
        let task = self.task;
        match self.cast.1 {
            Role::Orchestrator => orchestrator(task, random),
            Role::Planner => wrote("plan", "docs/plan", "md", task, random),
            Role::Executor if begins => Happening {
                kind: "task_started",
                state: Some(State::InProgress),
                payload: vec![("lane_branch", Value::Text(format!("bulk/lane-{task:04}")))],
            },
            Role::Executor => executor(task, random),
            Role::Verifier => verifier(task, random),
        }
    }

    fn write(&mut self, folder: &Path, at: Instant, line: &str) -> io::Result<()> {
        if self.n_logs < LOGS_AN_ACTOR && self.n_lines >= self.n_logs * self.lines_a_log() {
            self.close()?;
            let folder = folder.join("events").join(self.cast.0);
            std::fs::create_dir_all(&folder)?;
            let file = File::create(folder.join(format!("{}.jsonl", at.short())))?;
            self.log = Some(BufWriter::new(file));
            self.n_logs += 1;
        }
        self.n_lines += 1;
        match &mut self.log {
            Some(log) => log.write_all(line.as_bytes()),
            None => Ok(()),
        }
    }

    fn lines_a_log(&self) -> u64 {
        N_EVENTS * self.cast.2 / 1000 / LOGS_AN_ACTOR
    }

    fn close(&mut self) -> io::Result<()> {
        self.log.take().map_or(Ok(()), |mut log| log.flush())
    }
}

fn orchestrator(task: usize, random: &mut Random) -> Happening {
    let (kind, state, payload) = match random.below(100) {
        0..30 => (
            "task_ready",
            Some(State::Pending),
            vec![("dependencies_completed", Value::Flag(true))],
        ),
        30..75 => (
            "task_completed",
            Some(State::Done),
            vec![
                ("total_attempts", Value::Number(1 + random.below(3))),
                (
                    "total_duration",
                    Value::Text(format!("{}m", random.below(90))),
                ),
            ],
        ),
        75..95 => (
            "escalation_resolved",
            None,
            vec![
                (
                    "original_escalation_id",
                    Value::Text(format!("esc-{task:04}")),
                ),
                (
                    "resolution",
                    text("keep the old column until the next release"),
                ),
                ("resolved_by", text("human")),
            ],
        ),
        _ => (
            "checkpoint_created",
            None,
            vec![("notes", text("before the next batch"))],
        ),
    };
    Happening {
        kind,
        state,
        payload,
    }
}

fn executor(task: usize, random: &mut Random) -> Happening {
    let error_type = *random.pick(&["build", "test", "file"]);
    let (kind, state, payload) = match random.below(1000) {
        0..250 => (
            "heartbeat",
            None,
            vec![("elapsed_seconds", Value::Number(random.below(3600)))],
        ),
        250..480 => {
            return wrote(
                "source",
                &format!("src/module_{task}/step"),
                "rs",
                task,
                random,
            );
        }
        480..700 => (
            "command_finished",
            None,
            vec![
                (
                    "command",
                    Value::Text(format!("cargo test -p module_{task}")),
                ),
                ("exit_code", Value::Number(random.below(2))),
                ("duration_ms", Value::Number(random.below(90_000))),
            ],
        ),
        700..780 => (
            "recovery_attempt",
            None,
            vec![
                ("error_type", text(error_type)),
                ("attempt", Value::Number(1 + random.below(3))),
                (
                    "resolution",
                    text("take the lock before the cache – not after"),
                ),
            ],
        ),
        780..840 => (
            "execution_error",
            None,
            vec![("error", compiler_error(task, random))],
        ),
        840..890 => (
            "task_claimed",
            Some(State::InProgress),
            vec![("estimated_duration", text("30m"))],
        ),
        890..960 => (
            "task_implemented",
            Some(State::InProgress),
            vec![
                ("files_modified", Value::Texts(files(task, random))),
                ("ready_for_verification", Value::Flag(true)),
            ],
        ),
        960..980 => (
            "task_failed",
            Some(State::Failed),
            vec![("error", compiler_error(task, random))],
        ),
        980..995 => (
            "task_blocked",
            None,
            vec![
                (
                    "blocker_description",
                    text("waits for the review of another task"),
                ),
                ("blocking", Value::Flag(false)),
            ],
        ),
        _ => (
            "task_blocked",
            Some(State::Blocked),
            vec![
                ("blocker_type", text("missing_requirement")),
                (
                    "blocker_description",
                    text("the format of dates is not in the PRD"),
                ),
                ("blocking", Value::Flag(true)),
            ],
        ),
    };
    Happening {
        kind,
        state,
        payload,
    }
}

fn verifier(task: usize, random: &mut Random) -> Happening {
    let (kind, state, payload) = match random.below(100) {
        0..40 => (
            "task_verified",
            Some(State::Done),
            vec![
                ("result", text("PASSED")),
                ("issues_count", Value::Number(0)),
                ("verification_summary", text("all criteria met")),
            ],
        ),
        40..50 => (
            "task_verification_failed",
            Some(State::Failed),
            vec![
                (
                    "failures",
                    Value::Texts(vec![format!("criterion {} not met", random.below(9))]),
                ),
                ("attempt", Value::Number(1 + random.below(3))),
            ],
        ),
        _ => return wrote("verification", "verifications/report", "md", task, random),
    };
    Happening {
        kind,
        state,
        payload,
    }
}

fn wrote(what: &str, path: &str, ending: &str, task: usize, random: &mut Random) -> Happening {
    Happening {
        kind: "artifact_created",
        state: None,
        payload: vec![
            ("artifact_type", text(what)),
            (
                "artifact_path",
                Value::Text(format!("{path}_{}.{ending}", task % 7)),
            ),
            ("lines_added", Value::Number(random.below(400))),
        ],
    }
}

fn files(task: usize, random: &mut Random) -> Vec<String> {
    let n_files = 1 + random.below(3);
    (0..n_files)
        .map(|file| format!("src/module_{task}/step_{file}.rs"))
        .collect()
}

fn compiler_error(task: usize, random: &mut Random) -> Value {
    let line = random.below(900);
    Value::Text(format!(
        "error[E0308]: mismatched types\n  --> src/module_{task}/mod.rs:{line}:9\n   | expected \"Row\""
    ))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}
