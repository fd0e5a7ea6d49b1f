//! What a round does, and what a status says comes next: the seed's order of recovery.

use rekindle_protocol::table::Cell::Is;
use rekindle_protocol::table::{Row, Table, Verdict, inputs, values};

values! {
    /// What stands between a wave that is on main and the next one.
    Gate {
        Nothing "none",
        /// A gate that opens by itself.
        Unchecked "without checks",
        /// A gate that opens after the configured checks.
        Checked "with checks",
    }
}

values! {
    /// What a round does.
    Due {
        Unpause "the pause ends",
        Collision "stop: paths collide",
        Land "what is ready lands",
        Halt "stop: halted",
        Stranger "stop: a stranger on main",
        Others "stop: others are at work",
        Requeue "tasks are put back and launched",
        Work "workers are launched and waited for",
        Unread "stop: a file can not be read",
        OpenGate "the gate opens",
        CheckGate "the checks run",
        Finish "the phase is finished",
    }
}

inputs! {
    /// All that decides what is due.
    Circumstances asked by When {
        is_paused: bool = "paused",
        /// Two tasks that wait to land touch the same path.
        has_collision: bool = "collision",
        /// Something that is ready can land now, or landed and lacks its archive.
        can_land: bool = "can land",
        /// A task has no retry left, or STATE.md says halt.
        is_halted: bool = "halted",
        has_stranger: bool = "stranger on main",
        /// Somebody else's worker is alive.
        has_foreign_worker: bool = "others at work",
        has_rerun: bool = "to run again",
        is_at_work: bool = "at work",
        has_pending: bool = "never begun",
        /// A file of the task list can not be read.
        has_unread: bool = "unread file",
        gate: Gate = "gate to open",
    }
}

impl Verdict for Due {
    const COLUMNS: &'static [&'static str] = &["due"];

    fn shown(&self) -> Vec<String> {
        vec![self.as_str().to_owned()]
    }
}

const fn due(when: When, then: Due, source: &'static str) -> Row<Circumstances, Due> {
    Row { when, then, source }
}

/// What is due. Each row leaves evidence behind that makes the next round another one.
pub(crate) static ROUNDS: Table<Circumstances, Due> = Table {
    title: "What a round does",
    about: "One round does one kind of thing, then the evidence is read again.",
    rows: &[
        due(
            When {
                is_paused: Is(true),
                ..When::ANY
            },
            Due::Unpause,
            "a pause ends first",
        ),
        due(
            When {
                has_collision: Is(true),
                ..When::ANY
            },
            Due::Collision,
            "a collision stops the wave",
        ),
        due(
            When {
                can_land: Is(true),
                ..When::ANY
            },
            Due::Land,
            "finished work lands before anything else",
        ),
        due(
            When {
                is_halted: Is(true),
                ..When::ANY
            },
            Due::Halt,
            "a halt stops the wave",
        ),
        due(
            When {
                has_stranger: Is(true),
                ..When::ANY
            },
            Due::Stranger,
            "other people's work is never overwritten",
        ),
        due(
            When {
                has_foreign_worker: Is(true),
                ..When::ANY
            },
            Due::Others,
            "live workers of others are never disturbed",
        ),
        due(
            When {
                has_rerun: Is(true),
                is_at_work: Is(false),
                ..When::ANY
            },
            Due::Requeue,
            "dead tasks are requeued before the launch",
        ),
        due(
            When {
                is_at_work: Is(true),
                ..When::ANY
            },
            Due::Work,
            "live workers are waited for",
        ),
        due(
            When {
                has_pending: Is(true),
                ..When::ANY
            },
            Due::Work,
            "tasks that never started are launched",
        ),
        due(
            When {
                has_unread: Is(true),
                ..When::ANY
            },
            Due::Unread,
            "an unreadable file is never ignored",
        ),
        due(
            When {
                gate: Is(Gate::Unchecked),
                ..When::ANY
            },
            Due::OpenGate,
            "a gate opens when its wave has landed",
        ),
        due(
            When {
                gate: Is(Gate::Checked),
                ..When::ANY
            },
            Due::CheckGate,
            "a gate with checks opens when they pass",
        ),
    ],
    last: due(
        When {
            gate: Is(Gate::Nothing),
            ..When::ANY
        },
        Due::Finish,
        "a phase ends when everything has landed",
    ),
};

