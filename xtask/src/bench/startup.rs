//! How long one waits for an answer that needs no work.

use super::chore::{Bench, Setting};
use super::race::{self, N_RUNS, Racer};
use super::report::{Section, Target};
use super::standing::{Better, Standing};

pub(super) const BENCH: Bench = Bench {
    name: "startup",
    run: bench,
};

const MOST_MS_HERE: f64 = 10.0;
const MOST_MS_ABOVE_TRUE: f64 = 5.0;

fn bench(setting: &Setting) -> Result<Section, String> {
    let folder = setting.folder.join("empty");
    std::fs::create_dir_all(&folder).map_err(|e| format!("cannot make an empty folder: {e}"))?;
    let rekindle = |shown: &str, args| Racer::new(shown, &setting.rekindle, args, &folder);
    let mut racers = vec![
        rekindle("`rekindle` in an empty folder", &[]),
        rekindle("`rekindle --version`", &["--version"]),
    ];
    racers.extend(race::known(&folder)?);
    let racers = race::race(racers)?;
    let [here, version, nothing] = [0, 1, 2].map(|at| racers[at].median());
    Ok(Section {
        title: "Start-up",
        about: vec![
            format!(
                "Wall time from the start of the call to the end of the process, {N_RUNS} runs of \
                 each in turns, started by one process."
            ),
            "The targets are for the median; the second one is the difference to `true`, which \
             is what the system takes for any process."
                .to_owned(),
        ],
        table: race::table(&racers),
        targets: vec![
            Target::below("`rekindle` in an empty folder", here, MOST_MS_HERE, "ms"),
            Target::below(
                "`rekindle --version` above `true`",
                version - nothing,
                MOST_MS_ABOVE_TRUE,
                "ms",
            ),
        ],
        standings: vec![Standing {
            what: "start, ms".to_owned(),
            better: Better::Less,
            ours: version,
            peers: racers[2..]
                .iter()
                .map(|racer| (racer.shown().to_owned(), racer.median()))
                .collect(),
            if_behind: "`true` does nothing at all: it is what the system takes for any process, so that nothing which does something can be ahead",
        }],
        chart: None,
    })
}
