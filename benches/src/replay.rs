//! How fast a large run is read: all its events folded into the state of its tasks.

use std::path::PathBuf;
use std::process::Command;

use crate::chart::Chart;
use crate::chore::Setting;
use crate::generate::Project;
use crate::measure::{Contender, Meter, Usage, compact_json};
use crate::report::{Section, Table, Target, figure, millions};
use crate::standing::Standing;
use crate::{peer, replay_project};

const N_RUNS: u32 = 9;
/// jq takes many seconds.
const N_RUNS_OF_JQ: u32 = 2;
/// On one core, by processor time.
const LEAST_SPEED: f64 = 400.0;
const MOST_MEMORY: f64 = 150.0;

/// Finds the last event of each task; events have two names for their kind.
const DUCKDB: &str = "\
import sys, duckdb
duckdb.execute('''
select task_id, arg_max(coalesce(event_type, type), timestamp)
from read_json(?, format = 'newline_delimited',
  columns = {task_id: 'VARCHAR', event_type: 'VARCHAR', type: 'VARCHAR', timestamp: 'VARCHAR'})
group by task_id''', [sys.argv[1:]]).fetchall()";

const WHY_SLOWER: &str = "it reads the same columns with vector instructions; being ahead requires the same in our scanner";
const WHY_LARGER: &str = "jq drops each line after printing it; rekindle holds the state of 1,000 tasks, and its program alone is 8 MB; being ahead requires a program without state";

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let project = replay_project::RECIPE.project(&setting.folder)?;
    let logs = replay_project::logs(&project.folder)?;
    let sizes = logs.iter().filter_map(|log| log.metadata().ok());
    let size = millions(sizes.map(|meta| meta.len()).sum());
    let mut inspect = Command::new(&setting.rekindle);
    inspect
        .args(["inspect", "--json"])
        .current_dir(&project.folder)
        .env("REKINDLE_NOW", replay_project::now());
    check(&mut inspect, &project)?;
    let contenders = [
        Contender {
            shown: "`rekindle inspect --json`".to_owned(),
            command: Some(inspect),
            n_runs: N_RUNS,
        },
        peer::JQ.on(&["-c", ".task_id"], &logs, N_RUNS_OF_JQ),
        duckdb(&logs)?,
        peer::WC.on(&["-l"], &logs, N_RUNS),
    ];
    let usages = Meter::new(&setting.folder)?.in_turns(&contenders)?;
    let own = usages[0].ok_or("nothing was measured")?;
    let speed = |usage: &Usage| size / usage.cpu.as_secs_f64();
    let memory = |usage: &Usage| millions(usage.peak);
    let named = |of: &dyn Fn(&Usage) -> f64| -> Vec<(String, f64)> {
        let all = contenders.iter().zip(&usages);
        all.filter_map(|(one, usage)| Some((one.shown.clone(), of(usage.as_ref()?))))
            .collect()
    };
    // wc only counts lines: it shows the cost of the disk and the kernel.
    let peers = |of: &dyn Fn(&Usage) -> f64| {
        let is_peer =
            |(shown, _): &(String, f64)| shown.starts_with("`jq") || shown.starts_with("Duck");
        named(of).into_iter().filter(is_peer).collect()
    };
    let row = |(contender, usage): (&Contender, &Option<Usage>)| {
        let mut row = vec![contender.shown.clone()];
        if let Some(usage) = usage {
            let seconds = usage.cpu.as_secs_f64();
            row.extend([
                format!("{seconds:.3}"),
                format!("{:.3}", usage.wall.as_secs_f64()),
                figure(speed(usage)),
                figure(millions(replay_project::N_EVENTS) * 1e6 / seconds),
                figure(memory(usage)),
                figure(seconds / own.cpu.as_secs_f64()),
            ]);
        }
        row.resize(7, "–".to_owned());
        row
    };
    let (fast, small) = (speed(&own), memory(&own));
    Ok(Section {
        title: "Replay",
        about: format!(
            "One run of 1,000 tasks with {} events of ten actors in {} logs, {} MB, all of them read and folded into the state of every task.\n\
             It is generated with a fixed random seed, in both spellings and several layouts, and the answer is compared with that of the generator.\n\
             Best of {N_RUNS} runs in turns ({N_RUNS_OF_JQ} of jq), files in the page cache.\n\
             DuckDB gets the names of the columns, reads no others, and finds the last event of each task, its closest equivalent of a fold; jq prints a field, wc counts lines.\n\
             MB are millions of bytes, CPU is user and system time, memory is the peak of the resident set, and CPU × is a multiple of rekindle's CPU time.",
            figure(millions(replay_project::N_EVENTS) * 1e6),
            logs.len(),
            figure(size)
        ),
        table: Table {
            n_text: 1,
            head: &[
                "program",
                "CPU s",
                "wall s",
                "MB/s of CPU",
                "events/s of CPU",
                "memory MB",
                "CPU ×",
            ],
            rows: contenders.iter().zip(&usages).map(row).collect(),
        },
        targets: vec![
            Target::above("speed", fast, LEAST_SPEED, "MB/s of CPU"),
            Target::below("memory", small, MOST_MEMORY, "MB"),
        ],
        standings: [
            Standing::more("replay, MB/s of CPU", fast, peers(&speed), WHY_SLOWER),
            Standing::less("replay, MB of memory", small, peers(&memory), WHY_LARGER),
        ]
        .map(Standing::headline)
        .into(),
        chart: Some(Chart {
            name: "replay",
            title: "Replay, MB/s of CPU (more is better)".to_owned(),
            bars: named(&speed),
        }),
    })
}

fn duckdb(logs: &[PathBuf]) -> Result<Contender, String> {
    let mut command = Command::new(peer::DUCKDB.program("python")?);
    command.args(["-c", DUCKDB]).args(logs);
    Ok(Contender {
        shown: format!("DuckDB's `read_json`, {}", peer::DUCKDB.version()),
        command: Some(command),
        n_runs: N_RUNS,
    })
}

/// Checks that rekindle gives the right answer.
fn check(inspect: &mut Command, project: &Project) -> Result<(), String> {
    let json = compact_json(inspect)?;
    if !json.contains(&project.expected) {
        let expected = &project.expected;
        return Err(format!("rekindle's answer is wrong; expected {expected}"));
    }
    let n_lists = json.matches(r#""findings":["#).count();
    if n_lists == 0 || n_lists != json.matches(r#""findings":[]"#).count() {
        return Err("rekindle has findings about the generated run".to_owned());
    }
    Ok(())
}
