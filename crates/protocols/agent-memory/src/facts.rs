//! The protocol's facts, as `inspect --json` prints them.

use rekindle_model::Fact;

use super::assess::{RunVerdict, Verdict};
use super::entry::Entry;
use super::track::State;

/// The states in the order of the counts.
const SHOWN: [State; 6] = [
    State::Pending,
    State::InProgress,
    State::Done,
    State::Failed,
    State::Blocked,
    State::Skipped,
];

pub(super) fn facts(verdict: &Verdict, entry: &Entry) -> Fact {
    let incomplete = verdict.incomplete().map(|run| run.evidence.id.as_str());
    Fact::object([
        ("entry", entry.as_str().into()),
        ("selected", entry.selected().into()),
        ("incomplete", Fact::list(incomplete)),
        (
            "runs",
            Fact::object(
                verdict
                    .runs
                    .iter()
                    .map(|run| (run.evidence.id.clone(), self::run(run))),
            ),
        ),
    ])
}

fn run(run: &RunVerdict) -> Fact {
    let graph = run.evidence.graph.get();
    let ids = || graph.map(|graph| graph.graph.ids()).unwrap_or_default();
    let count = |wanted: State| run.states.iter().filter(|state| **state == wanted).count();
    let states = ids()
        .iter()
        .cloned()
        .zip(run.states.iter().map(|state| state.as_str().into()));
    Fact::object([
        ("run_id", run.evidence.id.as_str().into()),
        ("complete", run.complete.into()),
        ("outcome", run.outcome.into()),
        ("phase", run.phase.number.into()),
        ("phase_source", run.phase.source.as_str().into()),
        ("done", run.done.into()),
        ("total", run.total.into()),
        (
            "counts",
            Fact::object(SHOWN.map(|state| (state.as_str(), count(state).into()))),
        ),
        ("states", Fact::object(states)),
        (
            "runnable",
            Fact::list(run.runnable.iter().map(|&task| ids()[task].as_str())),
        ),
        (
            "failures",
            Fact::object(
                run.failures
                    .iter()
                    .map(|(task, n)| (task.clone(), (*n).into())),
            ),
        ),
        (
            "last_activity",
            run.last_activity.map(rekindle_text::format_seconds).into(),
        ),
        (
            "last_completed",
            run.last_completed
                .as_ref()
                .map_or(Fact::Null, |(task, title)| {
                    Fact::object([
                        ("task", task.as_str().into()),
                        ("title", title.as_str().into()),
                    ])
                }),
        ),
        (
            "unknown_tasks",
            Fact::list(run.unknown_tasks.iter().map(String::as_str)),
        ),
        ("next_action", run.next.fact()),
        ("stale", run.stale.into()),
        ("findings", Fact::list(run.findings.codes())),
    ])
}
