//! Where a phase continues by its last event, and when a person must look at it first.

use super::super::restart::Lifecycle;
use super::super::values::Event;
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Row, Table, Verdict, inputs, values};

inputs! {
    /// What decides where a phase goes on.
    Reached asked by ReachedWhen {
        /// The last one that is no error: an error says nothing of how far the phase was.
        last: Event = "last event, errors aside",
        has_both_plans: bool = "both plans written",
        debates: bool = "plans are debated",
    }
}

values! {
    /// Where within its step.
    Within {
        Whole "",
        FirstTask "first task",
        /// The first that is not done, else a review of all of them.
        NextTask "next open task",
        SameRound "same round",
        NextRound "next round",
    }
}

/// A point from which a phase goes on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) step: Lifecycle,
    pub(crate) within: Within,
    /// What the executor is told; `{round}` is the round that the event is about.
    pub(crate) how: &'static str,
}

impl Verdict for Point {
    const COLUMNS: &'static [&'static str] = &["goes on with", "within", "the executor is told"];

    fn shown(&self) -> Vec<String> {
        vec![
            format!("`{}`", self.step.as_str()),
            self.within.as_str().to_owned(),
            self.how.to_owned(),
        ]
    }
}

const fn at(
    last: &'static [Event],
    step: Lifecycle,
    within: Within,
    how: &'static str,
    source: &'static str,
) -> Row<Reached, Point> {
    Row {
        when: ReachedWhen {
            last: In(last),
            ..ReachedWhen::ANY
        },
        then: Point { step, within, how },
        source,
    }
}

const fn planning(when: ReachedWhen, how: &'static str) -> Row<Reached, Point> {
    Row {
        when: ReachedWhen {
            last: Is(Event::PlanStart),
            ..when
        },
        then: Point {
            step: Lifecycle::Plan,
            within: Within::Whole,
            how,
        },
        source: "planning restarts from what the planners wrote",
    }
}

/// Where each phase goes on.
pub(crate) static RESTARTS: Table<Reached, Point> = Table {
    title: "Where a phase continues",
    about: "The last event of the phase's state file decides; events before its last setup belong to another run.\nAfter an `error` or `halt` the last event before it decides; the last row is for a phase without any other event.",
    rows: &[
        at(
            &[Event::Setup, Event::Branch],
            Lifecycle::Plan,
            Within::Whole,
            "the phase is set up: plan it",
            "planning follows the setup",
        ),
        planning(
            ReachedWhen {
                has_both_plans: Is(false),
                ..ReachedWhen::ANY
            },
            "the planners did not both finish: let them plan again",
        ),
        planning(
            ReachedWhen {
                debates: Is(true),
                ..ReachedWhen::ANY
            },
            "both plans are written: debate them",
        ),
        planning(
            ReachedWhen::ANY,
            "both plans are written: synthesize the phase plan",
        ),
        at(
            &[Event::DebateComplete],
            Lifecycle::Plan,
            Within::Whole,
            "the debate is over: synthesize the phase plan",
            "the synthesis follows the debate",
        ),
        at(
            &[Event::SynthesisComplete],
            Lifecycle::Sharpen,
            Within::Whole,
            "the phase plan is synthesized: close planning, then sharpen",
            "sharpening follows planning",
        ),
        at(
            &[Event::PlanComplete],
            Lifecycle::Sharpen,
            Within::Whole,
            "planning is done: sharpen the tasks",
            "sharpening follows planning",
        ),
        at(
            &[Event::SharpenStart],
            Lifecycle::Sharpen,
            Within::Whole,
            "sharpening was begun and not finished: sharpen again",
            "unfinished sharpening is repeated",
        ),
        // Outputs that are there now are of an earlier phase.
        at(
            &[Event::SharpenComplete],
            Lifecycle::Implement,
            Within::FirstTask,
            "the prompts are written: begin with the first task",
            "implementation follows sharpening",
        ),
        at(
            &[
                Event::TaskStart,
                Event::TaskSuccess,
                Event::TaskRetry,
                Event::TaskFail,
            ],
            Lifecycle::Implement,
            Within::NextTask,
            "go on with the first task that is not done",
            "tasks run in order",
        ),
        at(
            &[Event::ReviewStart],
            Lifecycle::Review,
            Within::SameRound,
            "round {round} was begun and not finished: review again",
            "an unfinished review is repeated",
        ),
        at(
            &[Event::ReviewRejected],
            Lifecycle::Review,
            Within::NextRound,
            "round {round} was rejected: fix what it found, then review",
            "a rejected review is fixed",
        ),
        at(
            &[Event::FixStart],
            Lifecycle::Review,
            Within::NextRound,
            "the fix of round {round} was begun and not finished: do it again, then review",
            "an unfinished fix is repeated",
        ),
        at(
            &[Event::FixComplete],
            Lifecycle::Review,
            Within::NextRound,
            "the fix is done: review it",
            "a fix is reviewed",
        ),
        at(
            &[Event::ReviewApproved],
            Lifecycle::Complete,
            Within::Whole,
            "the review passed: merge",
            "the merge follows an approved review",
        ),
        at(
            &[Event::Merge],
            Lifecycle::Reconcile,
            Within::Whole,
            "the branch is merged, so never merge it again: reconcile, then archive",
            "a merge is never repeated",
        ),
        at(
            &[Event::ReconcileComplete],
            Lifecycle::Archive,
            Within::Whole,
            "all is reconciled: archive",
            "the archive follows reconciliation",
        ),
    ],
    last: at(
        &[Event::Error, Event::Halt],
        Lifecycle::Setup,
        Within::Whole,
        "nothing of the phase has been done yet",
        "a phase without progress starts with its setup",
    ),
};

values! {
    /// Whether a person must look at a phase before it goes on.
    Operator {
        Nobody "nobody is needed",
        Rounds "a person: every round of review was rejected",
        Marked "a person: the state file says so",
    }
}

impl Verdict for Operator {
    const COLUMNS: &'static [&'static str] = &["needed"];

    fn shown(&self) -> Vec<String> {
        vec![self.as_str().to_owned()]
    }
}

inputs! {
    /// What decides whether a person must look first.
    Trouble asked by TroubleWhen {
        is_out_of_rounds: bool = "review rounds used up",
        /// The state file's status is `needs-operator-review`.
        is_marked: bool = "marked for review",
        has_failed: bool = "last event is an error",
        /// It goes on at the merge or behind it.
        is_past_review: bool = "past its review",
    }
}

const fn needed(when: TroubleWhen, then: Operator, source: &'static str) -> Row<Trouble, Operator> {
    Row { when, then, source }
}

/// When a person must look first.
pub(crate) static OPERATORS: Table<Trouble, Operator> = Table {
    title: "When a person must look at a phase first",
    about: "A mark is ignored once the phase is past it.",
    rows: &[
        needed(
            TroubleWhen {
                is_out_of_rounds: Is(true),
                ..TroubleWhen::ANY
            },
            Operator::Rounds,
            "rounds of review are limited",
        ),
        needed(
            TroubleWhen {
                is_marked: Is(true),
                has_failed: Is(true),
                ..TroubleWhen::ANY
            },
            Operator::Marked,
            "a mark for the operator stops the phase",
        ),
        needed(
            TroubleWhen {
                is_marked: Is(true),
                is_past_review: Is(false),
                ..TroubleWhen::ANY
            },
            Operator::Marked,
            "a mark for the operator stops the phase",
        ),
    ],
    last: needed(
        TroubleWhen::ANY,
        Operator::Nobody,
        "a phase continues without a person",
    ),
};
