//! How fast a large run is read: all its events folded into the state of its tasks.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use super::chart::{Bar, Chart};
use super::chore::{Bench, Setting};
use super::generate::Project;
use super::measure::{Call, Contender, Meter, Usage};
use super::report::{Section, Table, Target, figure};
use super::standing::{Better, Standing};
use super::{peer, replay_project};
use crate::run;

pub(super) const BENCH: Bench = Bench {
    name: "replay",
    run: bench,
};

const N_RUNS: u32 = 9;
/// jq takes many seconds.
const N_RUNS_OF_JQ: u32 = 2;
/// On one core, by processor time.
const LEAST_SPEED: f64 = 400.0;
const MOST_MEMORY: f64 = 150.0;

/// The last event of each task. Both spellings of an event's kind are there.
const DUCKDB: &str = "\
import sys, duckdb
duckdb.execute('''
select task_id, arg_max(coalesce(event_type, type), timestamp)
from read_json(?, format = 'newline_delimited',
  columns = {task_id: 'VARCHAR', event_type: 'VARCHAR', type: 'VARCHAR', timestamp: 'VARCHAR'})
group by task_id''', [sys.argv[1:]]).fetchall()";

fn bench(setting: &Setting) -> Result<Section, String> {
    let project = replay_project::RECIPE.project(&setting.folder)?;
    let logs = replay_project::logs(&project.folder);
    let logs = logs.map_err(|e| format!("cannot list the logs: {e}"))?;
    let sizes = logs.iter().filter_map(|log| log.metadata().ok());
    let size: u64 = sizes.map(|meta| meta.len()).sum();
    let inspect = Call {
        program: setting.rekindle.clone(),
        args: vec!["inspect".into(), "--json".into()],
        folder: project.folder.clone(),
        environment: vec![("REKINDLE_NOW", replay_project::now())],
    };
    check(&inspect, &project)?;
    let contenders = [
        Contender {
            shown: "`rekindle inspect --json`".to_owned(),
            call: Some(inspect),
            n_runs: N_RUNS,
        },
        peer::JQ.on(&["-c", ".task_id"], &logs, N_RUNS_OF_JQ),
        duckdb(&logs)?,
        peer::WC.on(&["-l"], &logs, N_RUNS),
    ];
    let usages = Meter::new(&setting.folder)?.in_turns(&contenders)?;
    let own = usages[0].ok_or("nothing was measured")?;
    let rows = contenders.iter().zip(&usages);
    // wc only counts lines: it is there to show what the disk and the kernel take.
    let [speeds, peaks] = [
        |usage: Usage, size| speed(usage, size),
        |usage: Usage, _| millions(usage.peak),
    ]
    .map(|figure_of: fn(Usage, u64) -> f64| {
        let all = contenders[1..3].iter().zip(&usages[1..3]);
        all.filter_map(|(one, usage)| Some((one.shown.clone(), figure_of((*usage)?, size))))
            .collect()
    });
    Ok(Section {
        title: "Replay",
        about: about(logs.len(), size),
        table: Table {
            n_text: 1,
            head: vec![
                "program",
                "CPU s",
                "wall s",
                "MB/s of CPU",
                "events/s of CPU",
                "memory MB",
                "CPU ×",
            ],
            rows: rows
                .map(|(contender, usage)| row(&contender.shown, *usage, own, size))
                .collect(),
        },
        targets: vec![
            Target::above("speed", speed(own, size), LEAST_SPEED, "MB/s of CPU"),
            Target::below("memory", millions(own.peak), MOST_MEMORY, "MB"),
        ],
        standings: vec![
            Standing {
                what: "replay, MB/s of CPU".to_owned(),
                better: Better::More,
                ours: speed(own, size),
                peers: speeds,
                if_behind: "it reads the same columns with vector instructions; being ahead would take the same in our scanner",
            },
            Standing {
                what: "replay, MB of memory".to_owned(),
                better: Better::Less,
                ours: millions(own.peak),
                peers: peaks,
                if_behind: "jq forgets each line once it is printed, and folds nothing; rekindle holds the state of 1,000 tasks, and its program alone is 8 MB of it; being ahead would take a program that keeps nothing either",
            },
        ],
        chart: Some(Chart {
            name: "replay",
            title: "Replay, MB/s of CPU (more is better)".to_owned(),
            bars: (contenders.iter().zip(&usages))
                .filter_map(|(one, usage)| Some(Bar::new(&*one.shown, speed((*usage)?, size))))
                .collect(),
        }),
    })
}

