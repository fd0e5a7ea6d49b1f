//! The state of a session as a table.

use rekindle_model::{OpenKind, SessionState};
use rekindle_protocol::Decision;
use rekindle_protocol::table::Cell::{In, Is};
use rekindle_protocol::table::{Verdict, inputs, table, values};

values! {
    /// The usage limit that ended the last turn.
    Limit {
        /// There is none.
        None "none",
        /// It ends later, or at an unknown time.
        Holds "ahead or unknown",
        /// It has ended.
        Over "past",
    }
}

values! {
    /// The last step without a result.
    Step {
        /// There is none.
        None "none",
        /// A question to the person.
        Question "question",
        /// Another tool.
        Tool "tool",
    }
}

values! {
    /// How the last turn ended.
    Turn {
        /// It has not.
        Open "open",
        /// With an answer.
        Over "over",
        /// A person stopped it.
        Stopped "stopped",
        /// With an error that is not a usage limit.
        Failed "error",
    }
}

inputs! {
    /// All that the state of a session depends on.
    Signals asked by When {
        /// Whether a process has it open.
        is_held: bool = "holder alive",
        /// Whether a row of its conversation can be read.
        is_readable: bool = "readable",
        /// Whether a newer session holds its last row.
        is_superseded: bool = "superseded",
        /// The usage limit.
        limit: Limit = "usage limit",
        /// The last turn.
        turn: Turn = "turn",
        /// The last step without a result.
        step: Step = "open step",
        /// Whether the dead holder waited for a permission.
        waited: bool = "waited for permission",
        /// Whether a sub-agent is open.
        has_subagent: bool = "open sub-agent",
    }
}

/// A state and what is open; without a kind, what would be open otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) state: SessionState,
    pub(crate) open: Option<OpenKind>,
}

impl Standing {
    const fn new(state: SessionState, open: OpenKind) -> Self {
        Self {
            state,
            open: Some(open),
        }
    }

    /// Returns a state that says nothing of what is open.
    const fn whatever_is_open(state: SessionState) -> Self {
        Self { state, open: None }
    }
}

impl Verdict for Standing {
    const COLUMNS: &'static [&'static str] = &["state", "open"];

    fn shown(&self) -> Vec<String> {
        let open = self.open.map_or("as below", OpenKind::as_str);
        vec![self.state.as_str().to_owned(), open.to_owned()]
    }
}

table! {
    static STATE: Signals, asked by When => Standing;
    "State of a session",
    "Every signal but the first is read from disk; only the first needs the process table.";
    [is_held: Is(true)] => Standing::whatever_is_open(SessionState::Running), "sessions.md, states 1";
    [is_readable: Is(false)] => Standing::new(SessionState::Unreadable, OpenKind::None), "sessions.md, states 2";
    [is_superseded: Is(true)] => Standing::whatever_is_open(SessionState::Finished), "sessions.md, states 3";
    [limit: Is(Limit::Holds)] => Standing::new(SessionState::Limited, OpenKind::Limit), "sessions.md, states 4";
    [limit: Is(Limit::Over)] => Standing::new(SessionState::Interrupted, OpenKind::Limit), "sessions.md, states 5";
    [turn: Is(Turn::Stopped)] => Standing::new(SessionState::WaitingForPerson, OpenKind::Stopped), "sessions.md, states 6";
    [step: Is(Step::Question)] => Standing::new(SessionState::WaitingForPerson, OpenKind::Question), "sessions.md, states 7";
    [step: Is(Step::Tool), waited: Is(true)] => Standing::new(SessionState::WaitingForPerson, OpenKind::Permission), "sessions.md, states 8";
    [step: Is(Step::Tool)] => Standing::new(SessionState::Interrupted, OpenKind::Tool), "sessions.md, states 9";
    [turn: Is(Turn::Failed)] => Standing::new(SessionState::Interrupted, OpenKind::Error), "sessions.md, states 10";
    [turn: In(&[Turn::Open])] => Standing::new(SessionState::Interrupted, OpenKind::Turn), "sessions.md, states 11";
    [has_subagent: Is(true)] => Standing::new(SessionState::Interrupted, OpenKind::Subagent), "sessions.md, states 12";
    [] => Standing::new(SessionState::Finished, OpenKind::None), "sessions.md, states 13";
}

