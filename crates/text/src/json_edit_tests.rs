//! Texts and changes in, exact texts out; and the laws of edits as properties.

use proptest::prelude::*;

use super::*;

const TASK: &str = "{\n  \"id\": \"1\",\n  \"status\": \"pending\",\n  \"note\": \"a \\u2014 b\",\n  \"n\": 1.50e3,\n  \"metadata\": {\n    \"kiln_wave\": \"wave-1\"\n  }\n}\n";

#[expect(
    clippy::unnecessary_wraps,
    reason = "it is used as the value of a change"
)]
fn text(value: &str) -> Option<JsonValue> {
    Some(JsonValue::Text(value.to_owned()))
}

fn set(source: &str, path: &[&str], value: Option<JsonValue>) -> Result<String, String> {
    edit_json(source, &[JsonChange { path, value }]).map_err(|error| error.to_string())
}

#[track_caller]
fn check(source: &str, path: &[&str], value: Option<JsonValue>, expected: &str) {
    assert_eq!(set(source, path, value), Ok(expected.to_owned()));
}

#[test]
fn a_value_is_replaced_in_place() {
    let expected = TASK.replace("pending", "in_progress");
    check(TASK, &["status"], text("in_progress"), &expected);
    check("{\"a\":1 }", &["a"], Some(JsonValue::Null), "{\"a\":null }");
    check(
        "{\"a\":[1,{}]}",
        &["a"],
        Some(JsonValue::Bool(true)),
        "{\"a\":true}",
    );
    check(
        "{\"a\": {\"b\" :2}}",
        &["a", "b"],
        Some(JsonValue::Number(-3)),
        "{\"a\": {\"b\" :-3}}",
    );
}

#[test]
fn an_equal_value_keeps_its_spelling() {
    check(TASK, &["note"], text("a \u{2014} b"), TASK);
    check(
        "{\"a\":null}",
        &["a"],
        Some(JsonValue::Null),
        "{\"a\":null}",
    );
}

#[test]
fn a_new_key_copies_the_layout_of_its_neighbors() {
    let expected = TASK.replace("\"wave-1\"", "\"wave-1\",\n    \"kiln_stage\": \"claimed\"");
    check(
        TASK,
        &["metadata", "kiln_stage"],
        text("claimed"),
        &expected,
    );
    check(
        "{\"a\":1,\"b\":2}",
        &["c"],
        text("x"),
        "{\"a\":1,\"b\":2,\"c\":\"x\"}",
    );
    check("{\"a\": 1}", &["c"], text("x"), "{\"a\": 1, \"c\": \"x\"}");
    check(
        "{\r\n\t\"a\": 1\r\n}",
        &["c"],
        text("x"),
        "{\r\n\t\"a\": 1,\r\n\t\"c\": \"x\"\r\n}",
    );
    check("{}", &["a"], text("x"), "{\"a\": \"x\"}");
    check("{\n}\n", &["a"], text("x"), "{\n  \"a\": \"x\"\n}\n");
    check(
        "{\n    \"m\": {}\n}",
        &["m", "a"],
        text("x"),
        "{\n    \"m\": {\n        \"a\": \"x\"\n    }\n}",
    );
}

#[test]
fn missing_objects_are_created_also_in_place_of_null() {
    check(
        "{\"a\":1}",
        &["m", "k"],
        text("x"),
        "{\"a\":1,\"m\":{\"k\":\"x\"}}",
    );
    check(
        "{\n  \"a\": 1\n}",
        &["m", "n", "k"],
        text("x"),
        "{\n  \"a\": 1,\n  \"m\": {\n    \"n\": {\n      \"k\": \"x\"\n    }\n  }\n}",
    );
    check(
        "{\n  \"m\": null\n}",
        &["m", "k"],
        text("x"),
        "{\n  \"m\": {\n    \"k\": \"x\"\n  }\n}",
    );
    check("{\"m\":null}", &["m", "k"], None, "{\"m\":null}");
}

