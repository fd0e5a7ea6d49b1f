use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const OURS: &str = r#"{"hooks": [{"command": "ours"}]}"#;
const PATH: [&str; 2] = ["hooks", "Start"];

fn is_ours(element: &str) -> bool {
    element.contains("\"ours\"")
}

fn added(source: &str) -> String {
    add_to_list(Some(source), &PATH, OURS).unwrap()
}

fn removed(source: &str) -> Option<String> {
    remove_from_list(source, &PATH, &is_ours).unwrap()
}

/// Adds and removes the element, checks that the source is restored, and returns the text between.
fn round_trip(source: &str) -> String {
    let with = added(source);
    assert_eq!(removed(&with).as_deref(), Some(source), "{with}");
    with
}

#[test]
fn a_created_text_is_removed_completely() {
    let made = add_to_list(None, &PATH, OURS).unwrap();
    assert_eq!(
        made,
        "{\n  \"hooks\": {\n    \"Start\": [\n      {\"hooks\": [{\"command\": \"ours\"}]}\n    ]\n  }\n}\n"
    );
    assert_eq!(removed(&made), None);
    let twice = add_to_list(Some(&made), &["hooks", "End"], OURS).unwrap();
    assert_eq!(
        remove_from_list(&twice, &["hooks", "End"], &is_ours)
            .unwrap()
            .as_deref(),
        Some(made.as_str())
    );
}

#[test]
fn a_new_element_copies_the_layout_of_its_neighbors() {
    let source = "{\n    \"a\": 1,\n    \"hooks\": {\n        \"End\": [\n            1\n        ]\n    }\n}\n";
    let with = round_trip(source);
    assert_eq!(
        with,
        "{\n    \"a\": 1,\n    \"hooks\": {\n        \"End\": [\n            1\n        ],\n        \"Start\": [\n            {\"hooks\": [{\"command\": \"ours\"}]}\n        ]\n    }\n}\n"
    );
    assert_eq!(
        round_trip("{\"a\":1}"),
        "{\"a\":1, \"hooks\":{ \"Start\":[ {\"hooks\": [{\"command\": \"ours\"}]} ] }}"
    );
    assert_eq!(
        round_trip("{\"hooks\": {\"Start\": [\n  1,\n  2\n]}}"),
        "{\"hooks\": {\"Start\": [\n  1,\n  2,\n  {\"hooks\": [{\"command\": \"ours\"}]}\n]}}"
    );
}

#[test]
fn empty_containers_are_restored() {
    for source in [
        "{}",
        "{ }",
        "{\n}\n",
        " {\t}\r\n",
        "{\"hooks\":{}}",
        "{\"hooks\": {\n  } }",
        "{\"hooks\":{\"Start\":[]}}",
        "{\"hooks\":{\"Start\":[ ]}, \"x\": 1}",
        "{\n  \"hooks\": {\n    \"Start\": [\n    ]\n  }\n}",
        "\u{feff}{\r\n\t\"hooks\": {}\r\n}",
    ] {
        round_trip(source);
    }
}

#[test]
fn comments_stay_and_commas_in_them_do_not_count() {
    for source in [
        "{ // mine, all mine\n}",
        "// top\n{\n  \"a\": 1 // last\n}\n",
        "{\"hooks\": {\"Start\": [ /* none, yet */ ]}}",
        "{\"hooks\": {\"Start\": [\n  1 // one, two\n]}}",
    ] {
        round_trip(source);
    }
    let between =
        format!("{{\"hooks\": {{\"Start\": [\n  1 /* , */, // after, all\n  {OURS}\n]}}}}");
    assert_eq!(
        removed(&between).as_deref(),
        Some("{\"hooks\": {\"Start\": [\n  1 /* , */ // after, all\n]}}")
    );
    let ahead = format!("{{\"hooks\": {{\"Start\": [\n  {OURS}, // ours\n  1\n]}}}}");
    assert_eq!(
        removed(&ahead).as_deref(),
        Some("{\"hooks\": {\"Start\": [\n   // ours\n  1\n]}}")
    );
}

#[test]
fn all_our_elements_are_removed_and_later_additions_stay() {
    let source = format!("{{\"hooks\": {{\"Start\": [{OURS}, 1, {OURS}, {OURS}, 2]}}}}");
    assert_eq!(
        removed(&source).as_deref(),
        Some("{\"hooks\": {\"Start\": [1, 2]}}")
    );
    let made = add_to_list(None, &PATH, OURS).unwrap();
    let with_theirs = add_to_list(Some(&made), &["hooks", "End"], "1").unwrap();
    let left: Value = serde_json::from_str(&removed(&with_theirs).unwrap()).unwrap();
    assert_eq!(left, json!({"hooks": {"End": [1]}}));
    assert_eq!(removed("{\"a\": 1}").as_deref(), Some("{\"a\": 1}"));
}

