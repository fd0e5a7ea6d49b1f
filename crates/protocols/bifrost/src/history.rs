//! The past of a feature: its tasks as they are marked, and its checkpoints.

use rekindle_model::{Checkpoint, History, Milestone, PastTask, TaskState};
use rekindle_text::excerpt;

use super::read::Feature;
use super::tasks::State;

/// Returns the past of a feature, with its checkpoints from oldest to newest.
pub(super) fn history(feature: &Feature, checkpoints: Vec<Checkpoint>) -> History {
    let tasks = feature.tasks.iter().flat_map(|tasks| {
        tasks.all.iter().map(|task| {
            let needs = tasks.waits_for(task);
            let of_need = |need: &String| tasks.all.iter().position(|other| other.id == *need);
            PastTask {
                needs: needs.iter().filter_map(of_need).collect(),
                ..PastTask::new(&task.id, &task.title, present(task.state))
            }
        })
    });
    let marks = checkpoints.into_iter().filter_map(|checkpoint| {
        let name = if checkpoint.note.is_empty() {
            checkpoint.name
        } else {
            checkpoint.note
        };
        let name = excerpt(&name, 60);
        Some(Milestone {
            at: checkpoint.at?,
            name,
        })
    });
    let mut history = History {
        title: feature.name.clone(),
        tasks: tasks.collect(),
        marks: marks.collect(),
        ..History::default()
    };
    history.marks.sort_by_key(|mark| mark.at);
    history.latest = history.marks.last().map(|mark| mark.at);
    history
}

fn present(state: State) -> TaskState {
    match state {
        State::Open => TaskState::Open,
        State::InProgress => TaskState::Interrupted,
        State::Done => TaskState::Done,
        State::NotNeeded => TaskState::Skipped,
    }
}
