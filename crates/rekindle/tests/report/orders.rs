//! The run that the reports of these tests are about: fourteen tasks, two deaths, a usage limit.
//!
//! It is the run of the picture in the guide, so its times and words are told here, not measured.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::{Value, json};

use crate::BINARY;

pub(crate) const ID: &str = "20260119-0900-orders-api-k2l3";
/// Sixteen minutes before noon, in the middle of the third life.
pub(crate) const NOW: &str = "2026-01-19T11:48:00Z";

const TASKS: [(&str, &str, &[&str]); 14] = [
    ("T001", "Schema and migrations", &[]),
    ("T002", "Money type", &[]),
    ("T003", "Order model", &["T001", "T002"]),
    ("T004", "Configuration", &[]),
    ("T005", "Repository layer", &["T001"]),
    ("T006", "HTTP endpoint", &["T003", "T005"]),
    ("T007", "Validation", &["T003"]),
    ("T008", "Pagination", &["T005"]),
    ("T009", "Auth middleware", &["T004"]),
    ("T010", "Rate limits", &["T009"]),
    ("T011", "Invoices", &["T002", "T007"]),
    ("T012", "OpenAPI document", &["T006", "T008"]),
    ("T013", "Load test", &["T008", "T010"]),
    ("T014", "Documentation", &["T011", "T012"]),
];

