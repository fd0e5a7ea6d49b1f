//! The facts of `inspect --json`.

use rekindle_model::Fact;

use super::assess::Judged;
use super::read::Orphan;
use super::table::task::Class;

/// Returns the facts of a phase that could be read.
pub(super) fn facts(judged: &Judged) -> Fact {
    let classification = judged
        .tasks
        .iter()
        .map(|(id, task)| (id.to_string(), Fact::from(task.verdict.class.as_str())));
    let heartbeat = judged.tasks.iter().filter_map(|(id, task)| {
        let pulse = task.pulse.as_ref()?;
        Some((id.to_string(), Fact::from(pulse.tier.as_str())))
    });
    let collisions = judged.collisions.iter().map(|collision| {
        let path = String::from_utf8_lossy(collision.path.as_bytes()).into_owned();
        let tasks = collision.tasks.iter().map(ToString::to_string);
        Fact::object([("path", Fact::from(path)), ("tasks", Fact::list(tasks))])
    });
    let ready = judged.of(Class::ReadyForIntegration);
    let order = ready.iter().map(ToString::to_string);
    let orphaned = judged
        .phase
        .orphans
        .iter()
        .map(|orphan| orphan.name.clone());
    let tasks = judged.tasks.iter();
    let retries = tasks.map(|(id, task)| (judged.name(id), task.retries.into()));
    Fact::object([
        ("classification", Fact::object(classification)),
        ("heartbeat", Fact::object(heartbeat)),
        ("integration_order", Fact::list(order)),
        ("collisions", Fact::List(collisions.collect())),
        ("orphaned", Fact::list(orphaned)),
        ("orphans", orphans(judged)),
        ("retries", Fact::object(retries)),
        ("halted", judged.is_halted().into()),
        ("paused", judged.is_paused.into()),
        ("corrupt", false.into()),
    ])
}

/// Returns the path of each orphan, the reason, its task, and when it was first seen.
fn orphans(judged: &Judged) -> Fact {
    let of = |orphan: &Orphan| {
        let task = orphan.task.map(|task| task.to_string());
        let since = orphan.since.map(rekindle_text::format_seconds);
        Fact::object([
            ("path", Fact::from(orphan.path.to_string())),
            ("why", orphan.why.into()),
            ("task", task.into()),
            ("since", since.into()),
        ])
    };
    Fact::List(judged.phase.orphans.iter().map(of).collect())
}

/// Returns the facts of a project whose STATE.md is missing or cannot be understood.
pub(super) fn unreadable(is_corrupt: bool) -> Fact {
    let nothing = || Fact::object::<String>([]);
    Fact::object([
        ("classification", nothing()),
        ("heartbeat", nothing()),
        ("integration_order", Fact::List(Vec::new())),
        ("collisions", Fact::List(Vec::new())),
        ("orphaned", Fact::List(Vec::new())),
        ("orphans", Fact::List(Vec::new())),
        ("retries", nothing()),
        ("halted", false.into()),
        ("paused", false.into()),
        ("corrupt", is_corrupt.into()),
    ])
}
