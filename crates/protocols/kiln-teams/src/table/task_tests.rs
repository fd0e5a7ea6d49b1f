//! The two tables over all their inputs, compared with the prescribed rules.

use std::collections::BTreeSet;

use super::super::claim::{CLAIMS, Claim};
use super::*;
use rekindle_protocol::table::{Input as _, check};

/// The prescribed states, each as its own condition, in no order.
fn oracle(signals: Signals) -> Vec<Class> {
    let started = signals.word != Word::NotStarted;
    let ordered = started && signals.ordered != Override::None;
    let running = matches!(signals.word, Word::Running(_));
    let fresh = matches!(signals.word, Word::Running(Tier::Healthy | Tier::Warning));
    let open = !signals.has_landed && !ordered;
    let success = signals.word == Word::Succeeded && signals.proof == Proof::Whole;
    let alive = running && (fresh || signals.is_paused);
    let mut classes = Vec::new();
    if signals.has_landed {
        classes.push(Class::Done);
    }
    if open && success {
        classes.push(Class::ReadyForIntegration);
    }
    if open && alive {
        classes.push(Class::InProgress);
    }
    if !signals.has_landed && started && (ordered || !(success || alive)) {
        classes.push(Class::RerunRequired);
    }
    if open && !started && signals.is_behind_gate {
        classes.push(Class::Gated);
    }
    if open && !started && !signals.is_behind_gate {
        classes.push(Class::Pending);
    }
    classes
}

#[test]
fn every_combination_of_signals_has_the_prescribed_verdict() {
    for signals in Signals::all() {
        assert_eq!(
            oracle(signals),
            [TASKS.decide(signals).class],
            "{signals:?}"
        );
    }
}

#[test]
fn a_landed_task_never_runs_again() {
    for signals in Signals::all().filter(|signals| signals.has_landed) {
        assert_eq!(TASKS.decide(signals).class, Class::Done);
    }
}

#[test]
fn nothing_is_ready_without_complete_proof() {
    let ready =
        Signals::all().filter(|signals| TASKS.decide(*signals).class == Class::ReadyForIntegration);
    for signals in ready {
        assert_eq!(
            (signals.word, signals.proof),
            (Word::Succeeded, Proof::Whole)
        );
    }
}

#[test]
fn every_row_decides_and_has_its_own_rule_and_sentence() {
    check(&TASKS);
    check(&CLAIMS);
    let verdicts = || Signals::all().map(|signals| TASKS.decide(signals));
    let rules: BTreeSet<Rule> = verdicts().map(|verdict| verdict.rule).collect();
    let sentences: BTreeSet<&str> = verdicts().map(|verdict| verdict.sentence).collect();
    assert_eq!(rules.len(), TASKS.rows.len() + 1);
    assert_eq!(sentences.len(), rules.len());
}

#[test]
fn only_a_task_that_runs_again_spends_a_retry() {
    for signals in Signals::all() {
        let verdict = TASKS.decide(signals);
        let is_again = verdict.class == Class::RerunRequired;
        assert!(is_again || verdict.retry.is_none(), "{signals:?}");
        let is_free = is_again && verdict.retry.is_none();
        assert_eq!(is_free, verdict.rule == Rule::SaidCancelled, "{signals:?}");
    }
}

#[test]
fn a_worktree_is_given_up_only_without_a_live_worker_or_by_order() {
    let again = |signals: &Signals| TASKS.decide(*signals).class == Class::RerunRequired;
    for signals in Signals::all().filter(again) {
        let lives = matches!(signals.word, Word::Running(Tier::Healthy | Tier::Warning));
        assert!(!lives || signals.ordered != Override::None, "{signals:?}");
        assert!(
            !signals.has_landed && signals.word != Word::NotStarted,
            "{signals:?}"
        );
    }
}

#[test]
fn a_proof_is_whole_only_where_nothing_speaks_against_it() {
    for claim in Claim::all() {
        let is_whole = claim.has_worktree
            && claim.has_artifacts
            && claim.agrees
            && !claim.has_own_commits
            && !claim.has_stranger;
        assert_eq!(*CLAIMS.decide(claim) == Proof::Whole, is_whole, "{claim:?}");
    }
}
