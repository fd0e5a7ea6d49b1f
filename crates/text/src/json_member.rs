//! Members of objects in a JSON text: set as a whole, and taken away again without a trace.
//!
//! What was said of lists in [`json_list`](crate::json_list) holds here too: what was made for a
//! member goes with it, and nothing else does.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;

use crate::document::Span;
use crate::json_edit::{Comments, JsonEditError, apply, last_named, parse};
use crate::json_list::{insert, new_property, property_removal, text, without_bom};
use crate::json_style::Style;

/// Returns the value at a path as it stands there; `None` where there is none.
///
/// # Errors
/// See [`JsonEditError`].
pub fn json_member(source: &str, path: &[&str]) -> Result<Option<String>, JsonEditError> {
    let body = without_bom(source).1;
    let root = parse(body, Comments::Allowed)?;
    let found = find(&root, path)?;
    Ok(found.map(|value| text(body, value).to_owned()))
}

/// Returns the keys of an object, in their order.
///
/// # Errors
/// See [`JsonEditError`].
pub fn json_keys(source: &str) -> Result<Vec<String>, JsonEditError> {
    let root = parse(without_bom(source).1, Comments::Allowed)?;
    let names = root
        .properties
        .iter()
        .map(|property| property.name.as_str());
    Ok(names.map(str::to_owned).collect())
}

/// Sets the value at a path, a JSON value in one line.
///
/// Without a source a whole text is made. Missing objects on the way are made too.
///
/// # Errors
/// Something on the way is no object, or the text is no JSON.
pub fn set_json_member(
    source: Option<&str>,
    path: &[&str],
    value: &str,
) -> Result<String, JsonEditError> {
    let Some(source) = source else {
        return Ok(Style::of_new_text().in_objects(path, value) + "\n");
    };
    let (bom, body) = without_bom(source);
    let root = parse(body, Comments::Allowed)?;
    if let Some(old) = find(&root, path)? {
        let span = Span::new(old.start(), old.end());
        let new = apply(body, vec![(span, value.to_owned())])?;
        return Ok(format!("{bom}{new}"));
    }
    let mut object = &root;
    for (depth, key) in path.iter().enumerate() {
        let inner = last_named(object, key).and_then(|property| property.value.as_object());
        if let Some(inner) = inner {
            object = inner;
            continue;
        }
        let below = &path[depth + 1..];
        let (at, new) = new_property(body, &root, object, key, |style| {
            style.in_objects(below, value)
        });
        return Ok(format!("{bom}{}", insert(body, at, new)?));
    }
    Err(JsonEditError::NoKey)
}

/// Takes the value at a path away, and what was made for it.
///
/// Returns `None` when nothing is left that was there before.
///
/// # Errors
/// See [`JsonEditError`].
pub fn remove_json_member(source: &str, path: &[&str]) -> Result<Option<String>, JsonEditError> {
    let (bom, body) = without_bom(source);
    let root = parse(body, Comments::Allowed)?;
    if find(&root, path)?.is_none() {
        return Ok(Some(source.to_owned()));
    }
    match property_removal(body, &root, path) {
        Some(edits) => Ok(Some(format!("{bom}{}", apply(body, edits)?))),
        None => Ok(None),
    }
}

/// Finds the value at a path; `None` where it, or something on the way, is not there.
fn find<'o, 's>(
    root: &'o Object<'s>,
    path: &[&str],
) -> Result<Option<&'o Value<'s>>, JsonEditError> {
    let mut object = root;
    for (depth, key) in path.iter().enumerate() {
        let Some(property) = last_named(object, key) else {
            return Ok(None);
        };
        if depth + 1 == path.len() {
            return Ok(Some(&property.value));
        }
        object = property.value.as_object().ok_or_else(|| {
            let path = path[..=depth].join(".");
            JsonEditError::NotAnObject { path }
        })?;
    }
    Err(JsonEditError::NoKey)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const PATH: [&str; 2] = ["servers", "ours"];
    const OURS: &str = r#"{"command": "ours"}"#;

    fn set(source: Option<&str>) -> String {
        set_json_member(source, &PATH, OURS).unwrap()
    }

    #[test]
    fn a_text_is_made_whole_and_nothing_is_left_of_it() {
        let made = set(None);
        assert_eq!(
            made,
            "{\n  \"servers\": {\n    \"ours\": {\"command\": \"ours\"}\n  }\n}\n"
        );
        assert_eq!(set(Some(&made)), made);
        assert_eq!(remove_json_member(&made, &PATH).unwrap(), None);
    }

    #[test]
    fn what_was_there_is_there_again_byte_for_byte() {
        for source in [
            "{}",
            "{ }",
            "{\n}\n",
            "{\"a\":1}",
            "{\"servers\":{}}",
            "{\"servers\": {\n  }, \"x\": 1.0e+3 }",
            "{\n\t\"servers\": {\n\t\t\"theirs\": {}\n\t}\n}",
            "\u{feff}{\r\n  \"a\": [1, 2]\r\n}\r\n",
            "{ // mine, all mine\n  \"servers\": { /* none, yet */ }\n}\n",
        ] {
            let with = set(Some(source));
            let body = without_bom(&with).1;
            let found = json_member(&with, &PATH).unwrap();
            assert_eq!(found.as_deref(), Some(OURS), "{with}");
            if !source.contains("//") {
                let value: Value = serde_json::from_str(body).unwrap();
                assert_eq!(value["servers"]["ours"], json!({"command": "ours"}));
            }
            let left = remove_json_member(&with, &PATH).unwrap();
            assert_eq!(left.as_deref(), Some(source), "{with}");
        }
    }

    #[test]
    fn a_value_is_replaced_and_nothing_around_it() {
        let source = "{\"servers\": { \"ours\" : [ 1 ] , \"b\": 2}}";
        assert_eq!(
            set(Some(source)),
            "{\"servers\": { \"ours\" : {\"command\": \"ours\"} , \"b\": 2}}"
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for source in ["{\"servers\": []}", "{\"servers\": null}", "[]", "", "{"] {
            assert!(json_member(source, &PATH).is_err(), "{source}");
            assert!(
                set_json_member(Some(source), &PATH, OURS).is_err(),
                "{source}"
            );
            assert!(remove_json_member(source, &PATH).is_err(), "{source}");
        }
        assert_eq!(json_member("{}", &PATH).unwrap(), None);
    }
}