/// How an attempt ended, with the time of day.
enum End {
    /// Delivered, then landed.
    Landed(&'static str, &'static str),
    /// Found dead by the orchestrator that resumed.
    FoundDead(&'static str),
    Failed(&'static str, &'static str),
    Limited(&'static str),
    /// Still at work; its last heartbeat.
    Beats(&'static str),
}
use End::{Beats, Failed, FoundDead, Landed, Limited};

/// Task, attempt, beginning, end, cents.
type Attempt = (&'static str, u32, &'static str, End, u32);
/// The commit of each attempt that landed.
type Commits = BTreeMap<(String, u32), String>;

const ATTEMPTS: [Attempt; 24] = [
    ("T001", 1, "09:00", Landed("09:11", "09:12"), 41),
    ("T002", 1, "09:00", Landed("09:08", "09:09"), 33),
    ("T004", 1, "09:00", Landed("09:18", "09:19"), 52),
    ("T003", 1, "09:12", Landed("09:26", "09:27"), 47),
    ("T005", 1, "09:12", Landed("09:32", "09:33"), 66),
    ("T009", 1, "09:19", Landed("09:37", "09:38"), 58),
    ("T006", 1, "09:27", Landed("09:53", "10:13"), 71),
    ("T007", 1, "09:27", FoundDead("10:13"), 0),
    ("T008", 1, "09:33", FoundDead("10:13"), 0),
    ("T007", 2, "10:14", Landed("10:30", "10:31"), 62),
    (
        "T008",
        2,
        "10:14",
        Failed("10:24", "cargo test pagination: 1 failed"),
        44,
    ),
    ("T010", 1, "10:14", Limited("10:44"), 50),
    ("T008", 3, "10:25", Landed("10:39", "10:40"), 49),
    ("T011", 1, "10:31", Limited("10:44"), 38),
    ("T012", 1, "10:40", Limited("10:44"), 12),
    ("T010", 2, "11:00", Landed("11:16", "11:17"), 57),
    (
        "T011",
        2,
        "11:00",
        Failed(
            "11:09",
            "cargo test invoices: rounding::half_even expects 10.02 and gets 10.03",
        ),
        45,
    ),
    ("T012", 2, "11:00", FoundDead("11:27"), 0),
    ("T011", 3, "11:10", FoundDead("11:27"), 0),
    ("T013", 1, "11:17", FoundDead("11:27"), 0),
    (
        "T011",
        4,
        "11:28",
        Failed(
            "11:37",
            "cargo test invoices: rounding::half_even expects 10.02 and gets 10.03",
        ),
        51,
    ),
    ("T012", 3, "11:28", Beats("11:47"), 0),
    ("T013", 2, "11:28", Beats("11:44"), 0),
    (
        "T011",
        5,
        "11:38",
        Failed(
            "11:45",
            "cargo test invoices: rounding::half_even expects 10.02 and gets 10.03",
        ),
        58,
    ),
];

/// The run in a project, and the lock that says that a rekindle is at work on it.
pub(crate) struct Orders {
    pub(crate) sandbox: Sandbox,
    _at_work: fs_err::File,
}

impl Orders {
    pub(crate) fn new() -> Result<Self> {
        let sandbox = Sandbox::new(BINARY)?;
        let commits = commits(&sandbox)?;
        run(&commits).lay_out(&sandbox)?;
        let lock = sandbox.path(format!(".rekindle/locks/agent-memory-{ID}.lock"));
        fs_err::create_dir_all(lock.parent().context("a folder")?)?;
        let at_work = fs_err::File::create(lock)?;
        at_work.file().lock()?;
        Ok(Self {
            sandbox,
            _at_work: at_work,
        })
    }

    /// Runs `rekindle report` with these arguments.
    pub(crate) fn report(&self, args: &[&str]) -> Result<Ran> {
        report(&self.sandbox, args)
    }
}

/// Runs `rekindle report` at the time of the scene.
pub(crate) fn report(sandbox: &Sandbox, args: &[&str]) -> Result<Ran> {
    let words = [&["report"][..], args].concat();
    let ran = sandbox.typed(&words).at(NOW).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    Ok(ran)
}

pub(crate) fn shell(sandbox: &Sandbox, script: &str) -> Result<String> {
    let ran = sandbox.typed(&[]).through(&["sh", "-ec", script]).run()?;
    ensure!(ran.code() == Some(0), "{script}: {ran}");
    Ok(ran.stdout().into_owned())
}

/// Makes a commit for each attempt that landed and a backup for each that was found dead; returns them
/// by task and attempt.
fn commits(sandbox: &Sandbox) -> Result<Commits> {
    shell(
        sandbox,
        "git init -q -b main; git config user.name rekindle; git config user.email rekindle@localhost; git commit -q --allow-empty -m start; git switch -q -c orders-api",
    )?;
    let mut commits = BTreeMap::new();
    for (task, number, from, end, _) in &ATTEMPTS {
        let file = format!("src/{}.rs", task.to_lowercase());
        let write = format!(
            "mkdir -p src; printf '//! {task}, attempt {number}.\\n\\npub fn work() -> u32 {{\\n    {number}\\n}}\\n' > {file}; git add {file}"
        );
        let dated = |time: &str| {
            format!(
                "export GIT_AUTHOR_DATE=2026-01-19T{time}:30Z GIT_COMMITTER_DATE=2026-01-19T{time}:30Z"
            )
        };
        match end {
            Landed(_, at) => {
                let script = format!(
                    "{}; {write}; git commit -qm '[{task}] landed'; git rev-parse HEAD",
                    dated(at)
                );
                let commit = shell(sandbox, &script)?.trim().to_owned();
                commits.insert(((*task).to_owned(), *number), commit);
            }
            FoundDead(_) => {
                // Its number is that of the backup, not of the attempt.
                let script = format!(
                    "{}; {write}; n=$(git for-each-ref refs/rekindle/rescue/{ID}/{task} | wc -l); git update-ref refs/rekindle/rescue/{ID}/{task}/$((n + 1)) $(git commit-tree -p HEAD -m saved $(git write-tree)); git reset -q --hard",
                    dated(from)
                );
                shell(sandbox, &script)?;
            }
            Failed(..) | Limited(_) | Beats(_) => {}
        }
    }
    Ok(commits)
}

fn run(commits: &Commits) -> Run {
    let settings = json!({
        "schema": "rekindle.run-settings/1", "branch": "orders-api", "base": commits.values().next(),
        "verify": ["cargo test"], "retries": 2, "timeout_seconds": 2700, "title": "Orders API",
        "max_cost_microdollars": 25_000_000, "plan": "plan.json", "jobs": 4,
    });
    let mut run = Run::new(ID)
        .document("prd.md", "# PRD: orders\n")
        .document("plan.md", "# Implementation Plan: orders\n")
        .document("constitution.md", "# Constitution\n")
        .document("rekindle-run.json", &settings.to_string());
    for (id, title, needs) in TASKS {
        run = run.task(id, title, needs);
    }
    let mut log = Log::default();
    log.of_run(
        "09:00",
        "run_started",
        &json!({"feature_name": "Orders API"}),
    );
    for (from, to) in [(0, 1), (1, 2)] {
        let phases = json!({"from_phase": from, "to_phase": to});
        log.of_run("09:00", "phase_transition", &phases);
    }
    let killed = json!({"last_seen": "2026-01-19T09:41:00Z"});
    log.of_run("10:13", "session_resumed", &killed);
    let restarted = json!({"last_seen": "2026-01-19T11:20:00Z", "rebooted": true});
    log.of_run("11:27", "session_resumed", &restarted);
    for attempt in &ATTEMPTS {
        log.of_attempt(attempt, commits);
    }
    let why = json!({"reason": "3 failures, 2 retries allowed"});
    log.add("11:45:31", BOSS, "task_blocked", ("T011", 5), &why);
    log.events.sort_by(|one, other| one.0.cmp(&other.0));
    for (_, actor, event) in log.events {
        run = run.line(actor, &event.to_string());
    }
    run
}

const BOSS: &str = "orchestrator";
const WORKER: &str = "executor-1";

/// Events with their times and who wrote them.
#[derive(Default)]
struct Log {
    events: Vec<(String, &'static str, Value)>,
}

impl Log {
    fn of_run(&mut self, at: &str, kind: &str, details: &Value) {
        let stamp = format!("2026-01-19T{at}:00Z");
        let event = json!({
            "event_type": kind, "run_id": ID, "timestamp": stamp, "actor": BOSS, "details": details,
        });
        self.events.push((stamp, BOSS, event));
    }

    fn add(
        &mut self,
        at: &str,
        actor: &'static str,
        kind: &str,
        (task, attempt): (&str, u32),
        more: &Value,
    ) {
        let stamp = format!("2026-01-19T{at}Z");
        let mut details = json!({"attempt": attempt});
        if let (Some(details), Some(more)) = (details.as_object_mut(), more.as_object()) {
            details.extend(more.clone());
        }
        let event = json!({
            "event_type": kind, "run_id": ID, "timestamp": stamp, "actor": actor, "task_id": task,
            "details": details,
        });
        self.events.push((stamp, actor, event));
    }

    fn of_attempt(&mut self, (task, number, from, end, cents): &Attempt, commits: &Commits) {
        let (of, nothing) = ((*task, *number), json!({}));
        self.add(&format!("{from}:00"), WORKER, "task_claimed", of, &nothing);
        self.add(&format!("{from}:01"), WORKER, "task_started", of, &nothing);
        let until = match end {
            Landed(at, _) | Failed(at, _) | Limited(at) | Beats(at) => at,
            FoundDead(at) if *at == "10:13" => "09:40",
            FoundDead(_) => "11:19",
        };
        for minute in minute(from) + 1..minute(until) {
            let at = format!("{:02}:{:02}:10", minute / 60, minute % 60);
            let stage = json!({"stage": "implementing"});
            self.add(&at, WORKER, "heartbeat", of, &stage);
        }
        if *cents > 0 {
            let cost = json!({"cost_microdollars": cents * 10_000});
            self.add(&format!("{until}:00"), WORKER, "agent_cost", of, &cost);
        }
        match end {
            Landed(delivered, landed) => {
                let commit = commits.get(&((*task).to_owned(), *number));
                let commit = json!({"commit": commit});
                let at = format!("{delivered}:00");
                self.add(&at, WORKER, "task_implemented", of, &commit);
                let at = format!("{landed}:02");
                self.add(&at, BOSS, "task_completed", of, &commit);
            }
            FoundDead(found) => {
                let at = format!("{found}:02");
                self.add(&at, BOSS, "attempt_interrupted", of, &nothing);
            }
            Failed(at, error) => {
                let error = json!({"category": "verification", "error": error});
                self.add(&format!("{at}:05"), WORKER, "task_failed", of, &error);
            }
            Limited(at) => {
                let until = json!({"until": "2026-01-19T11:00:00Z"});
                self.add(&format!("{at}:05"), WORKER, "usage_limited", of, &until);
            }
            Beats(_) => {}
        }
    }
}

fn minute(time: &str) -> u32 {
    let (hours, minutes) = time.split_once(':').unwrap_or_default();
    let number = |text: &str| text.parse::<u32>().unwrap_or_default();
    number(hours) * 60 + number(minutes)
}
