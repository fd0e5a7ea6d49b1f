//! How long an answer takes that needs no work.

use std::path::PathBuf;
use std::process::Command;

use xtask::files;

use crate::chore::Setting;
use crate::measure::{milliseconds, percentile};
use crate::peer;
use crate::report::{Section, Table, Target};
use crate::standing::Standing;

const N_RUNS: usize = 400;
const MOST_MS_HERE: f64 = 10.0;
const MOST_MS_ABOVE_TRUE: f64 = 5.0;

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let folder = files::empty_folder(setting.folder.join("empty"))?;
    let (python, version) = peer::python()?;
    let rekindle = &setting.rekindle;
    let programs: [(String, PathBuf, &[&str]); 4] = [
        (
            "`rekindle` in an empty folder".to_owned(),
            rekindle.clone(),
            &[],
        ),
        (
            "`rekindle --version`".to_owned(),
            rekindle.clone(),
            &["--version"],
        ),
        ("`true`".to_owned(), peer::TRUE.need()?, &[]),
        (
            format!("`python3 -c pass`, {version}"),
            python,
            &["-c", "pass"],
        ),
    ];
    let mut times = programs.each_ref().map(|_| Vec::with_capacity(N_RUNS));
    for _ in 0..N_RUNS {
        for ((_, program, args), times) in programs.iter().zip(&mut times) {
            let mut command = Command::new(program);
            times.push(milliseconds(command.args(*args).current_dir(&folder))?);
        }
    }
    let medians = times.each_mut().map(|times| percentile(times, 50));
    let [here, own, nothing, _] = medians;
    let rows = programs.iter().zip(&mut times).map(|((shown, ..), times)| {
        let shares = [0, 50, 90].map(|percent| format!("{:.2}", percentile(times, percent)));
        [shown.clone()].into_iter().chain(shares).collect()
    });
    Ok(Section {
        title: "Start-up",
        about: format!(
            "Wall time from the start of the call to the end of the process, {N_RUNS} runs of each in turns.\n\
             The targets are for the median; the second one is the difference to `true`, which is the cost of any process."
        ),
        table: Table {
            n_text: 1,
            head: &["program", "minimum ms", "median ms", "90 % below ms"],
            rows: rows.collect(),
        },
        targets: vec![
            Target::below("`rekindle` in an empty folder", here, MOST_MS_HERE, "ms"),
            Target::below(
                "`rekindle --version` above `true`",
                own - nothing,
                MOST_MS_ABOVE_TRUE,
                "ms",
            ),
        ],
        standings: vec![Standing::less(
            "start, ms",
            own,
            (programs.iter().zip(medians).skip(2))
                .map(|((shown, ..), median)| (shown.clone(), median))
                .collect(),
            "`true` does nothing: it is the cost of any process, and no program that does something can be ahead",
        ).headline()],
        ..Section::default()
    })
}
