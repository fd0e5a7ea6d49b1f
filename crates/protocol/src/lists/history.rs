//! The tasks of a list for people who look at all of them; a list tells no times.

use rekindle_model::{History, PastTask};

use crate::lists::assess::Judged;
use crate::lists::facts::MOST_NEEDS;
use crate::lists::table::TaskState;

/// Returns the tasks of a list that are work, with what each needs.
pub(crate) fn history(judged: &Judged) -> History {
    let tasks = &judged.list.file.tasks;
    let standing = &judged.standing;
    let work: Vec<usize> = (0..tasks.len())
        .filter(|&task| standing.is_work[task])
        .collect();
    let are_few = standing.needs.count() <= MOST_NEEDS;
    let past = work.iter().map(|&task| {
        let needs = are_few.then(|| standing.needs.of_task(task));
        let needs = needs.into_iter().flatten();
        let needs = needs.filter_map(|need| work.binary_search(&need).ok());
        PastTask {
            needs: needs.collect(),
            ..PastTask::new(
                &tasks[task].id,
                &tasks[task].title,
                present(standing.states[task]),
            )
        }
    });
    History {
        title: judged.list.title.clone(),
        tasks: past.collect(),
        ..History::default()
    }
}

fn present(state: TaskState) -> rekindle_model::TaskState {
    match state {
        TaskState::Pending => rekindle_model::TaskState::Open,
        TaskState::InProgress => rekindle_model::TaskState::Interrupted,
        TaskState::Done => rekindle_model::TaskState::Done,
        TaskState::Blocked => rekindle_model::TaskState::NeedsPerson,
        TaskState::Skipped => rekindle_model::TaskState::Skipped,
    }
}
