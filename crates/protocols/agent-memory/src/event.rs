//! One event of a log, read leniently and without copying.
//!
//! Writers differ in spelling and structure: `event_type` or `type`, hyphens or underscores,
//! payload at the top or under `details`. Fields of an unexpected type count as missing, the last
//! of repeated keys counts, and unknown keys are skipped. A large run has a million events.

mod decode;
mod kind;

use jiff::Timestamp;
use rekindle_model::FailureKind;

pub(super) use decode::{Field, Key, Payload, Value};
pub(super) use kind::{Kind, RunEnd, TaskEvent};

/// The initiator of runs that `rekindle run` starts.
pub(super) const INITIATOR: &str = "rekindle run";

/// An event of a log.
#[derive(Debug, Default)]
pub(super) struct Event<'a> {
    /// Its type under `event_type`, `type` and `event`, in the order in which they count.
    pub(super) types: [Value<'a>; 3],
    /// The time as it was written.
    pub(super) timestamp: Value<'a>,
    pub(super) run_id: Value<'a>,
    /// A lower bound of its time; see [`rekindle_model::Moment`].
    pub(super) after: Value<'a>,
    /// Payload at the top level.
    pub(super) top: Payload<'a>,
    /// Payload under `details`.
    pub(super) details: Payload<'a>,
}

impl<'a> Event<'a> {
    /// Returns the type as it was spelled.
    pub(super) fn spelled(&self) -> &str {
        let mut types = self.types.iter().filter_map(Value::text);
        types.find(|spelled| !spelled.is_empty()).unwrap_or("")
    }

    pub(super) fn kind(&self) -> Kind {
        Kind::parse(self.spelled())
    }

    pub(super) fn run_id(&self) -> Option<&str> {
        self.run_id.text().filter(|id| !id.is_empty())
    }

    /// Reads a field at the top level or under `details`.
    fn field<'e, T>(
        &'e self,
        field: Field,
        read: impl Fn(&'e Value<'a>) -> Option<T>,
    ) -> Option<T> {
        read(self.top.get(field)).or_else(|| read(self.details.get(field)))
    }

    fn text(&self, field: Field) -> Option<String> {
        self.field(field, Value::text).map(str::to_owned)
    }

    /// Returns the task it names.
    pub(super) fn task_id(&self) -> Option<&str> {
        self.field(Field::TaskId, |id| id.text().filter(|id| !id.is_empty()))
    }

    /// Returns the phase that a transition leaves.
    pub(super) fn phase_before(&self) -> Option<i64> {
        self.field(Field::FromPhase, Value::integer)
    }

    /// Returns the phase that a transition enters.
    pub(super) fn phase_after(&self) -> Option<i64> {
        self.field(Field::ToPhase, Value::integer)
    }

    /// Returns whether a block is only informational.
    pub(super) fn is_informational(&self) -> bool {
        self.field(Field::Blocking, Value::boolean) == Some(false)
    }

    /// Returns the end of the run; a recoverable failure does not end it.
    pub(super) fn end(&self) -> Option<RunEnd> {
        match self.kind() {
            Kind::RunEnded(RunEnd::Failed) if self.is_recoverable() => None,
            Kind::RunEnded(end) => Some(end),
            Kind::Task(_)
            | Kind::PhaseTransition
            | Kind::SessionResumed
            | Kind::AttemptInterrupted
            | Kind::UsageLimited
            | Kind::CleanupCompleted
            | Kind::CheckpointCreated
            | Kind::Other => None,
        }
    }

    fn is_recoverable(&self) -> bool {
        self.field(Field::RecoveryPossible, Value::boolean) == Some(true)
    }

    /// Returns the number of its attempt, unless it is implausible.
    pub(super) fn attempt(&self) -> Option<u32> {
        let number = u32::try_from(self.field(Field::Attempt, Value::integer)?).ok();
        number.filter(|number| *number <= rekindle_model::MOST_ATTEMPTS)
    }

    /// Returns the cost of its attempt so far, in millionths of a dollar.
    pub(super) fn cost(&self) -> Option<u64> {
        u64::try_from(self.field(Field::Cost, Value::integer)?).ok()
    }

    /// Returns whether a failure is a merge conflict.
    pub(super) fn is_conflict(&self) -> bool {
        self.field(Field::Category, Value::text) == Some(FailureKind::Conflict.as_str())
    }

    /// Returns whether a failure is an agent that did not start.
    pub(super) fn is_unstarted(&self) -> bool {
        self.field(Field::Category, Value::text) == Some(FailureKind::Start.as_str())
    }

    /// Returns whether only the engine of `rekindle run` writes such an event.
    pub(super) fn is_of_the_engine(&self) -> bool {
        let delivers = || {
            let ends = [TaskEvent::Implemented, TaskEvent::Completed].map(Kind::Task);
            ends.contains(&self.kind()) && self.attempt().is_some() && self.commit().is_some()
        };
        self.field(Field::InitiatedBy, Value::text) == Some(INITIATOR) || delivers()
    }

    /// Returns when a limit ends, if it names a time and not something like `3am`.
    pub(super) fn until(&self) -> Option<Timestamp> {
        rekindle_text::parse_instant(self.field(Field::Until, Value::text)?)
    }

    /// Returns the commit that it names.
    pub(super) fn commit(&self) -> Option<String> {
        self.text(Field::Commit)
    }

    /// Returns the feature of the run.
    pub(super) fn feature(&self) -> Option<String> {
        self.text(Field::Feature)
    }

    pub(super) fn notes(&self) -> Option<String> {
        self.text(Field::Notes)
    }

    /// Returns the reason of a failure or a block.
    pub(super) fn reason(&self) -> Option<String> {
        self.text(Field::Reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> Event<'_> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn normalizes_spellings_of_a_type() {
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
    fn finds_payload_at_the_top_and_under_details() {
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
    fn accepts_wrong_types_and_repeated_keys() {
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
