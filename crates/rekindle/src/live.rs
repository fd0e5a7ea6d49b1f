//! The live view of a run on a terminal: how far all is, one line a worker, what cannot start, how to stop.
//!
//! The block is text that fits the terminal, so that nothing wraps and a redraw leaves nothing behind.

mod announce;

use std::io::Write as _;
use std::time::Duration;

use rekindle_app::{HeldBack, RunView, Steering, Tally, WorkerView};
use rekindle_text::excerpt;
use unicode_width::UnicodeWidthStr as _;

use self::announce::Announcer;
pub(crate) use self::announce::notify;
use crate::render::fitting;

/// The bar's width.
const BAR: usize = 24;
/// How many tasks that cannot start are shown.
const MOST_HELD_BACK: usize = 3;
/// Lines besides the workers': the bar, tasks that cannot start and their count, how to stop, the cursor's.
const OTHER_LINES: usize = MOST_HELD_BACK + 4;

/// What is drawn below the lines that scroll by.
///
/// The cursor waits below the block: what a person types, such as `^C`, wraps nothing and is erased with it.
#[derive(Debug)]
pub(crate) struct Live {
    /// The block as it is on the screen.
    block: String,
    /// How many columns the terminal has.
    width: usize,
    pace: Pace,
    announcer: Announcer,
}

impl Live {
    pub(crate) fn new() -> Self {
        Self {
            block: String::new(),
            width: 0,
            pace: Pace::default(),
            announcer: Announcer::new(),
        }
    }

    /// Prints lines above the view.
    pub(crate) fn print(&self, text: &str) {
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            write(&format!("{}{text}\n{}", self.erased(), self.block));
        }
    }

    /// Draws the view on a terminal of so many columns and lines.
    pub(crate) fn draw(&mut self, view: &RunView, size: (usize, usize)) {
        let left = self.pace.left(view.tally, view.elapsed);
        self.width = size.0;
        let erased = self.erased();
        self.block = block(view, left, size);
        write(&format!("{erased}{}", self.block));
        self.announcer.tell(view.tally);
    }

    /// Takes the view away; what scrolled by stays.
    pub(crate) fn end(mut self) {
        write(&self.erased());
        self.announcer.end();
    }

    /// Returns what takes the block off the screen.
    fn erased(&self) -> String {
        // A terminal that became narrower has wrapped the lines.
        let rows = |line: &str| line.width().div_ceil(self.width.max(1)).max(1);
        match self.block.lines().map(rows).sum::<usize>() {
            0 => String::new(),
            rows => format!("\r\x1b[{rows}A\x1b[J"),
        }
    }
}

/// Writes in one piece, so that nothing of others comes in between; a terminal that is gone shows nothing.
fn write(text: &str) {
    anstream::stderr().write_all(text.as_bytes()).ok();
}

/// How fast tasks land.
#[derive(Debug, Default)]
struct Pace {
    /// When the first look was, and how many tasks had landed by then.
    first: Option<(Duration, usize)>,
}

impl Pace {
    /// Returns about how long the rest takes; before anything has landed there is nothing to estimate from.
    fn left(&mut self, tally: Tally, elapsed: Duration) -> Option<Duration> {
        let (start, before) = *self.first.get_or_insert((elapsed, tally.landed));
        let landed = u32::try_from(tally.landed.checked_sub(before)?).ok()?;
        let left = u32::try_from(tally.left + tally.running).ok()?;
        let each = elapsed.saturating_sub(start).checked_div(landed)?;
        Some(each * left)
    }
}

/// Returns the lines of the view.
fn block(view: &RunView, left: Option<Duration>, (width, height): (usize, usize)) -> String {
    let room = height.saturating_sub(OTHER_LINES).max(1);
    let mut lines = vec![overall(view.tally, left)];
    let workers = view.workers.iter().take(room);
    lines.extend(workers.map(|one| worker(one, width)));
    if let more @ 1.. = view.workers.len().saturating_sub(room) {
        lines.push(format!("  and {more} more at work"));
    }
    lines.extend(view.held_back.iter().take(MOST_HELD_BACK).map(held_back));
    if let more @ 1.. = view.held_back.len().saturating_sub(MOST_HELD_BACK) {
        lines.push(format!("  and {more} more that cannot start"));
    }
    lines.push(steering(view.steering).to_owned());
    // Some terminals wrap a line that fills them.
    let width = width.saturating_sub(1);
    let fitted = lines.iter().map(|line| fitting(line, width) + "\n");
    fitted.collect()
}

fn overall(tally: Tally, left: Option<Duration>) -> String {
    let total = tally.total - tally.skipped;
    let full = (tally.landed * BAR).checked_div(total).unwrap_or(BAR);
    let bar = "█".repeat(full) + &"░".repeat(BAR - full);
    let failed = match tally.blocked {
        0 => String::new(),
        n => format!(", {n} failed"),
    };
    let left = left.map_or_else(String::new, |left| format!(", about {}", short(left)));
    format!(
        "{bar} {}/{total} landed, {} running{failed}, {} to go{left}",
        tally.landed, tally.running, tally.left
    )
}

