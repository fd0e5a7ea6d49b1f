//! Where a phase continues after its last event, and when a person must look at it first.

use super::super::restart::Lifecycle;
use super::super::values::Event;
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Verdict, inputs, table, values, verdicts};

verdicts! {
    Operator: "needed";
}

inputs! {
    /// What decides where a phase continues.
    Reached asked by ReachedWhen {
        /// The last event that is not an error: an error says nothing about progress.
        last: Event = "last event, errors aside",
        has_both_plans: bool = "both plans written",
        debates: bool = "plans are debated",
    }
}

values! {
    /// The position within a step.
    Within {
        Whole "",
        FirstTask "first task",
        /// The first task that is not done, else a review of all tasks.
        NextTask "next open task",
        SameRound "same round",
        NextRound "next round",
    }
}

/// A point where a phase continues.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) step: Lifecycle,
    pub(crate) within: Within,
    /// The instruction for the executor; `{round}` is the round that the event is about.
    pub(crate) how: &'static str,
}

impl Verdict for Point {
    const COLUMNS: &'static [&'static str] =
        &["continues with", "within", "instruction to the executor"];

    fn shown(&self) -> Vec<String> {
        vec![
            format!("`{}`", self.step.as_str()),
            self.within.as_str().to_owned(),
            self.how.to_owned(),
        ]
    }
}

const fn at(step: Lifecycle, within: Within, how: &'static str) -> Point {
    Point { step, within, how }
}

const fn all_of(step: Lifecycle, how: &'static str) -> Point {
    at(step, Within::Whole, how)
}

table! {
    /// Where a phase continues. Outputs after `sharpen_complete` are from an earlier phase.
    pub(crate) static RESTARTS: Reached, asked by ReachedWhen => Point;
    "Where a phase continues",
    "The last event of the phase's state file decides; events before its last setup belong to another run.\nAfter an `error` or `halt` the last event before it decides; the last row is for a phase without any other event.";
    [last: In(&[Event::Setup, Event::Branch])] => all_of(Lifecycle::Plan, "the phase is set up: plan it"), "planning follows the setup";
    [last: Is(Event::PlanStart), has_both_plans: Is(false)] => all_of(Lifecycle::Plan, "one or both planners did not finish: let them plan again"), "planning restarts from what the planners wrote";
    [last: Is(Event::PlanStart), debates: Is(true)] => all_of(Lifecycle::Plan, "both plans are written: debate them"), "planning restarts from what the planners wrote";
    [last: Is(Event::PlanStart)] => all_of(Lifecycle::Plan, "both plans are written: synthesize the phase plan"), "planning restarts from what the planners wrote";
    [last: Is(Event::DebateComplete)] => all_of(Lifecycle::Plan, "the debate is over: synthesize the phase plan"), "the synthesis follows the debate";
    [last: Is(Event::SynthesisComplete)] => all_of(Lifecycle::Sharpen, "the phase plan is synthesized: close planning, then sharpen"), "sharpening follows planning";
    [last: Is(Event::PlanComplete)] => all_of(Lifecycle::Sharpen, "planning is done: sharpen the tasks"), "sharpening follows planning";
    [last: Is(Event::SharpenStart)] => all_of(Lifecycle::Sharpen, "sharpening was not finished: sharpen again"), "unfinished sharpening is repeated";
    [last: Is(Event::SharpenComplete)] => at(Lifecycle::Implement, Within::FirstTask, "the prompts are written: start with the first task"), "implementation follows sharpening";
    [last: In(&[Event::TaskStart, Event::TaskSuccess, Event::TaskRetry, Event::TaskFail])] => at(Lifecycle::Implement, Within::NextTask, "continue with the first task that is not done"), "tasks run in order";
    [last: Is(Event::ReviewStart)] => at(Lifecycle::Review, Within::SameRound, "round {round} was not finished: review again"), "an unfinished review is repeated";
    [last: Is(Event::ReviewRejected)] => at(Lifecycle::Review, Within::NextRound, "round {round} was rejected: fix what it found, then review"), "a rejected review is fixed";
    [last: Is(Event::FixStart)] => at(Lifecycle::Review, Within::NextRound, "the fix of round {round} was not finished: do it again, then review"), "an unfinished fix is repeated";
    [last: Is(Event::FixComplete)] => at(Lifecycle::Review, Within::NextRound, "the fix is done: review it"), "a fix is reviewed";
    [last: Is(Event::ReviewApproved)] => all_of(Lifecycle::Complete, "the review passed: merge"), "the merge follows an approved review";
    [last: Is(Event::Merge)] => all_of(Lifecycle::Reconcile, "the branch is merged, so never merge it again: reconcile, then archive"), "a merge is never repeated";
    [last: Is(Event::ReconcileComplete)] => all_of(Lifecycle::Archive, "everything is reconciled: archive"), "the archive follows reconciliation";
    else [last: In(&[Event::Error, Event::Halt])] => all_of(Lifecycle::Setup, "no work on the phase has been done yet"), "a phase without progress starts with its setup";
}

values! {
    /// Whether a person must look at a phase before it continues.
    Operator {
        Nobody "nobody",
        Rounds "a person: every round of review was rejected",
        Marked "a person: the state file says so",
    }
}

inputs! {
    /// What decides whether a person must look first.
    Trouble asked by TroubleWhen {
        is_out_of_rounds: bool = "review rounds used up",
        /// The state file's status is `needs-operator-review`.
        is_marked: bool = "marked for review",
        has_failed: bool = "last event is an error",
        /// It continues at or after the merge.
        is_past_review: bool = "past its review",
    }
}

table! {
    /// When a person must look first.
    pub(crate) static OPERATORS: Trouble, asked by TroubleWhen => Operator;
    "When a person must look at a phase first",
    "A mark is ignored once the phase is past it.";
    [is_out_of_rounds: Is(true)] => Operator::Rounds, "rounds of review are limited";
    [is_marked: Is(true), has_failed: Is(true)] => Operator::Marked, "a mark for the operator stops the phase";
    [is_marked: Is(true), is_past_review: Is(false)] => Operator::Marked, "a mark for the operator stops the phase";
    [] => Operator::Nobody, "a phase continues without a person";
}
