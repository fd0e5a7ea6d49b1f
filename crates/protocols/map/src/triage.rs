//! `flaky_test_triage.json`: evidence from repeated runs that a check fails now and then.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};

use super::desk::{Desk, Document};
use super::fault::Fault;
use super::layout;
use super::manifest::{self, Stage};

/// What an entry must say about how a monitor takes it.
pub(crate) const POLICY: &str = "not_valid_without_explicit_triage";

const REQUIRED: &[&str] = &[
    "check_id",
    "command",
    "reason",
    "run_count",
    "pass_count",
    "fail_count",
    "outcome_sequence",
    "disposition",
    "recommended_next_action",
    "monitor_verdict_policy",
    "operator_requirements",
    "evidence",
];
/// What repeated runs can show; the first that an entry has names the stage.
const DISPOSITIONS: &[&str] = &[
    "deferred_nondeterministic",
    "deterministic_failure",
    "insufficient_evidence",
    "not_reproduced",
];

/// A triage that was looked at.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub(crate) path: String,
    pub(crate) report: Object,
    pub(crate) entries: Vec<Json>,
    /// The record in the manifest, for a triage that holds.
    pub(crate) action: Option<Action>,
}

/// Checks the triage at a path, or at the usual one.
pub(crate) fn validate(desk: Desk<'_>, path: &str) -> Result<Checked, Fault> {
    let path = if path.is_empty() {
        desk.branch.file(layout::TRIAGE)
    } else {
        path.to_owned()
    };
    let broken = |error: String| {
        let report = Object::new()
            .with("status", "error")
            .with("valid", false)
            .with("path", &path)
            .with("errors", vec![error])
            .with("warnings", Vec::<Json>::new());
        Ok(Checked {
            path: path.clone(),
            report,
            entries: Vec::new(),
            action: None,
        })
    };
    let file = match desk.json(&path) {
        Ok(Document::Value(Json::Object(file))) => file,
        Ok(Document::Value(other)) => {
            return broken(format!("{path} holds {}, not an object", other.kind()));
        }
        Ok(Document::Broken(reason)) => return broken(format!("{path} is no JSON: {reason}")),
        Ok(Document::Absent) => return broken(format!("{path} is not there")),
        Err(Fault(reason)) => return broken(reason),
    };
    let mut errors = Vec::new();
    if file.text("schema_version") != Some("1.0") {
        errors.push("schema_version must be 1.0".to_owned());
    }
    if file.text("branch").unwrap_or_default().is_empty() {
        errors.push("branch must be a text that is not empty".to_owned());
    }
    let entries = file
        .get("triages")
        .and_then(Json::as_list)
        .unwrap_or_default();
    if entries.is_empty() {
        errors.push("triages must be a list that is not empty".to_owned());
    }
    for (index, entry) in entries.iter().enumerate() {
        check_entry(entry, &format!("triages[{index}]"), &mut errors);
    }
    let is_valid = errors.is_empty();
    let action = if is_valid {
        recorded(desk, &path, entries)?
    } else {
        None
    };
    let report = Object::new()
        .with("status", if is_valid { "success" } else { "error" })
        .with("valid", is_valid)
        .with("path", &path)
        .with("manifest_path", manifest::path(desk))
        .with("errors", errors)
        .with("warnings", Vec::<Json>::new());
    Ok(Checked {
        path,
        report,
        entries: entries.to_vec(),
        action,
    })
}

fn recorded(desk: Desk<'_>, path: &str, entries: &[Json]) -> Result<Option<Action>, Fault> {
    let count = |disposition: &str| {
        let says = |entry: &&Json| {
            entry.as_object().and_then(|it| it.text("disposition")) == Some(disposition)
        };
        entries.iter().filter(says).count()
    };
    let named = DISPOSITIONS[..3]
        .iter()
        .find(|disposition| count(disposition) > 0);
    let stage = Stage {
        name: "flaky_test_triage",
        status: named.copied().unwrap_or("ready"),
        artifacts: vec![(path.to_owned(), "flaky-test-triage")],
        metadata: Object::new()
            .with("triage_count", entries.len())
            .with("deferred_count", count("deferred_nondeterministic"))
            .with(
                "deterministic_failure_count",
                count("deterministic_failure"),
            )
            .with("not_reproduced_count", count("not_reproduced"))
            .with(
                "insufficient_evidence_count",
                count("insufficient_evidence"),
            ),
    };
    manifest::record(desk, stage)
}

fn int(entry: &Object, key: &str) -> Option<i64> {
    match entry.get(key) {
        Some(Json::Int(number)) => Some(*number),
        Some(_) | None => None,
    }
}

