//! The facts of a list, as `inspect --json` has them.

use rekindle_model::Fact;

use crate::lists::assess::Judged;

/// More needs than this are not listed: a program that wants them has the rule.
pub(crate) const MOST_NEEDS: usize = 2_000_000;

/// Returns the facts of a list.
pub(crate) fn facts(judged: &Judged) -> Fact {
    let list = &judged.list;
    let tasks = &list.file.tasks;
    let standing = &judged.standing;
    let counts = standing.counts;
    let ids = |places: &[usize]| Fact::list(places.iter().map(|task| tasks[*task].id.clone()));
    let documents = list.documents.iter();
    let documents = documents.map(|document| (document.name, document.content.as_str().into()));
    let states = tasks.iter().zip(&standing.states);
    let states = states.map(|(task, state)| (task.id.clone(), state.as_str().into()));
    let needs = (standing.needs.count() <= MOST_NEEDS).then(|| {
        let all = standing.needs.order.iter();
        let all = all.map(|task| (*task, standing.needs.of_task(*task)));
        let some = all.filter(|(_, needs)| !needs.is_empty());
        Fact::object(some.map(|(task, needs)| (tasks[task].id.clone(), ids(&needs))))
    });
    let next = &judged.next;
    Fact::object([
        ("list", list.name.clone().into()),
        ("title", list.title.clone().into()),
        ("source", list.source().as_str().into()),
        ("stage", judged.stage.name.into()),
        ("documents", Fact::object(documents)),
        ("done", counts.done.into()),
        ("total", counts.total().into()),
        (
            "counts",
            Fact::object([
                ("pending", Fact::from(counts.pending)),
                ("in_progress", counts.in_progress.into()),
                ("done", counts.done.into()),
                ("blocked", counts.blocked.into()),
                ("skipped", counts.skipped.into()),
            ]),
        ),
        ("states", Fact::object(states)),
        ("needs", needs.unwrap_or(Fact::Null)),
        ("runnable", ids(&standing.runnable)),
        ("current", judged.is_current.into()),
        ("stale", judged.is_stale.into()),
        (
            "last_activity",
            judged.last.map(rekindle_text::format_seconds).into(),
        ),
        (
            "next",
            Fact::object([
                ("kind", Fact::from(next.kind.as_str())),
                ("tasks", ids(&next.tasks)),
                ("document", next.document.into()),
                ("command", next.command.clone().into()),
            ]),
        ),
    ])
}
