//! The decisions about a run as data, each in one place: what state a task is in, which tasks can
//! run, which phase the documents tell, and what comes next ([`next`]).

pub(super) mod next;

use super::event::TaskEvent;
use super::phase::SeedPhase;
use super::track::State;
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Decision, Row, Table, Verdict, inputs, values};

/// Returns the decisions for the page about them.
pub(crate) fn decisions() -> Vec<Decision> {
    vec![
        events(),
        STATES.printed(),
        TURNS.printed(),
        PHASES.printed(),
        next::NEXT.printed(),
    ]
}

/// What an event says of its task is a match over a closed set, so this is a print of that.
fn events() -> Decision {
    let rows = TaskEvent::ALL.iter().map(|event| {
        let ends = if event.is_end() { "yes" } else { "" };
        vec![
            format!("`{}`", event.as_str()),
            format!("`{}`", event.state().as_str()),
            ends.to_owned(),
            source(*event).to_owned(),
        ]
    });
    let mut states = State::ALL;
    states.sort_unstable();
    let words: Vec<String> = states
        .iter()
        .map(|state| format!("`{}`", state.as_str()))
        .collect();
    Decision {
        title: "What an event says of a task",
        about: format!(
            "The latest event decides; inside one log a later line is later.\n\
             Of what several logs say at the same instant the most careful counts, which is the last of {}.\n\
             How an attempt ended counts only if no newer attempt has begun.\n\
             A skip counts only where the task was not done before it.",
            words.join(", ")
        ),
        headings: vec!["event", "task is", "ends an attempt", "source"],
        rows: rows.collect(),
    }
}

const fn source(event: TaskEvent) -> &'static str {
    match event {
        TaskEvent::Created | TaskEvent::Ready => "seed 26; ruling 3",
        TaskEvent::Claimed | TaskEvent::Started => "seed 27; ruling 1",
        TaskEvent::Implemented => "ruling 11",
        TaskEvent::Verified => "ruling 12",
        TaskEvent::Completed => "seed 28",
        TaskEvent::Failed | TaskEvent::Failure | TaskEvent::VerificationFailed => {
            "seed 29; ruling 2"
        }
        TaskEvent::Blocked => "seed 30; rulings 3, 13",
        TaskEvent::Skipped => "ruling 14",
    }
}

inputs! {
    /// What events and graph say of one task.
    Signs asked by SignsWhen {
        /// By its last event; without any it is pending.
        said: State = "events say",
        is_skipped: bool = "graph skips it",
        /// A task that it depends on is skipped.
        needs_skipped: bool = "needs a skipped one",
    }
}

impl Verdict for State {
    const COLUMNS: &'static [&'static str] = &["task is"];

    fn shown(&self) -> Vec<String> {
        vec![format!("`{}`", self.as_str())]
    }
}

const fn state(when: SignsWhen, then: State, source: &'static str) -> Row<Signs, State> {
    Row { when, then, source }
}

/// What state a task of the graph is in.
pub(crate) static STATES: Table<Signs, State> = Table {
    title: "The state of a task",
    about: "What a task needs and will never get blocks it; what stands behind that one merely waits.",
    rows: &[
        state(
            SignsWhen {
                said: Is(State::Done),
                ..SignsWhen::ANY
            },
            State::Done,
            "seed 28",
        ),
        state(
            SignsWhen {
                is_skipped: Is(true),
                ..SignsWhen::ANY
            },
            State::Skipped,
            "ruling 14",
        ),
        state(
            SignsWhen {
                said: Is(State::Skipped),
                ..SignsWhen::ANY
            },
            State::Skipped,
            "ruling 14",
        ),
        state(
            SignsWhen {
                needs_skipped: Is(true),
                ..SignsWhen::ANY
            },
            State::Blocked,
            "ruling 14",
        ),
        state(
            SignsWhen {
                said: Is(State::Blocked),
                ..SignsWhen::ANY
            },
            State::Blocked,
            "seed 30",
        ),
        state(
            SignsWhen {
                said: Is(State::Failed),
                ..SignsWhen::ANY
            },
            State::Failed,
            "seed 29",
        ),
        state(
            SignsWhen {
                said: Is(State::InProgress),
                ..SignsWhen::ANY
            },
            State::InProgress,
            "seed 27",
        ),
    ],
    last: state(
        SignsWhen {
            said: Is(State::Pending),
            ..SignsWhen::ANY
        },
        State::Pending,
        "seed 26",
    ),
};