#[test]
fn a_removed_key_is_removed_with_its_comma() {
    check(
        "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}",
        &["a"],
        None,
        "{\n  \"b\": 2,\n  \"c\": 3\n}",
    );
    check(
        "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}",
        &["b"],
        None,
        "{\n  \"a\": 1,\n  \"c\": 3\n}",
    );
    check(
        "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}",
        &["c"],
        None,
        "{\n  \"a\": 1,\n  \"b\": 2\n}",
    );
    check("{\n  \"a\": 1\n}", &["a"], None, "{}");
    check("{ \"a\": 1 }", &["x"], None, "{ \"a\": 1 }");
    check("{ \"a\": 1 }", &["x", "y"], None, "{ \"a\": 1 }");
    check("{ }", &["x"], None, "{ }");
}

#[test]
fn of_a_duplicate_key_the_last_is_set_and_all_are_removed() {
    let twice = "{\"k\":1,\"a\":0,\"k\":2,\"k\":3}";
    check(
        twice,
        &["k"],
        text("x"),
        "{\"k\":1,\"a\":0,\"k\":2,\"k\":\"x\"}",
    );
    check(twice, &["k"], None, "{\"a\":0}");
    check("{\"k\":1,\"k\":2,\"a\":0}", &["k"], None, "{\"a\":0}");
    check("{\"k\":1, \"k\":2}", &["k"], None, "{}");
}

#[test]
fn a_byte_order_mark_and_odd_characters_survive() {
    check(
        "\u{feff}{\"a\":1}\r\n",
        &["a"],
        text("\"\\\u{1}\n\u{2014}"),
        "\u{feff}{\"a\":\"\\\"\\\\\\u0001\\n\u{2014}\"}\r\n",
    );
    check("{\"\\u0061\":1}", &["a"], text("x"), "{\"\\u0061\":\"x\"}");
}

#[test]
fn refused_edits_give_the_reason() {
    assert_eq!(
        set("[1]", &["a"], None),
        Err("`.` is not an object".to_owned())
    );
    assert_eq!(
        set("{\"m\":[]}", &["m", "k"], text("x")),
        Err("`m` is not an object".to_owned())
    );
    assert_eq!(
        set("{}", &[], None),
        Err("a change names no key".to_owned())
    );
    for broken in [
        "",
        "{",
        "{\"a\":1,}",
        "{a:1}",
        "{} {}",
        "// c\n{}",
        "{\"a\":'x'}",
        "{\"a\":0x1}",
    ] {
        let error = set(broken, &["a"], None).unwrap_err();
        assert!(error.starts_with("it is not JSON: "), "{broken}: {error}");
    }
    assert!(set(&"[".repeat(100_000), &["a"], None).is_err());
    assert!(set(&"{\"a\":".repeat(100_000), &["a"], None).is_err());
}

#[test]
fn all_changes_are_made_or_none() {
    let both = [
        JsonChange {
            path: &["a"],
            value: None,
        },
        JsonChange {
            path: &["b"],
            value: Some(JsonValue::Number(2)),
        },
    ];
    assert_eq!(edit_json("{\"a\":1}", &both).unwrap(), "{\"b\": 2}");
    let bad = [
        both[0].clone(),
        JsonChange {
            path: &["b", "c"],
            value: text("x"),
        },
    ];
    assert!(edit_json("{\"a\":1,\"b\":1}", &bad).is_err());
    assert_eq!(edit_json("{ }", &[]).unwrap(), "{ }");
    assert!(edit_json("{", &[]).is_err());
}

#[test]
fn an_element_of_a_list_is_set() {
    let tasks =
        "{\n  \"tasks\": [\n    { \"id\": 1, \"status\": \"a\" },\n    {\"id\": 2}\n  ]\n}\n";
    let expected = tasks.replace("\"a\"", "\"b\"");
    check(tasks, &["tasks", "0", "status"], text("b"), &expected);
    let expected = tasks.replace("{\"id\": 2}", "{\"id\": 2, \"status\": \"b\"}");
    check(tasks, &["tasks", "1", "status"], text("b"), &expected);
    check("[ 1 ,2]", &["1"], text("x"), "[ 1 ,\"x\"]");
    check("[[0],[1, 2]]", &["1", "0"], text("x"), "[[0],[\"x\", 2]]");
    check("[1.0e1]", &["0"], None, "[]");
    check(
        "\u{feff}[\"\\u0061\"]",
        &["0"],
        text("a"),
        "\u{feff}[\"\\u0061\"]",
    );
    check("[null]", &["0", "k"], text("x"), "[{\"k\": \"x\"}]");
}

