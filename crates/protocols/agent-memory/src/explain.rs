//! Why a task is in its state: every event about it, and the one that decided.

use std::collections::VecDeque;

use camino::Utf8PathBuf;
use rekindle_model::{Explanation, Said, WorkflowId};
use rekindle_world::World;

use super::assess::RunVerdict;
use super::findings::Findings;
use super::read;
use super::track::State;

/// The most events that are shown, the newest.
const SHOWN: usize = 60;

/// Explains the state of a task; `None` if neither graph nor events have it.
pub(super) fn explain(world: &dyn World, run: &RunVerdict, task: &str) -> Option<Explanation> {
    let evidence = &run.evidence;
    let record = evidence.folded.tasks.get(task);
    let graph = evidence.graph.get();
    let index = graph.and_then(|graph| graph.graph.find(task));
    if record.is_none() && index.is_none() {
        return None;
    }
    let decided = record.and_then(|record| record.decided);
    let by_events = decided.map_or(State::Pending, |decided| decided.event.state());
    let state = index.map_or(by_events, |index| run.states[index]);
    let rule = match (index.and_then(|index| graph?.tasks.get(index)), decided) {
        (None, _) => "the graph does not have this task, so only its failures count".to_owned(),
        (Some(task), _) if state == State::Skipped && task.skipped => {
            "the graph marks it as skipped, and no event says that it was done".to_owned()
        }
        (Some(_), _) if state == State::Blocked && by_events != State::Blocked => {
            "it depends on a skipped task, which will never be done".to_owned()
        }
        (Some(_), None) => "no event sets its state".to_owned(),
        (Some(_), Some(decided)) => format!(
            "the latest event decides: `{}` means {}",
            decided.event.as_str(),
            state.as_str()
        ),
    };
    let mut said: VecDeque<Said> = VecDeque::new();
    let mut left_out = 0;
    let logs: Vec<Utf8PathBuf> = evidence
        .logs
        .iter()
        .map(|log| world.project().join(log))
        .collect();
    read::each_event(
        world,
        &logs,
        &mut Findings::default(),
        &mut |event, mark| {
            let is_ours = event
                .run_id()
                .is_none_or(|run| run == evidence.name_in_events());
            if event.task_id() != Some(task) || !is_ours {
                return;
            }
            let reason = event
                .reason()
                .map(|reason| format!(" ({})", rekindle_text::excerpt(&reason, 100)));
            said.push_back(Said {
                place: evidence.place(mark),
                at: mark.at,
                what: format!(
                    "{}{}",
                    rekindle_text::excerpt(event.spelled(), 60),
                    reason.unwrap_or_default()
                ),
                decided: decided.is_some_and(|decided| decided.mark == mark),
            });
            // The deciding event is always shown.
            if said.len() > SHOWN
                && let Some(oldest) = said.iter().position(|said| !said.decided)
            {
                said.remove(oldest);
                left_out += 1;
            }
        },
    );
    let mut said = Vec::from(said);
    said.sort_by_key(|said| said.at);
    let id = WorkflowId::new(crate::NAME, &evidence.id);
    Some(Explanation {
        left_out,
        ..Explanation::new(id, task, state.as_str(), rule, said)
    })
}