values! {
    /// Whether it is a task's turn.
    Turn {
        Over "it is over",
        Blocked "it is blocked",
        Waits "it waits",
        Runs "it can run",
    }
}

impl Verdict for Turn {
    const COLUMNS: &'static [&'static str] = &["turn"];

    fn shown(&self) -> Vec<String> {
        vec![self.as_str().to_owned()]
    }
}

inputs! {
    /// What decides whether a task can run.
    Readiness asked by ReadinessWhen {
        state: State = "task is",
        /// All that it depends on is done.
        is_ready: bool = "dependencies done",
        /// It is of development, and a task of the bootstrap is not finished.
        is_early: bool = "before the bootstrap",
    }
}

const fn turn(when: ReadinessWhen, then: Turn, source: &'static str) -> Row<Readiness, Turn> {
    Row { when, then, source }
}

/// Which tasks can run.
pub(crate) static TURNS: Table<Readiness, Turn> = Table {
    title: "Whether a task can run",
    about: "Of those that can run, the first is chosen: begun before others, checks of quality before the bootstrap before the rest, then by phase and by place in the graph.",
    rows: &[
        turn(
            ReadinessWhen {
                state: In(&[State::Done, State::Skipped]),
                ..ReadinessWhen::ANY
            },
            Turn::Over,
            "seed 33",
        ),
        turn(
            ReadinessWhen {
                state: Is(State::Blocked),
                ..ReadinessWhen::ANY
            },
            Turn::Blocked,
            "seed 34",
        ),
        turn(
            ReadinessWhen {
                is_ready: Is(false),
                ..ReadinessWhen::ANY
            },
            Turn::Waits,
            "seed 32",
        ),
        turn(
            ReadinessWhen {
                is_early: Is(true),
                ..ReadinessWhen::ANY
            },
            Turn::Waits,
            "ruling 41",
        ),
    ],
    last: turn(
        ReadinessWhen {
            state: In(&[State::Pending, State::InProgress, State::Failed]),
            ..ReadinessWhen::ANY
        },
        Turn::Runs,
        "seed 31-34; rulings 9, 10",
    ),
};

inputs! {
    /// What tells the phase where no event does.
    Traces asked by TracesWhen {
        has_checklist: bool = "pr-checklist.md",
        has_constitution: bool = "constitution.md",
        has_prd: bool = "prd.md",
        all_finished: bool = "all tasks finished",
        any_started: bool = "a task begun",
    }
}

impl Verdict for SeedPhase {
    const COLUMNS: &'static [&'static str] = &["phase"];

    fn shown(&self) -> Vec<String> {
        vec![self.title().to_owned()]
    }
}

const fn phase(when: TracesWhen, then: SeedPhase) -> Row<Traces, SeedPhase> {
    Row {
        when,
        then,
        source: "ruling 15",
    }
}

/// Which phase the documents tell.
pub(crate) static PHASES: Table<Traces, SeedPhase> = Table {
    title: "The phase where no event tells it",
    about: "The latest `phase_transition` decides; only a run without any is read by its documents and tasks.",
    rows: &[
        phase(
            TracesWhen {
                has_checklist: Is(true),
                ..TracesWhen::ANY
            },
            SeedPhase::Consolidation,
        ),
        phase(
            TracesWhen {
                has_constitution: Is(true),
                all_finished: Is(true),
                ..TracesWhen::ANY
            },
            SeedPhase::Cleanup,
        ),
        phase(
            TracesWhen {
                has_constitution: Is(true),
                ..TracesWhen::ANY
            },
            SeedPhase::Execution,
        ),
        phase(
            TracesWhen {
                any_started: Is(true),
                ..TracesWhen::ANY
            },
            SeedPhase::Execution,
        ),
        phase(
            TracesWhen {
                has_prd: Is(true),
                ..TracesWhen::ANY
            },
            SeedPhase::Planning,
        ),
    ],
    last: phase(TracesWhen::ANY, SeedPhase::Intake),
};

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
