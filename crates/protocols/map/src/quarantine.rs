//! `retry_quarantine.json`: what a clean retry may know of the attempts that failed.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};

use super::desk::{Desk, Document};
use super::fault::Fault;
use super::feedback;
use super::layout;
use super::manifest::{self, Stage};
use super::reply::Reply;

/// What every entry must have, in the order of the alphabet.
const REQUIRED: &[&str] = &[
    "do_not_repeat",
    "failed_attempt",
    "isolation_mode",
    "monitor_rejection_summary",
    "preserved_constraints",
    "rejected_assumptions",
    "required_evidence",
    "retry_count",
    "source_artifacts",
    "subtask_id",
];

/// Returns the entry of a failed attempt.
pub(crate) fn entry(
    desk: Desk<'_>,
    subtask: &str,
    count: i64,
    feedback_file: Option<&str>,
    said: &str,
) -> Object {
    let summary = match feedback::shortened(said) {
        none if none.is_empty() => "The monitor gave no reason.".to_owned(),
        summary => summary,
    };
    let source = |path: String, kind: &str| Object::new().with("path", path).with("kind", kind);
    let mut sources = vec![
        source(desk.branch.file(layout::STATE), "step-state"),
        source(desk.branch.file(layout::BLUEPRINT), "blueprint"),
        source(desk.branch.plan(), "task-plan"),
    ];
    sources.extend(feedback_file.map(|path| source(path.to_owned(), "monitor-feedback")));
    Object::new()
        .with("subtask_id", subtask)
        .with("retry_count", count)
        .with("isolation_mode", "clean_retry")
        .with("failed_attempt", format!("retry_{count}"))
        .with("monitor_rejection_summary", &summary)
        .with("rejected_assumptions", Vec::<Json>::new())
        .with("do_not_repeat", vec![summary])
        .with(
            "preserved_constraints",
            vec!["The blueprint's hard constraints, coverage tags, validation criteria and file boundaries still hold."],
        )
        .with(
            "required_evidence",
            vec![
                "The subtask's contract in blueprint.json was read before the first edit.",
                "The approach differs from the rejected ones that are summarized above.",
                "Checks of this subtask pass, or the blocker is named, before the monitor looks again.",
            ],
        )
        .with("source_artifacts", sources)
}

/// Returns the path of the file and the effect that puts an entry last in it.
///
/// An entry of the same subtask and retry is replaced. A file that can not be read is replaced too,
/// as the peer does: all that it says stands in the feedback files as well.
pub(crate) fn add(
    desk: Desk<'_>,
    subtask: &str,
    count: i64,
    entry: Object,
) -> Result<(String, Option<Action>), Fault> {
    let path = desk.branch.file(layout::QUARANTINE);
    let found = match desk.json(&path) {
        Ok(Document::Value(Json::Object(mut found))) => found.remove("quarantines"),
        Ok(Document::Value(_) | Document::Broken(_) | Document::Absent) | Err(_) => None,
    };
    let mut entries = match found {
        Some(Json::List(entries)) => entries,
        Some(_) | None => Vec::new(),
    };
    entries.retain(|entry| {
        let entry = entry.as_object();
        !entry.is_some_and(|entry| {
            entry.text("subtask_id") == Some(subtask)
                && entry.get("retry_count") == Some(&Json::Int(count))
        })
    });
    entries.push(entry.into());
    let file = Object::new()
        .with("schema_version", "1.0")
        .with("branch", desk.branch.as_str())
        .with("updated_at", desk.stamp())
        .with("quarantines", entries);
    let action = desk.written(&path, file.to_lines())?;
    Ok((path, action))
}

/// `validate_retry_quarantine`: checks the file, and records it in the manifest if it holds.
pub(crate) fn validate(desk: Desk<'_>, path: Option<&str>) -> Result<Reply, Fault> {
    let usual = desk.branch.file(layout::QUARANTINE);
    let path = path.filter(|path| !path.is_empty()).unwrap_or(&usual);
    let file = match desk.json(path) {
        Ok(Document::Value(Json::Object(file))) => file,
        Ok(Document::Value(other)) => {
            return Ok(unreadable(
                path,
                format!("{path} holds {}, not an object", other.kind()),
            ));
        }
        Ok(Document::Broken(reason)) => {
            return Ok(unreadable(path, format!("{path} is no JSON: {reason}")));
        }
        Ok(Document::Absent) => return Ok(unreadable(path, format!("{path} is not there"))),
        Err(Fault(reason)) => return Ok(unreadable(path, reason)),
    };
    let errors = errors(&file);
    let is_valid = errors.is_empty();
    let mut action = None;
    if is_valid {
        let count = file.get("quarantines").and_then(Json::as_list);
        let count = count.unwrap_or_default().len();
        let stage = Stage {
            name: "retry_quarantine",
            status: "ready",
            artifacts: vec![(path.to_owned(), "retry-quarantine")],
            metadata: Object::new().with("quarantine_count", count),
        };
        action = manifest::record(desk, stage)?;
    }
    let answer = Object::new()
        .with("status", if is_valid { "success" } else { "error" })
        .with("valid", is_valid)
        .with("path", path)
        .with("manifest_path", manifest::path(desk))
        .with("errors", errors)
        .with("warnings", Vec::<Json>::new());
    let reply = Reply::of(answer).doing(action);
    Ok(if is_valid { reply } else { reply.failing() })
}