fn steering(steering: Steering) -> &'static str {
    match steering {
        Steering::Running => "  Ctrl-C stops: what is at work is finished, nothing new starts",
        Steering::Stopping => "  stopping: Ctrl-C again stops the workers too",
        Steering::Watching => "  q leaves; the run goes on in its own terminal",
    }
}

fn worker(worker: &WorkerView, width: usize) -> String {
    let attempt = match worker.attempt {
        1 => String::new(),
        n => format!(", attempt {n}"),
    };
    let sign = if worker.silent > Duration::from_secs(60) {
        format!(", silent for {}", short(worker.silent))
    } else {
        String::new()
    };
    // There has to be room for what the agent does.
    let title = excerpt(&worker.title, (width * 2 / 5).min(80));
    let gap = if title.is_empty() { "" } else { " " };
    format!(
        "  {}{gap}{title} ({}{attempt}{sign})  {}",
        excerpt(&worker.task, 40),
        short(worker.elapsed),
        worker.last_line
    )
}

fn held_back(task: &HeldBack) -> String {
    format!("  {} {}", excerpt(&task.task, 40), excerpt(&task.why, 200))
}

fn short(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600.. => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_work(task: &str, title: &str, last_line: &str) -> WorkerView {
        WorkerView {
            task: task.to_owned(),
            title: title.to_owned(),
            attempt: 1,
            elapsed: Duration::from_secs(75),
            silent: Duration::from_secs(3),
            last_line: last_line.to_owned(),
        }
    }

    fn view() -> RunView {
        let mut second = at_work("T002", "Port the importer", "Edit: src/import.rs");
        second.attempt = 2;
        second.silent = Duration::from_secs(61);
        RunView {
            tally: Tally {
                landed: 3,
                running: 2,
                blocked: 1,
                skipped: 0,
                left: 6,
                total: 12,
            },
            workers: vec![
                at_work(
                    "T001",
                    "Round the totals",
                    "Bash: cargo test --workspace --all-targets --all-features",
                ),
                second,
            ],
            held_back: vec![HeldBack {
                task: "T004".to_owned(),
                why: "cannot start: it needs T003, which failed".to_owned(),
            }],
            steering: Steering::Running,
            elapsed: Duration::from_secs(300),
        }
    }

    #[test]
    fn the_block_fits_the_terminal() {
        let left = Some(Duration::from_secs(240));
        insta::assert_snapshot!(block(&view(), left, (80, 24)), @"
        ██████░░░░░░░░░░░░░░░░░░ 3/12 landed, 2 running, 1 failed, 6 to go, about 4m00s
          T001 Round the totals (1m15s)  Bash: cargo test --workspace --all-targets --…
          T002 Port the importer (1m15s, attempt 2, silent for 1m01s)  Edit: src/impor…
          T004 cannot start: it needs T003, which failed
          Ctrl-C stops: what is at work is finished, nothing new starts
        ");
        insta::assert_snapshot!(block(&view(), left, (200, 50)), @"
        ██████░░░░░░░░░░░░░░░░░░ 3/12 landed, 2 running, 1 failed, 6 to go, about 4m00s
          T001 Round the totals (1m15s)  Bash: cargo test --workspace --all-targets --all-features
          T002 Port the importer (1m15s, attempt 2, silent for 1m01s)  Edit: src/import.rs
          T004 cannot start: it needs T003, which failed
          Ctrl-C stops: what is at work is finished, nothing new starts
        ");
    }

    #[test]
    fn a_narrower_terminal_has_more_rows_to_erase() {
        let live = |width| Live {
            block: block(&view(), None, (80, 24)),
            width,
            pace: Pace::default(),
            announcer: Announcer::new(),
        };
        assert_eq!(live(80).erased(), "\r\x1b[5A\x1b[J");
        assert_eq!(live(50).erased(), "\r\x1b[9A\x1b[J");
    }

    #[test]
    fn more_workers_than_lines_are_counted() {
        let mut view = view();
        view.workers = vec![at_work("T001", "", "x"); 40];
        view.steering = Steering::Stopping;
        let text = block(&view, None, (80, 24));
        assert!(text.lines().count() < 24, "{text}");
        assert!(text.contains("and 23 more at work"), "{text}");
        assert!(text.contains("T001 (1m15s)  x"), "{text}");
        assert!(
            text.ends_with("Ctrl-C again stops the workers too\n"),
            "{text}"
        );
    }

    #[test]
    fn the_rest_is_estimated_from_what_landed_since_the_first_look() {
        let mut pace = Pace::default();
        let start = Duration::from_secs(5);
        let mut tally = view().tally;
        assert_eq!(pace.left(tally, start), None);
        tally.landed += 2;
        tally.left -= 2;
        let later = start + Duration::from_secs(60);
        assert_eq!(pace.left(tally, later), Some(Duration::from_secs(180)));
    }
}
