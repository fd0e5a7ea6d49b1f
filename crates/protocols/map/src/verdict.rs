//! The verdict of a monitor or a test gate.

use rekindle_map_machine::commands::defer::Outcome;
use rekindle_map_machine::commands::validate::REJECTING;
use rekindle_map_machine::monitor;
use rekindle_text::excerpt;
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::strip;

use crate::prompts;

/// The longest summary in a result.
const LONGEST_SUMMARY: usize = 500;

/// The verdict of a monitor or a test gate.
pub(crate) struct Verdict {
    pub(crate) text: String,
    object: Object,
    is_recommended: bool,
}

impl Verdict {
    /// Parses a verdict, or returns why it cannot be used.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        // The state machine rejects text after the closing brace, because it may be cut off.
        let text = unfenced(text).to_owned();
        let object = monitor::envelope(&text)?;
        if !matches!(object.get("valid"), Some(Json::Bool(_))) {
            return Err("`valid` is neither true nor false".to_owned());
        }
        let Some(is_recommended) = is_recommended(&object) else {
            let known = REJECTING.join(", ");
            return Err(format!(
                "`recommendation` is none of proceed, approve, {known}"
            ));
        };
        Ok(Self {
            text,
            object,
            is_recommended,
        })
    }

    /// Returns whether the work passes; a negative recommendation overrides `valid`.
    pub(crate) fn is_clean(&self) -> bool {
        self.object.is_true("valid") && self.is_recommended
    }

    pub(crate) fn wants_a_person(&self) -> bool {
        self.object.is_true("escalation_required")
    }

    /// Returns the problems, one a line; never empty, because the actor gets nothing else.
    pub(crate) fn feedback(&self) -> String {
        let mut lines = Vec::from_iter(Some(self.summary()).filter(|text| !text.is_empty()));
        let issues = match self.object.get("issues") {
            None | Some(Json::Null) => &[],
            Some(Json::List(issues)) => issues.as_slice(),
            Some(issue) => std::slice::from_ref(issue),
        };
        lines.extend(issues.iter().map(issue_line));
        if lines.is_empty() {
            let verdict = self.object.to_line();
            lines.push(format!("The verdict names no reason: {verdict}"));
        }
        let recommendation = self.object.text("recommendation");
        lines.extend(recommendation.map(|word| format!("Recommendation: {word}")));
        lines.join("\n")
    }

    pub(crate) fn summary(&self) -> String {
        let summary = self.object.get("summary");
        let summary = summary.filter(|summary| **summary != Json::Null);
        summary.map(Json::to_plain_text).unwrap_or_default()
    }

    pub(crate) fn outcome(&self) -> Outcome {
        Outcome {
            files: self
                .object
                .texts("files_changed")
                .map(str::to_owned)
                .collect(),
            summary: excerpt(&self.summary(), LONGEST_SUMMARY),
            commit: None,
        }
    }
}

/// Returns whether a verdict recommends acceptance; `None` for an unknown recommendation.
fn is_recommended(verdict: &Object) -> Option<bool> {
    let word = match verdict.get("recommendation") {
        None | Some(Json::Null) => return Some(true),
        Some(word) => strip(word.as_text()?).to_lowercase(),
    };
    match word.as_str() {
        "" | "proceed" | "approve" => Some(true),
        word => REJECTING.contains(&word).then_some(false),
    }
}

fn issue_line(issue: &Json) -> String {
    if let Some(text) = issue.as_text() {
        return prompts::bulleted(text);
    }
    let Some(issue) = issue.as_object() else {
        return format!("- {}", issue.to_line());
    };
    let severity = issue.text("severity").unwrap_or("issue");
    let keys = ["description", "message", "issue", "title"];
    let text = keys.iter().find_map(|key| issue.text(key));
    let text = text.map_or_else(|| issue.to_line(), str::to_owned);
    format!("- {severity}: {text}")
}

/// Returns a text without the code fence around it.
fn unfenced(text: &str) -> &str {
    let inner = || {
        let (_, inner) = strip(text).strip_prefix("```")?.split_once('\n')?;
        inner.strip_suffix("```")
    };
    inner().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_passes_rejects_or_cannot_be_used() {
        let with = |more: &str| format!(r#"{{"valid": true, "summary": "s", "issues": []{more}}}"#);
        let is_clean = |text: &str| Verdict::parse(text).map(|verdict| verdict.is_clean()).ok();
        for (text, expected) in [
            (with(""), Some(true)),
            (with(r#", "recommendation": null"#), Some(true)),
            (with(r#", "recommendation": " Approve""#), Some(true)),
            (with(r#", "recommendation": "block""#), Some(false)),
            (with(r#", "recommendation": "banana""#), None),
            (with(r#", "recommendation": ["block"]"#), None),
            (with("").replace("true", "false"), Some(false)),
            (with("").replace("true", "\"true\""), None),
            (format!("```json\n{}\n```\n", with("")), Some(true)),
            (
                format!("```\n{}\n```", with("").replace("true", "false")),
                Some(false),
            ),
            (format!("{} done", with("")), None),
        ] {
            assert_eq!(is_clean(&text), expected, "{text}");
        }
    }

    #[test]
    fn feedback_is_never_empty() {
        let feedback = |summary: &str, issues: &str| {
            let text = format!(r#"{{"valid": false, "summary": {summary}, "issues": {issues}}}"#);
            Verdict::parse(&text).map(|verdict| verdict.feedback())
        };
        for (summary, issues, expected) in [
            (r#""s""#, r#"["a"]"#, "s\n- a"),
            ("5", r#""all wrong""#, "5\n- all wrong"),
            ("null", r#"{"severity": "high", "title": "t"}"#, "- high: t"),
            (
                r#""""#,
                "[]",
                r#"The verdict names no reason: {"valid": false, "summary": "", "issues": []}"#,
            ),
        ] {
            assert_eq!(feedback(summary, issues), Ok(expected.to_owned()));
        }
    }
}
