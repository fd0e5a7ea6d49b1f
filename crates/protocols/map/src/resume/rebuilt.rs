//! A task plan made from what else is known: the state's subtasks and the blueprint.

use rekindle_text::python_json::{Json, Object};

use super::read::Workflow;
use crate::blueprint;
use crate::desk::{Desk, Document};
use crate::layout;
use crate::plan;
use crate::state::key;

/// Keys of the blueprint that stand in a plan, with their titles there.
const FIELDS: &[(&str, &str)] = &[
    ("expected_diff_size", "Expected Diff Size"),
    ("concern_type", "Concern Type"),
    ("one_logical_step", "One Logical Step"),
    ("aag_contract", "AAG Contract"),
    ("validation_criteria", "Validation Criteria"),
    ("dependencies", "Dependencies"),
];

/// Returns the text of a plan, or `None` where no subtask is known.
pub(super) fn plan(desk: Desk<'_>, workflow: &Workflow) -> Option<String> {
    let subtasks = blueprint::subtasks(desk).unwrap_or_default();
    let mut ids = workflow.state.texts(key::SEQUENCE).unwrap_or_default();
    if ids.is_empty() {
        ids = blueprint::ids(desk).unwrap_or_default();
    }
    ids.retain(|id| plan::is_id(id));
    if ids.is_empty() {
        return None;
    }
    let done = workflow.done();
    let summary = summary(desk);
    let goal = summary
        .as_deref()
        .unwrap_or("not recorded in state or blueprint");
    let mut text = format!("# Task Plan: {goal}\n\n## Overview\n- Goal: {goal}\n\n## Subtasks\n");
    for id in &ids {
        let subtask = subtasks
            .iter()
            .find(|subtask| subtask.text("id") == Some(id));
        let title = workflow.title(id).map(on_one_line).unwrap_or_default();
        let status = if done.contains(id) {
            "complete"
        } else if workflow.state.subtask() == Some(id) {
            "in_progress"
        } else {
            "pending"
        };
        text.push_str(format!("\n### {id}: {title}").trim_end());
        text.push_str(&format!("\n- **Status:** {status}\n"));
        for (field, name) in FIELDS {
            let value = subtask.and_then(|subtask| subtask.get(field));
            let value = value.filter(|value| **value != Json::Null);
            if let Some(value) = value.map(shown).filter(|value| !value.is_empty()) {
                text.push_str(&format!("- **{name}:** {value}\n"));
            }
        }
    }
    text.push_str(&format!(
        "\n## Notes\n- Written anew from {} and {}, because this file was missing.\n",
        layout::STATE,
        layout::BLUEPRINT
    ));
    Some(text)
}

fn summary(desk: Desk<'_>) -> Option<String> {
    let path = desk.branch.file(layout::BLUEPRINT);
    let Ok(Document::Value(value)) = desk.json(&path) else {
        return None;
    };
    let body: &Object = blueprint::body(&value).ok()?;
    let summary = body.text("summary").map(on_one_line)?;
    (!summary.is_empty()).then_some(summary)
}

/// Returns a value on one line, so that it can not look like another part of the plan.
fn shown(value: &Json) -> String {
    if let Some(text) = value.as_text() {
        return on_one_line(text);
    }
    let Some(items) = value.as_list() else {
        return value.to_line();
    };
    let texts: Vec<String> = items.iter().map(shown).collect();
    if texts.iter().all(|text| plan::is_id(text)) {
        format!("[{}]", texts.join(", "))
    } else {
        texts.join("; ")
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
