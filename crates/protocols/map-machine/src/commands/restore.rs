//! `restore_deferred_yagni`: makes a parked item a subtask again, in blueprint and plan.

use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::{digit, is_space, is_word, rstrip, strip};

use crate::desk::{Desk, Document, replacing};
use crate::layout;
use crate::reply::{Fault, Reply};
use crate::state::{StateFile, key};

/// `restore_deferred_yagni`.
pub(crate) fn restore(desk: Desk<'_>, item: &str, id: Option<&str>) -> Result<Reply, Fault> {
    let item = strip(item);
    let refused = |message: String| Ok(Reply::error(message).failing());
    if number(item, "YG-").is_none() {
        return refused(format!("`{item}` is not a parked item such as YG-001."));
    }
    let path = desk.branch.file(layout::BLUEPRINT);
    let Some(bytes) = desk.bytes(&path)? else {
        return refused(format!("There is no {path}."));
    };
    let mut whole = match desk.json(&path)? {
        Document::Value(Json::Object(whole)) => whole,
        Document::Value(other) => {
            return refused(format!("{path} is {}, not an object.", other.kind()));
        }
        Document::Broken(reason) => return refused(format!("{path} cannot be read: {reason}")),
        Document::Absent => return refused(format!("There is no {path}.")),
    };
    let moved = match whole.get_mut("blueprint") {
        Some(Json::Object(body)) => moved(body, item, id),
        Some(_) | None => moved(&mut whole, item, id),
    };
    let (found, subtask) = match moved {
        Ok(moved) => moved,
        Err(message) => return refused(message),
    };
    let text = format!("{}\n", whole.to_lines());
    let blueprint = replacing(&path, Some(bytes), text);
    let plan = extended_plan(desk, &found, &subtask)?;
    let is_plan_extended = plan.is_some();
    let mut file = StateFile::read(desk)?;
    let mut was_approved = false;
    let mut saved = None;
    if file.is_there() {
        was_approved = file.state.get(key::PLAN_APPROVED).is_truthy();
        file.state.set(key::PLAN_APPROVED, false);
        saved = file.saved();
    }
    let subtask_id = subtask.text("id").unwrap_or_default();
    let message = format!("{item} is now {subtask_id}. Review the plan and approve it again.");
    let answer = Reply::success()
        .with("restored_item_id", item)
        .with("subtask_id", subtask_id)
        .with("blueprint_path", path)
        .with("task_plan_updated", is_plan_extended)
        .with("plan_approved_reset", was_approved)
        .with("message", message);
    Ok(Reply::of(answer).doing(blueprint).doing(plan).doing(saved))
}

/// Returns the digits of an id, if there are at least three.
fn number<'a>(id: &'a str, prefix: &str) -> Option<&'a str> {
    let digits = id.strip_prefix(prefix)?;
    let is_number = digits.chars().count() >= 3 && digits.chars().all(|c| digit(c).is_some());
    is_number.then_some(digits)
}

/// Moves a parked item to the subtasks; returns both, or why it cannot be moved.
fn moved(body: &mut Object, item: &str, id: Option<&str>) -> Result<(Object, Object), String> {
    let Some(Json::List(subtasks)) = body.get("subtasks") else {
        return Err("The blueprint's `subtasks` is not an array.".to_owned());
    };
    let Some(Json::List(parked)) = body.get("deferred_yagni") else {
        return Err("The blueprint's `deferred_yagni` is not an array.".to_owned());
    };
    let id_of = |value: &Json| Some(value.as_object()?.text("id")?.to_owned());
    let mut ids = parked.iter().map(id_of);
    let Some(position) = ids.position(|id| id.as_deref() == Some(item)) else {
        return Err(format!("{item} is not parked in the blueprint."));
    };
    let taken: Vec<String> = subtasks.iter().filter_map(id_of).collect();
    let id = match id.filter(|id| !id.is_empty()) {
        Some(id) => id.to_owned(),
        None => next_id(&taken),
    };
    if number(&id, "ST-").is_none() {
        return Err(format!("`{id}` is not a subtask id such as ST-001."));
    }
    if taken.contains(&id) {
        return Err(format!("{id} is already a subtask."));
    }
    let found = parked[position].as_object().cloned().unwrap_or_default();
    let subtask = subtask_of(&found, item, &id);
    if let Some(Json::List(parked)) = body.get_mut("deferred_yagni") {
        parked.remove(position);
    }
    if let Some(Json::List(subtasks)) = body.get_mut("subtasks") {
        subtasks.push(subtask.clone().into());
    }
    Ok((found, subtask))
}

