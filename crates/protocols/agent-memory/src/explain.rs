//! Why a task is in its state: every event about it, and the one that decided.

use std::collections::VecDeque;

use camino::Utf8PathBuf;
use rekindle_model::{Explanation, Said, WorkflowId};
use rekindle_world::World;

use super::assess::RunVerdict;
use super::noticed::Noticed;
use super::read;
use super::track::State;

/// As many events as fit a screen or two; the newest are kept.
const SHOWN: usize = 60;

/// Tells why a task is in its state, or `None` when neither graph nor events know it.
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
        (None, _) => {
            "the graph lacks this task, so it counts for nothing but its failures".to_owned()
        }
        (Some(task), _) if state == State::Skipped && task.skipped => {
            "the graph marks it as skipped, and no event says that it was done".to_owned()
        }
        (Some(_), _) if state == State::Blocked && by_events != State::Blocked => {
            "it depends on a skipped task, so what it needs will never be made".to_owned()
        }
        (Some(_), None) => "no event says anything of its state".to_owned(),
        (Some(_), Some(decided)) => format!(
            "the latest event decides, whoever wrote it: `{}` means {}",
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
    read::each_event(world, &logs, &mut Noticed::default(), &mut |event, mark| {
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
        // The one that decided is always kept, so that the answer shows it.
        if said.len() > SHOWN
            && let Some(oldest) = said.iter().position(|said| !said.decided)
        {
            said.remove(oldest);
            left_out += 1;
        }
    });
    let mut said = Vec::from(said);
    said.sort_by_key(|said| said.at);
    Some(Explanation {
        id: WorkflowId::new(crate::NAME, &evidence.id),
        task: task.to_owned(),
        verdict: state.as_str().to_owned(),
        rule,
        said,
        left_out,
    })
}
