//! The checkpoints in the order of time: for the command that lists them, and for a resume.

use jiff::civil::DateTime;
use rekindle_text::excerpt;

use super::super::assess::DAY;
use super::super::checkpoint::{Checkpoints, Entry};
use super::super::phase::Phase;

/// A longer time between two checkpoints is marked, in minutes.
const LONG_GAP: i64 = 3 * DAY;

/// The checkpoints of a feature, oldest first, with the days between them on which nothing happened.
pub(crate) fn timeline(checkpoints: &Checkpoints) -> String {
    let all = checkpoints.all();
    if all.is_empty() {
        return "No checkpoints yet.\n".to_owned();
    }
    let mut text = String::new();
    let mut before: Option<jiff::civil::Date> = None;
    for entry in all.into_iter().rev() {
        let day = entry.at.map(DateTime::date);
        if let (Some(before), Some(day)) = (before, day) {
            let days = day.duration_since(before).as_hours() / 24;
            if days > 1 {
                text.push_str(&format!("  … gap of {days} days\n"));
            }
        }
        before = day.or(before);
        text.push_str(&shown(entry));
    }
    text
}

/// Returns a checkpoint in the prescribed form.
pub(super) fn shown(entry: &Entry) -> String {
    let sign = if entry.is_valid() {
        "✓ VALID"
    } else {
        "[CORRUPTED]"
    };
    format!("{} {sign}\n", excerpt(&entry.shown(), 300))
}

/// Returns whether the checkpoints are of more than one day.
pub(super) fn is_of_several_days(checkpoints: &Checkpoints) -> bool {
    let all = checkpoints.all();
    let mut days = all.iter().filter_map(|entry| entry.at).map(DateTime::date);
    let first = days.next();
    days.any(|day| Some(day) != first)
}

/// The checkpoints by time, oldest first: id, time, phase and status of each, with long gaps marked.
pub(super) fn course(checkpoints: &Checkpoints) -> String {
    let mut all = checkpoints.all();
    all.reverse();
    // Entries without a time come last; equal times keep the order of the file.
    all.sort_by_key(|entry| (entry.at.is_none(), entry.at));
    let mut text = "\nTimeline:\n".to_owned();
    let mut before: Option<DateTime> = None;
    for entry in all {
        if let (Some(before), Some(at)) = (before, entry.at) {
            let minutes = at.duration_since(before).as_mins();
            if minutes > LONG_GAP {
                text.push_str(&format!("- … gap of {} days\n", minutes / DAY));
            }
        }
        before = entry.at.or(before);
        text.push_str(&format!("- {}\n", line(entry)));
    }
    text
}

fn line(entry: &Entry) -> String {
    let when = if entry.at.is_some() {
        excerpt(&entry.when, 40)
    } else {
        "time not readable".to_owned()
    };
    let phase = entry.phase.map_or("phase unknown", Phase::as_str);
    let inferred = if entry.is_complete() {
        "Complete"
    } else {
        "In Progress"
    };
    let status = entry.fields.status.as_deref().unwrap_or(inferred);
    format!(
        "{} ({when}): {phase}, {}",
        entry.name(),
        excerpt(status, 80)
    )
}
