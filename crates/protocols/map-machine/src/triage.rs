//! `flaky_test_triage.json`: evidence from repeated runs that a check is flaky.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};

use crate::desk::Desk;
use crate::layout;
use crate::manifest::{self, Stage};
use crate::reply::Fault;
use crate::schema::{self, Checks};

/// The required `monitor_verdict_policy` of an entry.
pub(crate) const POLICY: &str = "not_valid_without_explicit_triage";

const REQUIRED: &str = "\
    check_id command reason run_count pass_count fail_count outcome_sequence disposition \
    recommended_next_action monitor_verdict_policy operator_requirements evidence";
/// The results of repeated runs; the first that an entry has names the stage.
const DISPOSITIONS: [&str; 4] = [
    "deferred_nondeterministic",
    "deterministic_failure",
    "insufficient_evidence",
    "not_reproduced",
];

/// A checked triage.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub(crate) path: String,
    pub(crate) report: Object,
    pub(crate) entries: Vec<Json>,
    /// The record of a valid triage in the manifest.
    pub(crate) action: Option<Action>,
}

/// Checks the triage at a path, or at the usual one.
pub(crate) fn validate(desk: Desk<'_>, path: &str) -> Result<Checked, Fault> {
    let path = match path {
        "" => desk.branch.file(layout::TRIAGE),
        path => path.to_owned(),
    };
    let file = schema::load(desk, &path);
    let is_read = file.is_ok();
    let (entries, errors) = match file {
        Ok(file) => {
            let errors = schema::errors(&file, "triages", check_entry);
            (file.list("triages").to_vec(), errors)
        }
        Err(error) => (Vec::new(), vec![error]),
    };
    let action = if errors.is_empty() {
        recorded(desk, &path, &entries)?
    } else {
        None
    };
    let report = schema::report(desk, &path, errors, is_read);
    Ok(Checked {
        path,
        report,
        entries,
        action,
    })
}

fn recorded(desk: Desk<'_>, path: &str, entries: &[Json]) -> Result<Option<Action>, Fault> {
    let count = |disposition: &str| {
        let entries = entries.iter().filter_map(Json::as_object);
        let matching = entries.filter(|entry| entry.text("disposition") == Some(disposition));
        matching.count()
    };
    let [deferred, deterministic, insufficient, not_reproduced] = DISPOSITIONS.map(count);
    let mut named = DISPOSITIONS[..3].iter();
    let named = named.find(|disposition| count(disposition) > 0);
    let stage = Stage {
        name: "flaky_test_triage",
        status: named.copied().unwrap_or("ready"),
        artifacts: vec![(path.to_owned(), "flaky-test-triage")],
        metadata: Object::new()
            .with("triage_count", entries.len())
            .with("deferred_count", deferred)
            .with("deterministic_failure_count", deterministic)
            .with("not_reproduced_count", not_reproduced)
            .with("insufficient_evidence_count", insufficient),
    };
    manifest::record(desk, stage)
}

fn int(entry: &Object, key: &str) -> Option<i64> {
    match entry.get(key) {
        Some(Json::Int(number)) => Some(*number),
        Some(_) | None => None,
    }
}

