//! How long one waits for an answer that needs no work.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::chore::{Bench, Setting};
use super::report::{Section, Table, Target};
use super::{measure, peer};

pub(super) const BENCH: Bench = Bench {
    name: "startup",
    run: bench,
};

const N_RUNS: usize = 400;
const MOST_MS_HERE: f64 = 10.0;
const MOST_MS_ABOVE_TRUE: f64 = 5.0;

fn bench(setting: &Setting) -> Result<Section, String> {
    let folder = setting.folder.join("empty");
    std::fs::create_dir_all(&folder).map_err(|e| format!("cannot make an empty folder: {e}"))?;
    let program_true = peer::TRUE.find().ok_or("there is no `true` on the path")?;
    let mut racers = vec![
        Racer::new("`rekindle` in an empty folder", &setting.rekindle, &[]),
        Racer::new("`rekindle --version`", &setting.rekindle, &["--version"]),
        Racer::new("`true`", &program_true, &[]),
    ];
    match peer::python() {
        Some((program, version)) => {
            let shown = format!("`python3 -c pass`, {version}");
            racers.push(Racer::new(&shown, &program, &["-c", "pass"]));
        }
        None => println!("python3 is not installed"),
    }
    for _ in 0..N_RUNS {
        for racer in &mut racers {
            racer.runs(&folder)?;
        }
    }
    for racer in &mut racers {
        racer.times.sort_unstable();
    }
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
        table: Table {
            n_text: 1,
            head: vec!["program", "minimum ms", "median ms", "90 % below ms"],
            rows: racers.iter().map(Racer::row).collect(),
        },
        targets: vec![
            Target::below("`rekindle` in an empty folder", here, MOST_MS_HERE, "ms"),
            Target::below(
                "`rekindle --version` above `true`",
                version - nothing,
                MOST_MS_ABOVE_TRUE,
                "ms",
            ),
        ],
    })
}

struct Racer {
    shown: String,
    program: PathBuf,
    args: &'static [&'static str],
    /// The time of each run.
    times: Vec<Duration>,
}

impl Racer {
    fn new(shown: &str, program: &Path, args: &'static [&'static str]) -> Self {
        Self {
            shown: shown.to_owned(),
            program: program.to_owned(),
            args,
            times: Vec::with_capacity(N_RUNS),
        }
    }

    fn runs(&mut self, folder: &Path) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        self.times
            .push(measure::wall(command.args(self.args).current_dir(folder))?);
        Ok(())
    }

    /// Returns the time, in milliseconds, that this share of the runs stayed below; the times are sorted.
    fn below(&self, percent: usize) -> f64 {
        let last = self.times.len().saturating_sub(1);
        let time = self.times.get(last * percent / 100);
        time.map_or(f64::NAN, |time| time.as_secs_f64() * 1000.0)
    }

    fn median(&self) -> f64 {
        self.below(50)
    }

    fn row(&self) -> Vec<String> {
        let shares = [0, 50, 90].map(|percent| format!("{:.2}", self.below(percent)));
        std::iter::once(self.shown.clone()).chain(shares).collect()
    }
}
