//! The decisions of a resume as data, each in one place: where the stage leads, which phase comes
//! next, where it goes on ([`restart`]), when a person must look, and what follows from a validation.

pub(super) mod restart;

use super::values::{Stage, Status, Verdict as Said};
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Decision, Row, Table, Verdict, inputs, values};

/// Returns the decisions for the page about them.
pub(crate) fn decisions() -> Vec<Decision> {
    vec![
        ROUTES.printed(),
        PICKS.printed(),
        restart::RESTARTS.printed(),
        restart::OPERATORS.printed(),
        BRANCHES.printed(),
        CONCLUSIONS.printed(),
    ]
}

values! {
    /// Where the stage leads.
    Route {
        Brainstorm "brainstorm",
        Planning "planning",
        Execution "execution of the next phase",
        NoPhases "stop: nothing says which phases there are",
        PhasesMissing "stop: the plan lacks phases that are not done",
        /// All phases are done, so the stage moves on.
        PastExecution "validation, and the stage moves on",
        Validation "validation",
        Complete "nothing: the project is complete",
    }
}

impl Verdict for Route {
    const COLUMNS: &'static [&'static str] = &["route"];

    fn shown(&self) -> Vec<String> {
        vec![self.as_str().to_owned()]
    }
}

inputs! {
    /// What decides where the stage leads.
    Crossing asked by CrossingWhen {
        stage: Stage = "stage",
        /// A phase is in progress, failed or pending.
        has_next: bool = "phase left",
        has_plan: bool = "plan names phases",
        /// The memory counts on a phase that is not done, and the plan does not have it.
        lacks_phases: bool = "plan lacks a phase",
    }
}

const fn route(when: CrossingWhen, then: Route, source: &'static str) -> Row<Crossing, Route> {
    Row { when, then, source }
}

/// Where each stage leads.
pub(crate) static ROUTES: Table<Crossing, Route> = Table {
    title: "Where the stage leads",
    about: "The memory's stage decides; execution is followed by validation once a complete plan has no phase left.",
    rows: &[
        route(
            CrossingWhen {
                stage: Is(Stage::Brainstorm),
                ..CrossingWhen::ANY
            },
            Route::Brainstorm,
            "the stage decides",
        ),
        route(
            CrossingWhen {
                stage: Is(Stage::Planning),
                ..CrossingWhen::ANY
            },
            Route::Planning,
            "the stage decides",
        ),
        route(
            CrossingWhen {
                stage: Is(Stage::Execution),
                has_next: Is(true),
                ..CrossingWhen::ANY
            },
            Route::Execution,
            "execution continues until no phase is left",
        ),
        route(
            CrossingWhen {
                stage: Is(Stage::Execution),
                has_plan: Is(false),
                ..CrossingWhen::ANY
            },
            Route::NoPhases,
            "a missing plan is not a finished one",
        ),
        // A plan that was cut short must not look as if all were done.
        route(
            CrossingWhen {
                stage: Is(Stage::Execution),
                lacks_phases: Is(true),
                ..CrossingWhen::ANY
            },
            Route::PhasesMissing,
            "a missing plan is not a finished one",
        ),
        route(
            CrossingWhen {
                stage: Is(Stage::Execution),
                ..CrossingWhen::ANY
            },
            Route::PastExecution,
            "validation follows the last phase",
        ),
        route(
            CrossingWhen {
                stage: Is(Stage::Validation),
                ..CrossingWhen::ANY
            },
            Route::Validation,
            "the stage decides",
        ),
    ],
    last: route(
        CrossingWhen {
            stage: Is(Stage::Complete),
            ..CrossingWhen::ANY
        },
        Route::Complete,
        "a complete project has no next step",
    ),
};

values! {
    /// Why a phase comes next.
    Pick {
        InProgress "in_progress",
        HandoffNote "handoff_note",
        Failed "failed",
        LowestPending "lowest_pending",
        Nothing "none is left",
    }
}

impl Verdict for Pick {
    const COLUMNS: &'static [&'static str] = &["next phase, and why"];

    fn shown(&self) -> Vec<String> {
        let which = match self {
            Self::InProgress => "`in_progress`: the lowest that is in progress",
            Self::HandoffNote => "`handoff_note`: the one that the note names",
            Self::Failed => "`failed`: the lowest that failed",
            Self::LowestPending => "`lowest_pending`: the lowest that is pending",
            Self::Nothing => "none is left",
        };
        vec![which.to_owned()]
    }
}

inputs! {
    /// What there is to pick from; a phase that is completed is nowhere in it.
    Open asked by OpenWhen {
        has_in_progress: bool = "in progress",
        /// The note says that work was in the middle of a phase that is pending.
        is_noted: bool = "handoff note names one",
        has_failed: bool = "failed",
        has_pending: bool = "pending",
    }
}

