//! The prescribed summary, the context in the session, and the progress so far.

use rekindle_protocol::table::Value as _;
use rekindle_text::{excerpt, printable};

use super::super::assess::Judged;
use super::super::phase::Phase;
use super::super::session::HistoryEntry;
use super::when;

/// The most accomplishments in the summary.
const MOST_ACCOMPLISHMENTS: usize = 3;
/// How many points of a section are shown.
const MOST_POINTS: usize = 5;

/// Returns the prescribed summary.
pub(super) fn summary(judged: &Judged) -> String {
    let feature = &judged.feature;
    let (present, named) = judged.counted(|_| true);
    let mut text = format!(
        "📋 **RESUME SUMMARY**\n\nFeature: {}\nLast checkpoint: {} ({})\nResuming at: {} phase\n\nWhat was accomplished:\n",
        printable(&feature.name),
        when(judged),
        age(judged.age_minutes),
        judged.phase.as_str()
    );
    for accomplishment in accomplishments(judged) {
        text.push_str(&format!("- {accomplishment}\n"));
    }
    text.push_str(&format!(
        "\nCurrent state:\n- Phase: {} ({})\n- Progress: {}\n- Artifacts: {present}/{named} verified\n- Context: {}\n",
        judged.phase.as_str(),
        judged.status_of_phase(),
        progress(judged),
        context(judged)
    ));
    let estimated = feature.estimated_context;
    if feature
        .chosen
        .context()
        .is_some_and(|recorded| estimated > recorded)
    {
        text.push_str(&format!(
            "- Context now: ~{estimated}% utilization (estimated), more than at the checkpoint\n"
        ));
    }
    if let Some(tasks) = &feature.tasks
        && !tasks.all.is_empty()
    {
        let (done, total) = tasks.progress();
        text.push_str(&format!("- Tasks: {done}/{total} complete\n"));
    }
    text.push_str(&format!(
        "\nNext action: {}\n\nReady to continue! Run the command above.\n",
        printable(&judged.next.command)
    ));
    text
}

/// Returns the checkpoint, then the newest history entries about work.
fn accomplishments(judged: &Judged) -> Vec<String> {
    let feature = &judged.feature;
    let history = feature.session.history();
    // A rollback undoes the work after its checkpoint.
    let is_back = judged.is_rollback() || feature.chosen.is_restored;
    let last = feature.chosen.at.filter(|_| is_back);
    // Entries only have a day, so those of a day with later checkpoints may be later too.
    let all = feature.checkpoints.all();
    let went_on = last.is_some_and(|last| {
        let mut times = all.iter().filter_map(|entry| entry.at);
        times.any(|at| at > last && at.date() == last.date())
    });
    let last = last.map(|at| at.date().to_string());
    let is_before = |entry: &&HistoryEntry| match (&last, entry.day()) {
        (Some(last), Some(day)) => day < last.as_str() || day == last && !went_on,
        (Some(_), None) | (None, _) => true,
    };
    let told = history
        .iter()
        .filter(|entry| entry.is_work())
        .filter(is_before);
    let told = told
        .map(HistoryEntry::said)
        .filter(|_| !feature.asked.fresh);
    let all = [feature.chosen.description.as_str()]
        .into_iter()
        .chain(told);
    let all = all.filter(|text| !text.is_empty());
    all.take(MOST_ACCOMPLISHMENTS)
        .map(|text| excerpt(text, 200))
        .collect()
}

/// `● spec → ◐ plan → ○ tasks → ○ implement`.
fn progress(judged: &Judged) -> String {
    let all = Phase::ALL.iter().map(|phase| {
        let sign = if judged.completed.contains(phase) {
            '●'
        } else if *phase == judged.phase {
            '◐'
        } else {
            '○'
        };
        format!("{sign} {}", phase.as_str())
    });
    all.collect::<Vec<_>>().join(" → ")
}

