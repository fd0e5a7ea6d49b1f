//! `retry_quarantine.json`: what a clean retry may know about failed attempts.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};

use crate::desk::{Desk, Document};
use crate::manifest::{self, Stage};
use crate::reply::{Fault, Reply};
use crate::schema::{self, Checks};
use crate::{feedback, layout};

/// The required keys of an entry, in alphabetical order.
const REQUIRED: &str = "\
    do_not_repeat failed_attempt isolation_mode monitor_rejection_summary \
    preserved_constraints rejected_assumptions required_evidence retry_count \
    source_artifacts subtask_id";

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

/// Returns the path of the file and the effect that adds an entry.
///
/// An entry of the same subtask and retry is replaced. So is an unreadable file, as MAP does: the feedback
/// files have the same information.
pub(crate) fn add(
    desk: Desk<'_>,
    subtask: &str,
    count: i64,
    entry: Object,
) -> Result<(String, Option<Action>), Fault> {
    let path = desk.branch.file(layout::QUARANTINE);
    let mut entries = match desk.json(&path) {
        Ok(Document::Value(Json::Object(found))) => found.list("quarantines").to_vec(),
        Ok(Document::Value(_) | Document::Broken(_) | Document::Absent) | Err(_) => Vec::new(),
    };
    entries.retain(|entry| {
        !entry.as_object().is_some_and(|entry| {
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

/// `validate_retry_quarantine`: checks the file, and records a valid one in the manifest.
pub fn validate(desk: Desk<'_>, path: Option<&str>) -> Result<Reply, Fault> {
    let usual = desk.branch.file(layout::QUARANTINE);
    let path = path.filter(|path| !path.is_empty()).unwrap_or(&usual);
    let file = match schema::load(desk, path) {
        Ok(file) => file,
        Err(error) => {
            return Ok(Reply::of(schema::report(desk, path, vec![error], false)).failing());
        }
    };
    let errors = schema::errors(&file, "quarantines", check_entry);
    if !errors.is_empty() {
        return Ok(Reply::of(schema::report(desk, path, errors, true)).failing());
    }
    let count = file.list("quarantines").len();
    let stage = Stage {
        name: "retry_quarantine",
        status: "ready",
        artifacts: vec![(path.to_owned(), "retry-quarantine")],
        metadata: Object::new().with("quarantine_count", count),
    };
    let action = manifest::record(desk, stage)?;
    Ok(Reply::of(schema::report(desk, path, errors, true)).doing(action))
}

fn check_entry(entry: &Object, checks: &mut Checks<'_>) {
    checks.required(entry, REQUIRED);
    let texts = |key: &str| {
        let items = entry.get(key).and_then(Json::as_list)?;
        let are_texts = items.iter().all(|item| item.as_text().is_some());
        are_texts.then_some(items.len())
    };
    checks.texts(entry, "", &["subtask_id"]);
    let is_retry = matches!(entry.get("retry_count"), Some(Json::Int(count)) if *count >= 2);
    checks.check(is_retry, "retry_count must be an integer of at least 2");
    let is_clean = entry.text("isolation_mode") == Some("clean_retry");
    checks.check(is_clean, "isolation_mode must be clean_retry");
    checks.texts(entry, "", &["failed_attempt", "monitor_rejection_summary"]);
    for key in ["rejected_assumptions", "do_not_repeat"] {
        let rule = format!("{key} must be a list of strings");
        checks.check(texts(key).is_some(), &rule);
    }
    for key in ["preserved_constraints", "required_evidence"] {
        let rule = format!("{key} must be a non-empty list of strings");
        checks.check(texts(key).is_some_and(|count| count > 0), &rule);
    }
    let sources = entry.list("source_artifacts");
    if sources.is_empty() {
        checks.check(false, "source_artifacts must be a non-empty list");
        return;
    }
    for (index, source) in sources.iter().enumerate() {
        let name = format!("source_artifacts[{index}]");
        match source.as_object() {
            Some(source) => checks.texts(source, &format!("{name}."), &["path", "kind"]),
            None => checks.check(false, &format!("{name} must be an object")),
        }
    }
    for kind in ["step-state", "blueprint"] {
        let mut sources = entry.objects("source_artifacts");
        let has = sources.any(|source| source.text("kind") == Some(kind));
        checks.check(has, &format!("source_artifacts must name the {kind}"));
    }
}
