//! What a round does, and what a status shows as next: the order of recovery.

use rekindle_protocol::table::Cell::Is;
use rekindle_protocol::table::{inputs, table, values, verdicts};

verdicts! {
    Due: "due";
    NextStep: "next" code;
}

values! {
    /// What separates a wave that is on main from the next one.
    Gate {
        Nothing "none",
        /// A gate without configured checks.
        Unchecked "without checks",
        /// A gate that opens when the configured checks pass.
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
        Unread "stop: a file cannot be read",
        OpenGate "the gate opens",
        CheckGate "the checks run",
        Finish "the phase is finished",
    }
}

inputs! {
    /// What decides what a round does.
    Circumstances asked by When {
        is_paused: bool = "paused",
        /// Two tasks that wait to land touch the same path.
        has_collision: bool = "collision",
        /// Something can land now, or has landed and is not archived yet.
        can_land: bool = "can land",
        /// A task has no retry left, or STATE.md says halt.
        is_halted: bool = "halted",
        has_stranger: bool = "stranger on main",
        /// A worker of another orchestrator is alive.
        has_foreign_worker: bool = "others at work",
        has_rerun: bool = "to run again",
        is_at_work: bool = "at work",
        has_pending: bool = "not started",
        /// A file of the task list cannot be read.
        has_unread: bool = "unread file",
        gate: Gate = "gate to open",
    }
}

table! {
    /// What is due. Each row changes the evidence for the next round.
    pub(crate) static ROUNDS: Circumstances, asked by When => Due;
    "What a round does",
    "One round does one kind of thing, then the evidence is read again.";
    [is_paused: Is(true)] => Due::Unpause, "a pause ends first";
    [has_collision: Is(true)] => Due::Collision, "a collision stops the wave";
    [can_land: Is(true)] => Due::Land, "finished work lands before anything else";
    [is_halted: Is(true)] => Due::Halt, "a halt stops the wave";
    [has_stranger: Is(true)] => Due::Stranger, "other people's work is never overwritten";
    [has_foreign_worker: Is(true)] => Due::Others, "live workers of others are never disturbed";
    [has_rerun: Is(true), is_at_work: Is(false)] => Due::Requeue, "dead tasks are requeued before the launch";
    [is_at_work: Is(true)] => Due::Work, "live workers are waited for";
    [has_pending: Is(true)] => Due::Work, "tasks that never started are launched";
    [has_unread: Is(true)] => Due::Unread, "an unreadable file is never ignored";
    [gate: Is(Gate::Unchecked)] => Due::OpenGate, "a gate opens when its wave has landed";
    [gate: Is(Gate::Checked)] => Due::CheckGate, "a gate with checks opens when they pass";
    else [gate: Is(Gate::Nothing)] => Due::Finish, "a phase ends when everything has landed";
}

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

inputs! {
    /// What decides what a status shows as next.
    Standing asked by StandingWhen {
        is_paused: bool = "paused",
        has_collision: bool = "collision",
        has_ready: bool = "ready",
        is_halted: bool = "halted",
        has_rerun: bool = "to run again",
        is_at_work: bool = "at work",
        has_pending: bool = "not started",
        has_gate: bool = "gate to open",
    }
}

table! {
    /// What a status shows as next.
    pub(crate) static NEXT: Standing, asked by StandingWhen => NextStep;
    "What a status shows as next",
    "What `status` and `inspect` show; unlike a round, it also counts finished work of a wave with a live worker.";
    [is_paused: Is(true)] => NextStep::Paused, "a pause ends first";
    [has_collision: Is(true)] => NextStep::Collision, "a collision stops the wave";
    [has_ready: Is(true)] => NextStep::Integrate, "finished work lands before anything else";
    [is_halted: Is(true)] => NextStep::Halt, "a halt stops the wave";
    [has_rerun: Is(true)] => NextStep::Requeue, "dead tasks are requeued";
    [is_at_work: Is(true)] => NextStep::Wait, "live workers are waited for";
    [has_pending: Is(true)] => NextStep::Launch, "tasks that never started are launched";
    [has_gate: Is(true)] => NextStep::OpenGate, "a gate opens when its wave has landed";
    [] => NextStep::Finish, "a phase ends when everything has landed";
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekindle_protocol::table::{Input as _, check};

    #[test]
    fn every_combination_of_circumstances_has_one_due_action() {
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
    fn tasks_are_not_requeued_while_workers_are_alive_or_a_person_must_decide() {
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
    fn a_phase_finishes_only_when_no_work_is_left() {
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
