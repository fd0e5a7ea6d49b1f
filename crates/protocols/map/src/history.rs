//! The subtasks of a branch for people who look at all of them; its files tell no times.

use rekindle_map_machine::{Desk, blueprint};
use rekindle_model::{History, PastTask, TaskState};

use crate::read::Workflow;

/// Returns the subtasks with what each needs, as far as the blueprint can be read.
pub(crate) fn history(desk: Desk<'_>, workflow: &Workflow) -> History {
    let ids = workflow.subtasks();
    let done = workflow.done();
    let needs = blueprint::dependencies(desk).unwrap_or_default();
    let tasks = ids.iter().map(|id| {
        let state = if done.contains(id) {
            TaskState::Done
        } else if workflow.state.subtask() == Some(id.as_str()) {
            TaskState::Interrupted
        } else {
            TaskState::Open
        };
        let title = workflow.titles.get(id).cloned().unwrap_or_default();
        let needs = needs.get(id).into_iter().flatten();
        let needs = needs.filter_map(|need| ids.iter().position(|other| other == need));
        PastTask {
            needs: needs.collect(),
            ..PastTask::new(id, title, state)
        }
    });
    History {
        title: workflow.goal.clone().unwrap_or_default(),
        tasks: tasks.collect(),
        latest: workflow.last_activity,
        ..History::default()
    }
}
