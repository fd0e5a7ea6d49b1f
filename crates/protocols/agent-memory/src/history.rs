//! The past of a run, from all its events, for people who look back.

use rekindle_model::{History, PastTask, TaskState};
use rekindle_protocol::Chronicle;
use rekindle_world::World;
use serde_json::Value;

use super::assess::RunVerdict;
use super::read::SettingsFile;
use super::track::State;

/// Returns the past of a run.
pub(super) fn history(world: &dyn World, run: &RunVerdict) -> History {
    let tasks = tasks(run);
    let mut chronicle = Chronicle::new(tasks.iter().map(|task| task.id.as_str()));
    let name = run.evidence.name_in_events();
    let is_own = |event: &Value| {
        let named = event.get("run_id").and_then(Value::as_str);
        named.is_none_or(|named| named == name)
    };
    for log in &run.evidence.logs {
        let path = world.project().join(log);
        chronicle.read(world, &path, "orchestrator", &is_own);
    }
    let settings = match &run.evidence.settings {
        SettingsFile::Read(settings) => Some(settings),
        SettingsFile::Absent | SettingsFile::Unusable => None,
    };
    let title = run.evidence.folded.feature.clone();
    let mut history = History {
        title: title.unwrap_or_default(),
        branch: settings.map(|settings| settings.branch.clone()),
        tasks,
        ..History::default()
    };
    chronicle.finish(&mut history);
    history
}

fn tasks(run: &RunVerdict) -> Vec<PastTask> {
    let records = &run.evidence.folded.tasks;
    let reason = |id: &str| records.get(id).and_then(|record| record.reason.clone());
    let Some(graph) = run.evidence.graph.get() else {
        let known = records.iter().map(|(id, record)| {
            let decided = record.decided;
            let state = decided.map_or(State::Pending, |decided| decided.event.state());
            PastTask {
                id: id.clone(),
                title: String::new(),
                state: present(state),
                needs: Vec::new(),
                reason: reason(id),
            }
        });
        return known.collect();
    };
    let of_graph = graph.tasks.iter().enumerate();
    let of_graph = of_graph.map(|(place, task)| PastTask {
        id: task.id.clone(),
        title: task.title.clone(),
        state: present(run.states[place]),
        needs: graph.graph.dependencies(place).to_vec(),
        reason: reason(&task.id),
    });
    of_graph.collect()
}

fn present(state: State) -> TaskState {
    match state {
        State::Pending => TaskState::Open,
        State::InProgress => TaskState::Running,
        State::Blocked => TaskState::NeedsPerson,
        State::Failed => TaskState::Failed,
        State::Skipped => TaskState::Skipped,
        State::Done => TaskState::Done,
    }
}