/// Returns the answer for a file that can not be looked into.
pub(crate) fn unreadable(path: &str, error: String) -> Reply {
    let answer = Object::new()
        .with("status", "error")
        .with("valid", false)
        .with("path", path)
        .with("errors", vec![error])
        .with("warnings", Vec::<Json>::new());
    Reply::of(answer).failing()
}

fn errors(file: &Object) -> Vec<String> {
    let mut errors = Vec::new();
    if file.text("schema_version") != Some("1.0") {
        errors.push("schema_version must be 1.0".to_owned());
    }
    if file.text("branch").unwrap_or_default().is_empty() {
        errors.push("branch must be a text that is not empty".to_owned());
    }
    let entries = file.get("quarantines").and_then(Json::as_list);
    let entries = entries.unwrap_or_default();
    if entries.is_empty() {
        errors.push("quarantines must be a list that is not empty".to_owned());
    }
    for (index, entry) in entries.iter().enumerate() {
        check_entry(entry, &format!("quarantines[{index}]"), &mut errors);
    }
    errors
}

fn check_entry(entry: &Json, name: &str, errors: &mut Vec<String>) {
    let Some(entry) = entry.as_object() else {
        errors.push(format!("{name} must be an object"));
        return;
    };
    let missing = REQUIRED.iter().filter(|key| !entry.has(key));
    errors.extend(missing.map(|key| format!("{name}.{key} is required")));
    let has_text = |key: &str| !entry.text(key).unwrap_or_default().is_empty();
    let texts = |key: &str| {
        let items = entry.get(key).and_then(Json::as_list)?;
        let are_texts = items.iter().all(|item| item.as_text().is_some());
        are_texts.then_some(items.len())
    };
    let mut check = |holds: bool, rule: &str| {
        if !holds {
            errors.push(format!("{name}.{rule}"));
        }
    };
    check(
        has_text("subtask_id"),
        "subtask_id must be a text that is not empty",
    );
    let is_retry = matches!(entry.get("retry_count"), Some(Json::Int(count)) if *count >= 2);
    check(is_retry, "retry_count must be a whole number from 2");
    let is_clean = entry.text("isolation_mode") == Some("clean_retry");
    check(is_clean, "isolation_mode must be clean_retry");
    check(
        has_text("failed_attempt"),
        "failed_attempt must not be empty",
    );
    let key = "monitor_rejection_summary";
    check(has_text(key), &format!("{key} must not be empty"));
    for key in ["rejected_assumptions", "do_not_repeat"] {
        check(
            texts(key).is_some(),
            &format!("{key} must be a list of texts"),
        );
    }
    for key in ["preserved_constraints", "required_evidence"] {
        let holds = texts(key).is_some_and(|count| count > 0);
        check(
            holds,
            &format!("{key} must be a list of texts that is not empty"),
        );
    }
    let sources = entry.get("source_artifacts").and_then(Json::as_list);
    let sources = sources.unwrap_or_default();
    if sources.is_empty() {
        check(false, "source_artifacts must be a list that is not empty");
        return;
    }
    for (index, source) in sources.iter().enumerate() {
        let Some(source) = source.as_object() else {
            check(
                false,
                &format!("source_artifacts[{index}] must be an object"),
            );
            continue;
        };
        for key in ["path", "kind"] {
            let holds = !source.text(key).unwrap_or_default().is_empty();
            check(
                holds,
                &format!("source_artifacts[{index}].{key} must be a text that is not empty"),
            );
        }
    }
    for kind in ["step-state", "blueprint"] {
        let has = |source: &Json| source.as_object().and_then(|it| it.text("kind")) == Some(kind);
        check(
            sources.iter().any(has),
            &format!("source_artifacts must name the {kind}"),
        );
    }
}