fn check_entry(entry: &Object, checks: &mut Checks<'_>) {
    checks.required(entry, REQUIRED);
    checks.texts(entry, "", &["check_id"]);
    checks.check(entry.text("command").is_some(), "command must be a string");
    checks.texts(entry, "", &["reason"]);
    let counts = ["run_count", "pass_count", "fail_count"];
    for key in counts {
        let is_count = int(entry, key).is_some_and(|count| count >= 0);
        checks.check(is_count, &format!("{key} must be an integer of at least 0"));
    }
    let [runs, passed, failed] = counts.map(|key| int(entry, key));
    let has_runs = runs.is_none_or(|runs| runs >= 1);
    checks.check(has_runs, "run_count must be at least 1");
    let outcomes = entry.list("outcome_sequence");
    let is_outcome = |outcome: &Json| outcome.is_text("passed") || outcome.is_text("failed");
    let rule = "outcome_sequence must be a non-empty list";
    checks.check(!outcomes.is_empty(), rule);
    let rule = "outcome_sequence must have passed and failed only";
    checks.check(outcomes.iter().all(is_outcome), rule);
    let disposition = entry.text("disposition").unwrap_or_default();
    let is_known = DISPOSITIONS.contains(&disposition);
    checks.check(is_known, "disposition is unknown");
    let has_policy = entry.text("monitor_verdict_policy") == Some(POLICY);
    let rule = format!("monitor_verdict_policy must be {POLICY}");
    checks.check(has_policy, &rule);
    let requirements = entry.get("operator_requirements").and_then(Json::as_list);
    let are_texts = |items: &[Json]| items.iter().all(|item| item.as_text().is_some());
    let rule = "operator_requirements must be a list of strings";
    checks.check(requirements.is_some_and(are_texts), rule);
    let evidence = entry.list("evidence");
    checks.check(!evidence.is_empty(), "evidence must be a non-empty list");
    for (index, run) in evidence.iter().enumerate() {
        check_run(run, &format!("evidence[{index}]"), checks);
    }
    if let Some(runs) = runs {
        for (key, items) in [("outcome_sequence", outcomes), ("evidence", evidence)] {
            let holds = i64::try_from(items.len()).ok() == Some(runs);
            checks.check(holds, &format!("{key} must have one item for each run"));
        }
    }
    if let (Some(runs), Some(passed), Some(failed)) = (runs, passed, failed) {
        let adds_up = passed.checked_add(failed) == Some(runs);
        let rule = "pass_count and fail_count must add up to run_count";
        checks.check(adds_up, rule);
    }
    check_disposition(disposition, [runs, passed, failed], checks);
}

fn check_run(run: &Json, name: &str, checks: &mut Checks<'_>) {
    let Some(run) = run.as_object() else {
        checks.check(false, &format!("{name} must be an object"));
        return;
    };
    let is_duration = match run.get("duration_seconds") {
        None => true,
        Some(Json::Int(seconds)) => *seconds >= 0,
        Some(Json::LargeInt(digits)) => !digits.starts_with('-'),
        // As in Python, NaN is not below zero.
        Some(Json::Float(seconds)) => seconds.value().is_nan() || seconds.value() >= 0.0,
        Some(Json::Null | Json::Bool(_) | Json::Text(_) | Json::List(_) | Json::Object(_)) => false,
    };
    let is_number = int(run, "run").is_some_and(|number| number >= 1);
    let is_outcome = matches!(run.text("status"), Some("passed" | "failed"));
    let has_exit = int(run, "exit_code").is_some();
    let is_flag = matches!(run.get("timed_out"), None | Some(Json::Bool(_)));
    let is_tail = |key| run.get(key).is_none_or(|tail| tail.as_text().is_some());
    for (holds, rule) in [
        (is_number, "run must be an integer of at least 1"),
        (is_outcome, "status must be passed or failed"),
        (has_exit, "exit_code must be an integer"),
        (run.text("summary").is_some(), "summary must be a string"),
        (is_flag, "timed_out must be true or false"),
        (is_duration, "duration_seconds must be at least 0"),
        (is_tail("stdout_tail"), "stdout_tail must be a string"),
        (is_tail("stderr_tail"), "stderr_tail must be a string"),
    ] {
        checks.check(holds, &format!("{name}.{rule}"));
    }
}

fn check_disposition(disposition: &str, counts: [Option<i64>; 3], checks: &mut Checks<'_>) {
    let [runs, passed, failed] = counts;
    let (holds, rule) = match disposition {
        "deferred_nondeterministic" => {
            let both = passed.zip(failed);
            let holds = both.is_none_or(|(passed, failed)| passed >= 1 && failed >= 1);
            (
                holds,
                "deferred_nondeterministic needs a pass and a failure",
            )
        }
        "deterministic_failure" => {
            let holds = failed.zip(runs).is_none_or(|(failed, runs)| failed == runs);
            (holds, "deterministic_failure needs every run to fail")
        }
        "not_reproduced" => {
            let holds = passed.zip(runs).is_none_or(|(passed, runs)| passed == runs);
            (holds, "not_reproduced needs every run to pass")
        }
        "insufficient_evidence" => {
            let holds = runs.is_none_or(|runs| runs < 2);
            (holds, "insufficient_evidence needs fewer than two runs")
        }
        _ => return,
    };
    checks.check(holds, rule);
}
