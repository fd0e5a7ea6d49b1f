//! One event of a log, read leniently and without copying.
//!
//! The sources write the same thing in several spellings (`event_type` or
//! `type`, hyphens or underscores, payload at the top or under `details`), so
//! the reader takes what it finds: a field of an unexpected type counts as not
//! there, a repeated key counts in its last form, unknown keys are passed over
//! without being built. This runs a million times for a large run.

mod decode;
mod kind;

use rekindle_model::FailureKind;

pub(super) use decode::{Key, Value};
pub(super) use kind::{Kind, RunEnd, TaskEvent};

/// What `rekindle run` writes as the initiator of a run.
pub(super) const INITIATOR: &str = "rekindle run";

/// One event as it stands in a log.
#[derive(Debug, Default)]
pub(super) struct Event<'a> {
    /// Its type under `event_type`, `type` and `event`, in the order in which they count.
    pub(super) types: [Value<'a>; 3],
    /// The time as it was written.
    pub(super) timestamp: Value<'a>,
    pub(super) run_id: Value<'a>,
    /// The time after which it comes whatever its own time says; see [`rekindle_model::Moment`].
    pub(super) after: Value<'a>,
    /// Payload at the top level.
    pub(super) top: Payload<'a>,
    /// Payload under `details`.
    pub(super) details: Payload<'a>,
}

/// The parts of an event's payload that matter.
#[derive(Debug, Default)]
pub(super) struct Payload<'a> {
    pub(super) task_id: Value<'a>,
    pub(super) from_phase: Value<'a>,
    pub(super) to_phase: Value<'a>,
    pub(super) blocking: Value<'a>,
    pub(super) recovery_possible: Value<'a>,
    pub(super) attempt: Value<'a>,
    pub(super) notes: Value<'a>,
    /// What an attempt has cost until then.
    pub(super) cost: Value<'a>,
    /// Of what kind a failure is.
    pub(super) category: Value<'a>,
    /// The commit as which the work is kept or has landed.
    pub(super) commit: Value<'a>,
    /// What a run is about, which the event that begins it says.
    pub(super) feature: Value<'a>,
    /// Who began a run.
    pub(super) initiated_by: Value<'a>,
    /// Why something failed or is blocked, in any of the words the sources use.
    pub(super) reason: Value<'a>,
}

