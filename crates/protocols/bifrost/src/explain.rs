//! The state of a task in tasks.md, and the checkpoints that mention it.

use rekindle_model::{Explanation, Said};
use rekindle_text::excerpt;

use super::assess::Judged;
use super::phase::task_ids;
use super::{id, layout, line_of};

/// Explains the state of a task; `None` if tasks.md does not have it.
pub(super) fn explain(judged: &Judged, task: &str) -> Option<Explanation> {
    let feature = &judged.feature;
    let wanted = task.trim().to_ascii_uppercase();
    let found = feature.tasks.as_ref()?.find(&wanted)?;
    let own = Said::new(
        line_of(&layout::file(&feature.name, "tasks.md"), found.line - 1),
        format!("{} ({})", found.state.as_str(), excerpt(&found.title, 120)),
        true,
    );
    let mentions = feature.checkpoints.all().into_iter().rev().filter(|entry| {
        let mut named = task_ids(&entry.description);
        named.any(|id| id == wanted)
    });
    let mentions = mentions.map(|entry| Said {
        place: line_of(&feature.session_path, entry.line),
        at: super::instant(entry, &feature.zone),
        what: excerpt(&entry.shown(), 200),
        decided: false,
    });
    Some(Explanation::new(
        id(&feature.name),
        wanted.clone(),
        found.state.as_str(),
        "tasks.md alone says how far a task is; a checkpoint may be older",
        [own].into_iter().chain(mentions).collect(),
    ))
}
