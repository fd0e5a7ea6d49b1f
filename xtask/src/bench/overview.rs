//! How long a project with very many runs takes to show what can be resumed.

use std::process::Command;

use super::chore::{Bench, Setting};
use super::measure::{Call, Contender, Meter};
use super::overview_project;
use super::report::{Section, Table, Target, figure};

pub(super) const BENCH: Bench = Bench {
    name: "overview",
    run: bench,
};

const N_RUNS: u32 = 9;
const MOST_SECONDS: f64 = 1.0;

fn bench(setting: &Setting) -> Result<Section, String> {
    let project = overview_project::RECIPE.project(&setting.folder)?;
    let status = Call {
        program: setting.rekindle.clone(),
        args: vec!["status".into()],
        folder: project.folder.clone(),
        environment: vec![("REKINDLE_NOW", overview_project::now())],
    };
    let n_open = n_open_in(&status)?;
    if n_open.to_string() != project.told {
        return Err(format!(
            "rekindle shows {n_open} open runs; expected {}",
            project.told
        ));
    }
    let contenders = [Contender {
        shown: "`rekindle status`".to_owned(),
        call: Some(status),
        n_runs: N_RUNS,
    }];
    let usages = Meter::new(&setting.folder)?.in_turns(&contenders)?;
    let usage = usages[0].ok_or("nothing was measured")?;
    let (wall, cpu) = (usage.wall.as_secs_f64(), usage.cpu.as_secs_f64());
    let n_all = u32::try_from(overview_project::N_RUNS).map_or(f64::NAN, f64::from);
    let peak = u32::try_from(usage.peak / 1000).map_or(f64::NAN, f64::from) / 1000.0;
    Ok(Section {
        title: "Overview",
        about: vec![
            format!(
                "A project with {} runs, each with five documents, a graph of ten tasks and five \
                 logs of ten events.",
                figure(n_all)
            ),
            format!(
                "Best of {N_RUNS} runs, files in the page cache; it was checked that every open \
                 run is counted."
            ),
        ],
        table: Table {
            n_text: 1,
            head: vec!["program", "wall s", "CPU s", "CPU ms a run", "memory MB"],
            rows: vec![vec![
                contenders[0].shown.clone(),
                format!("{wall:.3}"),
                format!("{cpu:.3}"),
                figure(cpu * 1000.0 / n_all),
                figure(peak),
            ]],
        },
        targets: vec![Target::below("wall time", wall, MOST_SECONDS, "s")],
        standings: Vec::new(),
        chart: None,
    })
}

/// Counts the runs that are shown and not over.
fn n_open_in(status: &Call) -> Result<usize, String> {
    let done = Command::new(&status.program)
        .args(&status.args)
        .arg("--json")
        .current_dir(&status.folder)
        .envs(status.environment.iter().cloned())
        .output()
        .map_err(|e| format!("cannot run rekindle: {e}"))?;
    let text = String::from_utf8_lossy(&done.stdout);
    let dense: String = text.split_whitespace().collect();
    let n_over = dense.matches(r#""state":"complete""#).count();
    Ok(dense.matches(r#""state":""#).count() - n_over)
}
