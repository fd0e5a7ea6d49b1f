//! What a program costs: wall time, processor time and peak memory.
//!
//! bash's `time` reports the processor time of its child to a millisecond, GNU `time` the peak of its
//! memory. Both ask the kernel (`wait4`), and both are small, which matters: the peak of a child is
//! never below that of the process that forked it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use xtask::files;

use crate::peer;

/// What one run of a program took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) wall: Duration,
    /// User and system time together.
    pub(crate) cpu: Duration,
    /// The peak memory in bytes.
    pub(crate) peak: u64,
}

/// One of several programs that are compared.
pub(crate) struct Contender {
    /// Its name in the report.
    pub(crate) shown: String,
    /// Nothing if it is not installed.
    pub(crate) command: Option<Command>,
    pub(crate) n_runs: u32,
}

/// Measures programs, with a folder for the output of the two measuring programs.
pub(crate) struct Meter<'a> {
    bash: PathBuf,
    time: PathBuf,
    folder: &'a Path,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(folder: &'a Path) -> Result<Self, String> {
        Ok(Self {
            bash: peer::BASH.need()?,
            time: peer::TIME.need()?,
            folder,
        })
    }

    /// Measures programs in turns, so that a busy moment of the machine affects all of them.
    ///
    /// Returns the best time and the worst memory of each.
    pub(crate) fn in_turns(&self, contenders: &[Contender]) -> Result<Vec<Option<Usage>>, String> {
        let mut best: Vec<Option<Usage>> = vec![None; contenders.len()];
        let n_rounds = contenders.iter().map(|one| one.n_runs).max().unwrap_or(0);
        for round in 0..n_rounds {
            for (contender, best) in contenders.iter().zip(&mut best) {
                if let Some(command) = &contender.command
                    && round < contender.n_runs
                {
                    let now = self.once(command)?;
                    *best = Some(best.map_or(now, |best| Usage {
                        wall: best.wall.min(now.wall),
                        cpu: best.cpu.min(now.cpu),
                        peak: best.peak.max(now.peak),
                    }));
                }
            }
        }
        Ok(best)
    }

    fn once(&self, measured: &Command) -> Result<Usage, String> {
        let [times, peak] = ["times", "peak"].map(|name| self.folder.join(name));
        let script =
            r#"TIMEFORMAT="%3R %3U %3S"; { time "$@" >/dev/null 2>/dev/null; } 2>"$TIMES""#;
        let mut command = Command::new(&self.time);
        command
            .args(["--format", "%M", "--output"])
            .arg(&peak)
            .arg(&self.bash)
            .args(["-c", script, "bash"])
            .arg(measured.get_program())
            .args(measured.get_args())
            .envs(
                measured
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .env("TIMES", &times)
            .env("LC_ALL", "C");
        if let Some(folder) = measured.get_current_dir() {
            command.current_dir(folder);
        }
        milliseconds(&mut command)?;
        usage(&files::read(&times)?, &files::read(&peak)?)
            .ok_or_else(|| "cannot read the output of `time`".to_owned())
    }
}

/// Runs a program with its output discarded; returns its wall time in milliseconds.
pub(crate) fn milliseconds(command: &mut Command) -> Result<f64, String> {
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status();
    let took = start.elapsed();
    let program = command.get_program().display();
    match status {
        Ok(status) if status.success() => Ok(took.as_secs_f64() * 1000.0),
        Ok(status) => Err(format!("`{program}` failed: {status}")),
        Err(e) => Err(format!("cannot run `{program}`: {e}")),
    }
}

/// Returns the JSON that a program prints, without whitespace.
pub(crate) fn compact_json(command: &mut Command) -> Result<String, String> {
    let done = command.output();
    let done = done.map_err(|e| format!("cannot run rekindle: {e}"))?;
    let text = String::from_utf8_lossy(&done.stdout);
    Ok(text.split_whitespace().collect())
}

/// Sorts figures and returns the one at this percentage.
pub(crate) fn percentile(figures: &mut [f64], percent: usize) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    let last = figures.len().saturating_sub(1);
    figures
        .get(last * percent / 100)
        .copied()
        .unwrap_or(f64::NAN)
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
    fn the_output_of_the_measuring_programs_is_read() {
        let read = usage("0.512 0.400 0.050\n", "13056\n").unwrap();
        assert_eq!(read.wall, Duration::from_millis(512));
        assert_eq!(read.cpu, Duration::from_millis(450));
        assert_eq!(read.peak, 13056 * 1024);
        assert!(usage("0.5 0.4\n", "1").is_none() && usage("0.5 0.4 0.1", "").is_none());
    }
}