/// Says what was run.
fn about(n_logs: usize, size: u64) -> Vec<String> {
    let n_events = figure(millions(replay_project::N_EVENTS) * 1e6);
    vec![
        format!(
            "One run of 1,000 tasks with {n_events} events of ten actors in {n_logs} logs, {} MB, \
             all of them read and folded into the state of every task.",
            figure(millions(size)),
        ),
        "Generated from a fixed seed, in both spellings and several layouts; the answer was \
         checked against the generator's."
            .to_owned(),
        format!("Best of {N_RUNS} runs in turns ({N_RUNS_OF_JQ} of jq), files in the page cache."),
        "DuckDB is told the columns, reads no others, and finds the last event of each task, which is the \
         nearest to a fold that it can be asked for; jq prints a field, wc counts lines."
            .to_owned(),
        "MB are millions of bytes, CPU is user and system time together, memory the peak of the \
         resident set, CPU × the CPU time as a multiple of rekindle's."
            .to_owned(),
    ]
}

/// Returns `DuckDB` as one that is measured, told all it can be told.
fn duckdb(logs: &[PathBuf]) -> Result<Contender, String> {
    let interpreter = peer::DUCKDB.program("python")?;
    let files = logs.iter().map(OsString::from);
    Ok(Contender {
        shown: format!("DuckDB's `read_json`, {}", peer::DUCKDB.packages[0].1),
        call: Some(Call {
            program: interpreter,
            args: ["-c".into(), DUCKDB.into()]
                .into_iter()
                .chain(files)
                .collect(),
            folder: run::root(),
            environment: Vec::new(),
        }),
        n_runs: N_RUNS,
    })
}

/// Makes sure that what is measured gives the right answer.
fn check(inspect: &Call, project: &Project) -> Result<(), String> {
    let done = Command::new(&inspect.program)
        .args(&inspect.args)
        .current_dir(&inspect.folder)
        .envs(inspect.environment.iter().cloned())
        .output()
        .map_err(|e| format!("cannot run rekindle: {e}"))?;
    let text = String::from_utf8_lossy(&done.stdout);
    let dense: String = text.split_whitespace().collect();
    if !dense.contains(&project.told) {
        return Err(format!(
            "rekindle's answer is wrong; expected {}",
            project.told
        ));
    }
    let n_lists = dense.matches(r#""findings":["#).count();
    if n_lists == 0 || n_lists != dense.matches(r#""findings":[]"#).count() {
        return Err("rekindle finds something wrong with the generated run".to_owned());
    }
    Ok(())
}

fn row(shown: &str, usage: Option<Usage>, own: Usage, size: u64) -> Vec<String> {
    let mut row = vec![shown.to_owned()];
    let Some(usage) = usage else {
        row.resize(7, "–".to_owned());
        return row;
    };
    let seconds = usage.cpu.as_secs_f64();
    let events = millions(replay_project::N_EVENTS) * 1e6;
    row.extend([
        format!("{seconds:.3}"),
        format!("{:.3}", usage.wall.as_secs_f64()),
        figure(speed(usage, size)),
        figure(events / seconds),
        figure(millions(usage.peak)),
        figure(seconds / own.cpu.as_secs_f64()),
    ]);
    row
}

fn speed(usage: Usage, size: u64) -> f64 {
    millions(size) / usage.cpu.as_secs_f64()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sizes and counts here are far below 2^53"
)]
fn millions(count: u64) -> f64 {
    count as f64 / 1e6
}
