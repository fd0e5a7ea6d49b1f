//! Whether two plans have the same effect.
//!
//! While a person thinks, workers of an earlier orchestrator and other writers
//! continue: files change, although the plan's effects do not. Times, and
//! names of logs that are made from them, do not count as differences.

use rekindle_model::{Action, Plan, Work, WorkTask};

use crate::inspect::Planned;

/// Returns whether a new plan has the same effects as the confirmed one.
pub(crate) fn is_same(confirmed: &Planned, fresh: &Planned) -> bool {
    let same_plan = same_deeds(&confirmed.plan, &fresh.plan);
    match (&confirmed.work, &fresh.work) {
        // The engine runs all tasks; the progress of attempts changes all the time.
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
                // Changes of a file may contain the time; the edit itself checks that the file is unchanged.
                (
                    Action::Edit { path, before, .. },
                    Action::Edit {
                        path: other,
                        before: same,
                        ..
                    },
                ) => path == other && before == same,
                // Copies are named after the time.
                (
                    Action::Create { path, contents },
                    Action::Create {
                        path: other,
                        contents: same,
                    },
                ) => path.file_name() == other.file_name() && contents == same,
                // Printed text describes the current state; the effects are in the rest of the plan.
                (Action::Print(_), Action::Print(_)) => true,
                (confirmed, fresh) => confirmed == fresh,
            }
    };
    confirmed.id == fresh.id
        && confirmed.then == fresh.then
        && confirmed.steps.len() == fresh.steps.len()
        && confirmed.steps.iter().zip(&fresh.steps).all(same_step)
}

/// Returns whether the same lines are appended, except for their time.
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

/// Returns whether the workflow's state and next step are the same.
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
            limited_until: None,
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
    fn the_time_of_a_record_is_not_a_difference_and_all_else_is() {
        let line = |time: &str, phase: u32| {
            format!(r#"{{"event_type":"x","timestamp":"{time}","phase":{phase}}}"#)
        };
        let (early, late) = (line("2026-01-01", 2), line("2026-01-02", 2));
        assert_eq!(without_time(&early), without_time(&late));
        assert_ne!(without_time(&early), without_time(&line("2026-01-01", 3)));
    }
}
