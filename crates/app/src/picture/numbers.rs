//! Counts what is in a history.

use jiff::Timestamp;
use rekindle_model::{AttemptEnd, History, TaskState};
use rekindle_wire::PictureCounts;

pub(super) fn counts(history: &History, now: Timestamp) -> PictureCounts {
    let mut counts = PictureCounts {
        tasks: history.tasks.len(),
        attempts: history.attempts.len(),
        limits: history.waits.len().min(n_waits(history)),
        ..PictureCounts::default()
    };
    for task in &history.tasks {
        let count = match task.state {
            TaskState::Done => &mut counts.done,
            TaskState::Running => &mut counts.running,
            TaskState::NeedsPerson => &mut counts.needs_person,
            TaskState::Interrupted | TaskState::Failed | TaskState::Limited => &mut counts.again,
            TaskState::Open => &mut counts.open,
            TaskState::Skipped => &mut counts.skipped,
        };
        *count += 1;
    }
    let mut cost: Option<u64> = None;
    for attempt in &history.attempts {
        match attempt.end {
            AttemptEnd::Killed(_) => counts.killed += 1,
            AttemptEnd::Failed(_) => counts.failed += 1,
            AttemptEnd::Limited => counts.limited += 1,
            AttemptEnd::Running
            | AttemptEnd::Delivered
            | AttemptEnd::Done
            | AttemptEnd::Stopped => {}
        }
        match attempt.cost {
            Some(told) => cost = Some(cost.unwrap_or_default().saturating_add(told)),
            None => counts.cost_unknown += 1,
        }
    }
    counts.cost_microdollars = cost;
    let lives = &history.lives;
    counts.interruptions = lives
        .iter()
        .filter(|life| life.end.is_interruption())
        .count();
    let alone = lives.windows(2).map(|pair| {
        let to = pair[0].to.unwrap_or(pair[1].from);
        pair[1].from.duration_since(to).as_secs().max(0)
    });
    counts.seconds_alone = alone.sum();
    let begin = lives.first().map(|life| life.from);
    let end = match lives.last() {
        Some(life) => life.to.unwrap_or(now),
        None => now,
    };
    counts.seconds = begin.map_or(0, |begin| end.duration_since(begin).as_secs().max(0));
    counts
}

/// Returns how many times of waiting there are: those of several workers at once are one.
fn n_waits(history: &History) -> usize {
    let mut waits: Vec<_> = history
        .waits
        .iter()
        .map(|wait| (wait.from, wait.to))
        .collect();
    waits.sort_unstable();
    let mut n = 0;
    let mut end: Option<Timestamp> = None;
    for (from, to) in waits {
        if end.is_none_or(|end| from > end) {
            n += 1;
        }
        end = end.max(to).max(Some(from));
    }
    n
}