fn check_entry(entry: &Json, name: &str, errors: &mut Vec<String>) {
    let Some(entry) = entry.as_object() else {
        errors.push(format!("{name} must be an object"));
        return;
    };
    let missing = REQUIRED.iter().filter(|key| !entry.has(key));
    errors.extend(missing.map(|key| format!("{name}.{key} is required")));
    let mut check = |holds: bool, rule: &str| {
        if !holds {
            errors.push(format!("{name}.{rule}"));
        }
    };
    let has_text = |key: &str| !entry.text(key).unwrap_or_default().is_empty();
    check(
        has_text("check_id"),
        "check_id must be a text that is not empty",
    );
    check(entry.text("command").is_some(), "command must be a text");
    check(
        has_text("reason"),
        "reason must be a text that is not empty",
    );
    let counts = ["run_count", "pass_count", "fail_count"];
    for key in counts {
        let is_count = int(entry, key).is_some_and(|count| count >= 0);
        check(is_count, &format!("{key} must be a whole number from 0"));
    }
    let [runs, passed, failed] = counts.map(|key| int(entry, key));
    check(
        runs.is_none_or(|runs| runs >= 1),
        "run_count must be at least 1",
    );
    let outcomes = entry.get("outcome_sequence").and_then(Json::as_list);
    let outcomes = outcomes.unwrap_or_default();
    let is_outcome = |outcome: &Json| outcome.is_text("passed") || outcome.is_text("failed");
    check(
        !outcomes.is_empty(),
        "outcome_sequence must be a list that is not empty",
    );
    check(
        outcomes.iter().all(is_outcome),
        "outcome_sequence must say passed or failed",
    );
    let disposition = entry.text("disposition").unwrap_or_default();
    check(
        DISPOSITIONS.contains(&disposition),
        "disposition is not known",
    );
    let has_policy = entry.text("monitor_verdict_policy") == Some(POLICY);
    check(
        has_policy,
        &format!("monitor_verdict_policy must be {POLICY}"),
    );
    let requirements = entry.get("operator_requirements").and_then(Json::as_list);
    let are_texts = |items: &[Json]| items.iter().all(|item| item.as_text().is_some());
    check(
        requirements.is_some_and(are_texts),
        "operator_requirements must be a list of texts",
    );
    let evidence = entry
        .get("evidence")
        .and_then(Json::as_list)
        .unwrap_or_default();
    check(
        !evidence.is_empty(),
        "evidence must be a list that is not empty",
    );
    for (index, run) in evidence.iter().enumerate() {
        check_run(run, &format!("evidence[{index}]"), &mut check);
    }
    let length = |items: &[Json]| i64::try_from(items.len()).ok();
    if let Some(runs) = runs {
        check(
            length(outcomes) == Some(runs),
            "outcome_sequence must have one for each run",
        );
        check(
            length(evidence) == Some(runs),
            "evidence must have one for each run",
        );
    }
    if let (Some(runs), Some(passed), Some(failed)) = (runs, passed, failed) {
        let adds_up = passed.checked_add(failed) == Some(runs);
        check(
            adds_up,
            "pass_count and fail_count must add up to run_count",
        );
    }
    check_disposition(disposition, [runs, passed, failed], &mut check);
}

fn check_run(run: &Json, name: &str, check: &mut impl FnMut(bool, &str)) {
    let Some(run) = run.as_object() else {
        check(false, &format!("{name} must be an object"));
        return;
    };
    let is_number = int(run, "run").is_some_and(|number| number >= 1);
    check(
        is_number,
        &format!("{name}.run must be a whole number from 1"),
    );
    let is_outcome = matches!(run.text("status"), Some("passed" | "failed"));
    check(
        is_outcome,
        &format!("{name}.status must be passed or failed"),
    );
    check(
        int(run, "exit_code").is_some(),
        &format!("{name}.exit_code must be a whole number"),
    );
    check(
        run.text("summary").is_some(),
        &format!("{name}.summary must be a text"),
    );
    let is_flag = matches!(run.get("timed_out"), None | Some(Json::Bool(_)));
    check(is_flag, &format!("{name}.timed_out must be true or false"));
    let is_duration = match run.get("duration_seconds") {
        None => true,
        Some(Json::Int(seconds)) => *seconds >= 0,
        Some(Json::LargeInt(digits)) => !digits.starts_with('-'),
        // What is no number at all is not below zero, in the peer's comparison.
        Some(Json::Float(seconds)) => seconds.value().is_nan() || seconds.value() >= 0.0,
        Some(Json::Null | Json::Bool(_) | Json::Text(_) | Json::List(_) | Json::Object(_)) => false,
    };
    check(
        is_duration,
        &format!("{name}.duration_seconds must be a number from 0"),
    );
    for key in ["stdout_tail", "stderr_tail"] {
        let is_text = run.get(key).is_none_or(|tail| tail.as_text().is_some());
        check(is_text, &format!("{name}.{key} must be a text"));
    }
}

fn check_disposition(
    disposition: &str,
    counts: [Option<i64>; 3],
    check: &mut impl FnMut(bool, &str),
) {
    let [runs, passed, failed] = counts;
    match disposition {
        "deferred_nondeterministic" => {
            if let (Some(passed), Some(failed)) = (passed, failed) {
                let is_mixed = passed >= 1 && failed >= 1;
                check(
                    is_mixed,
                    "deferred_nondeterministic needs a pass and a failure",
                );
            }
        }
        "deterministic_failure" if runs.is_some() && failed.is_some() => {
            check(
                failed == runs,
                "deterministic_failure needs every run to fail",
            );
        }
        "not_reproduced" if runs.is_some() && passed.is_some() => {
            check(passed == runs, "not_reproduced needs every run to pass");
        }
        "insufficient_evidence" => {
            check(
                runs.is_none_or(|runs| runs < 2),
                "insufficient_evidence needs fewer than two runs",
            );
        }
        _ => {}
    }
}
