//! The decisions of MAP as data, each in one place: the steps with what is due in each, what
//! follows from what somebody left, and what a rejection leads to.

use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Decision, Row, Table, Verdict, inputs, values};

/// Returns the decisions for the page about them.
pub(crate) fn decisions() -> Vec<Decision> {
    vec![steps(), SETTLEMENTS.printed(), RETRIES.printed()]
}

values! {
    /// What a step asks a resume to bring about.
    Duty {
        Decompose "decomposer",
        WritePlan "plan from the blueprint",
        Approve "a person",
        Close "nobody",
        Research "researcher",
        WriteTests "test writer",
        TestGate "gate",
        Implement "actor",
        Judge "monitor",
    }
}

/// One step of a workflow.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) id: &'static str,
    pub(crate) phase: &'static str,
    pub(crate) duty: Duty,
    /// Only in test-first mode, and the only kind that can be skipped.
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
pub(crate) fn step(id: &str) -> Option<&'static Step> {
    STEPS.iter().find(|step| step.id == id)
}

fn steps() -> Decision {
    let yes = |is: bool| if is { "yes" } else { "" }.to_owned();
    let rows = STEPS.iter().map(|step| {
        vec![
            format!("`{}`", step.id),
            format!("`{}`", step.phase),
            step.duty.as_str().to_owned(),
            yes(step.is_of_subtask),
            yes(step.is_test_first),
            "seed 197-207".to_owned(),
        ]
    });
    Decision {
        title: "The steps of a workflow",
        about: "In this order, those of a subtask again for each one; a step closes before the next begins.".to_owned(),
        headings: vec!["step", "phase", "who is sent off", "for each subtask", "only test-first", "source"],
        rows: rows.collect(),
    }
}

values! {
    /// What follows from what somebody left who ended well.
    Settlement {
        /// The tests were written anew, and the gate must see them.
        GateAgain "the gate looks again",
        Again "the state is looked at again",
        Blueprint "the blueprint is held against what it must have",
        Research "the research is held against what it must have",
        Gate "the gate's verdict decides",
        Judgment "the monitor's verdict decides",
        Closed "the step closes",
    }
}

impl Verdict for Settlement {
    const COLUMNS: &'static [&'static str] = &["then"];

    fn shown(&self) -> Vec<String> {
        vec![self.as_str().to_owned()]
    }
}

inputs! {
    /// What decides what follows.
    Return asked by ReturnWhen {
        duty: Duty = "who comes back",
        is_again: bool = "a later attempt",
        /// The state is still at the step; in a wave that is always so.
        is_due: bool = "step still due",
    }
}

const fn settled(
    when: ReturnWhen,
    then: Settlement,
    source: &'static str,
) -> Row<Return, Settlement> {
    Row { when, then, source }
}

/// What follows.
pub(crate) static SETTLEMENTS: Table<Return, Settlement> = Table {
    title: "What follows when somebody comes back",
    about: "Whoever ended badly leaves the state as it was, and a person is told.\nWhoever has moved the state machine by themselves has done their step.",
    rows: &[
        settled(
            ReturnWhen {
                is_due: Is(false),
                ..ReturnWhen::ANY
            },
            Settlement::Again,
            "seed 205, 291",
        ),
        settled(
            ReturnWhen {
                duty: Is(Duty::WriteTests),
                is_again: Is(true),
                ..ReturnWhen::ANY
            },
            Settlement::GateAgain,
            "seed 203-207",
        ),
        settled(
            ReturnWhen {
                duty: Is(Duty::Decompose),
                ..ReturnWhen::ANY
            },
            Settlement::Blueprint,
            "seed 204",
        ),
        settled(
            ReturnWhen {
                duty: Is(Duty::Research),
                ..ReturnWhen::ANY
            },
            Settlement::Research,
            "seed 204",
        ),
        settled(
            ReturnWhen {
                duty: Is(Duty::TestGate),
                ..ReturnWhen::ANY
            },
            Settlement::Gate,
            "seed 204",
        ),
        settled(
            ReturnWhen {
                duty: Is(Duty::Judge),
                ..ReturnWhen::ANY
            },
            Settlement::Judgment,
            "seed 213-219",
        ),
        settled(
            ReturnWhen {
                duty: In(&[Duty::WriteTests, Duty::Implement]),
                ..ReturnWhen::ANY
            },
            Settlement::Closed,
            "seed 204-205",
        ),
    ],
    last: settled(
        ReturnWhen {
            duty: In(&[Duty::WritePlan, Duty::Approve, Duty::Close]),
            ..ReturnWhen::ANY
        },
        Settlement::Again,
        "seed 203",
    ),
};