const fn pick(when: OpenWhen, then: Pick, source: &'static str) -> Row<Open, Pick> {
    Row { when, then, source }
}

/// Which phase comes next.
pub(crate) static PICKS: Table<Open, Pick> = Table {
    title: "Which phase comes next",
    about: "A phase whose summary is in the archive is completed whatever the memory says of it.\nA note about interrupted work on a pending phase counts where no phase is in progress, and before one that failed.",
    rows: &[
        pick(
            OpenWhen {
                has_in_progress: Is(true),
                ..OpenWhen::ANY
            },
            Pick::InProgress,
            "a started phase comes first",
        ),
        pick(
            OpenWhen {
                is_noted: Is(true),
                ..OpenWhen::ANY
            },
            Pick::HandoffNote,
            "the handoff note names the interrupted phase",
        ),
        pick(
            OpenWhen {
                has_failed: Is(true),
                ..OpenWhen::ANY
            },
            Pick::Failed,
            "a failed phase comes before a new one",
        ),
        pick(
            OpenWhen {
                has_pending: Is(true),
                ..OpenWhen::ANY
            },
            Pick::LowestPending,
            "phases run in order",
        ),
    ],
    last: pick(
        OpenWhen::ANY,
        Pick::Nothing,
        "validation follows the last phase",
    ),
};

values! {
    /// How validation continues.
    Branch {
        Blocked "blocked",
        Correction "correction",
        Fresh "fresh",
    }
}

impl Verdict for Branch {
    const COLUMNS: &'static [&'static str] = &["branch"];

    fn shown(&self) -> Vec<String> {
        vec![format!("`{}`", self.as_str())]
    }
}

inputs! {
    /// What decides how validation goes on.
    Entrance asked by EntranceWhen {
        /// A correction was begun.
        is_correcting: bool = "correction cycle > 0",
        status: Status = "status",
    }
}

const fn branch(when: EntranceWhen, then: Branch, source: &'static str) -> Row<Entrance, Branch> {
    Row { when, then, source }
}

/// How validation continues.
///
/// The branches hold for a project that comes from execution too: its status is `in_progress` while a
/// correction is made, and one that was paused or blocked meanwhile is what it says it is.
pub(crate) static BRANCHES: Table<Entrance, Branch> = Table {
    title: "How validation continues",
    about: "The same three branches apply to a project that comes from execution.",
    rows: &[
        branch(
            EntranceWhen {
                is_correcting: Is(true),
                status: Is(Status::Blocked),
            },
            Branch::Blocked,
            "a blocked correction needs a person",
        ),
        branch(
            EntranceWhen {
                is_correcting: Is(true),
                status: Is(Status::InProgress),
            },
            Branch::Correction,
            "an open correction continues",
        ),
    ],
    last: branch(EntranceWhen::ANY, Branch::Fresh, "validation starts afresh"),
};

values! {
    /// What follows from a validation.
    Conclusion {
        Complete "the project is complete",
        Correct "a correction is made",
        GiveUp "the project is blocked and a person is asked",
    }
}

impl Verdict for Conclusion {
    const COLUMNS: &'static [&'static str] = &["then"];

    fn shown(&self) -> Vec<String> {
        vec![self.as_str().to_owned()]
    }
}

inputs! {
    /// What decides what follows from a validation.
    Judgment asked by JudgmentWhen {
        said: Said = "verdict",
        /// Fewer corrections were made than a person need not be asked about.
        may_correct: bool = "corrections left",
    }
}

const fn conclusion(
    when: JudgmentWhen,
    then: Conclusion,
    source: &'static str,
) -> Row<Judgment, Conclusion> {
    Row { when, then, source }
}

/// What follows from a validation.
pub(crate) static CONCLUSIONS: Table<Judgment, Conclusion> = Table {
    title: "What follows from a validation",
    about: "At most three corrections are made without a person.",
    rows: &[
        conclusion(
            JudgmentWhen {
                said: Is(Said::Pass),
                ..JudgmentWhen::ANY
            },
            Conclusion::Complete,
            "a passed validation completes the project",
        ),
        conclusion(
            JudgmentWhen {
                may_correct: Is(true),
                ..JudgmentWhen::ANY
            },
            Conclusion::Correct,
            "at most three corrections",
        ),
    ],
    last: conclusion(
        JudgmentWhen {
            said: In(&[Said::Partial, Said::Fail]),
            ..JudgmentWhen::ANY
        },
        Conclusion::GiveUp,
        "a failed validation blocks the project",
    ),
};

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
