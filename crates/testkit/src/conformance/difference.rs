//! Compares what was expected with what came: objects by the keys named, everything else whole.

use serde_json::{Number, Value};

/// Returns the first place where `got` does not hold what `want` says, or nothing.
///
/// Objects are compared by the keys that `want` names, lists and values whole.
/// `"*"` stands for any text but the empty one.
pub fn difference(want: &Value, got: &Value) -> Option<String> {
    compare(want, got, "")
}

/// Returns the first `limit` characters of a value's JSON.
pub(crate) fn brief(value: &Value, limit: usize) -> String {
    value.to_string().chars().take(limit).collect()
}

fn compare(want: &Value, got: &Value, path: &str) -> Option<String> {
    match (want, got) {
        (Value::String(any), Value::String(text)) if any == "*" && !text.is_empty() => None,
        (Value::Object(want), Value::Object(got)) => want.iter().find_map(|(key, value)| {
            let path = format!("{path}.{key}");
            match got.get(key) {
                Some(found) => compare(value, found, &path),
                None => Some(format!("{path}: missing")),
            }
        }),
        (Value::Object(_), _) => {
            let place = if path.is_empty() { "facts" } else { path };
            Some(format!(
                "{place}: wanted an object, got {}",
                brief(got, 120)
            ))
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            let mut pairs = wanted.iter().zip(found).enumerate();
            pairs.find_map(|(i, (want, got))| compare(want, got, &format!("{path}[{i}]")))
        }
        (Value::Number(a), Value::Number(b)) if same_number(a, b) => None,
        _ if want == got => None,
        _ => Some(format!(
            "{path}: wanted {}, got {}",
            brief(want, 200),
            brief(got, 200)
        )),
    }
}

/// `1` and `1.0` are the same number, whatever the program's language makes of them.
fn same_number(a: &Number, b: &Number) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a.total_cmp(&b).is_eq())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn same(want: &Value, got: &Value) {
        assert_eq!(difference(want, got), None);
    }

    #[track_caller]
    fn differs(want: &Value, got: &Value, message: &str) {
        assert_eq!(difference(want, got).as_deref(), Some(message));
    }

    #[test]
    fn an_object_is_compared_by_the_keys_that_are_named() {
        same(&json!({"a": 1}), &json!({"a": 1, "b": 2}));
        same(
            &json!({"a": {"b": 1}}),
            &json!({"a": {"b": 1, "c": 2}, "d": 3}),
        );
        differs(
            &json!({"a": {"b": 1}}),
            &json!({"a": {"c": 1}}),
            ".a.b: missing",
        );
        differs(&json!({"a": 1}), &json!({"a": 2}), ".a: wanted 1, got 2");
    }

    #[test]
    fn a_named_null_must_be_there() {
        same(&json!({"a": null}), &json!({"a": null}));
        differs(&json!({"a": null}), &json!({}), ".a: missing");
    }

    #[test]
    fn a_list_is_compared_whole_and_in_order() {
        same(&json!([1, 2]), &json!([1, 2]));
        same(&json!([{"a": 1}]), &json!([{"a": 1, "b": 2}]));
        differs(&json!([1, 2]), &json!([2, 1]), "[0]: wanted 1, got 2");
        differs(&json!([1]), &json!([1, 2]), ": wanted [1], got [1,2]");
        differs(
            &json!({"a": []}),
            &json!({"a": null}),
            ".a: wanted [], got null",
        );
    }

    #[test]
    fn a_star_is_any_text_but_the_empty_one() {
        same(&json!({"at": "*"}), &json!({"at": "2026-01-01"}));
        same(&json!("*"), &json!("*"));
        differs(&json!("*"), &json!(""), ": wanted \"*\", got \"\"");
        differs(&json!("*"), &json!(1), ": wanted \"*\", got 1");
    }

    #[test]
    fn values_of_different_kinds_differ_but_numbers_are_numbers() {
        same(&json!(1), &json!(1.0));
        same(&json!(-3), &json!(-3));
        differs(&json!(1), &json!(true), ": wanted 1, got true");
        differs(&json!(1), &json!("1"), ": wanted 1, got \"1\"");
        differs(
            &json!({"a": 1}),
            &json!([1]),
            "facts: wanted an object, got [1]",
        );
    }

    #[test]
    fn long_values_are_cut_at_a_character() {
        let long = Value::String("ø".repeat(500));
        assert_eq!(brief(&long, 120).chars().count(), 120);
    }
}