/// Returns the state of a session and what it has open.
pub(crate) fn decide(signals: Signals) -> (SessionState, OpenKind) {
    let standing = STATE.decide(signals);
    let without = Signals {
        is_held: false,
        is_superseded: false,
        ..signals
    };
    let open = standing.open.or_else(|| STATE.decide(without).open);
    (standing.state, open.unwrap_or(OpenKind::None))
}

/// Returns the decisions for the documentation.
pub(crate) fn decisions() -> Vec<Decision> {
    vec![STATE.printed()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVER: Signals = Signals {
        is_held: false,
        is_readable: true,
        is_superseded: false,
        limit: Limit::None,
        turn: Turn::Over,
        step: Step::None,
        waited: false,
        has_subagent: false,
    };

    #[test]
    fn every_combination_fits_a_row_and_every_row_decides() {
        rekindle_protocol::table::check(&STATE);
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "it is one table")]
    fn the_first_row_that_fits_decides() {
        use OpenKind as Open;
        use SessionState as State;
        let open = Signals {
            turn: Turn::Open,
            ..OVER
        };
        let tool = Signals {
            step: Step::Tool,
            ..open
        };
        let question = Signals {
            step: Step::Question,
            ..open
        };
        let limited = Signals {
            limit: Limit::Holds,
            ..OVER
        };
        for (signals, state, kind) in [
            (
                Signals {
                    is_held: true,
                    ..tool
                },
                State::Running,
                Open::Tool,
            ),
            (
                Signals {
                    is_held: true,
                    ..OVER
                },
                State::Running,
                Open::None,
            ),
            (
                Signals {
                    is_held: true,
                    is_readable: false,
                    ..OVER
                },
                State::Running,
                Open::None,
            ),
            (
                Signals {
                    is_readable: false,
                    is_superseded: true,
                    ..tool
                },
                State::Unreadable,
                Open::None,
            ),
            (
                Signals {
                    is_superseded: true,
                    ..tool
                },
                State::Finished,
                Open::Tool,
            ),
            (
                Signals {
                    is_held: true,
                    is_superseded: true,
                    ..question
                },
                State::Running,
                Open::Question,
            ),
            (limited, State::Limited, Open::Limit),
            (
                Signals {
                    step: Step::Tool,
                    ..limited
                },
                State::Limited,
                Open::Limit,
            ),
            (
                Signals {
                    limit: Limit::Over,
                    turn: Turn::Stopped,
                    ..OVER
                },
                State::Interrupted,
                Open::Limit,
            ),
            (
                Signals {
                    turn: Turn::Stopped,
                    ..tool
                },
                State::WaitingForPerson,
                Open::Stopped,
            ),
            (
                Signals {
                    waited: true,
                    ..question
                },
                State::WaitingForPerson,
                Open::Question,
            ),
            (
                Signals {
                    waited: true,
                    ..tool
                },
                State::WaitingForPerson,
                Open::Permission,
            ),
            (tool, State::Interrupted, Open::Tool),
            (
                Signals {
                    turn: Turn::Failed,
                    ..tool
                },
                State::Interrupted,
                Open::Tool,
            ),
            (
                Signals {
                    waited: true,
                    ..open
                },
                State::Interrupted,
                Open::Turn,
            ),
            (
                Signals {
                    turn: Turn::Failed,
                    ..OVER
                },
                State::Interrupted,
                Open::Error,
            ),
            (
                Signals {
                    has_subagent: true,
                    ..open
                },
                State::Interrupted,
                Open::Turn,
            ),
            (
                Signals {
                    has_subagent: true,
                    ..OVER
                },
                State::Interrupted,
                Open::Subagent,
            ),
            (OVER, State::Finished, Open::None),
        ] {
            assert_eq!(decide(signals), (state, kind), "{signals:?}");
        }
    }
}
