//! One event of a log, read leniently and without copying.
//!
//! The sources write the same thing in several spellings (`event_type` or
//! `type`, hyphens or underscores, payload at the top or under `details`), so
//! the reader takes what it finds: a field of an unexpected type counts as not
//! there, a repeated key counts in its last form, unknown keys are passed over
//! without being built. This runs a million times for a large run.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What an event is about, as far as resuming cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Task(TaskEvent),
    PhaseTransition,
    SessionResumed,
    RunEnded(RunEnd),
    CleanupCompleted,
    CheckpointCreated,
    /// Everything else is activity and nothing more.
    Other,
}

/// What an event says of a task, in the order of a task's course.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TaskEvent {
    Created,
    Ready,
    Claimed,
    Started,
    Implemented,
    Verified,
    Completed,
    Failed,
    Failure,
    VerificationFailed,
    Blocked,
    Skipped,
}

/// Events after which a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunEnd {
    Completed,
    Complete,
    Cancelled,
    Failed,
    StmArchived,
}

impl RunEnd {
    /// Returns the normalised type of the event.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "run_completed",
            Self::Complete => "run_complete",
            Self::Cancelled => "run_cancelled",
            Self::Failed => "run_failed",
            Self::StmArchived => "stm_archived",
        }
    }
}

impl TaskEvent {
    /// Returns the normalised type of the event.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Created => "task_created",
            Self::Ready => "task_ready",
            Self::Claimed => "task_claimed",
            Self::Started => "task_started",
            Self::Implemented => "task_implemented",
            Self::Verified => "task_verified",
            Self::Completed => "task_completed",
            Self::Failed => "task_failed",
            Self::Failure => "task_failure",
            Self::VerificationFailed => "task_verification_failed",
            Self::Blocked => "task_blocked",
            Self::Skipped => "task_skipped",
        }
    }
}

impl Kind {
    /// Reads a type in any of its spellings: case does not matter, and `-` is `_`.
    pub(super) fn parse(spelled: &str) -> Self {
        let mut buffer = [0_u8; 32];
        let Some(name) = buffer.get_mut(..spelled.len()) else {
            return Self::Other;
        };
        for (to, from) in name.iter_mut().zip(spelled.bytes()) {
            *to = if from == b'-' {
                b'_'
            } else {
                from.to_ascii_lowercase()
            };
        }
        match &*name {
            b"task_created" => Self::Task(TaskEvent::Created),
            b"task_ready" => Self::Task(TaskEvent::Ready),
            b"task_claimed" => Self::Task(TaskEvent::Claimed),
            b"task_started" => Self::Task(TaskEvent::Started),
            b"task_implemented" => Self::Task(TaskEvent::Implemented),
            b"task_verified" => Self::Task(TaskEvent::Verified),
            b"task_completed" => Self::Task(TaskEvent::Completed),
            b"task_failed" => Self::Task(TaskEvent::Failed),
            b"task_failure" => Self::Task(TaskEvent::Failure),
            b"task_verification_failed" => Self::Task(TaskEvent::VerificationFailed),
            b"task_blocked" => Self::Task(TaskEvent::Blocked),
            b"task_skipped" => Self::Task(TaskEvent::Skipped),
            b"phase_transition" => Self::PhaseTransition,
            b"session_resumed" => Self::SessionResumed,
            b"run_completed" => Self::RunEnded(RunEnd::Completed),
            b"run_complete" => Self::RunEnded(RunEnd::Complete),
            b"run_cancelled" => Self::RunEnded(RunEnd::Cancelled),
            b"run_failed" => Self::RunEnded(RunEnd::Failed),
            b"stm_archived" => Self::RunEnded(RunEnd::StmArchived),
            b"cleanup_completed" => Self::CleanupCompleted,
            b"checkpoint_created" => Self::CheckpointCreated,
            _ => Self::Other,
        }
    }
}

/// One event as it stands in a log.
#[derive(Debug, Default)]
pub(super) struct Event<'a> {
    /// Its type under `event_type`, `type` and `event`, in the order in which they count.
    pub(super) types: [Value<'a>; 3],
    /// The time as it was written.
    pub(super) timestamp: Value<'a>,
    pub(super) run_id: Value<'a>,
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

    pub(super) fn is_recoverable(&self) -> bool {
        self.payload(|payload| payload.recovery_possible.boolean()) == Some(true)
    }

    /// Returns the number of the attempt that it is about.
    pub(super) fn attempt(&self) -> Option<u32> {
        let number = self.payload(|payload| payload.attempt.integer())?;
        u32::try_from(number).ok()
    }

    pub(super) fn notes(&self) -> Option<String> {
        self.payload(|payload| payload.notes.text().map(str::to_owned))
    }

    /// Returns the reason that a failure or a block gives.
    pub(super) fn reason(&self) -> Option<String> {
        self.payload(|payload| payload.reason.text().map(str::to_owned))
    }
}

/// A field's value, as far as it is looked at.
#[derive(Debug, Default)]
pub(super) enum Value<'a> {
    /// Not there, or null.
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Integer(i64),
    Boolean(bool),
    /// There, but of a kind that says nothing here.
    Opaque,
}

