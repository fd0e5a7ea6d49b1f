//! Rollback: the session after it, from which the next resume continues.

use rekindle_text::excerpt;

use super::assess::Judged;
use super::messages;
use super::phase::{Phase, task_ids};
use super::session::{ActiveTask, Session};
use super::tasks::Tasks;

/// Returns the session with the chosen checkpoint as its latest one, and everything that follows from it.
pub(super) fn restored(judged: &Judged) -> Session {
    let feature = &judged.feature;
    let session = feature
        .session
        .with_restored(&feature.chosen, &replaced(judged));
    // A rollback resolves the error; restoring the latest checkpoint does not.
    if !judged.is_rollback() {
        return session;
    }
    let reason = format!(
        "rolled back to {} on {}",
        feature.chosen.name(),
        feature.now.date()
    );
    session
        .with_errors_resolved(&reason)
        .in_phase(judged.phase)
        .with_active_task(&active_task(judged))
}

/// Returns when the checkpoint was restored, and what it replaced.
fn replaced(judged: &Judged) -> String {
    let feature = &judged.feature;
    let now = messages::minute(feature.now);
    let latest = feature.checkpoints.latest.as_ref();
    match latest {
        Some(latest) if latest.id == feature.chosen.id => {
            format!("{now}, from the history; the latest checkpoint could not be read")
        }
        Some(latest) if latest.is_valid() => {
            let when = excerpt(&latest.when, 40);
            format!("{now}, rolled back from {} ({when})", latest.name())
        }
        Some(latest) if latest.id.is_some() => {
            format!(
                "{now}, rolled back from {}, which could not be read",
                latest.name()
            )
        }
        Some(_) | None => {
            format!("{now}, rolled back from a checkpoint that could not be read")
        }
    }
}

/// Returns the task of the checkpoint, as the workflow's own commands write it.
fn active_task(judged: &Judged) -> ActiveTask {
    let chosen = &judged.feature.chosen;
    let tasks = judged.feature.tasks.as_ref();
    let has_tasks = match judged.phase {
        Phase::Spec | Phase::Plan => false,
        Phase::Tasks => judged.is_complete,
        Phase::Implement => true,
    };
    if !has_tasks {
        return ActiveTask {
            id: "None".to_owned(),
            description: "No active task".to_owned(),
            progress: progress(None),
        };
    }
    let own = task_ids(&chosen.description).filter(|_| judged.phase == Phase::Implement);
    let id = match (own.last(), &judged.next.task) {
        (Some(id), _) if judged.is_complete => format!("{id} complete"),
        (Some(id), _) => id.to_owned(),
        (None, Some(id)) => format!("Ready to start {id}"),
        (None, None) => "None".to_owned(),
    };
    ActiveTask {
        id,
        description: excerpt(&chosen.description, 300),
        progress: progress(tasks),
    }
}

/// Returns how many tasks are complete: `3/8 tasks complete (38%)`.
fn progress(tasks: Option<&Tasks>) -> String {
    let (done, total) = tasks.map_or((0, 0), Tasks::progress);
    let percent = (200 * done + total).checked_div(2 * total).unwrap_or(0);
    format!("{done}/{total} tasks complete ({percent}%)")
}

#[cfg(test)]
#[path = "rollback_tests.rs"]
mod tests;
