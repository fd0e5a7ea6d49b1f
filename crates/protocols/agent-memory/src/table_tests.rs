//! The tables over all their inputs.

use super::next::{Candidate, Due, NEXT, Standing};
use super::*;
use rekindle_protocol::table::{Input as _, check};

#[test]
fn tables_cover_every_input_and_use_every_row() {
    check(&STATES);
    check(&TURNS);
    check(&PHASES);
    check(&NEXT);
}

#[test]
fn every_event_is_printed_once() {
    let rows = events().rows;
    let mut events: Vec<&String> = rows.iter().map(|row| &row[0]).collect();
    events.sort_unstable();
    events.dedup();
    assert_eq!(events.len(), TaskEvent::ALL.len());
}

#[test]
fn done_tasks_are_never_run_again() {
    for signs in Signs::all() {
        let is_done = *STATES.decide(signs) == State::Done;
        assert_eq!(is_done, signs.said == State::Done, "{signs:?}");
    }
    for place in Readiness::all().filter(|place| place.state.is_finished()) {
        assert_eq!(*TURNS.decide(place), Turn::Over, "{place:?}");
    }
    for run in Standing::all().filter(|run| run.is_complete) {
        assert_eq!(*NEXT.decide(run), Due::RunComplete, "{run:?}");
    }
}

#[test]
fn tasks_run_only_after_their_dependencies() {
    // The three prescribed conditions, and one of a later version of the protocol.
    for place in Readiness::all() {
        let runs = place.is_ready
            && place.state != State::Done
            && place.state != State::Skipped
            && place.state != State::Blocked
            && !place.is_early;
        assert_eq!(*TURNS.decide(place) == Turn::Runs, runs, "{place:?}");
    }
}

#[test]
fn execution_requires_plan_approval_and_tasks() {
    let work = [Due::ExecuteTask, Due::VerifyTask, Due::EscalateUser];
    for run in Standing::all().filter(|run| work.contains(NEXT.decide(*run))) {
        // A small run has a constitution and no other document; its tasks are never asked for.
        let is_prepared = run.has_prd && run.has_plan && run.has_graph && run.has_constitution;
        assert!(is_prepared && !run.is_small, "{run:?}");
        assert_eq!(run.phase, BasePhase::Execution, "{run:?}");
    }
    for run in Standing::all().filter(|run| *NEXT.decide(*run) == Due::TransitionToExecution) {
        assert!(run.has_constitution && !run.is_voided, "{run:?}");
    }
}

#[test]
fn phases_end_only_when_their_work_exists() {
    for run in Standing::all() {
        let due = *NEXT.decide(run);
        let is_there = |wanted, is_there: bool| assert!(due != wanted || is_there, "{run:?}");
        is_there(Due::VerifyPhaseAndTransition, run.all_finished);
        is_there(Due::RunPrPrep, run.is_clean);
        is_there(Due::PresentPr, run.is_clean && run.has_checklist);
    }
}

/// The prescribed next actions, each as its own condition, in any order.
fn oracle(run: Standing) -> Vec<Due> {
    let is_open = !run.is_complete;
    let is_planned = run.has_prd && run.has_plan && run.has_graph;
    let is_late = run.phase >= BasePhase::Execution;
    let is_prepared = is_open && (run.is_small || is_planned && (!is_late || run.has_constitution));
    let is_approved = run.has_constitution && !run.is_voided;
    let executes = is_prepared && !run.is_small && run.phase == BasePhase::Execution;
    let works = executes && !run.all_finished;
    let is_stuck = works && run.candidate == Candidate::Nothing;
    let cleans = is_prepared && run.phase == BasePhase::Cleanup;
    let in_small = is_open && run.is_small && run.phase == BasePhase::Execution;
    let is_missing = is_open && !run.is_small;
    let conditions = [
        (Due::RunComplete, run.is_complete),
        (Due::ExecuteSmallTask, in_small),
        (Due::CreatePrd, is_missing && !run.has_prd),
        (Due::CreatePlan, is_missing && run.has_prd && !run.has_plan),
        (
            Due::BreakTasks,
            is_missing && run.has_prd && run.has_plan && !run.has_graph,
        ),
        (
            Due::CreateConstitution,
            is_missing && is_planned && is_late && !run.has_constitution,
        ),
        (Due::AwaitApproval, is_prepared && !is_late && !is_approved),
        (
            Due::TransitionToExecution,
            is_prepared && !is_late && is_approved,
        ),
        (Due::VerifyPhaseAndTransition, executes && run.all_finished),
        (
            Due::VerifyTask,
            works && run.candidate == Candidate::Implemented,
        ),
        (Due::ExecuteTask, works && run.candidate == Candidate::Open),
        (
            Due::EscalateUser,
            works && run.candidate == Candidate::Exhausted,
        ),
        (Due::ResolveBlockers, is_stuck && run.has_blocked),
        (Due::FixTaskGraph, is_stuck && !run.has_blocked),
        (Due::RunCleanup, cleans && !run.is_clean),
        (Due::RunPrPrep, cleans && run.is_clean && !run.has_checklist),
        (Due::PresentPr, cleans && run.is_clean && run.has_checklist),
        (
            Due::RunConsolidation,
            is_prepared && run.phase == BasePhase::Consolidation,
        ),
    ];
    let hold = conditions.into_iter().filter(|(_, holds)| *holds);
    hold.map(|(due, _)| due).collect()
}

#[test]
fn the_next_action_matches_the_specification() {
    for run in Standing::all() {
        assert_eq!(oracle(run), [*NEXT.decide(run)], "{run:?}");
    }
}
