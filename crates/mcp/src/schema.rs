//! Schemas of what tools take, in the form that strict clients accept.
//!
//! Some clients refuse a `type` that is a list, formats that are not in the standard, and an unknown
//! `$schema`. Optional values are simply not required.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde_json::{Value, json};

/// Returns the schema of arguments.
pub(crate) fn input<T: JsonSchema>() -> Arc<JsonObject> {
    let mut schema = of::<T>();
    schema.remove("description");
    let Value::Object(mut schema) = strict(Value::Object(schema), &without_null) else {
        return Arc::default();
    };
    // A tool without arguments also takes an object.
    schema.entry("properties").or_insert_with(|| json!({}));
    Arc::new(schema)
}

/// Returns the schema of an object as its type has it.
fn of<T: JsonSchema>() -> JsonObject {
    let schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>();
    let Value::Object(mut schema) = schema.to_value() else {
        return JsonObject::new();
    };
    schema.remove("$schema");
    schema.remove("title");
    schema
}

/// Visits a schema from the inside out.
fn strict(schema: Value, mend: &dyn Fn(&mut JsonObject)) -> Value {
    match schema {
        Value::Object(entries) => {
            let mut entries: JsonObject = entries
                .into_iter()
                .map(|(key, value)| (key, strict(value, mend)))
                .collect();
            // A property can be named `format`; its value is then a schema and not a word.
            if entries.get("format").is_some_and(Value::is_string) {
                entries.remove("format");
            }
            mend(&mut entries);
            Value::Object(entries)
        }
        Value::Array(items) => items.into_iter().map(|item| strict(item, mend)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema,
    }
}

/// Takes the null out of what may be null: an argument that is not there is not there.
fn without_null(schema: &mut JsonObject) {
    if let Some(Value::Array(types)) = schema.get("type") {
        let only = types.iter().find(|kind| *kind != "null").cloned();
        schema.insert("type".to_owned(), only.unwrap_or_default());
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Arguments {
        /// A name.
        name: Option<String>,
        n: Option<usize>,
        format: bool,
    }

    #[test]
    fn what_may_be_left_out_is_of_one_type_and_not_required() {
        assert_eq!(
            Value::Object(input::<Arguments>().as_ref().clone()),
            json!({
                "type": "object",
                "properties": {
                    "name": {"description": "A name.", "type": "string"},
                    "n": {"type": "integer", "minimum": 0},
                    "format": {"type": "boolean"},
                },
                "required": ["format"],
            })
        );
    }
}
