//! The cost of a durable step: steps that do nothing, each synced to the disk before the next.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use xtask::{files, run};

use crate::chart::Chart;
use crate::chore::Setting;
use crate::engines::{DBOS, DBOS_WAL, Engine, LANGGRAPH};
use crate::measure::milliseconds;
use crate::report::{Section, Table, figure};
use crate::standing::Standing;
use crate::step_project;

/// How many steps, and how many rounds of them.
const SHORT: (u32, u32) = (100, 2);
const FULL: (u32, u32) = (1000, 5);
/// Of commands, which are a process each.
const N_CALLS: u32 = 50;

/// One way to make a step durable.
enum Way {
    /// This program appends and syncs a line.
    Bare,
    /// The event log, written as by the engine.
    Log(PathBuf),
    /// One command a step.
    Event,
    Engine(Engine),
}

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let (n_steps, n_rounds) = if setting.full { FULL } else { SHORT };
    let ways = [
        ("the bare `write` and `fdatasync` of a line", Way::Bare),
        (
            "rekindle's event log, written as by the engine",
            Way::Log(log_writer()?),
        ),
        ("`rekindle event`, one process each", Way::Event),
        (LANGGRAPH.shown, Way::Engine(LANGGRAPH)),
        (DBOS.shown, Way::Engine(DBOS)),
        (DBOS_WAL.shown, Way::Engine(DBOS_WAL)),
    ];
    let mut best = [f64::INFINITY; 6];
    for _ in 0..n_rounds {
        for ((_, way), best) in ways.iter().zip(&mut best) {
            let store = files::empty_folder(setting.folder.join("durable"))?;
            *best = best.min(way.milliseconds(setting, &store, n_steps)?);
        }
    }
    let [bare, own, ..] = best;
    let named = ways.iter().map(|(shown, _)| (*shown).to_owned()).zip(best);
    let named: Vec<(String, f64)> = named.collect();
    Ok(Section {
        title: "A durable step",
        about: format!(
            "{} steps that do nothing, each synced to the disk before the next; wall time divided by their number, best of {n_rounds} rounds in turns ({N_CALLS} calls of `rekindle event`).\n\
             The engines time their steps themselves, without their start; rekindle's log is written by a program that does nothing else, with its start.\n\
             A task of `rekindle run` has four such events; `rekindle event` also starts a process and reads the run.\n\
             DBOS has no setting for WAL mode; its second row uses a file that was set to that mode before.",
            figure(f64::from(n_steps))
        ),
        table: Table {
            n_text: 1,
            head: &["program", "ms per step", "× the bare sync"],
            rows: named
                .iter()
                .map(|(shown, ms)| vec![shown.clone(), figure(*ms), figure(ms / bare)])
                .collect(),
        },
        standings: vec![
            Standing::less(
                "durable step, ms",
                own,
                named[3..].to_vec(),
                "the disk decides; one sync is the minimum",
            )
            .headline(),
            Standing::less(
                "durable step, ms",
                own,
                vec![("the bare sync".to_owned(), bare)],
                "the same sync after taking the lock and checking the path and the last line; being ahead requires several events in one sync",
            ),
        ],
        chart: Some(Chart {
            name: "durable-step",
            title: "A durable step, ms (less is better)".to_owned(),
            bars: named,
        }),
        ..Section::default()
    })
}

impl Way {
    /// Returns the time of a step.
    fn milliseconds(&self, setting: &Setting, store: &Path, n_steps: u32) -> Result<f64, String> {
        let path = store.join("log.jsonl");
        let ms = match self {
            Self::Bare => {
                let ms = append(&path, n_steps);
                ms.map_err(|e| format!("cannot write `{}`: {e}", path.display()))?
            }
            Self::Log(program) => {
                let mut command = Command::new(program);
                milliseconds(command.arg(path).arg(n_steps.to_string()))?
            }
            Self::Event => {
                step_project::write(store, 1)?;
                let mut command = Command::new(&setting.rekindle);
                command
                    .args(["event", step_project::RUN, "task_heartbeat"])
                    .args(["--task", "T0001", "--actor", "executor-1"])
                    .current_dir(store);
                let times = (0..N_CALLS).map(|_| milliseconds(&mut command));
                return Ok(times.sum::<Result<f64, String>>()? / f64::from(N_CALLS));
            }
            Self::Engine(engine) => engine.seconds(setting, store, n_steps)? * 1000.0,
        };
        Ok(ms / f64::from(n_steps))
    }
}

/// Appends and syncs lines; returns the milliseconds.
fn append(path: &Path, n_steps: u32) -> io::Result<f64> {
    let line = format!("{}\n", step_project::EVENT);
    let mut options = OpenOptions::new();
    let mut file = options.create_new(true).append(true).open(path)?;
    let start = Instant::now();
    for _ in 0..n_steps {
        file.write_all(line.as_bytes())?;
        file.sync_data()?;
    }
    Ok(start.elapsed().as_secs_f64() * 1000.0)
}

/// Builds the program that writes to a log as the engine does.
fn log_writer() -> Result<PathBuf, String> {
    let mut build = run::cargo(&["build", "--release", "--package", "rekindle-fs"]);
    run::check(build.args(["--example", "append_log"]))?;
    Ok(run::target_folder()?.join("release/examples/append_log"))
}
