//! The decisions of a resume as tables: where the stage leads, which phase comes next, where it
//! continues ([`restart`]), when a person must look, and what follows from a validation.

pub(super) mod restart;

use super::values::{Stage, Status, Verdict as Said};
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Decision, Verdict, inputs, table, values, verdicts};

/// Returns the decisions for the documentation.
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

verdicts! {
    Route: "route";
    Branch: "branch" code;
    Conclusion: "then";
}

values! {
    /// Where the stage leads.
    Route {
        Brainstorm "brainstorm",
        Planning "planning",
        Execution "execution of the next phase",
        NoPhases "stop: no file names the phases",
        PhasesMissing "stop: unfinished phases are missing from the plan",
        /// All phases are done, so the stage advances.
        PastExecution "validation, and the stage advances",
        Validation "validation",
        Complete "nothing: the project is complete",
    }
}

inputs! {
    /// What decides where the stage leads.
    Crossing asked by CrossingWhen {
        stage: Stage = "stage",
        /// A phase is in progress, failed or pending.
        has_next: bool = "phase left",
        has_plan: bool = "plan names phases",
        /// The memory has an unfinished phase that is missing from the plan.
        lacks_phases: bool = "plan lacks a phase",
    }
}

table! {
    /// Where each stage leads. A truncated plan must not look as if all phases were done.
    pub(crate) static ROUTES: Crossing, asked by CrossingWhen => Route;
    "Where the stage leads",
    "The memory's stage decides; execution is followed by validation once a complete plan has no phase left.";
    [stage: Is(Stage::Brainstorm)] => Route::Brainstorm, "the stage decides";
    [stage: Is(Stage::Planning)] => Route::Planning, "the stage decides";
    [stage: Is(Stage::Execution), has_next: Is(true)] => Route::Execution, "execution continues until no phase is left";
    [stage: Is(Stage::Execution), has_plan: Is(false)] => Route::NoPhases, "a missing plan is not a finished one";
    [stage: Is(Stage::Execution), lacks_phases: Is(true)] => Route::PhasesMissing, "a missing plan is not a finished one";
    [stage: Is(Stage::Execution)] => Route::PastExecution, "validation follows the last phase";
    [stage: Is(Stage::Validation)] => Route::Validation, "the stage decides";
    else [stage: Is(Stage::Complete)] => Route::Complete, "a complete project has no next step";
}

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
    /// The phases to pick from; completed phases do not count.
    Open asked by OpenWhen {
        has_in_progress: bool = "in progress",
        /// The note says that work on a pending phase was interrupted.
        is_noted: bool = "handoff note names one",
        has_failed: bool = "failed",
        has_pending: bool = "pending",
    }
}

table! {
    /// Which phase comes next.
    pub(crate) static PICKS: Open, asked by OpenWhen => Pick;
    "Which phase comes next",
    "A phase whose summary is in the archive is completed, whatever the memory says.\nA note about interrupted work on a pending phase counts if no phase is in progress, and before a failed phase.";
    [has_in_progress: Is(true)] => Pick::InProgress, "a started phase comes first";
    [is_noted: Is(true)] => Pick::HandoffNote, "the handoff note names the interrupted phase";
    [has_failed: Is(true)] => Pick::Failed, "a failed phase comes before a new one";
    [has_pending: Is(true)] => Pick::LowestPending, "phases run in order";
    [] => Pick::Nothing, "validation follows the last phase";
}

values! {
    /// How validation continues.
    Branch {
        Blocked "blocked",
        Correction "correction",
        Fresh "fresh",
    }
}

inputs! {
    /// What decides how validation continues.
    Entrance asked by EntranceWhen {
        /// A correction was started.
        is_correcting: bool = "correction cycle > 0",
        status: Status = "status",
    }
}

table! {
    /// How validation continues, for a project that comes from execution as well: its status is
    /// `in_progress` during a correction, unless it was paused or blocked.
    pub(crate) static BRANCHES: Entrance, asked by EntranceWhen => Branch;
    "How validation continues",
    "The same three branches apply to a project that comes from execution.";
    [is_correcting: Is(false)] => Branch::Fresh, "without a correction validation starts afresh";
    [status: Is(Status::Blocked)] => Branch::Blocked, "a blocked correction needs a person";
    [status: Is(Status::InProgress)] => Branch::Correction, "an open correction continues";
    [] => Branch::Fresh, "validation starts afresh";
}

values! {
    /// What follows from a validation.
    Conclusion {
        Complete "the project is complete",
        Correct "a correction is made",
        GiveUp "the project is blocked and a person is asked",
    }
}

inputs! {
    /// What decides what follows from a validation.
    Judgment asked by JudgmentWhen {
        said: Said = "verdict",
        /// Another correction needs no person.
        may_correct: bool = "corrections left",
    }
}

table! {
    /// What follows from a validation.
    pub(crate) static CONCLUSIONS: Judgment, asked by JudgmentWhen => Conclusion;
    "What follows from a validation",
    "At most three corrections are made without a person.";
    [said: Is(Said::Pass)] => Conclusion::Complete, "a passed validation completes the project";
    [may_correct: Is(true)] => Conclusion::Correct, "at most three corrections";
    else [said: In(&[Said::Partial, Said::Fail])] => Conclusion::GiveUp, "a failed validation blocks the project";
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
