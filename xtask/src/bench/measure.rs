//! What a program costs: wall time, processor time and peak memory.
//!
//! Two old programs do the measuring, so that no foreign code is linked: bash's `time` tells the
//! processor time of its child to a millisecond, GNU `time` the peak of its memory. Both ask the
//! kernel (`wait4`), and both are small, which matters: a child's peak is never below that of
//! the process it was forked from.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::peer;

/// What one run of a program took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    pub(super) wall: Duration,
    /// User and system time together.
    pub(super) cpu: Duration,
    /// The most memory it held at once, in bytes.
    pub(super) peak: u64,
}

impl Usage {
    /// Returns the best of two runs, figure by figure; memory is the exception, there the worst counts.
    fn best(self, other: Self) -> Self {
        Self {
            wall: self.wall.min(other.wall),
            cpu: self.cpu.min(other.cpu),
            peak: self.peak.max(other.peak),
        }
    }
}

/// Measures programs, with a folder for what the two measuring programs write.
pub(super) struct Meter {
    bash: PathBuf,
    time: PathBuf,
    folder: PathBuf,
}

impl Meter {
    /// Returns a meter, or says which program it lacks.
    pub(super) fn new(folder: &Path) -> Result<Self, String> {
        Ok(Self {
            bash: peer::BASH.need()?,
            time: peer::TIME.need()?,
            folder: folder.to_owned(),
        })
    }

    /// Runs a program once with its output thrown away.
    fn once(&self, call: &Call) -> Result<Usage, String> {
        let times = self.folder.join("times");
        let peak = self.folder.join("peak");
        let script =
            r#"TIMEFORMAT="%3R %3U %3S"; { time "$@" >/dev/null 2>/dev/null; } 2>"$TIMES""#;
        let status = Command::new(&self.time)
            .args(["--format", "%M", "--output"])
            .arg(&peak)
            .arg(&self.bash)
            .args(["-c", script, "bash"])
            .arg(&call.program)
            .args(&call.args)
            .current_dir(&call.folder)
            .envs(call.environment.iter().map(|(name, value)| (name, value)))
            .env("TIMES", &times)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .status()
            .map_err(|e| format!("cannot run `time`: {e}"))?;
        if !status.success() {
            let program = call.program.display();
            return Err(format!(
                "`{program}` failed while it was measured: {status}"
            ));
        }
        let read = |file: &Path| {
            std::fs::read_to_string(file).map_err(|e| format!("cannot read what was measured: {e}"))
        };
        usage(&read(&times)?, &read(&peak)?)
            .ok_or_else(|| "what was measured can not be understood".to_owned())
    }
}

/// A program to measure.
pub(super) struct Call {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    /// The folder that it starts in.
    pub(super) folder: PathBuf,
    /// What is added to the environment.
    pub(super) environment: Vec<(&'static str, String)>,
}

/// One of several programs that are compared.
pub(super) struct Contender {
    /// How it is shown in the report.
    pub(super) shown: String,
    /// Nothing if it is not installed.
    pub(super) call: Option<Call>,
    pub(super) n_runs: u32,
}

impl Meter {
    /// Measures programs that take turns, so that a busy moment of the machine hits all of them.
    ///
    /// Returns the best of each.
    pub(super) fn in_turns(&self, contenders: &[Contender]) -> Result<Vec<Option<Usage>>, String> {
        let mut best: Vec<Option<Usage>> = vec![None; contenders.len()];
        let n_rounds = contenders.iter().map(|one| one.n_runs).max().unwrap_or(0);
        for round in 0..n_rounds {
            for (contender, best) in contenders.iter().zip(&mut best) {
                if let Some(call) = &contender.call
                    && round < contender.n_runs
                {
                    let usage = self.once(call)?;
                    *best = Some(best.map_or(usage, |best| best.best(usage)));
                }
            }
        }
        Ok(best)
    }
}

/// Runs a program to its end and returns the wall time from the start of the call.
pub(super) fn wall(command: &mut Command) -> Result<Duration, String> {
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status();
    let took = begun.elapsed();
    match status {
        Ok(status) if status.success() => Ok(took),
        Ok(status) => Err(format!(
            "{} failed: {status}",
            command.get_program().display()
        )),
        Err(e) => Err(format!(
            "cannot run {}: {e}",
            command.get_program().display()
        )),
    }
}

/// Reads `real user system` in seconds and a peak in KiB.
fn usage(times: &str, peak: &str) -> Option<Usage> {
    let mut words = times.split_whitespace();
    let mut next = || Duration::try_from_secs_f64(words.next()?.parse().ok()?).ok();
    let (wall, user, system) = (next()?, next()?, next()?);
    Some(Usage {
        wall,
        cpu: user + system,
        peak: peak.trim().parse::<u64>().ok()? * 1024,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_measuring_programs_write_is_understood() {
        let read = usage("0.512 0.400 0.050\n", "13056\n").unwrap();
        assert_eq!(read.wall, Duration::from_millis(512));
        assert_eq!(read.cpu, Duration::from_millis(450));
        assert_eq!(read.peak, 13056 * 1024);
        assert!(usage("0.5 0.4\n", "1").is_none() && usage("0.5 0.4 0.1", "").is_none());
    }
}
