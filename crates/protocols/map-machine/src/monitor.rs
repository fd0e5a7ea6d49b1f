//! The monitor's answer: a JSON object with a verdict, possibly with text around it.

use rekindle_text::python_json::{self, Json, Object};
use rekindle_text::python_text::strip;

/// The required keys of the monitor's answer.
const REQUIRED: &[&str] = &["valid", "summary", "issues"];

/// Scripts look for these values of `envelope_error`, so they are MAP's own.
const EMPTY: &str = "Monitor envelope is empty (prose-only response or truncation)";
const CUT_OFF: &str = "Monitor response ends mid-sentence (no closing `}`/`]`) — likely truncated; re-prompt with 'emit ONLY the JSON object'";
const NO_OBJECT: &str = "Monitor response parsed but is not an object";

/// Parses the monitor's answer, or returns what is wrong with it.
pub(crate) fn object(answer: &str) -> Result<Object, String> {
    let answer = strip(answer);
    if answer.is_empty() {
        return Err(EMPTY.to_owned());
    }
    if !answer.ends_with(['}', ']']) {
        return Err(CUT_OFF.to_owned());
    }
    let value = python_json::parse(answer).or_else(|error| {
        // A fence or a sentence around the object is ignored.
        let inner = answer.find('{').zip(answer.rfind('}'));
        let inner = inner.and_then(|(start, end)| answer.get(start..=end));
        inner
            .and_then(|inner| python_json::parse(inner).ok())
            .ok_or_else(|| format!("Monitor response does not parse as JSON: {error}"))
    })?;
    if let Json::Object(object) = value {
        return Ok(object);
    }
    Err(NO_OBJECT.to_owned())
}

/// Parses an answer and checks that it is complete, whatever its verdict is.
pub fn envelope(answer: &str) -> Result<Object, String> {
    let object = object(answer)?;
    let missing = REQUIRED.iter().filter(|key| !object.has(key));
    let missing: Vec<String> = missing.map(|key| format!("'{key}'")).collect();
    if missing.is_empty() {
        return Ok(object);
    }
    let missing = missing.join(", ");
    Err(format!(
        "Monitor JSON missing required keys [{missing}] — likely truncated; re-prompt for complete envelope"
    ))
}

/// Checks that an answer itself calls a check flaky.
pub(crate) fn defers(answer: &str, kind: &str, check_id: &str) -> Result<(), String> {
    let object = object(answer)?;
    if object.get("valid") != Some(&Json::Bool(false)) {
        return Err("`valid` must be false: a flaky check has not passed".to_owned());
    }
    if object.list("failed_checks").is_empty() {
        return Err("`failed_checks` must name the failed checks".to_owned());
    }
    let Some(disposition) = object.object("disposition") else {
        return Err("it has no object `disposition`".to_owned());
    };
    let text = |key: &str| strip(disposition.text(key).unwrap_or_default()).to_owned();
    let (found_kind, found_check) = (text("kind").to_lowercase(), text("check_id"));
    if found_kind != kind {
        return Err(format!("its disposition is `{found_kind}`, not `{kind}`"));
    }
    if found_check != check_id {
        return Err(format!("it is about `{found_check}`, not `{check_id}`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_answer_is_refused() {
        let whole = r#"{"valid": true, "summary": "ok", "issues": []}"#;
        assert!(envelope(whole).is_ok());
        assert!(envelope(&format!("Here you are:\n```json\n{whole}\n```\n{{}}")).is_err());
        assert!(envelope(&format!("Here you are: {whole}")).is_ok());
        for broken in [
            "",
            " \n",
            "It is fine.",
            "[1]",
            "{",
            r#"{"valid": true, "summary": "ok"}"#,
            r#"{"valid": true, "summary": "ok", "issues": []} Done"#,
        ] {
            assert!(envelope(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_errors_about_an_answer_are_those_of_map() {
        let json = |what: &str| format!("Monitor response does not parse as JSON: {what}");
        let cases = [
            (" \n", EMPTY.to_owned()),
            ("It is fine.", CUT_OFF.to_owned()),
            ("[{}]", NO_OBJECT.to_owned()),
            (
                r#"{"valid": true}"#,
                "Monitor JSON missing required keys ['summary', 'issues'] — likely truncated; re-prompt for complete envelope".to_owned(),
            ),
            (
                r#"{"valid": 1, "a": "b"}}"#,
                json("Extra data: line 1 column 23 (char 22)"),
            ),
            ("{\n a}", json("Expecting property name enclosed in double quotes: line 2 column 2 (char 3)")),
        ];
        for (answer, expected) in cases {
            assert_eq!(envelope(answer), Err(expected), "{answer}");
        }
    }

    #[test]
    fn a_deferral_must_be_in_the_monitors_answer() {
        let answer = |valid: &str, failed: &str, kind: &str, check: &str| {
            format!(
                r#"{{"valid": {valid}, "failed_checks": {failed}, "disposition": {{"kind": "{kind}", "check_id": "{check}"}}}}"#
            )
        };
        let defers = |text: String| defers(&text, "flaky", "a");
        assert_eq!(
            defers(answer("false", r#"["x"]"#, " Flaky ", " a ")),
            Ok(())
        );
        for wrong in [
            answer("true", r#"["x"]"#, "flaky", "a"),
            answer("false", "[]", "flaky", "a"),
            answer("false", r#"["x"]"#, "other", "a"),
            answer("false", r#"["x"]"#, "flaky", "b"),
            r#"{"valid": false, "failed_checks": ["x"]}"#.to_owned(),
        ] {
            assert!(defers(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
