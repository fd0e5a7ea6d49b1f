//! Schemas of arguments and results, in the form that strict clients accept.
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

/// Returns the schema of a result that is one of these objects.
pub(crate) fn output(objects: Vec<JsonObject>) -> Arc<JsonObject> {
    let mut properties = JsonObject::new();
    let mut definitions = JsonObject::new();
    for mut schema in objects {
        for (all, key) in [(&mut properties, "properties"), (&mut definitions, "$defs")] {
            if let Some(Value::Object(own)) = schema.remove(key) {
                own.into_iter()
                    .for_each(|(name, schema)| add(all, name, schema));
            }
        }
    }
    // Descriptions of nested objects would use too much of the model's context.
    let Value::Object(definitions) = strict(Value::Object(definitions), &without_words) else {
        return Arc::default();
    };
    // All kinds of objects have this key.
    properties.insert(
        "schema".to_owned(),
        json!({"type": "string", "description": "The kind of the object and its version."}),
    );
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": ["schema"],
        "$defs": definitions,
    });
    match strict(schema, &null_apart) {
        Value::Object(schema) => Arc::new(schema),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Arc::default()
        }
    }
}

/// Adds a property; if several objects have different ones of the same name, any of them is valid.
fn add(all: &mut JsonObject, name: String, schema: Value) {
    let schema = match all.remove(&name) {
        Some(known) if known != schema => json!({"anyOf": [known, schema]}),
        Some(_) | None => schema,
    };
    all.insert(name, schema);
}

/// Returns the schema of an object's type.
pub(crate) fn of<T: JsonSchema>() -> JsonObject {
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

/// Removes descriptions.
fn without_words(schema: &mut JsonObject) {
    if schema.get("description").is_some_and(Value::is_string) {
        schema.remove("description");
    }
}

/// Removes null from optional values: an optional argument is omitted instead.
fn without_null(schema: &mut JsonObject) {
    if let Some(Value::Array(types)) = schema.get("type") {
        let only = types.iter().find(|kind| *kind != "null").cloned();
        schema.insert("type".to_owned(), only.unwrap_or_default());
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}

/// Replaces a list of types by `anyOf`.
fn null_apart(schema: &mut JsonObject) {
    if !schema.get("type").is_some_and(Value::is_array) {
        return;
    }
    let Some(Value::Array(types)) = schema.remove("type") else {
        return;
    };
    let description = schema.remove("description");
    let mut forms: Vec<Value> = Vec::new();
    for kind in types {
        let mut form = match kind.as_str() {
            Some("null") => JsonObject::new(),
            Some(_) | None => schema.clone(),
        };
        form.insert("type".to_owned(), kind);
        forms.push(Value::Object(form));
    }
    schema.clear();
    schema.extend(description.map(|text| ("description".to_owned(), text)));
    schema.insert("anyOf".to_owned(), Value::Array(forms));
}

#[cfg(test)]
mod tests {
    use rekindle_wire::Page;

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

    #[test]
    fn an_answer_may_hold_null_and_is_one_of_several_objects() {
        let schema = output(vec![of::<Arguments>(), of::<Page>()]);
        let schema = Value::Object(schema.as_ref().clone());
        assert_eq!(schema["required"], json!(["schema"]));
        assert_eq!(
            schema["properties"]["name"],
            json!({"description": "A name.", "anyOf": [{"type": "string"}, {"type": "null"}]})
        );
        assert_eq!(
            schema["properties"]["n"],
            json!({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]})
        );
        assert!(schema["properties"]["piece"].is_object());
    }

    #[test]
    fn properties_of_the_same_name_are_either() {
        let schema =
            |kind: &str| json!({"properties": {"a": {"type": kind}, "b": {"type": "null"}}});
        let objects = ["string", "object"].map(schema);
        let objects = objects.map(|schema| schema.as_object().unwrap().clone());
        let schema = Value::Object(output(objects.into()).as_ref().clone());
        assert_eq!(
            schema["properties"]["a"],
            json!({"anyOf": [{"type": "string"}, {"type": "object"}]})
        );
        assert_eq!(schema["properties"]["b"], json!({"type": "null"}));
    }
}
