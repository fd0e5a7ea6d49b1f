//! The decisions of the state machine as data: the steps of a workflow, and what a rejection leads to.

use rekindle_protocol::table::Cell::Is;
use rekindle_protocol::table::{Decision, inputs, table, values, verdicts};

/// Returns the decisions for the documentation.
pub fn decisions() -> Vec<Decision> {
    vec![steps(), RETRIES.printed()]
}

values! {
    /// Who carries out a step.
    Duty {
        /// The task is split into subtasks.
        Decompose "decomposer",
        /// The plan is written from the blueprint.
        WritePlan "plan from the blueprint",
        /// A person approves the plan.
        Approve "a person",
        /// The step closes by itself.
        Close "nobody",
        /// The code that a subtask touches is examined.
        Research "researcher",
        /// Tests are written before the code.
        WriteTests "test writer",
        /// The new tests must fail.
        TestGate "gate",
        /// The subtask is implemented.
        Implement "actor",
        /// The implementation is judged.
        Judge "monitor",
    }
}

/// One step of a workflow.
#[derive(Debug)]
pub struct Step {
    /// Its number, such as `2.3`.
    pub id: &'static str,
    /// Its name, such as `ACTOR`.
    pub phase: &'static str,
    /// Who carries it out.
    pub duty: Duty,
    /// Whether it exists only in test-first mode; only such a step can be skipped.
    pub(crate) is_test_first: bool,
    /// Whether it is repeated for each subtask.
    pub(crate) is_of_subtask: bool,
}

const fn once(id: &'static str, phase: &'static str, duty: Duty) -> Step {
    Step {
        id,
        phase,
        duty,
        is_test_first: false,
        is_of_subtask: false,
    }
}

const fn each(id: &'static str, phase: &'static str, duty: Duty) -> Step {
    Step {
        is_of_subtask: true,
        ..once(id, phase, duty)
    }
}

const fn test_first(id: &'static str, phase: &'static str, duty: Duty) -> Step {
    Step {
        is_test_first: true,
        ..each(id, phase, duty)
    }
}

/// The steps in order.
pub(crate) static STEPS: [Step; 10] = [
    once("1.0", "DECOMPOSE", Duty::Decompose),
    once("1.5", "INIT_PLAN", Duty::WritePlan),
    once("1.55", "REVIEW_PLAN", Duty::Approve),
    once("1.56", "CHOOSE_MODE", Duty::Close),
    once("1.6", "INIT_STATE", Duty::Close),
    each("2.2", "RESEARCH", Duty::Research),
    test_first("2.25", "TEST_WRITER", Duty::WriteTests),
    test_first("2.26", "TEST_FAIL_GATE", Duty::TestGate),
    each("2.3", "ACTOR", Duty::Implement),
    each("2.4", "MONITOR", Duty::Judge),
];

/// Returns a step by its id.
pub fn step(id: &str) -> Option<&'static Step> {
    STEPS.iter().find(|step| step.id == id)
}

fn steps() -> Decision {
    let yes = |is: bool| if is { "yes" } else { "" }.to_owned();
    let rows = STEPS.iter().map(|step| {
        [
            format!("`{}`", step.id),
            format!("`{}`", step.phase),
            step.duty.as_str().to_owned(),
            yes(step.is_of_subtask),
            yes(step.is_test_first),
        ]
    });
    Decision::new(
        "The steps of a workflow",
        "In this order; a step closes before the next one starts.",
        [
            "step",
            "phase",
            "who",
            "for each subtask",
            "only test-first",
        ],
        rows,
    )
}

values! {
    /// What a rejection by the monitor leads to.
    Retry {
        /// A person decides.
        Exhausted "max_retries",
        /// The actor tries again without the context of the failed attempts.
        Clean "clean_retry_required",
        /// The actor tries again.
        Normal "normal_retry",
    }
}

verdicts! { Retry: "then" code; }

inputs! {
    /// The inputs of the decision after a rejection.
    Rejection asked by RejectionWhen {
        /// More rejections than `max_retries`, which is five.
        is_over: bool = "retries used up",
        /// The second rejection or a later one.
        is_repeated: bool = "rejected before",
    }
}

table! {
    /// What a rejection leads to.
    pub static RETRIES: Rejection, asked by RejectionWhen => Retry;
    "What a rejection by the monitor leads to", "A subtask has five retries; a person decides after the sixth rejection.";
    [is_over: Is(true)] => Retry::Exhausted, "retries are limited";
    [is_repeated: Is(true)] => Retry::Clean, "failed context must not leak into the next attempt";
    [] => Retry::Normal, "the first rejection goes back to the actor with its feedback";
}

impl Rejection {
    /// The number of the first retry without the context of failed attempts.
    const CLEAN_FROM: i64 = 2;

    /// Returns the inputs for rejection number `count`.
    pub const fn new(count: i64, most: i64) -> Self {
        Self {
            is_over: count > most,
            is_repeated: count >= Self::CLEAN_FROM,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekindle_protocol::table::{Value as _, check};

    #[test]
    fn every_rejection_has_one_verdict_and_every_row_is_used() {
        check(&RETRIES);
    }

    #[test]
    fn steps_have_unique_ids_and_phases_and_every_duty_has_a_step() {
        for (at, one) in STEPS.iter().enumerate() {
            let later = &STEPS[at + 1..];
            let differs = |other: &Step| other.id != one.id && other.phase != one.phase;
            assert!(later.iter().all(differs), "{}", one.id);
            assert!(!one.is_test_first || one.is_of_subtask, "{}", one.id);
        }
        for duty in Duty::ALL {
            assert!(STEPS.iter().any(|step| step.duty == *duty), "{duty:?}");
        }
        assert!(STEPS.is_sorted_by_key(|step| step.is_of_subtask));
    }

    #[test]
    fn a_subtask_has_five_retries_and_all_but_the_first_are_clean() {
        let verdict = |count| RETRIES.decide(Rejection::new(count, 5)).as_str();
        let all: Vec<&str> = (1..=7).map(verdict).collect();
        let (clean, over) = ("clean_retry_required", "max_retries");
        assert_eq!(
            all,
            ["normal_retry", clean, clean, clean, clean, over, over]
        );
    }
}
