//! The tables over all their inputs.

use super::super::restart::Lifecycle;
use super::super::values::Event;
use super::restart::{OPERATORS, Operator, RESTARTS, Reached, Trouble, Within};
use super::*;
use rekindle_protocol::table::{Input as _, check};

#[test]
fn every_combination_of_inputs_matches_and_every_row_decides() {
    check(&ROUTES);
    check(&PICKS);
    check(&RESTARTS);
    check(&OPERATORS);
    check(&BRANCHES);
    check(&CONCLUSIONS);
}

#[test]
fn a_complete_project_is_never_resumed() {
    for crossing in Crossing::all().filter(|crossing| crossing.stage == Stage::Complete) {
        assert_eq!(*ROUTES.decide(crossing), Route::Complete, "{crossing:?}");
    }
}

#[test]
fn validation_follows_only_a_complete_plan_without_open_phases() {
    for crossing in Crossing::all() {
        if *ROUTES.decide(crossing) == Route::PastExecution {
            let is_over = crossing.has_plan && !crossing.lacks_phases && !crossing.has_next;
            assert!(is_over, "{crossing:?}");
        }
    }
}

#[test]
fn a_picked_phase_exists() {
    for open in Open::all() {
        let is_there = match PICKS.decide(open) {
            Pick::InProgress => open.has_in_progress,
            Pick::HandoffNote => open.is_noted && !open.has_in_progress,
            Pick::Failed => open.has_failed && !open.is_noted,
            Pick::LowestPending => open.has_pending && !open.has_failed,
            Pick::Nothing => !(open.has_in_progress || open.has_failed || open.has_pending),
        };
        assert!(is_there, "{open:?}");
    }
}

#[test]
fn a_merged_phase_is_never_merged_again() {
    let is_merged =
        |reached: &Reached| matches!(reached.last, Event::Merge | Event::ReconcileComplete);
    for reached in Reached::all().filter(is_merged) {
        let step = RESTARTS.decide(reached).step;
        assert!(step > Lifecycle::Complete, "{reached:?}");
    }
}

#[test]
fn a_phase_is_merged_only_after_an_approval() {
    for reached in Reached::all() {
        let merges = RESTARTS.decide(reached).step == Lifecycle::Complete;
        assert_eq!(merges, reached.last == Event::ReviewApproved, "{reached:?}");
    }
}

#[test]
fn a_phase_never_continues_before_its_last_event() {
    // The steps of each event.
    let done_before = |event: Event| match event {
        Event::Error | Event::Halt => Lifecycle::Setup,
        Event::Setup
        | Event::Branch
        | Event::PlanStart
        | Event::PlanComplete
        | Event::DebateComplete
        | Event::SynthesisComplete => Lifecycle::Plan,
        Event::SharpenStart => Lifecycle::Sharpen,
        Event::SharpenComplete
        | Event::TaskStart
        | Event::TaskSuccess
        | Event::TaskRetry
        | Event::TaskFail => Lifecycle::Implement,
        Event::ReviewStart | Event::ReviewRejected | Event::FixStart | Event::FixComplete => {
            Lifecycle::Review
        }
        Event::ReviewApproved => Lifecycle::Complete,
        Event::Merge => Lifecycle::Reconcile,
        Event::ReconcileComplete => Lifecycle::Archive,
    };
    for reached in Reached::all() {
        let point = RESTARTS.decide(reached);
        assert!(point.step >= done_before(reached.last), "{reached:?}");
        let in_review = matches!(point.within, Within::SameRound | Within::NextRound);
        assert_eq!(in_review, point.step == Lifecycle::Review, "{reached:?}");
    }
}

#[test]
fn a_person_is_always_needed_once_the_rounds_are_used_up() {
    for trouble in Trouble::all() {
        let operator = *OPERATORS.decide(trouble);
        if trouble.is_out_of_rounds {
            assert_eq!(operator, Operator::Rounds, "{trouble:?}");
        } else if !trouble.is_marked {
            assert_eq!(operator, Operator::Nobody, "{trouble:?}");
        }
    }
}

#[test]
fn only_a_pass_completes_a_project() {
    for judgment in Judgment::all() {
        let conclusion = *CONCLUSIONS.decide(judgment);
        let completes = conclusion == Conclusion::Complete;
        assert_eq!(completes, judgment.said == Said::Pass, "{judgment:?}");
        if conclusion == Conclusion::Correct {
            assert!(judgment.may_correct, "{judgment:?}");
        }
    }
}

#[test]
fn a_blocked_validation_is_not_repeated_without_a_person() {
    for entrance in Entrance::all() {
        let is_blocked = entrance.is_correcting && entrance.status == Status::Blocked;
        assert_eq!(*BRANCHES.decide(entrance) == Branch::Blocked, is_blocked);
    }
}
