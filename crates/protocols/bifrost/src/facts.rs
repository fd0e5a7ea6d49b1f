//! The facts of `inspect --json`.

use rekindle_model::Fact;

use super::assess::Judged;
use super::checkpoint::{Checkpoints, Entry};
use super::read::Halt;

/// Returns the facts of a feature.
pub(super) fn facts(judged: &Judged) -> Fact {
    let feature = &judged.feature;
    let chosen = &feature.chosen;
    let tasks = feature.tasks.as_ref();
    let in_progress = tasks.and_then(|tasks| tasks.in_progress());
    Fact::object([
        ("feature", feature.name.as_str().into()),
        ("session_path", feature.session_path.as_str().into()),
        ("checkpoint", chosen.name().into()),
        ("phase", judged.phase.as_str().into()),
        ("status", judged.status().into()),
        ("context_pct", chosen.context().into()),
        (
            "artifacts_listed",
            pair(judged.counted(|file| file.is_named)),
        ),
        ("artifacts_verified", pair(judged.counted(|_| true))),
        ("missing", Fact::list(judged.missing())),
        (
            "modified",
            Fact::list(judged.modified.iter().map(String::as_str)),
        ),
        ("next_command", judged.next.command.as_str().into()),
        ("tasks", tasks.map(|tasks| pair(tasks.progress())).into()),
        (
            "in_progress",
            in_progress.map(|task| task.id.as_str()).into(),
        ),
        ("age_days", judged.age_days().into()),
        ("history_ids", ids(&feature.checkpoints, |_| true)),
        (
            "later_work",
            Fact::list(feature.later_work.iter().map(|path| path.as_str())),
        ),
        ("inferred", chosen.fields.is_empty().into()),
        ("valid_history", ids(&feature.checkpoints, Entry::is_valid)),
    ])
}

/// Returns the facts of a project in which a feature must be chosen.
pub(super) fn choice(features: &[String]) -> Fact {
    Fact::object([("features", Fact::list(features.iter().map(String::as_str)))])
}

/// Returns the facts of a reading that ended early.
pub(super) fn halted(halt: &Halt) -> Fact {
    let session = halt.session_path.as_ref().map(|path| path.as_str());
    Fact::object([
        ("feature", halt.feature.as_deref().into()),
        ("session_path", session.into()),
        ("history_ids", ids(&halt.checkpoints, |_| true)),
        ("valid_history", ids(&halt.checkpoints, Entry::is_valid)),
    ])
}

fn pair((present, all): (usize, usize)) -> Fact {
    Fact::list([present, all])
}

/// Returns ids of the history in the order of the file.
fn ids(checkpoints: &Checkpoints, counts: impl Fn(&Entry) -> bool) -> Fact {
    let history = checkpoints.in_file_order().into_iter();
    let counted = history.filter(|entry| counts(entry));
    Fact::list(counted.filter_map(|entry| entry.id.as_deref()))
}
