//! YAML, which is read into typed values and never written.

use serde::de::DeserializeOwned;

/// Why a text was not read as YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not the expected YAML: {0}")]
pub struct YamlError(String);

/// Reads one YAML document; duplicate keys and too many aliases or levels are refused.
pub fn parse_yaml<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| YamlError(error.to_string().replace('\n', " ")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn parse(text: &str) -> Result<Value, YamlError> {
        parse_yaml(text)
    }

    #[test]
    fn values_have_their_types() {
        let text = "name: x # comment\nlist: [1, a, true]\nnested:\n  - k: 'v: w'\nblock: |\n  a\n  b\nempty:\n";
        let expected = json!({"name": "x", "list": [1, "a", true], "nested": [{"k": "v: w"}],
            "block": "a\nb\n", "empty": null});
        assert_eq!(parse(text), Ok(expected));
        assert_eq!(
            parse_yaml::<Vec<String>>("- a\r\n- \"b\"\r\n"),
            Ok(vec!["a".into(), "b".into()])
        );
    }

    #[test]
    fn invalid_texts_are_refused_in_one_line() {
        let nested = "[".repeat(100_000);
        let aliases = format!("a: &a [x]\nb: [{}]", "*a,".repeat(200_000));
        for text in [
            "a: 1\na: 2",
            "a: [",
            "a: *x",
            "--- 1\n--- 2",
            &nested,
            &aliases,
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(
                error.starts_with("it is not the expected YAML: "),
                "{error}"
            );
            assert!(!error.contains('\n'), "{error}");
        }
        assert!(parse_yaml::<Vec<u8>>("a: 1").is_err());
    }

    proptest! {
        #[test]
        fn no_text_causes_a_panic(text in any::<String>(), near in "([-a:&*\\[\\]{}|>#'\"!? \n\t]|- |: ){0,40}") {
            for text in [text, near] {
                parse(&text).ok();
            }
        }
    }
}
