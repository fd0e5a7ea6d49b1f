//! A run of agent-memory from the gate to its end, with a task that fails once and one whose work is checked.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::agent_memory::{DILIGENT_AGENT, Run};
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Files, Sandbox, Typed, quoted};
use serde_json::Value;

use crate::BINARY;

const ORDERS: &str = "20260119-0900-orders-api-k2l3";
/// Events that say what a document says already: after a death between the two the document stands alone.
const BY_DOCUMENT: [&str; 2] = ["cleanup_completed", "run_completed"];
/// How often an executor is at work where nothing happens.
const CALM_CALLS: usize = 3;
/// A death may cost the work that was under way; no story dies more often.
const MOST_DEATHS: usize = 2;

pub(crate) struct Loop {
    sandbox: Sandbox,
    run: Run,
    agent: String,
}

/// What a run comes to.
#[derive(Debug, PartialEq)]
pub(crate) struct End {
    /// All files but logs and rekindle's own.
    documents: Files,
    /// Every event but the beginnings of sessions and attempts, which a death may repeat.
    told: Vec<String>,
}

impl Loop {
    pub(crate) fn new() -> Result<Self> {
        let sandbox = Sandbox::in_memory(BINARY)?;
        let run = Run::awaiting_approval(ORDERS)
            .task("T001", "Add model", &[])
            .task("T002", "Add endpoint", &["T001"])
            .checked_by("test -e work/T002.txt");
        run.lay_out(&sandbox)?;
        let fails =
            "[ $REKINDLE_ROLE/$REKINDLE_TASK/$REKINDLE_ATTEMPT = executor/T001/1 ] && exit 1";
        let calls = quoted(sandbox.root().join("calls").as_str());
        let script = format!("echo $REKINDLE_ROLE >>{calls}\n{fails}\n{DILIGENT_AGENT}");
        let agent = sandbox.script("agent.sh", &script)?;
        Ok(Self {
            sandbox,
            run,
            agent,
        })
    }

    fn n_calls(&self) -> Result<usize> {
        let calls = fs_err::read_to_string(self.sandbox.root().join("calls"))?;
        Ok(calls.lines().filter(|role| *role == "executor").count())
    }

    /// Checks that every intent has an end, and that nobody holds the run.
    fn nothing_is_open(&self) -> Result<()> {
        let path = format!(".rekindle/journal/agent-memory-{ORDERS}.jsonl");
        let (mut begun, mut ended) = (BTreeSet::new(), BTreeSet::new());
        for line in self.sandbox.read(&path)?.lines() {
            // A line that a death cut short is one that never counted.
            let Ok(record) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let number = |kind: &str| record["entry"][kind]["id"].as_u64();
            begun.extend(number("begin"));
            ended.extend(number("end"));
        }
        let is_closed = !begun.is_empty() && begun == ended;
        ensure!(is_closed, "open intents: {begun:?} {ended:?}");
        let lock = format!(".rekindle/locks/agent-memory-{ORDERS}.lock");
        let lock = fs_err::File::open(self.sandbox.path(lock))?;
        lock.file().try_lock().context("the lock is still held")
    }
}

impl Story for Loop {
    type End = End;

    fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn typed(&self, session: u32) -> Typed<'_> {
        let args = ["resume", "--yes", "--agent-cmd", &self.agent];
        let now = format!("2026-01-20T12:{session}0:00Z");
        self.sandbox
            .typed(&args)
            .at(&now)
            .answering("approve\nmerged\n")
    }

    fn end(&self) -> Result<End> {
        let told = self.run.told(&self.sandbox)?;
        let lines = || told.lines();
        for once in BY_DOCUMENT {
            let n = lines().filter(|line| *line == once).count();
            ensure!(n <= 1, "{once} {n} times");
        }
        for task in ["T001", "T002"] {
            let completed = format!("task_completed {task} ");
            let n = lines().filter(|line| line.starts_with(&completed)).count();
            ensure!(n == 1, "{task} was completed {n} times:\n{told}");
        }
        let n_calls = self.n_calls()?;
        ensure!(n_calls <= CALM_CALLS + MOST_DEATHS, "{n_calls} executors");
        self.nothing_is_open()?;
        let over = self.sandbox.run(&["resume", ORDERS, "--yes"])?;
        let is_over = over.code() == Some(0) && over.stderr().contains("is complete");
        ensure!(is_over, "{over}");
        let passing = ["session_resumed", "task_started"];
        let told = lines()
            .filter(|line| !passing.iter().any(|start| line.starts_with(start)))
            .filter(|line| !BY_DOCUMENT.contains(line));
        let told = told.map(str::to_owned).collect();
        let files = self.sandbox.files()?.except(".rekindle");
        Ok(End {
            documents: files.except(self.run.path("events").as_str()),
            told,
        })
    }
}