impl Value<'_> {
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// Returns a whole number, also one that was written as text.
    fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Absent | Self::Boolean(_) | Self::Opaque => None,
        }
    }

    fn boolean(&self) -> Option<bool> {
        if let Self::Boolean(value) = self {
            Some(*value)
        } else {
            None
        }
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'de>, E> {
        Ok(Value::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(i64::try_from(number).map_or(Value::Opaque, Value::Integer))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "only numbers that are whole and small are taken"
    )]
    fn visit_f64<E>(self, number: f64) -> Result<Value<'de>, E> {
        let whole = number.fract() == 0.0 && number.abs() < 1e9;
        Ok(if whole {
            Value::Integer(number as i64)
        } else {
            Value::Opaque
        })
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Opaque)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Opaque)
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

/// The keys that are looked at; a key is told apart without being copied.
#[derive(Clone, Copy)]
pub(super) enum Key {
    EventType,
    Type,
    Event,
    Timestamp,
    RunId,
    TaskId,
    Details,
    FromPhase,
    ToPhase,
    Blocking,
    RecoveryPossible,
    Attempt,
    Notes,
    Reason,
    Unknown,
}

impl Key {
    #[inline]
    pub(super) fn parse(key: &[u8]) -> Self {
        // By length first: most keys differ in it, and one comparison is left.
        match key.len() {
            4 if key == b"type" => Self::Type,
            5 if key == b"event" => Self::Event,
            5 if key == b"notes" => Self::Notes,
            5 if key == b"error" => Self::Reason,
            6 if key == b"run_id" => Self::RunId,
            6 if key == b"reason" => Self::Reason,
            7 if key == b"task_id" => Self::TaskId,
            7 if key == b"details" => Self::Details,
            7 if key == b"attempt" => Self::Attempt,
            7 if key == b"message" => Self::Notes,
            7 if key == b"summary" => Self::Reason,
            8 if key == b"to_phase" => Self::ToPhase,
            8 if key == b"blocking" => Self::Blocking,
            8 if key == b"failures" => Self::Reason,
            9 if key == b"timestamp" => Self::Timestamp,
            10 if key == b"event_type" => Self::EventType,
            10 if key == b"from_phase" => Self::FromPhase,
            17 if key == b"recovery_possible" => Self::RecoveryPossible,
            19 if key == b"blocker_description" => Self::Reason,
            _ => Self::Unknown,
        }
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E>(self, key: &str) -> Result<Key, E> {
                Ok(Key::parse(key.as_bytes()))
            }
        }
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

impl<'de> Deserialize<'de> for Event<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event<'de>, A::Error> {
        let mut event = Event::default();
        while let Some(key) = map.next_key::<Key>()? {
            let [event_type, kind, name] = &mut event.types;
            match key {
                Key::EventType => *event_type = map.next_value()?,
                Key::Type => *kind = map.next_value()?,
                Key::Event => *name = map.next_value()?,
                Key::Timestamp => event.timestamp = map.next_value()?,
                Key::RunId => event.run_id = map.next_value()?,
                Key::Details => event.details = map.next_value()?,
                Key::TaskId
                | Key::FromPhase
                | Key::ToPhase
                | Key::Blocking
                | Key::RecoveryPossible
                | Key::Attempt
                | Key::Notes
                | Key::Reason
                | Key::Unknown => event.top.take(key, &mut map)?,
            }
        }
        Ok(event)
    }
}

impl<'de> Payload<'de> {
    /// Takes the value of `key` if it belongs to a payload, and passes over it if not.
    fn take<A: MapAccess<'de>>(&mut self, key: Key, map: &mut A) -> Result<(), A::Error> {
        let slot = match key {
            Key::TaskId => &mut self.task_id,
            Key::FromPhase => &mut self.from_phase,
            Key::ToPhase => &mut self.to_phase,
            Key::Blocking => &mut self.blocking,
            Key::RecoveryPossible => &mut self.recovery_possible,
            Key::Attempt => &mut self.attempt,
            Key::Notes => &mut self.notes,
            Key::Reason => {
                // Several keys mean this; the first that says something in words is kept.
                let value: Value<'de> = map.next_value()?;
                if self.reason.text().is_none() {
                    self.reason = value;
                }
                return Ok(());
            }
            Key::EventType
            | Key::Type
            | Key::Event
            | Key::Timestamp
            | Key::RunId
            | Key::Details
            | Key::Unknown => {
                map.next_value::<IgnoredAny>()?;
                return Ok(());
            }
        };
        *slot = map.next_value()?;
        // A graph may have numbers for ids, and so may its events.
        if let (Key::TaskId, Value::Integer(number)) = (key, &*slot) {
            *slot = Value::Text(Cow::Owned(number.to_string()));
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Payload<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PayloadVisitor)
    }
}

struct PayloadVisitor;

impl<'de> Visitor<'de> for PayloadVisitor {
    type Value = Payload<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Payload<'de>, A::Error> {
        let mut payload = Payload::default();
        while let Some(key) = map.next_key::<Key>()? {
            payload.take(key, &mut map)?;
        }
        Ok(payload)
    }

    // `details` is an object by its schema; prose or a list there says nothing that is looked for.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Payload<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Payload::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Payload<'de>, E> {
        Ok(Payload::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Payload<'de>, E> {
        Ok(Payload::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Payload<'de>, E> {
        Ok(Payload::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Payload<'de>, E> {
        Ok(Payload::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Payload<'de>, E> {
        Ok(Payload::default())
    }

    fn visit_unit<E>(self) -> Result<Payload<'de>, E> {
        Ok(Payload::default())
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