fn next_id(taken: &[String]) -> String {
    let value = |digits: &str| {
        digits.chars().try_fold(0_u64, |value, c| {
            value.checked_mul(10)?.checked_add(u64::from(digit(c)?))
        })
    };
    let numbers = taken.iter().filter_map(|id| value(number(id, "ST-")?));
    let last = numbers.max().unwrap_or_default();
    format!("ST-{:03}", last.saturating_add(1))
}

fn text_or<'a>(item: &'a Object, key: &str, default: &'a str) -> &'a str {
    let text = item.text(key).filter(|text| !text.is_empty());
    text.unwrap_or(default)
}

const NO_TITLE: &str = "Restored deferred YAGNI item";
const NO_RATIONALE: &str = "No rationale recorded";
const NO_HINT: &str = "No restore hint recorded";

fn subtask_of(item: &Object, item_id: &str, id: &str) -> Object {
    let title = strip(text_or(item, "title", NO_TITLE));
    let rationale = strip(text_or(item, "rationale", NO_RATIONALE));
    let hint = strip(text_or(item, "restore_hint", NO_HINT));
    let description =
        format!("Was parked as {item_id} because: {rationale}. How to restore it: {hint}");
    let criterion = format!("VC1: {item_id} is built or planned again: {hint}");
    let contract = format!(
        "Actor -> restore {item_id} by its hint -> {title} is built, or planned again with the user's approval"
    );
    Object::new()
        .with("id", id)
        .with("title", title)
        .with("description", description)
        .with("dependencies", Vec::<Json>::new())
        .with("affected_files", Vec::<Json>::new())
        .with("requiredness", "optional")
        .with("pruneable", false)
        .with(
            "prune_rationale",
            "The user restored it; only the user may park it again.",
        )
        .with("validation_criteria", vec![criterion])
        .with("aag_contract", contract)
        .with("expected_diff_size", "small")
        .with("concern_type", "runtime")
        .with("one_logical_step", true)
        .with("restored_from_deferred_yagni", item_id)
}

/// Returns the effect that adds the subtask to an existing plan without it.
fn extended_plan(
    desk: Desk<'_>,
    item: &Object,
    subtask: &Object,
) -> Result<Option<rekindle_model::Action>, Fault> {
    let path = desk.branch.plan();
    let Some(bytes) = desk.bytes(&path)? else {
        return Ok(None);
    };
    let Ok(plan) = str::from_utf8(&bytes) else {
        return Err(Fault::new(format!("`{path}` is not UTF-8")));
    };
    let id = subtask.text("id").unwrap_or_default();
    if plan.split('\n').any(|line| is_heading_of(line, id)) {
        return Ok(None);
    }
    let title = subtask.text("title").unwrap_or(NO_TITLE);
    let item_id = text_or(item, "id", "YG-???");
    let rationale = text_or(item, "rationale", NO_RATIONALE);
    let hint = text_or(item, "restore_hint", NO_HINT);
    let added = format!(
        "\n\n## Restored Deferred YAGNI\n\n### {id}: {title}\n- **Status:** pending\n- **Restored from:** {item_id}\n- **Requiredness:** optional\n- **Rationale:** {rationale}\n- **Restore hint:** {hint}\n- **Validation:** Build it, or plan it again, before the plan is approved.\n"
    );
    let added = if plan.contains("\r\n") {
        added.replace('\n', "\r\n")
    } else {
        added
    };
    let text = format!("{}{added}", rstrip(plan));
    Ok(replacing(&path, Some(bytes), text))
}

fn is_heading_of(line: &str, id: &str) -> bool {
    let rest = line.strip_prefix("###").and_then(|rest| {
        let text = rest.trim_start_matches(is_space);
        (text.len() < rest.len()).then_some(text)
    });
    let after = rest.and_then(|rest| rest.strip_prefix(id));
    after.is_some_and(|after| !after.chars().next().is_some_and(is_word))
}