#[test]
fn elements_are_listed_with_their_spelling() {
    let source = "{\"hooks\": {\"Start\": [ 1.0e+3 , {\"a\":  2} ]}}";
    assert_eq!(
        list_elements(source, &PATH).unwrap(),
        ["1.0e+3", "{\"a\":  2}"]
    );
    assert!(list_elements("{}", &PATH).unwrap().is_empty());
}

#[test]
fn a_string_is_found_and_unescaped() {
    let source = r#"{"a": {"b": "x \\ \" \u00e4"}, "c": 7, "a": {"b": "last"}}"#;
    assert_eq!(json_text(source, &["a", "b"]).as_deref(), Some("last"));
    let source = r#"{"a": {"b": "x \\ \" \u00e4"}, "c": 7}"#;
    assert_eq!(json_text(source, &["a", "b"]).as_deref(), Some("x \\ \" ä"));
    for path in [&["c"][..], &["a"], &["a", "x"], &["c", "b"], &[]] {
        assert_eq!(json_text(source, path), None, "{path:?}");
    }
    assert_eq!(json_text("[]", &["a"]), None);
}

#[test]
fn a_value_that_is_not_a_list_is_refused_by_name() {
    for (source, problem) in [
        ("{\"hooks\": []}", "`hooks` is not an object"),
        (
            "{\"hooks\": {\"Start\": {}}}",
            "`hooks.Start` is not a list",
        ),
        (
            "{\"hooks\": {\"Start\": null}}",
            "`hooks.Start` is not a list",
        ),
        ("[]", "`.` is not an object"),
    ] {
        let error = add_to_list(Some(source), &PATH, OURS).unwrap_err();
        assert_eq!(error.to_string(), problem);
        assert!(remove_from_list(source, &PATH, &is_ours).is_err());
    }
    for source in ["", " \n", "{", "{\"a\": 1,}", "{a: 1}"] {
        let error = add_to_list(Some(source), &PATH, OURS).unwrap_err();
        assert!(
            matches!(error, JsonEditError::Unparsable(_)),
            "{source}: {error}"
        );
    }
}

/// Any JSON value, with the keys that matter among others.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z ,/*\"\\\\{}\\[\\]]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,3}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A text of settings, with blanks of all kinds between its parts.
fn settings() -> impl Strategy<Value = (Value, String)> {
    let list = prop::option::of(prop::collection::vec(value(), 0..3));
    let events = prop::collection::btree_map("[A-Z][a-z]", value(), 0..3);
    let hooks = prop::option::of((events, list));
    let others = prop::collection::btree_map("[a-z]{1,3}", value(), 0..3);
    let blanks = prop::collection::vec("[ \t]{0,2}|\n {0,4}|\r\n\t?", 1..8);
    (others, hooks, blanks).prop_map(|(others, hooks, blanks)| {
        let mut all: serde_json::Map<String, Value> = others.into_iter().collect();
        if let Some((events, list)) = hooks {
            let mut hooks: serde_json::Map<String, Value> = events.into_iter().collect();
            if let Some(list) = list {
                hooks.insert("Start".to_owned(), Value::from(list));
            }
            all.insert("hooks".to_owned(), Value::Object(hooks));
        }
        let all = Value::Object(all);
        let text = spread(&all.to_string(), &blanks);
        (all, text)
    })
}

/// Puts blanks around every sign outside of texts.
fn spread(json: &str, blanks: &[String]) -> String {
    let mut blanks = blanks.iter().cycle();
    let mut text = String::new();
    let (mut in_text, mut escaped) = (false, false);
    for c in json.chars() {
        let is_sign = !in_text && "{}[],:".contains(c);
        if is_sign && !"[{".contains(c) {
            text.push_str(blanks.next().unwrap());
        }
        text.push(c);
        if is_sign {
            text.push_str(blanks.next().unwrap());
        }
        if c == '"' && !escaped {
            in_text = !in_text;
        }
        escaped = in_text && c == '\\' && !escaped;
    }
    text
}

proptest! {
    #[test]
    fn an_added_element_is_the_only_change_and_is_removed_without_a_trace((before, source) in settings()) {
        prop_assert_eq!(&serde_json::from_str::<Value>(&source).unwrap(), &before);
        let with = added(&source);
        let mut expected = before;
        let hooks = expected.as_object_mut().unwrap().entry("hooks").or_insert(json!({}));
        let list = hooks.as_object_mut().unwrap().entry("Start").or_insert(json!([]));
        list.as_array_mut().unwrap().push(serde_json::from_str(OURS).unwrap());
        prop_assert_eq!(serde_json::from_str::<Value>(&with).unwrap(), expected);
        prop_assert_eq!(removed(&with), Some(source));
    }
}