pub(super) fn context(judged: &Judged) -> String {
    match judged.feature.chosen.context() {
        Some(percent) => format!("{percent}% utilization"),
        None => format!(
            "~{}% utilization (estimated)",
            judged.feature.estimated_context
        ),
    }
}

/// Returns the context that the session has for the next person.
pub(super) fn context_available(judged: &Judged) -> String {
    let session = &judged.feature.session;
    let mut text = String::new();
    let focus = ["Status", "Task ID", "Progress"]
        .into_iter()
        .filter_map(|key| Some(format!("{key} {}", excerpt(session.focus(key)?, 80))));
    let focus: Vec<String> = focus.collect();
    if !focus.is_empty() {
        text.push_str(&format!("- Active Focus: {}\n", focus.join(", ")));
    }
    let sections = [
        ("From Spec", "from spec"),
        ("From Plan", "from plan"),
        ("From Tasks", "from tasks"),
        ("Architectural Decisions", "architectural decisions"),
        ("Design Choices", "design choices"),
        ("Feature Progress", "feature progress"),
        ("Phase Breakdown", "phase breakdown"),
    ];
    for (title, section) in sections {
        text.push_str(&points(title, &session.points(section)));
    }
    text.push_str(&points("Known Issues & Blockers", &session.issues()));
    if text.is_empty() {
        return text;
    }
    format!("\nContext available:\n{text}")
}

fn points(title: &str, points: &[String]) -> String {
    if points.is_empty() {
        return String::new();
    }
    let mut text = format!("- {title}:\n");
    for point in points.iter().take(MOST_POINTS) {
        text.push_str(&format!("  - {}\n", excerpt(point, 160)));
    }
    let more = points.len().saturating_sub(MOST_POINTS);
    if more > 0 {
        text.push_str(&format!("  - … and {more} more in the session\n"));
    }
    text
}

/// How the work came here.
pub(super) fn continuity(judged: &Judged) -> String {
    let feature = &judged.feature;
    let all = feature.checkpoints.all();
    let first = all.iter().filter_map(|entry| entry.at).min();
    let mut text = String::new();
    if let Some(first) = first {
        text.push_str(&format!(
            "- Since {}: {} checkpoints, {} of 4 phases complete\n",
            first.date(),
            all.len(),
            judged.completed.len()
        ));
    }
    if text.is_empty() {
        return text;
    }
    format!("\nContinuity:\n{text}")
}

pub(super) fn few(ids: &[&str]) -> String {
    let shown = ids.iter().take(MOST_POINTS).copied().collect::<Vec<_>>();
    let more = if ids.len() > MOST_POINTS { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Returns the files written after the checkpoint of a rollback.
pub(super) fn later_work(judged: &Judged, most: usize) -> String {
    let later = &judged.feature.later_work;
    let name = judged.feature.chosen.name();
    if later.is_empty() {
        return format!("\nLater work: no file was written after {name}\n");
    }
    let mut text = format!(
        "\nLater work: {} files were written after {name}; nothing of it is deleted\n",
        later.len()
    );
    for path in later.iter().take(most) {
        text.push_str(&format!("- {}\n", excerpt(path.as_str(), 200)));
    }
    let more = later.len().saturating_sub(most);
    if more > 0 {
        text.push_str(&format!("- … and {more} more\n"));
    }
    text
}

fn age(minutes: i64) -> String {
    let plural = |n: i64, unit: &str| {
        let s = if n == 1 { "" } else { "s" };
        format!("{n} {unit}{s} ago")
    };
    match minutes {
        ..0 => "in the future, taken as now".to_owned(),
        0..60 => "0 hours ago".to_owned(),
        60..1440 => plural(minutes / 60, "hour"),
        _ => plural(minutes / 1440, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_ages_in_days_or_hours() {
        for (minutes, told) in [
            (-1, "in the future, taken as now"),
            (59, "0 hours ago"),
            (60, "1 hour ago"),
            (1439, "23 hours ago"),
            (1440, "1 day ago"),
            (11_520, "8 days ago"),
        ] {
            assert_eq!(age(minutes), told);
        }
    }
}
