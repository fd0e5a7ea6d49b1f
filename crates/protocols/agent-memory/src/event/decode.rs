//! From JSON to an event: which keys are looked at, and which kinds of values are taken.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Event;

/// A field's value, as far as it is looked at.
#[derive(Debug, Default)]
pub(in super::super) enum Value<'a> {
    /// Missing or null.
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Integer(i64),
    Boolean(bool),
    /// Present, but of a type that does not matter here.
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

/// A key of interest.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Key {
    /// One of the three keys of the type.
    Type(usize),
    Timestamp,
    RunId,
    After,
    Details,
    Payload(Field),
    Unknown,
}

/// A field of the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Field {
    TaskId,
    FromPhase,
    ToPhase,
    Blocking,
    RecoveryPossible,
    Attempt,
    Notes,
    /// The cost of the attempt so far.
    Cost,
    /// The kind of a failure.
    Category,
    /// The end of a usage limit.
    Until,
    Commit,
    Feature,
    /// The initiator of the run.
    InitiatedBy,
    /// The reason of a failure or a block, under any of its keys.
    Reason,
}

/// The fields of an event's payload.
#[derive(Debug, Default)]
pub(in super::super) struct Payload<'a>([Value<'a>; Field::Reason as usize + 1]);

impl<'a> Payload<'a> {
    pub(super) fn get(&self, field: Field) -> &Value<'a> {
        &self.0[field as usize]
    }

    #[inline]
    pub(in super::super) fn put(&mut self, field: Field, value: Value<'a>) {
        let slot = &mut self.0[field as usize];
        match (field, value) {
            // Several keys mean this; the first text counts.
            (Field::Reason, _) if slot.text().is_some() => {}
            // A graph may have numbers for ids, and so may its events.
            (Field::TaskId, Value::Integer(number)) => {
                *slot = Value::Text(Cow::Owned(number.to_string()));
            }
            (_, value) => *slot = value,
        }
    }
}

impl Key {
    #[inline]
    pub(in super::super) fn parse(key: &[u8]) -> Self {
        // By length first: most keys differ in it, and one comparison is left.
        match key.len() {
            4 if key == b"type" => Self::Type(1),
            5 if key == b"event" => Self::Type(2),
            5 if key == b"notes" => Self::Payload(Field::Notes),
            5 if key == b"until" => Self::Payload(Field::Until),
            5 if key == b"error" => Self::Payload(Field::Reason),
            6 if key == b"run_id" => Self::RunId,
            6 if key == b"commit" => Self::Payload(Field::Commit),
            6 if key == b"reason" => Self::Payload(Field::Reason),
            7 if key == b"task_id" => Self::Payload(Field::TaskId),
            7 if key == b"details" => Self::Details,
            7 if key == b"attempt" => Self::Payload(Field::Attempt),
            7 if key == b"message" => Self::Payload(Field::Notes),
            7 if key == b"summary" => Self::Payload(Field::Reason),
            8 if key == b"to_phase" => Self::Payload(Field::ToPhase),
            8 if key == b"blocking" => Self::Payload(Field::Blocking),
            8 if key == b"failures" => Self::Payload(Field::Reason),
            8 if key == b"category" => Self::Payload(Field::Category),
            9 if key == b"timestamp" => Self::Timestamp,
            10 if key == b"event_type" => Self::Type(0),
            10 if key == b"from_phase" => Self::Payload(Field::FromPhase),
            12 if key == b"feature_name" => Self::Payload(Field::Feature),
            12 if key == b"initiated_by" => Self::Payload(Field::InitiatedBy),
            14 if key == b"rekindle_after" => Self::After,
            17 if key == b"recovery_possible" => Self::Payload(Field::RecoveryPossible),
            17 if key == b"cost_microdollars" => Self::Payload(Field::Cost),
            19 if key == b"blocker_description" => Self::Payload(Field::Reason),
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
            match key {
                Key::Type(at) => event.types[at] = map.next_value()?,
                Key::Timestamp => event.timestamp = map.next_value()?,
                Key::RunId => event.run_id = map.next_value()?,
                Key::After => event.after = map.next_value()?,
                Key::Details => event.details = map.next_value()?,
                Key::Payload(field) => event.top.put(field, map.next_value()?),
                Key::Unknown => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(event)
    }
}

impl<'de> Deserialize<'de> for Payload<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PayloadVisitor)
    }
}

struct PayloadVisitor;

/// Reads a scalar as an empty payload.
macro_rules! empty {
    ($($visit:ident($type:ty),)*) => {
        $(fn $visit<E>(self, _: $type) -> Result<Payload<'de>, E> {
            Ok(Payload::default())
        })*
    };
}

impl<'de> Visitor<'de> for PayloadVisitor {
    type Value = Payload<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Payload<'de>, A::Error> {
        let mut payload = Payload::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Payload(field) => payload.put(field, map.next_value()?),
                Key::Type(_)
                | Key::Timestamp
                | Key::RunId
                | Key::After
                | Key::Details
                | Key::Unknown => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(payload)
    }

    // `details` should be an object; anything else is ignored.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Payload<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Payload::default())
    }

    empty! {
        visit_str(&str),
        visit_bool(bool),
        visit_i64(i64),
        visit_u64(u64),
        visit_f64(f64),
    }

    fn visit_unit<E>(self) -> Result<Payload<'de>, E> {
        Ok(Payload::default())
    }
}
