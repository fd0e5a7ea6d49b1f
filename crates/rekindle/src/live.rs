//! The live view of a run on a terminal: one line a worker, and how far all is.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use rekindle_app::{Tally, WorkerView};
use rekindle_text::excerpt;

/// What is drawn below the lines that scroll by.
#[derive(Debug)]
pub(crate) struct Live {
    all: MultiProgress,
    overall: ProgressBar,
    workers: Vec<ProgressBar>,
}

impl Live {
    pub(crate) fn new() -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let overall = all.add(ProgressBar::new(0));
        // The templates are fixed and known to be right; a plain bar would do as well.
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} landed, {msg}");
        overall.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self {
            all,
            overall,
            workers: Vec::new(),
        }
    }

    /// Prints lines above the view.
    pub(crate) fn print(&self, text: &str) {
        self.all.println(text.trim_end_matches('\n')).ok();
    }

    pub(crate) fn draw(&mut self, tally: Tally, workers: &[WorkerView]) {
        self.overall.set_length(as_u64(tally.total - tally.skipped));
        self.overall.set_position(as_u64(tally.landed));
        // Before anything has landed there is nothing to estimate from.
        let left = match tally.landed {
            0 => String::new(),
            _ => format!(", about {}", short(self.overall.eta())),
        };
        self.overall.set_message(format!(
            "{} running, {} failed, {} to go{left}",
            tally.running, tally.blocked, tally.left
        ));
        while self.workers.len() > workers.len() {
            if let Some(bar) = self.workers.pop() {
                bar.finish_and_clear();
                self.all.remove(&bar);
            }
        }
        while self.workers.len() < workers.len() {
            let bar = self
                .all
                .insert_before(&self.overall, ProgressBar::new_spinner());
            let style = ProgressStyle::with_template("  {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            self.workers.push(bar);
        }
        for (bar, worker) in self.workers.iter().zip(workers) {
            bar.set_message(line(worker));
        }
    }

    /// Takes the view away; what scrolled by stays.
    pub(crate) fn end(self) {
        for bar in &self.workers {
            bar.finish_and_clear();
        }
        self.overall.finish_and_clear();
    }
}

fn line(worker: &WorkerView) -> String {
    let sign = if worker.silent > Duration::from_secs(60) {
        format!(", silent for {}", short(worker.silent))
    } else {
        String::new()
    };
    format!(
        "{} (attempt {}) {}{sign}  {}",
        excerpt(&worker.task, 40),
        worker.attempt,
        short(worker.elapsed),
        worker.last_line
    )
}

fn short(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600.. => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

fn as_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_one_line_and_its_silence_is_reported() {
        let mut worker = WorkerView {
            task: "T1".to_owned(),
            attempt: 2,
            elapsed: Duration::from_secs(75),
            silent: Duration::from_secs(3),
            last_line: "running tests".to_owned(),
        };
        assert_eq!(line(&worker), "T1 (attempt 2) 1m15s  running tests");
        worker.silent = Duration::from_secs(61);
        assert_eq!(
            line(&worker),
            "T1 (attempt 2) 1m15s, silent for 1m01s  running tests"
        );
    }
}