impl Event<'_> {
    /// Returns the type as it was spelled; `event_type` wins over `type`, that over `event`.
    pub(super) fn spelled(&self) -> &str {
        self.types
            .iter()
            .filter_map(Value::text)
            .find(|spelled| !spelled.is_empty())
            .unwrap_or("")
    }

    pub(super) fn kind(&self) -> Kind {
        Kind::parse(self.spelled())
    }

    pub(super) fn run_id(&self) -> Option<&str> {
        self.run_id.text().filter(|id| !id.is_empty())
    }

    fn payload<T>(&self, of: impl Fn(&Payload<'_>) -> Option<T>) -> Option<T> {
        of(&self.top).or_else(|| of(&self.details))
    }

    /// Returns the task it names, at the top level or under `details`.
    pub(super) fn task_id(&self) -> Option<&str> {
        let named =
            |payload: &'_ Payload<'_>| payload.task_id.text().is_some_and(|id| !id.is_empty());
        if named(&self.top) {
            self.top.task_id.text()
        } else if named(&self.details) {
            self.details.task_id.text()
        } else {
            None
        }
    }

    /// Returns the phase that a transition leaves.
    pub(super) fn phase_before(&self) -> Option<i64> {
        self.payload(|payload| payload.from_phase.integer())
    }

    /// Returns the phase that a transition enters.
    pub(super) fn phase_after(&self) -> Option<i64> {
        self.payload(|payload| payload.to_phase.integer())
    }

    /// Returns whether a block is only told of and blocks nothing.
    pub(super) fn is_informational(&self) -> bool {
        self.payload(|payload| payload.blocking.boolean()) == Some(false)
    }

    /// Returns the end of the run that it tells of; a failure that can be recovered from is none.
    pub(super) fn end(&self) -> Option<RunEnd> {
        match self.kind() {
            Kind::RunEnded(RunEnd::Failed) if self.is_recoverable() => None,
            Kind::RunEnded(end) => Some(end),
            Kind::Task(_)
            | Kind::PhaseTransition
            | Kind::SessionResumed
            | Kind::AttemptInterrupted
            | Kind::CleanupCompleted
            | Kind::CheckpointCreated
            | Kind::Other => None,
        }
    }

    fn is_recoverable(&self) -> bool {
        self.payload(|payload| payload.recovery_possible.boolean()) == Some(true)
    }

    /// Returns the number of the attempt that it is about; one that nobody can have counted up to is none.
    pub(super) fn attempt(&self) -> Option<u32> {
        let number = self.payload(|payload| payload.attempt.integer())?;
        let number = u32::try_from(number).ok();
        number.filter(|number| *number <= rekindle_model::MOST_ATTEMPTS)
    }

    /// Returns what the attempt that it is about has cost until then, in millionths of a dollar.
    pub(super) fn cost(&self) -> Option<u64> {
        let cost = self.payload(|payload| payload.cost.integer())?;
        u64::try_from(cost).ok()
    }

    /// Returns whether a failure is a conflict with what landed meanwhile.
    pub(super) fn is_conflict(&self) -> bool {
        let word = FailureKind::Conflict.as_str();
        self.payload(|payload| payload.category.text().map(|category| category == word))
            == Some(true)
    }

    /// Returns whether only the engine of `rekindle run` writes such an event.
    pub(super) fn is_of_the_engine(&self) -> bool {
        let initiator = self.payload(|payload| payload.initiated_by.text().map(str::to_owned));
        let has_landed = || {
            let kind = self.kind();
            let is_end = matches!(
                kind,
                Kind::Task(TaskEvent::Implemented | TaskEvent::Completed)
            );
            is_end && self.attempt().is_some() && self.commit().is_some()
        };
        initiator.as_deref() == Some(INITIATOR) || has_landed()
    }

    /// Returns the commit that it names.
    pub(super) fn commit(&self) -> Option<String> {
        self.payload(|payload| payload.commit.text().map(str::to_owned))
    }

    /// Returns the name of the feature that a run is about.
    pub(super) fn feature(&self) -> Option<String> {
        self.payload(|payload| payload.feature.text().map(str::to_owned))
    }

    pub(super) fn notes(&self) -> Option<String> {
        self.payload(|payload| payload.notes.text().map(str::to_owned))
    }

    /// Returns the reason that a failure or a block gives.
    pub(super) fn reason(&self) -> Option<String> {
        self.payload(|payload| payload.reason.text().map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> Event<'_> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn spellings_of_a_type_are_one() {
        for spelled in [
            "task_started",
            "task-started",
            "Task-Started",
            "TASK_STARTED",
        ] {
            assert_eq!(Kind::parse(spelled), Kind::Task(TaskEvent::Started));
        }
        assert_eq!(Kind::parse("task-graph-created"), Kind::Other);
        assert_eq!(Kind::parse(&"x".repeat(500)), Kind::Other);
        assert_eq!(
            event(r#"{"type":"b","event_type":"a","event":"c"}"#).spelled(),
            "a"
        );
        assert_eq!(event(r#"{"event":"c","type":"b"}"#).spelled(), "b");
    }

    #[test]
    fn payload_is_found_at_the_top_and_under_details() {
        let top = event(r#"{"task_id":"T1","from_phase":1,"to_phase":"2","notes":"n"}"#);
        assert_eq!(top.task_id(), Some("T1"));
        assert_eq!((top.phase_before(), top.phase_after()), (Some(1), Some(2)));
        let under = event(
            r#"{"task_id":"","details":{"task_id":"T2","to_phase":3.0,"blocking":false,"recovery_possible":true,"error":"x"}}"#,
        );
        assert_eq!(under.task_id(), Some("T2"));
        assert_eq!(under.phase_after(), Some(3));
        assert!(under.is_informational() && under.is_recoverable());
        assert_eq!(under.reason().as_deref(), Some("x"));
    }

    #[test]
    fn fields_of_the_wrong_kind_and_repeated_keys_do_not_spoil_an_event() {
        let odd = event(
            r#"{"event_type":["x"],"type":"task_failed","timestamp":12,"task_id":{"a":[1]},
                "details":"prose","details":[1,{"b":2}],"to_phase":1.5,"run_id":null,"task_id":"T\u0039"}"#,
        );
        assert_eq!(odd.kind(), Kind::Task(TaskEvent::Failed));
        assert_eq!(odd.task_id(), Some("T9"));
        assert_eq!(odd.phase_after(), None);
        assert_eq!(odd.run_id(), None);
        assert!(matches!(odd.timestamp, Value::Integer(12)));
    }
}
