//! What follows from an agent's return, as data.

use rekindle_map_machine::table::Duty;
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Decision, inputs, table, values, verdicts};

/// Returns the decisions for the documentation.
pub(crate) fn decisions() -> Vec<Decision> {
    let mut decisions = rekindle_map_machine::table::decisions();
    decisions.push(SETTLEMENTS.printed());
    decisions
}

values! {
    /// What follows when an agent has returned successfully.
    Settlement {
        GateAgain "the gate runs the new tests again",
        Again "the state is read again",
        Blueprint "the blueprint is checked",
        Research "the research is checked",
        Gate "the gate's verdict decides",
        Judgment "the monitor's verdict decides",
        Closed "the step closes",
    }
}

verdicts! { Settlement: "then"; }

inputs! {
    /// The inputs of the decision after an agent's return.
    Return asked by ReturnWhen {
        duty: Duty = "agent",
        is_again: bool = "later attempt",
        /// The state is still at the step; in a wave always.
        is_due: bool = "step still open",
    }
}

table! {
    /// What follows when an agent returns.
    pub(crate) static SETTLEMENTS: Return, asked by ReturnWhen => Settlement;
    "What follows when an agent returns", "An agent that failed leaves the state unchanged, and the resume stops.\nAn agent that has advanced the state machine itself has finished its step.";
    [is_due: Is(false)] => Settlement::Again, "a closed step is not closed twice";
    [duty: Is(Duty::WriteTests), is_again: Is(true)] => Settlement::GateAgain, "rewritten tests must fail too";
    [duty: Is(Duty::Decompose)] => Settlement::Blueprint, "decomposition writes the blueprint";
    [duty: Is(Duty::Research)] => Settlement::Research, "research must pass its check";
    [duty: Is(Duty::TestGate)] => Settlement::Gate, "new tests must fail before the code is written";
    [duty: Is(Duty::Judge)] => Settlement::Judgment, "the monitor accepts or rejects";
    [duty: In(&[Duty::WriteTests, Duty::Implement])] => Settlement::Closed, "work that a later step judges needs no check";
    [] => Settlement::Again, "no agent carries out these steps";
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekindle_protocol::table::{Input as _, check};

    #[test]
    fn every_return_has_one_verdict_and_every_row_is_used() {
        check(&SETTLEMENTS);
    }

    #[test]
    fn a_closed_step_is_not_closed_again() {
        for back in Return::all().filter(|back| !back.is_due) {
            let settlement = *SETTLEMENTS.decide(back);
            let reads_only = [Settlement::Again, Settlement::GateAgain].contains(&settlement);
            assert!(reads_only, "{back:?}");
        }
    }

    #[test]
    fn a_judge_never_closes_its_step_without_a_verdict() {
        for back in Return::all().filter(|back| back.is_due) {
            let closes = *SETTLEMENTS.decide(back) == Settlement::Closed;
            let judges = matches!(back.duty, Duty::Judge | Duty::TestGate);
            assert!(!(closes && judges), "{back:?}");
        }
    }
}
