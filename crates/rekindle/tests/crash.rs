//! Dies at every named point, at every passing of it, and goes on: one test for each point.
//!
//! Needs the feature `crash-points`, by which the binary kills itself where it is told to:
//! `cargo test -p rekindle --features crash-points --test crash`.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use libtest_mimic::{Arguments, Failed, Trial};
use rekindle_app::CRASH_POINTS;
use rekindle_testkit::agent_memory::{DILIGENT_AGENT, Run};
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::{Files, LIMIT, Ran, Sandbox, quoted};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";
/// The binary dies as by a fault; no image of it is wanted.
const WITHOUT_CORE: [&str; 4] = ["sh", "-c", r#"ulimit -c 0 && exec "$@""#, "sh"];
const ABORTED: i32 = 6;
/// Events that say what a document says already: after a death between the two the document stands alone.
const BY_DOCUMENT: [&str; 2] = ["cleanup_completed", "run_completed"];
/// More often than any point is passed in the story.
const MOST_PASSINGS: u32 = 100;

fn main() -> ExitCode {
    let mut trials: Vec<Trial> = CRASH_POINTS
        .iter()
        .map(|&point| {
            let name = format!("a_death_{}_leaves_no_trace", point.replace('-', "_"));
            trial(name, move || dies_at_every_passing(point))
        })
        .collect();
    trials.push(trial(
        "a_run_that_dies_again_and_again_ends_all_the_same".to_owned(),
        dies_again_and_again,
    ));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(name: String, test: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test().map_err(|wrong| Failed::from(format!("{wrong:#}")))
    })
}

/// Lets a whole run die at the first passing of a point, the second, and so on until it passes no more.
fn dies_at_every_passing(point: &str) -> Result<()> {
    let calm = Story::undisturbed()?;
    for nth in 1..=MOST_PASSINGS {
        let story = Story::new()?;
        let place = format!("{point}:{nth}");
        let first = story.resume("2026-01-20T12:00:00Z", Some(&place))?;
        if first.signal() != Some(ABORTED) {
            ensure!(first.code() == Some(0), "{place}: {first}");
            ensure!(nth > 1, "{point} is never reached");
            return Ok(());
        }
        story.wait_for_agents()?;
        let second = story.resume("2026-01-20T12:10:00Z", None)?;
        ensure!(second.code() == Some(0), "{place}: {second}");
        story
            .ended_like(&calm)
            .with_context(|| format!("after a death at {place}"))?;
        // Only work whose end was not seen is done once more; checks repeat a verifier at most.
        let most = calm.n_calls + usize::from(point.starts_with("after-agent"));
        let n_calls = story.n_calls()?;
        ensure!(n_calls <= most, "{place}: {n_calls} executors");
    }
    bail!("{point} is passed more than {MOST_PASSINGS} times")
}

/// Dies in every session after a few effects; each gets a little further.
fn dies_again_and_again() -> Result<()> {
    let calm = Story::undisturbed()?;
    let story = Story::new()?;
    for session in 0..60 {
        let now = format!("2026-01-20T12:{session:02}:00Z");
        let ran = story.resume(&now, Some("after-effect:4"))?;
        if ran.signal() != Some(ABORTED) {
            ensure!(ran.code() == Some(0), "{ran}");
            ensure!(session > 5, "it died only {session} times");
            return story.ended_like(&calm);
        }
        story.wait_for_agents()?;
    }
    bail!(
        "it never came to its end:\n{}",
        story.run.told(&story.sandbox)?
    )
}

/// A run from the gate to its end, with a task that fails once and one whose work is checked.
struct Story {
    sandbox: Sandbox,
    run: Run,
    agent: String,
}

/// What a story comes to.
struct End {
    /// All files but logs and rekindle's own.
    documents: Files,
    /// Every event but the beginnings of sessions and attempts, which a death may repeat.
    told: Vec<String>,
    /// How often an executor was at work.
    n_calls: usize,
}

