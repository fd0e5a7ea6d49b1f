//! Programs that take turns, each started anew many times: how long one waits for them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::report::Table;
use super::{measure, peer};

/// How often each program runs.
pub(super) const N_RUNS: usize = 400;

/// One of the programs.
pub(super) struct Racer {
    shown: String,
    program: PathBuf,
    args: &'static [&'static str],
    folder: PathBuf,
    /// The time of each run.
    times: Vec<Duration>,
}

/// Runs them all in turns and returns them with their times sorted.
pub(super) fn race(mut racers: Vec<Racer>) -> Result<Vec<Racer>, String> {
    for _ in 0..N_RUNS {
        for racer in &mut racers {
            racer.runs()?;
        }
    }
    for racer in &mut racers {
        racer.times.sort_unstable();
    }
    Ok(racers)
}

/// Returns the times of all as a table.
pub(super) fn table(racers: &[Racer]) -> Table {
    Table {
        n_text: 1,
        head: vec!["program", "minimum ms", "median ms", "90 % below ms"],
        rows: racers.iter().map(Racer::row).collect(),
    }
}

/// Returns what everybody knows: a program that does nothing, and an interpreter that is told nothing.
pub(super) fn known(folder: &Path) -> Result<Vec<Racer>, String> {
    let program_true = peer::TRUE.find().ok_or("there is no `true` on the path")?;
    let mut known = vec![Racer::new("`true`", &program_true, &[], folder)];
    match peer::python() {
        Some((program, version)) => {
            let shown = format!("`python3 -c pass`, {version}");
            known.push(Racer::new(&shown, &program, &["-c", "pass"], folder));
        }
        None => println!("python3 is not installed"),
    }
    Ok(known)
}

impl Racer {
    pub(super) fn new(
        shown: &str,
        program: &Path,
        args: &'static [&'static str],
        folder: &Path,
    ) -> Self {
        Self {
            shown: shown.to_owned(),
            program: program.to_owned(),
            args,
            folder: folder.to_owned(),
            times: Vec::with_capacity(N_RUNS),
        }
    }

    fn runs(&mut self) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.args(self.args).current_dir(&self.folder);
        self.times.push(measure::wall(&mut command)?);
        Ok(())
    }

    /// Returns the time, in milliseconds, that this share of the runs stayed below; the times are sorted.
    fn below(&self, percent: usize) -> f64 {
        let last = self.times.len().saturating_sub(1);
        let time = self.times.get(last * percent / 100);
        time.map_or(f64::NAN, |time| time.as_secs_f64() * 1000.0)
    }

    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn median(&self) -> f64 {
        self.below(50)
    }

    fn row(&self) -> Vec<String> {
        let shares = [0, 50, 90].map(|percent| format!("{:.2}", self.below(percent)));
        std::iter::once(self.shown.clone()).chain(shares).collect()
    }
}