#[test]
fn an_element_is_appended_with_the_layout_of_the_list() {
    for (source, expected) in [
        ("[]", "[\"x\"]"),
        ("[1]", "[1, \"x\"]"),
        ("[1,2]", "[1,2,\"x\"]"),
        ("[1 , 2]", "[1 , 2, \"x\"]"),
        ("[{\"a\":1}]", "[{\"a\":1},\"x\"]"),
        ("[\r\n\t1\r\n]", "[\r\n\t1,\r\n\t\"x\"\r\n]"),
        ("[\n]\n", "[\n  \"x\"\n]\n"),
    ] {
        check(source, &["-"], text("x"), expected);
        assert_eq!(set(expected, &["-"], None), Ok(expected.to_owned()));
    }
    check(
        "{\n    \"l\": []\n}",
        &["l", "-", "k"],
        text("x"),
        "{\n    \"l\": [\n        {\n            \"k\": \"x\"\n        }\n    ]\n}",
    );
    check(
        "{\n  \"l\": [\n    {}\n  ]\n}",
        &["l", "-", "k"],
        text("x"),
        "{\n  \"l\": [\n    {},\n    {\n      \"k\": \"x\"\n    }\n  ]\n}",
    );
    check(
        "[\n  [1]\n]",
        &["0", "-", "k"],
        text("x"),
        "[\n  [1, {\"k\": \"x\"}]\n]",
    );
}

#[test]
fn an_element_is_removed_with_its_comma() {
    let list = "[\n  1,\n  2,\n  3\n]";
    check(list, &["0"], None, "[\n  2,\n  3\n]");
    check(list, &["1"], None, "[\n  1,\n  3\n]");
    check(list, &["2"], None, "[\n  1,\n  2\n]");
    check(list, &["3"], None, list);
    check("{\"l\": [ 1 ]}", &["l", "0"], None, "{\"l\": []}");
    check("{\"l\": []}", &["l", "0"], None, "{\"l\": []}");
}

#[test]
fn an_index_is_a_key_where_the_container_is_an_object() {
    check(
        "{\"t\": {\"1\": 0}}",
        &["t", "1"],
        text("x"),
        "{\"t\": {\"1\": \"x\"}}",
    );
    check(
        "{\"a\":1}",
        &["t", "0"],
        text("x"),
        "{\"a\":1,\"t\":{\"0\":\"x\"}}",
    );
}

#[test]
fn a_missing_element_is_refused() {
    for (source, path, problem) in [
        (
            "[1]",
            &["1"][..],
            "`1` does not exist: the list has 1 elements",
        ),
        (
            "{\"l\": []}",
            &["l", "0", "k"],
            "`l.0` does not exist: the list has 0 elements",
        ),
        ("{\"l\": [1]}", &["l", "00"], "`l` is not an object"),
        ("{\"l\": [1]}", &["l", "+0"], "`l` is not an object"),
        ("[1]", &["0", "k"], "`0` is not an object"),
    ] {
        assert_eq!(set(source, path, text("x")), Err(problem.to_owned()));
    }
}

/// Objects as programs write them, in one line or indented.
fn objects() -> impl Strategy<Value = (serde_json::Value, String)> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        "[a-z\"\\\\\u{e9}\u{2014} ]{0,6}".prop_map(Into::into),
    ];
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Into::into),
            proptest::collection::btree_map("[a-e]", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    });
    let root = proptest::collection::btree_map("[a-e]", value, 0..4)
        .prop_map(|map| serde_json::Value::Object(map.into_iter().collect()));
    (root, any::<bool>(), any::<bool>()).prop_map(|(root, is_pretty, is_crlf)| {
        let text = if is_pretty {
            serde_json::to_string_pretty(&root).unwrap() + "\n"
        } else {
            root.to_string()
        };
        let text = if is_crlf {
            text.replace('\n', "\r\n")
        } else {
            text
        };
        (root, text)
    })
}

