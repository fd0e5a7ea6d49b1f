//! What it costs that a step is known to be done after a crash: steps that do nothing, each on the disk before the next.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::chart::{Bar, Chart};
use super::chore::{Bench, Setting};
use super::engines::{DBOS, DBOS_WAL, Engine, LANGGRAPH};
use super::measure;
use super::report::{Section, Table, figure};
use super::standing::{Better, Standing};
use super::{folders, step_project};
use crate::run;

pub(super) const BENCH: Bench = Bench {
    name: "durable",
    run: bench,
};

/// How many steps, and how often all of them.
const SHORT: (u32, u32) = (100, 2);
const FULL: (u32, u32) = (1000, 5);
/// Each is a process of its own.
const N_CALLS: u32 = 50;

/// One way to make a step durable.
enum Way {
    /// One line appended and synced, by this very program.
    Bare,
    /// The log of events, as the engine writes to it.
    Log(PathBuf),
    /// A command for each.
    Event,
    Engine(Engine),
}

fn bench(setting: &Setting) -> Result<Section, String> {
    let (n_steps, n_rounds) = if setting.full { FULL } else { SHORT };
    let ways = [
        ("the bare `write` and `fdatasync` of a line", Way::Bare),
        (
            "rekindle's log of events, as its engine writes it",
            Way::Log(log_writer()?),
        ),
        ("`rekindle event`, a process for each", Way::Event),
        (LANGGRAPH.shown, Way::Engine(LANGGRAPH)),
        (DBOS.shown, Way::Engine(DBOS)),
        (DBOS_WAL.shown, Way::Engine(DBOS_WAL)),
    ];
    let mut best = [f64::INFINITY; 6];
    for _ in 0..n_rounds {
        for ((_, way), best) in ways.iter().zip(&mut best) {
            let store = folders::fresh(&setting.folder.join("durable"))?;
            *best = best.min(way.milliseconds(setting, &store, n_steps)?);
        }
    }
    let [bare, own, ..] = best;
    let named: Vec<(&str, f64)> = ways.iter().map(|(shown, _)| *shown).zip(best).collect();
    Ok(Section {
        title: "A durable step",
        about: about(n_steps, n_rounds),
        table: Table {
            n_text: 1,
            head: vec!["program", "ms a step", "× the bare sync"],
            rows: named
                .iter()
                .map(|(shown, ms)| vec![(*shown).to_owned(), figure(*ms), figure(ms / bare)])
                .collect(),
        },
        targets: Vec::new(),
        standings: vec![
            Standing {
                what: "durable step, ms".to_owned(),
                better: Better::Less,
                ours: own,
                peers: (named[3..].iter())
                    .map(|(shown, ms)| ((*shown).to_owned(), *ms))
                    .collect(),
                if_behind: "the disk decides; one sync is the least there can be",
            },
            Standing {
                what: "durable step, ms".to_owned(),
                better: Better::Less,
                ours: own,
                peers: vec![("the bare sync".to_owned(), bare)],
                if_behind: "the same sync, and before it the lock, the look whether the path still leads to the file and whether its last line is whole; ahead would be several events in one sync",
            },
        ],
        chart: Some(Chart {
            name: "durable-step",
            title: "A durable step, ms (less is better)".to_owned(),
            bars: named
                .iter()
                .map(|(shown, ms)| Bar::new(*shown, *ms))
                .collect(),
        }),
    })
}

fn about(n_steps: u32, n_rounds: u32) -> Vec<String> {
    vec![
        format!(
            "{} steps that do nothing, each on the disk before the next begins; wall time divided by their \
             number, best of {n_rounds} rounds in turns ({N_CALLS} calls of `rekindle event`).",
            figure(f64::from(n_steps))
        ),
        "The engines time their steps themselves, without their start; rekindle's log is written by a \
         program that does nothing else, with its start."
            .to_owned(),
        "A task of `rekindle run` has four such events; `rekindle event` also starts a process and reads the run."
            .to_owned(),
        "DBOS has no setting for WAL mode; the second row of it has a file that was put into that mode before."
            .to_owned(),
    ]
}

impl Way {
    /// Returns what a step takes.
    fn milliseconds(&self, setting: &Setting, store: &Path, n_steps: u32) -> Result<f64, String> {
        let (seconds, n_steps) = match self {
            Self::Bare => (bare(&store.join("log.jsonl"), n_steps)?, n_steps),
            Self::Log(program) => {
                let mut command = Command::new(program);
                command
                    .arg(store.join("log.jsonl"))
                    .arg(n_steps.to_string());
                (measure::wall(&mut command)?.as_secs_f64(), n_steps)
            }
            Self::Event => {
                step_project::lay_out(store, 1)?;
                let begun = Instant::now();
                for _ in 0..N_CALLS {
                    let mut command = Command::new(&setting.rekindle);
                    command
                        .args(["event", step_project::RUN, "task_heartbeat"])
                        .args(["--task", "T0001", "--actor", "executor-1"])
                        .current_dir(store);
                    measure::wall(&mut command)?;
                }
                (begun.elapsed().as_secs_f64(), N_CALLS)
            }
            Self::Engine(engine) => (engine.seconds(setting, store, n_steps)?, n_steps),
        };
        Ok(seconds * 1000.0 / f64::from(n_steps))
    }
}

/// Appends and syncs lines, and returns the seconds.
fn bare(path: &Path, n_steps: u32) -> Result<f64, String> {
    let line = format!("{}\n", step_project::EVENT);
    let append = || {
        let mut file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(path)?;
        let begun = Instant::now();
        for _ in 0..n_steps {
            file.write_all(line.as_bytes())?;
            file.sync_data()?;
        }
        Ok(begun.elapsed().as_secs_f64())
    };
    append().map_err(|e: std::io::Error| format!("cannot write `{}`: {e}", path.display()))
}

/// Builds the program that writes to a log as the engine does.
fn log_writer() -> Result<PathBuf, String> {
    let example = "append_log";
    let args = [
        "build",
        "--release",
        "--package",
        "rekindle-fs",
        "--example",
    ];
    if !run::watched(run::cargo(&args).arg(example))? {
        return Err("the program that writes to a log can not be built".to_owned());
    }
    let program = run::target_folder()?.join("release/examples").join(example);
    fs::canonicalize(&program).map_err(|e| format!("there is no `{}`: {e}", program.display()))
}
