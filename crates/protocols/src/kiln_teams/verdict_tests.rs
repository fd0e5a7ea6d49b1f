use std::collections::BTreeSet;

use super::*;

const ORDERS: [Override; 3] = [Override::None, Override::Retry, Override::Halt];
const WORDS: [Word; 8] = [
    Word::NotStarted,
    Word::Running(Tier::Healthy),
    Word::Running(Tier::Warning),
    Word::Running(Tier::Dead),
    Word::Succeeded,
    Word::Failed,
    Word::Cancelled,
    Word::Contradictory,
];
const PROOFS: [Proof; 6] = [
    Proof::Whole,
    Proof::NoArtifacts,
    Proof::NoWorktree,
    Proof::OwnCommits,
    Proof::Disagrees,
    Proof::Stranger,
];

fn all() -> Vec<Signals> {
    let mut all = Vec::new();
    for has_landed in [false, true] {
        for ordered in ORDERS {
            for word in WORDS {
                for proof in PROOFS {
                    for is_behind_gate in [false, true] {
                        for is_paused in [false, true] {
                            all.push(Signals {
                                has_landed,
                                ordered,
                                word,
                                proof,
                                is_behind_gate,
                                is_paused,
                            });
                        }
                    }
                }
            }
        }
    }
    all
}

/// The seed's five states and the two beside them, each as its own condition, in no order.
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
fn every_combination_of_signals_has_exactly_one_verdict_and_it_is_the_seeds() {
    for signals in all() {
        assert_eq!(oracle(signals), [decide(signals).class], "{signals:?}");
    }
}

#[test]
fn what_has_landed_is_never_run_again() {
    for signals in all().into_iter().filter(|signals| signals.has_landed) {
        assert_eq!(decide(signals).class, Class::Done);
    }
}

#[test]
fn nothing_is_ready_without_whole_proof() {
    let ready = all()
        .into_iter()
        .filter(|signals| decide(*signals).class == Class::ReadyForIntegration);
    for signals in ready {
        assert_eq!(
            (signals.word, signals.proof),
            (Word::Succeeded, Proof::Whole)
        );
    }
}

#[test]
fn every_rule_decides_somewhere_and_has_a_sentence_of_its_own() {
    let reached: BTreeSet<Rule> = all()
        .into_iter()
        .map(|signals| decide(signals).rule)
        .collect();
    assert_eq!(reached, BTreeSet::from(Rule::ALL));
    let sentences: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.sentence()).collect();
    assert_eq!(sentences.len(), Rule::ALL.len());
}
