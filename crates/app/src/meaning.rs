//! Whether two readings of a workflow lead to the same deeds.
//!
//! While a person thinks, workers of an earlier orchestrator and other writers
//! go on: what was read has changed, and what would be done has not. Times, and
//! the names of logs that are made from them, are no difference.

use rekindle_model::{Action, Plan, Work, WorkTask};

use crate::inspect::Planned;

/// Returns whether a fresh plan does what the confirmed one would have done.
pub(crate) fn is_same(confirmed: &Planned, fresh: &Planned) -> bool {
    let same_plan = same_deeds(&confirmed.plan, &fresh.plan);
    match (&confirmed.work, &fresh.work) {
        // The engine takes up all tasks; how far attempts are is its daily business.
        (Some(confirmed), Some(fresh)) => same_plan && same_work(confirmed, fresh),
        (None, None) => {
            same_plan && same_records(confirmed, fresh) && same_course(confirmed, fresh)
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn same_deeds(confirmed: &Plan, fresh: &Plan) -> bool {
    let same_step = |(confirmed, fresh): (&rekindle_model::Step, &rekindle_model::Step)| {
        confirmed.why == fresh.why
            && match (&confirmed.action, &fresh.action) {
                (Action::Append { log, .. }, Action::Append { log: other, .. }) => {
                    log.parent() == other.parent()
                }
                // What changes in a file may carry the time; that it is still what was read is held by the edit.
                (
                    Action::Edit { path, before, .. },
                    Action::Edit {
                        path: other,
                        before: same,
                        ..
                    },
                ) => path == other && before == same,
                // What is kept of a moment is named after it.
                (
                    Action::Create { path, contents },
                    Action::Create {
                        path: other,
                        contents: same,
                    },
                ) => path.file_name() == other.file_name() && contents == same,
                // What is printed tells how things stand; what is done stands in the rest of the plan.
                (Action::Print(_), Action::Print(_)) => true,
                (confirmed, fresh) => confirmed == fresh,
            }
    };
    confirmed.id == fresh.id
        && confirmed.then == fresh.then
        && confirmed.steps.len() == fresh.steps.len()
        && confirmed.steps.iter().zip(&fresh.steps).all(same_step)
}

/// Returns whether the same lines are appended, but for their time.
fn same_records(confirmed: &Planned, fresh: &Planned) -> bool {
    let records = |planned: &Planned| -> Vec<String> {
        let steps = planned.plan.steps.iter();
        steps
            .filter_map(|step| match &step.action {
                Action::Append { record, .. } => Some(without_time(record)),
                Action::Create { .. }
                | Action::Edit { .. }
                | Action::MoveFolder { .. }
                | Action::MoveFile { .. }
                | Action::Land(_)
                | Action::EndWorker { .. }
                | Action::AskHost { .. }
                | Action::Print(_) => None,
            })
            .collect()
    };
    records(confirmed) == records(fresh)
}

fn without_time(record: &str) -> String {
    const KEY: &str = "\"timestamp\":\"";
    let Some((before, after)) = record.split_once(KEY) else {
        return record.to_owned();
    };
    let rest = after.split_once('"').map_or("", |(_, rest)| rest);
    format!("{before}{rest}")
}

/// Returns whether the workflow stands where it stood and goes on as it would have.
fn same_course(confirmed: &Planned, fresh: &Planned) -> bool {
    let course = |planned: &Planned| {
        let chosen = planned.assessment.chosen()?;
        Some((
            chosen.state,
            chosen.stage.clone(),
            chosen.progress.to_string(),
            chosen.next.clone(),
        ))
    };
    course(confirmed) == course(fresh)
}

fn same_work(confirmed: &Work, fresh: &Work) -> bool {
    let lasting = |task: &WorkTask| {
        let task = task.clone();
        WorkTask {
            failures: 0,
            conflicts: 0,
            interruptions: 0,
            attempts: 0,
            last_failed: None,
            reason: None,
            costs: [].into(),
            ..task
        }
    };
    confirmed.settings == fresh.settings
        && confirmed.tasks.len() == fresh.tasks.len()
        && confirmed
            .tasks
            .iter()
            .zip(&fresh.tasks)
            .all(|(confirmed, fresh)| lasting(confirmed) == lasting(fresh))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_record_is_no_difference_and_all_else_is() {
        let line = |time: &str, phase: u32| {
            format!(r#"{{"event_type":"x","timestamp":"{time}","phase":{phase}}}"#)
        };
        let (early, late) = (line("2026-01-01", 2), line("2026-01-02", 2));
        assert_eq!(without_time(&early), without_time(&late));
        assert_ne!(without_time(&early), without_time(&line("2026-01-01", 3)));
    }
}
