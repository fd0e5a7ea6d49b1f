//! A protocol's facts as JSON, in their own order.

use rekindle_model::Fact;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// Facts of a protocol; their keys are documented with the protocol.
#[derive(Debug, Clone)]
pub struct Facts(pub Fact);

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Borrowed(&self.0).serialize(serializer)
    }
}

struct Borrowed<'a>(&'a Fact);

impl Serialize for Borrowed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Fact::Null => serializer.serialize_unit(),
            Fact::Bool(value) => serializer.serialize_bool(*value),
            Fact::Int(value) => serializer.serialize_i64(*value),
            Fact::Text(value) => serializer.serialize_str(value),
            Fact::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&Borrowed(item))?;
                }
                list.end()
            }
            Fact::Object(entries) => {
                let mut object = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    object.serialize_entry(key, &Borrowed(value))?;
                }
                object.end()
            }
        }
    }
}

impl JsonSchema for Facts {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Facts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "The protocol's own facts; their keys are documented with the protocol."
        })
    }
}
