//! The past of a phase: its tasks as they were judged, and what our own workers did.
//!
//! Kiln keeps no log of what its own workers did, so attempts by them are not in it.

use camino::Utf8PathBuf;
use rekindle_model::{History, PastTask, TaskState};
use rekindle_protocol::Chronicle;
use rekindle_world::{Kind, World};

use super::assess::Judged;
use super::scribe;
use super::table::task::Class;

/// Returns the past of a phase.
pub(super) fn history(world: &dyn World, judged: &Judged, workflow: &str) -> History {
    let mut listed: Vec<_> = judged.phase.tasks.iter().collect();
    listed.sort_by_key(|(_, task)| task.place);
    let tasks: Vec<PastTask> = listed
        .into_iter()
        .map(|(id, task)| {
            let verdict = &judged.tasks[id].verdict;
            let reason = verdict.retry.is_some().then(|| verdict.sentence.to_owned());
            PastTask {
                reason,
                ..PastTask::new(id.to_string(), &task.title, present(verdict.class))
            }
        })
        .collect();
    let mut chronicle = Chronicle::new(tasks.iter().map(|task| task.id.as_str()));
    let folder = world.project().join(scribe::logs(workflow));
    for worker in folders(world, &folder) {
        let actor = worker.file_name().unwrap_or_default().to_owned();
        let logs = world.list(&worker).unwrap_or_default().into_iter();
        for log in logs.filter(|log| log.kind == Kind::File) {
            chronicle.read(world, &worker.join(&log.name), &actor, &|_| true);
        }
    }
    let repository = judged.phase.repository.as_ref();
    let mut history = History {
        title: workflow.to_owned(),
        branch: repository.and_then(|repository| repository.branch.clone()),
        tasks,
        ..History::default()
    };
    chronicle.finish(&mut history);
    // Only workers write these logs: nothing is known about who started them.
    history.lives.clear();
    history
}

fn folders(world: &dyn World, folder: &camino::Utf8Path) -> Vec<Utf8PathBuf> {
    let entries = world.list(folder).unwrap_or_default().into_iter();
    let folders = entries.filter(|entry| entry.kind == Kind::Folder);
    folders.map(|entry| folder.join(entry.name)).collect()
}

fn present(class: Class) -> TaskState {
    match class {
        Class::Done => TaskState::Done,
        Class::InProgress => TaskState::Running,
        Class::RerunRequired => TaskState::Interrupted,
        Class::ReadyForIntegration | Class::Pending | Class::Gated => TaskState::Open,
    }
}
