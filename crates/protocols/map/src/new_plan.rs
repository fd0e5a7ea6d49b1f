//! A task plan rebuilt from the subtasks of the state and the blueprint.

use rekindle_map_machine::desk::Document;
use rekindle_map_machine::task_plan::is_id;
use rekindle_map_machine::{Desk, blueprint, layout};
use rekindle_text::python_json::Json;

use crate::messages::one_line;
use crate::read::Workflow;

/// Keys of the blueprint that a plan shows, with their titles.
const FIELDS: &[(&str, &str)] = &[
    ("expected_diff_size", "Expected Diff Size"),
    ("concern_type", "Concern Type"),
    ("one_logical_step", "One Logical Step"),
    ("aag_contract", "AAG Contract"),
    ("validation_criteria", "Validation Criteria"),
    ("dependencies", "Dependencies"),
];

/// Returns the text of a plan, or `None` if no subtask is known.
pub(crate) fn plan(desk: Desk<'_>, workflow: &Workflow) -> Option<String> {
    let subtasks = blueprint::subtasks(desk).unwrap_or_default();
    let mut ids = workflow.sequence();
    if ids.is_empty() {
        ids = blueprint::ids(desk).unwrap_or_default();
    }
    ids.retain(|id| is_id(id));
    if ids.is_empty() {
        return None;
    }
    let done = workflow.done();
    let goal = summary(desk);
    let goal = goal.unwrap_or_else(|| "not recorded in state or blueprint".to_owned());
    let mut text = format!("# Task Plan: {goal}\n\n## Overview\n- Goal: {goal}\n\n## Subtasks\n");
    for id in &ids {
        let title = workflow.title(id).map(one_line).unwrap_or_default();
        let status = if done.contains(id) {
            "complete"
        } else if workflow.state.subtask() == Some(id) {
            "in_progress"
        } else {
            "pending"
        };
        text.push_str(format!("\n### {id}: {title}").trim_end());
        text.push_str(&format!("\n- **Status:** {status}\n"));
        let mut subtasks = subtasks.iter();
        let subtask = subtasks.find(|subtask| subtask.text("id") == Some(id));
        for (field, name) in FIELDS {
            let value = subtask.and_then(|subtask| subtask.get(field));
            let value = value.filter(|value| **value != Json::Null);
            if let Some(value) = value.map(shown).filter(|value| !value.is_empty()) {
                text.push_str(&format!("- **{name}:** {value}\n"));
            }
        }
    }
    let (state, blueprint) = (layout::STATE, layout::BLUEPRINT);
    text.push_str(&format!(
        "\n## Notes\n- Rebuilt from {state} and {blueprint}, because this file was missing.\n"
    ));
    Some(text)
}

fn summary(desk: Desk<'_>) -> Option<String> {
    let Ok(Document::Value(value)) = desk.json(&desk.branch.file(layout::BLUEPRINT)) else {
        return None;
    };
    let summary = one_line(blueprint::body(&value).ok()?.text("summary")?);
    Some(summary).filter(|summary| !summary.is_empty())
}

/// Returns a value on one line, so that it cannot be mistaken for another part of the plan.
fn shown(value: &Json) -> String {
    let Some(items) = value.as_list() else {
        let text = value.as_text().map(one_line);
        return text.unwrap_or_else(|| value.to_line());
    };
    let texts: Vec<String> = items.iter().map(shown).collect();
    if texts.iter().all(|text| is_id(text)) {
        format!("[{}]", texts.join(", "))
    } else {
        texts.join("; ")
    }
}
