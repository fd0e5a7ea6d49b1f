//! The decisions about a run as tables: the state of a task, which tasks can run, which phase the
//! documents indicate, and the next action ([`next`]).

pub(super) mod next;

use super::event::TaskEvent;
use super::phase::BasePhase;
use super::track::State;
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Decision, Value as _, inputs, table, values, verdicts};

/// Returns the decisions for the documentation.
pub(crate) fn decisions() -> Vec<Decision> {
    vec![
        events(),
        STATES.printed(),
        TURNS.printed(),
        PHASES.printed(),
        next::NEXT.printed(),
    ]
}

/// Prints [`TaskEvent::state`], which is a match over all events.
fn events() -> Decision {
    let rows = TaskEvent::ALL.iter().map(|event| {
        let ends = if event.is_end() { "yes" } else { "" };
        [
            format!("`{}`", event.as_str()),
            format!("`{}`", event.state().as_str()),
            ends.to_owned(),
        ]
    });
    let words: Vec<String> = State::ALL
        .iter()
        .map(|state| format!("`{}`", state.as_str()))
        .collect();
    Decision::new(
        "The state of a task after an event",
        format!(
            "The latest event decides; within one log a later line is later.\n\
             Of simultaneous events in several logs the most careful state counts, which is the last of {}.\n\
             The end of an attempt counts only if no newer attempt has started.\n\
             A skip counts only if the task was not done before.",
            words.join(", ")
        ),
        ["event", "task is", "ends an attempt"],
        rows,
    )
}

inputs! {
    /// What events and graph say about a task.
    Signs asked by SignsWhen {
        /// The state after its last event; pending without events.
        said: State = "events say",
        is_skipped: bool = "graph skips it",
        /// A dependency is skipped.
        needs_skipped: bool = "needs a skipped task",
    }
}

verdicts! { State: "task is" code; }

table! {
    /// The state of a task of the graph.
    pub(crate) static STATES: Signs, asked by SignsWhen => State;
    "The state of a task",
    "A task whose dependency will never be made is blocked; the tasks after it merely wait.";
    [said: Is(State::Done)] => State::Done, "a completed task is done";
    [is_skipped: Is(true)] => State::Skipped, "the graph skips it";
    [said: Is(State::Skipped)] => State::Skipped, "an event skips it";
    [needs_skipped: Is(true)] => State::Blocked, "a skipped dependency is never made";
    [said: Is(State::Blocked)] => State::Blocked, "a blocked task is blocked";
    [said: Is(State::Failed)] => State::Failed, "a failed task has failed";
    [said: Is(State::InProgress)] => State::InProgress, "a started task is in progress";
    [] => State::Pending, "a task without events is pending";
}

values! {
    /// Whether a task can run.
    Turn {
        Over "finished",
        Blocked "blocked",
        Waits "waits",
        Runs "can run",
    }
}

verdicts! { Turn: "turn"; }

inputs! {
    /// What decides whether a task can run.
    Readiness asked by ReadinessWhen {
        state: State = "task is",
        /// All dependencies are done.
        is_ready: bool = "dependencies done",
        /// A development task while a bootstrap task is not finished.
        is_early: bool = "before the bootstrap",
    }
}

table! {
    /// Which tasks can run.
    pub(crate) static TURNS: Readiness, asked by ReadinessWhen => Turn;
    "Whether a task can run",
    "The first runnable task is chosen: started tasks first, then quality checks, then the bootstrap, then the rest by phase and by position in the graph.";
    [state: In(&[State::Done, State::Skipped])] => Turn::Over, "finished tasks are not run";
    [state: Is(State::Blocked)] => Turn::Blocked, "blocked tasks are not run";
    [is_ready: Is(false)] => Turn::Waits, "dependencies come first";
    [is_early: Is(true)] => Turn::Waits, "the bootstrap comes before development";
    [] => Turn::Runs, "pending, interrupted and failed tasks run";
}

inputs! {
    /// What indicates the phase if no event does.
    Traces asked by TracesWhen {
        has_checklist: bool = "pr-checklist.md",
        has_constitution: bool = "constitution.md",
        has_prd: bool = "prd.md",
        all_finished: bool = "all tasks finished",
        any_started: bool = "a task started",
    }
}

verdicts! { BasePhase: "phase"; }

table! {
    /// Which phase the documents indicate.
    pub(crate) static PHASES: Traces, asked by TracesWhen => BasePhase;
    "The phase if no event says it",
    "The latest `phase_transition` decides; a run without one is judged by its documents and tasks.";
    [has_checklist: Is(true)] => BasePhase::Consolidation, "the cleanup phase writes the checklist";
    [has_constitution: Is(true), all_finished: Is(true)] => BasePhase::Cleanup, "cleanup follows the last task";
    [has_constitution: Is(true)] => BasePhase::Execution, "an approved plan has a constitution";
    [any_started: Is(true)] => BasePhase::Execution, "tasks start after the approval";
    [has_prd: Is(true)] => BasePhase::Planning, "planning follows the PRD";
    [] => BasePhase::Intake, "a run starts with the intake";
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
