//! Why a task counts as done or not: what tasks.md says of it, and what the checkpoints say.

use rekindle_model::{Explanation, Place, Said, WorkflowId};
use rekindle_text::excerpt;

use super::assess::Judged;
use super::layout;
use super::phase::task_ids;

/// Tells of a task, or `None` when tasks.md has no such task.
pub(super) fn explain(judged: &Judged, task: &str) -> Option<Explanation> {
    let feature = &judged.feature;
    let wanted = task.trim().to_ascii_uppercase();
    let found = feature.tasks.as_ref()?.find(&wanted)?;
    let number = |line: usize| u64::try_from(line).unwrap_or(u64::MAX);
    let own = Said {
        place: Place::line(layout::file(&feature.name, "tasks.md"), number(found.line)),
        at: None,
        what: format!("{} ({})", found.state.as_str(), excerpt(&found.title, 120)),
        decided: true,
    };
    let mentions = feature.checkpoints.all().into_iter().rev().filter(|entry| {
        let mut named = task_ids(&entry.description);
        named.any(|id| id == wanted)
    });
    let mentions = mentions.map(|entry| Said {
        place: Place::line(&feature.session_path, number(entry.line + 1)),
        at: super::instant(entry, &feature.zone),
        what: excerpt(&entry.shown(), 200),
        decided: false,
    });
    Some(Explanation {
        id: WorkflowId::new(crate::NAME, &*feature.name),
        task: wanted.clone(),
        verdict: found.state.as_str().to_owned(),
        rule: "tasks.md alone says how far a task is; a checkpoint may be older".to_owned(),
        said: [own].into_iter().chain(mentions).collect(),
        left_out: 0,
    })
}