values! {
    /// What a rejection by the monitor leads to.
    Retry {
        Exhausted "max_retries",
        /// The actor must not know what the failed attempts tried.
        Clean "clean_retry_required",
        Normal "normal_retry",
    }
}

impl Verdict for Retry {
    const COLUMNS: &'static [&'static str] = &["then"];

    fn shown(&self) -> Vec<String> {
        vec![format!("`{}`", self.as_str())]
    }
}

inputs! {
    /// What decides what a rejection leads to.
    Rejection asked by RejectionWhen {
        /// More than `max_retries`, which is five.
        is_over: bool = "retries used up",
        /// The second, or a later one.
        is_repeated: bool = "rejected before",
    }
}

const fn retry(when: RejectionWhen, then: Retry, source: &'static str) -> Row<Rejection, Retry> {
    Row { when, then, source }
}

/// What a rejection leads to.
pub(crate) static RETRIES: Table<Rejection, Retry> = Table {
    title: "What a rejection by the monitor leads to",
    about: "Five retries are made, the sixth rejection is a person's.",
    rows: &[
        retry(
            RejectionWhen {
                is_over: Is(true),
                ..RejectionWhen::ANY
            },
            Retry::Exhausted,
            "seed 214; ambiguity 14",
        ),
        retry(
            RejectionWhen {
                is_repeated: Is(true),
                ..RejectionWhen::ANY
            },
            Retry::Clean,
            "seed 211",
        ),
    ],
    last: retry(RejectionWhen::ANY, Retry::Normal, "seed 213-215"),
};

impl Rejection {
    /// From this retry on an attempt must not know what failed before.
    const CLEAN_FROM: i64 = 2;

    /// Returns the inputs of the rejection of this number.
    pub(crate) const fn new(count: i64, most: i64) -> Self {
        Self {
            is_over: count > most,
            is_repeated: count >= Self::CLEAN_FROM,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekindle_protocol::table::{Input as _, Value as _, check};

    #[test]
    fn every_combination_of_inputs_has_one_verdict_and_no_row_is_idle() {
        check(&SETTLEMENTS);
        check(&RETRIES);
    }

    #[test]
    fn every_step_has_an_id_and_a_phase_of_its_own_and_every_duty_a_step() {
        for (at, one) in STEPS.iter().enumerate() {
            let later = &STEPS[at + 1..];
            assert!(
                later
                    .iter()
                    .all(|other| other.id != one.id && other.phase != one.phase)
            );
            assert!(!one.is_test_first || one.is_of_subtask, "{}", one.id);
        }
        for duty in Duty::ALL {
            assert!(STEPS.iter().any(|step| step.duty == *duty), "{duty:?}");
        }
        assert!(STEPS.is_sorted_by_key(|step| step.is_of_subtask));
    }

    #[test]
    fn a_step_that_is_over_is_not_closed_again() {
        for back in Return::all().filter(|back| !back.is_due) {
            let settlement = *SETTLEMENTS.decide(back);
            let looks_only = [Settlement::Again, Settlement::GateAgain].contains(&settlement);
            assert!(looks_only, "{back:?}");
        }
    }

    #[test]
    fn who_judges_is_never_taken_at_their_word_alone() {
        for back in Return::all().filter(|back| back.is_due) {
            let closes = *SETTLEMENTS.decide(back) == Settlement::Closed;
            let judges = matches!(back.duty, Duty::Judge | Duty::TestGate);
            assert!(!(closes && judges), "{back:?}");
        }
    }

    #[test]
    fn five_retries_are_made_and_all_but_the_first_are_clean() {
        let led = |count| RETRIES.decide(Rejection::new(count, 5)).as_str();
        let all: Vec<&str> = (1..=7).map(led).collect();
        let clean = "clean_retry_required";
        let over = "max_retries";
        assert_eq!(
            all,
            ["normal_retry", clean, clean, clean, clean, over, over]
        );
    }
}