values! {
    /// What a status shows as next.
    NextStep {
        Paused "paused",
        Collision "collision",
        Integrate "integrate",
        Halt "halt",
        Requeue "requeue",
        Wait "wait",
        Launch "launch",
        OpenGate "open_gate",
        Finish "finish",
    }
}

impl Verdict for NextStep {
    const COLUMNS: &'static [&'static str] = &["next"];

    fn shown(&self) -> Vec<String> {
        vec![format!("`{}`", self.as_str())]
    }
}

inputs! {
    /// All that a status counts.
    Standing asked by StandingWhen {
        is_paused: bool = "paused",
        has_collision: bool = "collision",
        has_ready: bool = "ready",
        is_halted: bool = "halted",
        has_rerun: bool = "to run again",
        is_at_work: bool = "at work",
        has_pending: bool = "never begun",
        has_gate: bool = "gate to open",
    }
}

const fn next(when: StandingWhen, then: NextStep, source: &'static str) -> Row<Standing, NextStep> {
    Row { when, then, source }
}

/// What a status shows as next.
pub(crate) static NEXT: Table<Standing, NextStep> = Table {
    title: "What a status shows as next",
    about: "What `status` and `inspect` show; unlike a round, it also counts finished work of a wave with a live worker.",
    rows: &[
        next(
            StandingWhen {
                is_paused: Is(true),
                ..StandingWhen::ANY
            },
            NextStep::Paused,
            "a pause ends first",
        ),
        next(
            StandingWhen {
                has_collision: Is(true),
                ..StandingWhen::ANY
            },
            NextStep::Collision,
            "a collision stops the wave",
        ),
        next(
            StandingWhen {
                has_ready: Is(true),
                ..StandingWhen::ANY
            },
            NextStep::Integrate,
            "finished work lands before anything else",
        ),
        next(
            StandingWhen {
                is_halted: Is(true),
                ..StandingWhen::ANY
            },
            NextStep::Halt,
            "a halt stops the wave",
        ),
        next(
            StandingWhen {
                has_rerun: Is(true),
                ..StandingWhen::ANY
            },
            NextStep::Requeue,
            "dead tasks are requeued",
        ),
        next(
            StandingWhen {
                is_at_work: Is(true),
                ..StandingWhen::ANY
            },
            NextStep::Wait,
            "live workers are waited for",
        ),
        next(
            StandingWhen {
                has_pending: Is(true),
                ..StandingWhen::ANY
            },
            NextStep::Launch,
            "tasks that never started are launched",
        ),
        next(
            StandingWhen {
                has_gate: Is(true),
                ..StandingWhen::ANY
            },
            NextStep::OpenGate,
            "a gate opens when its wave has landed",
        ),
    ],
    last: next(
        StandingWhen::ANY,
        NextStep::Finish,
        "a phase ends when everything has landed",
    ),
};

#[cfg(test)]
mod tests {
    use super::*;
    use rekindle_protocol::table::{Input as _, check};

    #[test]
    fn every_circumstance_has_one_thing_that_is_due() {
        check(&ROUNDS);
        check(&NEXT);
    }

    #[test]
    fn integration_comes_before_requeue() {
        for case in Circumstances::all().filter(|case| case.can_land) {
            let due = *ROUNDS.decide(case);
            assert!(
                matches!(due, Due::Unpause | Due::Collision | Due::Land),
                "{due:?} {case:?}"
            );
        }
        for case in Standing::all().filter(|case| case.has_ready) {
            assert_ne!(*NEXT.decide(case), NextStep::Requeue, "{case:?}");
        }
    }

    #[test]
    fn nothing_is_put_back_while_anybody_is_at_work_or_a_person_must_decide() {
        for case in Circumstances::all() {
            if *ROUNDS.decide(case) != Due::Requeue {
                continue;
            }
            let is_clear = !(case.is_at_work
                || case.has_foreign_worker
                || case.is_halted
                || case.has_stranger
                || case.has_collision
                || case.is_paused);
            assert!(case.has_rerun && is_clear, "{case:?}");
        }
    }

    #[test]
    fn a_phase_is_finished_only_when_nothing_at_all_is_left() {
        let ends = [Due::Finish, Due::OpenGate, Due::CheckGate];
        for case in Circumstances::all().filter(|case| ends.contains(ROUNDS.decide(*case))) {
            let is_left = case.has_rerun
                || case.is_at_work
                || case.has_pending
                || case.can_land
                || case.has_unread
                || case.is_halted;
            assert!(!is_left, "{case:?}");
        }
    }
}