impl Story {
    fn new() -> Result<Self> {
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

    fn undisturbed() -> Result<End> {
        let story = Self::new()?;
        let ran = story.resume("2026-01-20T12:00:00Z", None)?;
        ensure!(ran.code() == Some(0), "{ran}");
        let end = story.end()?;
        for task in ["T001", "T002"] {
            let completed = format!("task_completed {task} ");
            let n = end
                .told
                .iter()
                .filter(|line| line.starts_with(&completed))
                .count();
            ensure!(n == 1, "{task} was completed {n} times");
        }
        ensure!(
            end.told
                .iter()
                .any(|line| line.starts_with("task_failed T001")),
            "no failure"
        );
        ensure!(
            end.told.last().is_some_and(|line| line == "run_completed"),
            "no end"
        );
        Ok(end)
    }

    fn resume(&self, now: &str, place: Option<&str>) -> Result<Ran> {
        let args = ["resume", "--yes", "--agent-cmd", &self.agent];
        let typed = self.sandbox.typed(&args).through(&WITHOUT_CORE).at(now);
        let typed = typed.answering("approve\nmerged\n");
        Ok(match place {
            Some(place) => typed.with("REKINDLE_CRASH_AT", place).run()?,
            None => typed.run()?,
        })
    }

    /// Waits for what a dead rekindle has left at work.
    fn wait_for_agents(&self) -> Result<()> {
        for entry in self.journal()? {
            if let Some(pid) = entry["begin"]["body"]["agent"]["process"]["pid"].as_u64() {
                wait_until_gone(pid.try_into()?, LIMIT)?;
            }
        }
        Ok(())
    }

    fn journal(&self) -> Result<Vec<Value>> {
        let path = format!(".rekindle/journal/agent-memory-{ORDERS}.jsonl");
        if !self.sandbox.path(&path).exists() {
            return Ok(Vec::new());
        }
        let mut entries = Vec::new();
        for line in self.sandbox.read(&path)?.lines() {
            let mut record: Value = serde_json::from_str(line).context(line.to_owned())?;
            entries.push(record["entry"].take());
        }
        Ok(entries)
    }

    fn end(&self) -> Result<End> {
        let files = self.sandbox.files()?.except(".rekindle");
        let told = self.run.told(&self.sandbox)?;
        let told = told
            .lines()
            .filter(|line| {
                !line.starts_with("session_resumed") && !line.starts_with("task_started")
            })
            .map(str::to_owned)
            .collect();
        Ok(End {
            documents: files.except(self.run.path("events").as_str()),
            told,
            n_calls: self.n_calls()?,
        })
    }

    fn n_calls(&self) -> Result<usize> {
        let calls = fs_err::read_to_string(self.sandbox.root().join("calls"))?;
        Ok(calls.lines().filter(|role| *role == "executor").count())
    }

    /// Checks that this story ended as an undisturbed one, and left nothing open.
    fn ended_like(&self, calm: &End) -> Result<()> {
        let end = self.end()?;
        let surely = |end: &End| {
            let told = end.told.iter();
            let told = told.filter(|line| !BY_DOCUMENT.contains(&line.as_str()));
            told.cloned().collect::<Vec<_>>()
        };
        let at_most_once = |line: &&str| end.told.iter().filter(|told| told == line).count() <= 1;
        ensure!(
            surely(&end) == surely(calm) && BY_DOCUMENT.iter().all(at_most_once),
            "the log tells another story:\n{}",
            self.run.told(&self.sandbox)?
        );
        let changes = calm.documents.changes(&end.documents);
        ensure!(changes.is_empty(), "other documents: {changes:?}");
        let number = |entry: &Value, kind: &str| entry[kind]["id"].as_u64();
        let journal = self.journal()?;
        let begun: BTreeSet<u64> = journal.iter().filter_map(|e| number(e, "begin")).collect();
        let ended: BTreeSet<u64> = journal.iter().filter_map(|e| number(e, "end")).collect();
        ensure!(
            !begun.is_empty() && begun == ended,
            "open intents: {begun:?} {ended:?}"
        );
        let lock = format!(".rekindle/locks/agent-memory-{ORDERS}.lock");
        let lock = fs_err::File::open(self.sandbox.path(lock))?;
        lock.file().try_lock().context("the lock is still held")?;
        drop(lock);
        let over = self.sandbox.run(&["resume", ORDERS, "--yes"])?;
        ensure!(
            over.code() == Some(0) && over.stderr().contains("is complete"),
            "{over}"
        );
        Ok(())
    }
}
