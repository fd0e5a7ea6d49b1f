use serde_json::{Value, json};

use super::*;

const PATH: [&str; 2] = ["servers", "ours"];
const OURS: &str = r#"{"command": "ours"}"#;

fn set(source: Option<&str>) -> String {
    set_json_member(source, &PATH, OURS).unwrap()
}

#[test]
fn a_created_text_is_removed_completely() {
    let made = set(None);
    assert_eq!(
        made,
        "{\n  \"servers\": {\n    \"ours\": {\"command\": \"ours\"}\n  }\n}\n"
    );
    assert_eq!(set(Some(&made)), made);
    assert_eq!(remove_json_member(&made, &PATH).unwrap(), None);
}

#[test]
fn removal_restores_the_source_byte_for_byte() {
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
        let body = split_bom(&with).1;
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
fn only_the_value_is_replaced() {
    let source = "{\"servers\": { \"ours\" : [ 1 ] , \"b\": 2}}";
    assert_eq!(
        set(Some(source)),
        "{\"servers\": { \"ours\" : {\"command\": \"ours\"} , \"b\": 2}}"
    );
}

#[test]
fn a_value_that_is_not_an_object_is_refused() {
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