/// Objects of lists.
fn lists() -> impl Strategy<Value = (serde_json::Value, String)> {
    objects().prop_map(|(root, text)| {
        let keep = |value: &serde_json::Value| {
            if value.is_array() {
                value.clone()
            } else {
                vec![value.clone()].into()
            }
        };
        let members = root.as_object().unwrap().iter();
        let root: serde_json::Map<_, _> = members
            .map(|(key, value)| (key.clone(), keep(value)))
            .collect();
        let root = serde_json::Value::Object(root);
        let text = if text.contains('\n') {
            serde_json::to_string_pretty(&root).unwrap()
        } else {
            root.to_string()
        };
        (root, text)
    })
}

fn read(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

proptest! {
    #[test]
    fn nothing_panics(source in any::<String>(), jsonish in "[{}\\[\\]\":,a-b0-1. \\\\u\n]{0,24}") {
        for source in [source, jsonish] {
            for value in [None, text("x")] {
                if let Ok(new) = set(&source, &["a", "b"], value) {
                    prop_assert!(parse(&new, Comments::Refused).is_ok(), "{new}");
                }
            }
        }
    }

    #[test]
    fn only_the_set_value_changes((mut root, source) in objects(), key in "[a-h]", new in any::<String>()) {
        let edited = set(&source, &[&key], text(&new)).unwrap();
        root[&key] = new.into();
        prop_assert_eq!(read(&edited), root);
    }

    #[test]
    fn setting_a_value_back_restores_the_bytes((mut root, _) in objects(), old in any::<String>(), new in any::<String>()) {
        root["c"] = old.clone().into();
        let source = serde_json::to_string_pretty(&root).unwrap();
        let there = set(&source, &["c"], text(&new)).unwrap();
        let back = set(&there, &["c"], text(&old)).unwrap();
        prop_assert_eq!(read(&back), read(&source));
        if !old.contains(['\u{8}', '\u{c}']) {
            prop_assert_eq!(back, source);
        }
    }

    #[test]
    fn a_nested_key_is_set_or_refused((mut root, source) in objects(), outer in "[a-h]", key in "[a-h]") {
        let is_possible = root.get(&outer).is_none_or(|it| it.is_object() || it.is_null());
        let edited = set(&source, &[&outer, &key], Some(JsonValue::Number(7)));
        prop_assert_eq!(edited.is_ok(), is_possible);
        if let Ok(edited) = edited {
            root[&outer][&key] = 7.into();
            prop_assert_eq!(read(&edited), root);
        }
    }

    #[test]
    fn removing_a_new_key_restores_the_bytes((root, source) in objects()) {
        prop_assume!(root != serde_json::json!({}));
        let there = set(&source, &["new"], text("x")).unwrap();
        prop_assert_eq!(set(&there, &["new"], None), Ok(source));
    }

    #[test]
    fn only_the_removed_key_is_gone((mut root, source) in objects(), key in "[a-e]") {
        let edited = set(&source, &[&key], None).unwrap();
        root.as_object_mut().unwrap().remove(&key);
        prop_assert_eq!(read(&edited), root);
    }

    #[test]
    fn only_the_addressed_element_changes((root, source) in lists(), at in 0_usize..5, key in "[a-e]") {
        let edited = set(&source, &[&key, &at.to_string()], text("new"));
        let mut expected = root.clone();
        let Some(element) = expected.get_mut(&key).and_then(|list| list.get_mut(at)) else {
            prop_assert_eq!(edited.is_ok(), root.get(&key).is_none());
            return Ok(());
        };
        *element = "new".into();
        prop_assert_eq!(read(&edited.unwrap()), expected.clone());
        expected[&key].as_array_mut().unwrap().remove(at);
        let removed = set(&source, &[&key, &at.to_string()], None).unwrap();
        prop_assert_eq!(read(&removed), expected);
    }

    #[test]
    fn removing_an_appended_element_restores_the_bytes((root, source) in lists(), key in "[a-e]") {
        let Some(list) = root.get(&key).and_then(serde_json::Value::as_array) else {
            return Ok(());
        };
        let there = set(&source, &[&key, "-"], text("new")).unwrap();
        prop_assert_eq!(read(&there)[&key].as_array().unwrap().len(), list.len() + 1);
        let back = set(&there, &[&key, &list.len().to_string()], None);
        prop_assert_eq!(back, Ok(source));
    }
}
