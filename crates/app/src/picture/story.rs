//! The story of a run in a few sentences.

use rekindle_model::{AttemptEnd, History, LifeEnd, PastAttempt};
use rekindle_text::spoken_seconds;
use rekindle_wire::PictureCounts;

/// Tells how far it is, what happened to it, and whether something was lost.
pub(super) fn story(history: &History, counts: &PictureCounts) -> Vec<String> {
    let mut story = vec![progress(history, counts)];
    story.extend(troubles(history, counts));
    story.extend(losses(history, counts));
    story
}

fn progress(history: &History, counts: &PictureCounts) -> String {
    let done = if history.branch.is_some() {
        "landed"
    } else {
        "been done"
    };
    let all = counts.tasks - counts.skipped;
    match (counts.done, all) {
        (_, 0) => "There are no tasks.".to_owned(),
        (1, 1) => format!("The task has {done}."),
        (2, 2) => format!("Both tasks have {done}."),
        (n, all) if n == all => format!("All {all} tasks have {done}."),
        (0, _) => format!("None of {all} tasks has {done} yet."),
        (1, _) => format!("1 of {all} tasks has {done}."),
        (n, _) => format!("{n} of {all} tasks have {done}."),
    }
}

fn troubles(history: &History, counts: &PictureCounts) -> Option<String> {
    let mut parts = Vec::new();
    match (counts.interruptions, restarts(history)) {
        (0, _) => {}
        (n, 0) => parts.push(format!("was interrupted {}", times(n))),
        (1, _) => parts.push("was interrupted by a restart of the machine".to_owned()),
        (n, 1) => parts.push(format!(
            "was interrupted {} (once by a restart of the machine)",
            times(n)
        )),
        (n, restarts) if n == restarts => parts.push(format!(
            "was interrupted {} by restarts of the machine",
            times(n)
        )),
        (n, restarts) => parts.push(format!(
            "was interrupted {} ({} by restarts of the machine)",
            times(n),
            times(restarts)
        )),
    }
    if counts.limits > 0 {
        parts.push(format!("reached a usage limit {}", times(counts.limits)));
    }
    if parts.is_empty() {
        return None;
    }
    let alone = match counts.seconds_alone {
        seconds if seconds > 0 && counts.interruptions > 0 => format!(
            "; for {} no orchestrator was at work",
            spoken_seconds(seconds)
        ),
        _ => String::new(),
    };
    Some(format!("The run {}{alone}.", parts.join(" and ")))
}

fn losses(history: &History, counts: &PictureCounts) -> Option<String> {
    if counts.interruptions == 0 && counts.killed == 0 {
        return None;
    }
    let alone = history.attempts.iter().filter(|one| is_alone(history, one));
    let (mut again, mut open) = (0, 0);
    for (place, attempt) in history.attempts.iter().enumerate() {
        let AttemptEnd::Killed(_) = attempt.end else {
            continue;
        };
        let next = history.attempts.get(place + 1);
        if next.is_some_and(|next| next.task == attempt.task) {
            again += 1;
        } else {
            open += 1;
        }
    }
    let mut parts = Vec::new();
    match alone.count() {
        0 => {}
        1 => parts.push("one worker finished alone".to_owned()),
        n => parts.push(format!("{n} workers finished alone")),
    }
    match again {
        0 => {}
        1 => parts.push("one killed attempt was done again".to_owned()),
        n => parts.push(format!("{n} killed attempts were done again")),
    }
    match open {
        0 => {}
        1 => parts.push("one killed attempt will be done again".to_owned()),
        n => parts.push(format!("{n} killed attempts will be done again")),
    }
    let parts = and(&parts);
    Some(match (lost(history), parts.is_empty()) {
        (0, true) => "No delivered work was lost.".to_owned(),
        (0, false) => format!("No delivered work was lost: {parts}."),
        (1, _) => "One delivery has not landed yet.".to_owned(),
        (n, _) => format!("{n} deliveries have not landed yet."),
    })
}

/// Returns how many deliveries neither landed nor were followed by anything.
fn lost(history: &History) -> usize {
    let delivered = |one: &&PastAttempt| one.end == AttemptEnd::Delivered;
    history.attempts.iter().filter(delivered).count()
}

/// Returns whether an attempt delivered while no orchestrator lived.
fn is_alone(history: &History, attempt: &PastAttempt) -> bool {
    let Some(delivered) = attempt.delivered else {
        return false;
    };
    let lives = history.lives.iter();
    !lives
        .into_iter()
        .any(|life| life.from <= delivered && life.to.is_none_or(|to| delivered <= to))
}

fn restarts(history: &History) -> usize {
    let lives = history.lives.iter();
    lives.filter(|life| life.end == LifeEnd::Restarted).count()
}

fn times(n: usize) -> String {
    rekindle_text::times(u32::try_from(n).unwrap_or(u32::MAX))
}

fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}
