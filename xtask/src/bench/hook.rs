//! What an agent pays for a hook, by hyperfine.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::chore::{Bench, Setting};
use super::peer;
use super::report::{Section, Table, Target};
use crate::{packages, run};

pub(super) const BENCH: Bench = Bench {
    name: "hook",
    run: bench,
};

const HYPERFINE: packages::Package = ("hyperfine", "1.20.0");
const MOST_MS: f64 = 10.0;
const N_RUNS: &str = "400";

/// The log of a run that is over.
const OVER: &str = r#"{"event_type":"run_completed","timestamp":"2026-01-19T11:00:00Z","actor":"orchestrator","details":{"total_tasks":1,"tasks_completed":1}}"#;

/// How many runs the project with many has, how many of them are open, and the summary of the others.
const N_MANY: u32 = 5000;
const N_OPEN: u32 = 10;
const STARTED: &str = r#"{"event_type":"session_resumed","timestamp":"2026-01-19T09:00:00Z","actor":"orchestrator","details":{}}"#;
const SUMMARY: &str =
    "# Run Summary: over\n\n## Outcome\n\nsuccess\n\n## Statistics\n\n- Tasks: 1/1\n- Retries: 0\n";

/// What an agent tells a hook.
const TOLD: &str =
    r#"{"session_id":"bench","hook_event_name":"SessionStart","source":"startup","cwd":"."}"#;

/// The times of one program, in milliseconds.
struct Timed {
    shown: String,
    minimum: f64,
    median: f64,
    maximum: f64,
}

fn bench(setting: &Setting) -> Result<Section, String> {
    let hyperfine = packages::rust(HYPERFINE)?;
    let empty = made(setting.folder.join("empty"))?;
    let over = setting.folder.join("over");
    let run = over.join(".agent-memory/runs/20260119-0900-over-a1b2/events/orchestrator");
    written(
        &made(run)?.join("20260119-0900.jsonl"),
        &format!("{OVER}\n"),
    )?;
    let many = setting.folder.join("many-runs");
    make_many(&many, true)?;
    let ended = setting.folder.join("many-runs-without-summaries");
    make_many(&ended, false)?;
    let told = setting.folder.join("told.json");
    written(&told, TOLD)?;
    let rekindle = word(&setting.rekindle);
    let start = format!("{rekindle} hook session-start --agent claude");
    let tool = format!("{rekindle} hook post-tool-use --agent claude");
    let program_true = peer::TRUE.find().ok_or("there is no `true` on the path")?;
    let mut programs = vec![
        (
            "`rekindle hook session-start`, no workflow".to_owned(),
            start.clone(),
            &empty,
        ),
        (
            "`rekindle hook session-start`, a finished one".to_owned(),
            start.clone(),
            &over,
        ),
        (
            format!("`rekindle hook session-start`, {N_MANY} runs with summaries, {N_OPEN} open"),
            start.clone(),
            &many,
        ),
        (
            format!("`rekindle hook session-start`, {N_MANY} runs without, {N_OPEN} open"),
            start,
            &ended,
        ),
        ("`rekindle hook post-tool-use`".to_owned(), tool, &over),
        ("`true`".to_owned(), word(&program_true), &empty),
    ];
    let (python, version) = peer::python().ok_or("there is no `python3` on the path")?;
    let python = format!("{} -c pass", word(&python));
    programs.push((format!("`python3 -c pass`, {version}"), python, &empty));
    let figures = setting.folder.join("hook.csv");
    let mut timed = Vec::new();
    for (shown, command, folder) in programs {
        let mut call = Command::new(&hyperfine);
        call.args([
            "--shell=none",
            "--style=none",
            "--warmup=20",
            "--runs",
            N_RUNS,
        ]);
        call.arg("--input")
            .arg(&told)
            .arg("--export-csv")
            .arg(&figures);
        call.arg(&command).current_dir(folder);
        if !run::watched(&mut call)? {
            return Err(format!("hyperfine could not time `{command}`"));
        }
        timed.push(read(shown, &figures)?);
    }
    let [nothing, finished, among_many, tool] = [0, 1, 2, 4].map(|at| timed[at].median);
    Ok(Section {
        title: "Hooks",
        about: vec![format!(
            "Wall time of a hook: {N_RUNS} runs of each by hyperfine {}, without a shell; the \
             targets are for the median. Of a run without a summary the last line of its last log \
             has to be read.",
            HYPERFINE.1
        )],
        table: Table {
            n_text: 1,
            head: vec!["program", "minimum ms", "median ms", "maximum ms"],
            rows: timed.iter().map(Timed::row).collect(),
        },
        targets: vec![
            Target::below("where there is no workflow", nothing, MOST_MS, "ms"),
            Target::below("where all is finished", finished, MOST_MS, "ms"),
            Target::below("among many with summaries", among_many, MOST_MS, "ms"),
            Target::below("after a tool was used", tool, MOST_MS, "ms"),
        ],
        standings: Vec::new(),
        chart: None,
    })
}

impl Timed {
    fn row(&self) -> Vec<String> {
        let times = [self.minimum, self.median, self.maximum].map(|time| format!("{time:.2}"));
        std::iter::once(self.shown.clone()).chain(times).collect()
    }
}

/// Makes a project of many runs, a few of which are open.
fn make_many(project: &Path, with_summaries: bool) -> Result<(), String> {
    let runs = project.join(".agent-memory/runs");
    for n in 0..N_MANY {
        let (day, hour, minute) = (n / 1440 + 1, n / 60 % 24, n % 60);
        let run = runs.join(format!("202601{day:02}-{hour:02}{minute:02}-many-a1b2"));
        let log = made(run.join("events/orchestrator"))?.join("20260119-0900.jsonl");
        if n % (N_MANY / N_OPEN) == 0 {
            written(&log, &format!("{STARTED}\n"))?;
            continue;
        }
        written(&log, &format!("{STARTED}\n{OVER}\n"))?;
        if with_summaries {
            written(&run.join("summary.md"), SUMMARY)?;
        }
    }
    Ok(())
}

/// Reads what hyperfine wrote of one program: a line of names and one of figures, in seconds.
fn read(shown: String, file: &Path) -> Result<Timed, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| format!("cannot read `{}`: {e}", file.display()))?;
    let mut lines = text.lines();
    let (names, figures) = (lines.next(), lines.next());
    let (names, figures) = names.zip(figures).ok_or("hyperfine wrote no figures")?;
    // The command comes first and may hold commas, so both lines are read from their ends.
    let figure = |name: &str| {
        let at = names.rsplit(',').position(|found| found == name)?;
        figures.rsplit(',').nth(at)?.parse::<f64>().ok()
    };
    let in_ms = |name: &str| {
        let seconds = figure(name).ok_or_else(|| format!("hyperfine wrote no `{name}`"))?;
        Ok::<f64, String>(seconds * 1000.0)
    };
    Ok(Timed {
        shown,
        minimum: in_ms("min")?,
        median: in_ms("median")?,
        maximum: in_ms("max")?,
    })
}

/// Returns a path as one word of the line that hyperfine takes apart.
fn word(path: &Path) -> String {
    format!("'{}'", path.display())
}

fn made(folder: PathBuf) -> Result<PathBuf, String> {
    std::fs::create_dir_all(&folder)
        .map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    Ok(folder)
}

fn written(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))
}
