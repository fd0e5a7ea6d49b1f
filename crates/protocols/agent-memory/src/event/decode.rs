//! From JSON to an event: which keys are looked at, and which kinds of values are taken.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Event, Payload};

/// A field's value, as far as it is looked at.
#[derive(Debug, Default)]
pub(in super::super) enum Value<'a> {
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
    pub(in super::super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// Returns a whole number, also one that was written as text.
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Absent | Self::Boolean(_) | Self::Opaque => None,
        }
    }

    pub(super) fn boolean(&self) -> Option<bool> {
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
pub(in super::super) enum Key {
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
    Cost,
    Category,
    Commit,
    Feature,
    InitiatedBy,
    After,
    Unknown,
}

impl Key {
    #[inline]
    pub(in super::super) fn parse(key: &[u8]) -> Self {
        // By length first: most keys differ in it, and one comparison is left.
        match key.len() {
            4 if key == b"type" => Self::Type,
            5 if key == b"event" => Self::Event,
            5 if key == b"notes" => Self::Notes,
            5 if key == b"error" => Self::Reason,
            6 if key == b"run_id" => Self::RunId,
            6 if key == b"commit" => Self::Commit,
            6 if key == b"reason" => Self::Reason,
            7 if key == b"task_id" => Self::TaskId,
            7 if key == b"details" => Self::Details,
            7 if key == b"attempt" => Self::Attempt,
            7 if key == b"message" => Self::Notes,
            7 if key == b"summary" => Self::Reason,
            8 if key == b"to_phase" => Self::ToPhase,
            8 if key == b"blocking" => Self::Blocking,
            8 if key == b"failures" => Self::Reason,
            8 if key == b"category" => Self::Category,
            9 if key == b"timestamp" => Self::Timestamp,
            10 if key == b"event_type" => Self::EventType,
            10 if key == b"from_phase" => Self::FromPhase,
            12 if key == b"feature_name" => Self::Feature,
            12 if key == b"initiated_by" => Self::InitiatedBy,
            14 if key == b"rekindle_after" => Self::After,
            17 if key == b"recovery_possible" => Self::RecoveryPossible,
            17 if key == b"cost_microdollars" => Self::Cost,
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
                Key::After => event.after = map.next_value()?,
                Key::Details => event.details = map.next_value()?,
                Key::TaskId
                | Key::FromPhase
                | Key::ToPhase
                | Key::Blocking
                | Key::RecoveryPossible
                | Key::Attempt
                | Key::Notes
                | Key::Reason
                | Key::Cost
                | Key::Category
                | Key::Commit
                | Key::Feature
                | Key::InitiatedBy
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
            Key::Cost => &mut self.cost,
            Key::Category => &mut self.category,
            Key::Commit => &mut self.commit,
            Key::Feature => &mut self.feature,
            Key::InitiatedBy => &mut self.initiated_by,
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
            | Key::After
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
