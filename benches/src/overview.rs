//! How long `rekindle status` takes in a project with very many runs.

use std::process::Command;

use crate::chore::Setting;
use crate::measure::{Contender, Meter, compact_json};
use crate::overview_project;
use crate::report::{Section, Table, Target, figure, millions};

const N_RUNS: u32 = 9;
const MOST_SECONDS: f64 = 1.0;

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let project = overview_project::RECIPE.project(&setting.folder)?;
    let status = || {
        let mut status = Command::new(&setting.rekindle);
        status
            .arg("status")
            .current_dir(&project.folder)
            .env("REKINDLE_NOW", overview_project::now());
        status
    };
    let json = compact_json(status().arg("--json"))?;
    let n_complete = json.matches(r#""state":"complete""#).count();
    let n_open = json.matches(r#""state":""#).count() - n_complete;
    let expected = &project.expected;
    if n_open.to_string() != *expected {
        return Err(format!(
            "rekindle shows {n_open} open runs; expected {expected}"
        ));
    }
    let contenders = [Contender {
        shown: "`rekindle status`".to_owned(),
        command: Some(status()),
        n_runs: N_RUNS,
    }];
    let usages = Meter::new(&setting.folder)?.in_turns(&contenders)?;
    let usage = usages[0].ok_or("nothing was measured")?;
    let (wall, cpu) = (usage.wall.as_secs_f64(), usage.cpu.as_secs_f64());
    let n_all = millions(overview_project::N_RUNS) * 1e6;
    Ok(Section {
        title: "Overview",
        about: format!(
            "A project with {} runs, each with five documents, a graph of ten tasks and five logs of ten events.\n\
             Best of {N_RUNS} runs, files in the page cache; every open run is in the answer.",
            figure(n_all)
        ),
        table: Table {
            n_text: 1,
            head: &["program", "wall s", "CPU s", "CPU ms per run", "memory MB"],
            rows: vec![vec![
                contenders[0].shown.clone(),
                format!("{wall:.3}"),
                format!("{cpu:.3}"),
                figure(cpu * 1000.0 / n_all),
                figure(millions(usage.peak)),
            ]],
        },
        targets: vec![Target::below("wall time", wall, MOST_SECONDS, "s")],
        ..Section::default()
    })
}
