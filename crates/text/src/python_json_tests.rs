use proptest::prelude::*;

use super::*;

fn again(text: &str) -> String {
    parse(text).unwrap().to_line()
}

#[test]
fn numbers_that_were_read_keep_their_spelling() {
    for number in [
        "0",
        "-0.0",
        "1.0",
        "1.10",
        "1e3",
        "1.5E-4",
        "0.00001",
        "1e16",
        "123456789012345678901234567890",
        "-123456789012345678901234567890",
        "1.0e400",
        "-1e999",
        "NaN",
        "-Infinity",
        "0.1",
    ] {
        assert_eq!(again(number), number);
    }
    // Python has no other zero among whole numbers.
    assert_eq!(again("-0"), "0");
}

#[test]
fn new_numbers_are_written_as_python_writes_them() {
    for (number, written) in [
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (1e3, "1000.0"),
        (1.5e-4, "0.00015"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
        (5e-324, "5e-324"),
        (f64::NAN, "NaN"),
        (100_000.25, "100000.25"),
    ] {
        assert_eq!(Json::from(number).to_line(), written);
    }
}

#[test]
fn strings_are_ascii_with_escapes() {
    assert_eq!(
        again(r#""\u00e9 \ud83d\ude00 \/ \u007f é \n\t\b\f\r\"\\""#),
        r#""\u00e9 \ud83d\ude00 / \u007f \u00e9 \n\t\b\f\r\"\\""#
    );
}

#[test]
fn the_last_of_equal_keys_wins_at_the_position_of_the_first() {
    assert_eq!(again(r#"{"a":1,"b":2,"a":3}"#), r#"{"a": 3, "b": 2}"#);
}

#[test]
fn members_are_on_their_own_lines_and_empty_containers_on_one() {
    let value = parse(r#"{"a":[],"b":{},"c":[1,{"d":null}]}"#).unwrap();
    let expected = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": null\n    }\n  ]\n}";
    assert_eq!(value.to_lines(), expected);
}

#[test]
fn errors_have_the_position_that_python_gives() {
    for text in [
        "",
        " ",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "01",
        "1.",
        ".5",
        "+1",
        "\u{feff}{}",
        "{} x",
        "\"a\nb\"",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"abc",
        "nul",
        "'a'",
        "1 2",
        "\"\\u12\"",
        "\"\\u+123\"",
    ] {
        assert!(parse(text).is_err(), "{text:?}");
    }
    let error = parse("{\n  \"a\": é}").unwrap_err();
    assert_eq!((error.line, error.column), (2, 8));
    let deep = "[".repeat(100_000);
    assert_eq!(
        parse(&deep).unwrap_err().what,
        "values are nested too deeply"
    );
}

#[test]
fn truth_values_are_those_of_python() {
    for text in ["null", "false", "0", "0.0", "-0.0", "\"\"", "[]", "{}"] {
        assert!(!parse(text).unwrap().is_truthy(), "{text}");
    }
    for text in ["true", "1", "-1", "0.1", "NaN", "\"0\"", "[0]", "{\"a\":0}"] {
        assert!(parse(text).unwrap().is_truthy(), "{text}");
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".*") {
        let _either = parse(&text);
    }

    #[test]
    fn another_parser_reads_the_written_text_equally(value in any_json()) {
        let text = value.to_string();
        let ours = parse(&text).unwrap();
        for written in [ours.to_line(), ours.to_lines()] {
            prop_assert!(written.is_ascii());
            let back: serde_json::Value = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(&back, &serde_json::from_str::<serde_json::Value>(&text).unwrap());
            prop_assert_eq!(parse(&written).unwrap().to_line(), ours.to_line());
        }
    }
}

#[test]
fn errors_have_the_wording_of_python() {
    for (text, message) in [
        ("", "Expecting value: line 1 column 1 (char 0)"),
        ("{} x", "Extra data: line 1 column 4 (char 3)"),
        ("[1,]", "Expecting value: line 1 column 4 (char 3)"),
        ("[1 2]", "Expecting ',' delimiter: line 1 column 4 (char 3)"),
        (
            "{\"a\": 1 \"b\"}",
            "Expecting ',' delimiter: line 1 column 9 (char 8)",
        ),
        (
            "{\"a\" 1}",
            "Expecting ':' delimiter: line 1 column 6 (char 5)",
        ),
        (
            "{\"a\": 1,\n }",
            "Expecting property name enclosed in double quotes: line 2 column 2 (char 10)",
        ),
        (
            "{\n\"é\": \"x}",
            "Unterminated string starting at: line 2 column 6 (char 7)",
        ),
        (
            "[\"x\\",
            "Unterminated string starting at: line 1 column 2 (char 1)",
        ),
        (
            "[\"a\tb\"]",
            "Invalid control character at: line 1 column 4 (char 3)",
        ),
        ("[\"\\x\"]", "Invalid \\escape: line 1 column 3 (char 2)"),
        (
            "[\"\\u12\"]",
            "Invalid \\uXXXX escape: line 1 column 4 (char 3)",
        ),
        (
            "\u{feff}{}",
            "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)",
        ),
        ("[-]", "Expecting value: line 1 column 2 (char 1)"),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }
}
