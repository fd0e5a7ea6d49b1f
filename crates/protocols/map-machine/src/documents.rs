//! Files for people: the plan, numbered reviews, notes.

use rekindle_model::Action;
use rekindle_text::python_json::Object;
use rekindle_text::python_text::{digit, strip};

use crate::desk::Desk;
use crate::reply::{Fault, Reply};
use crate::{layout, task_plan};

/// The initial notes of a branch.
const SKELETONS: &[(&str, &str)] = &[
    ("qa-001.md", "# QA 001\n\n"),
    (
        "pr-draft.md",
        "# PR Draft\n\n## Summary\n\n## Validation\n\n## Risks / Follow-up\n",
    ),
    (layout::VERIFICATION, "# Verification Summary\n\n"),
];

/// `update_plan_status`: changes the status line of one subtask, and no other byte of the plan.
pub(crate) fn update_status(desk: Desk<'_>, subtask: &str, status: &str) -> Result<Reply, Fault> {
    let path = desk.branch.plan();
    let Some(bytes) = desk.bytes(&path)? else {
        return Ok(Reply::error(format!("There is no {path}.")));
    };
    let text = str::from_utf8(&bytes).map_err(|_| Fault::new(format!("`{path}` is not UTF-8")))?;
    let Some(changed) = task_plan::with_status(text, subtask, status) else {
        let message =
            format!("{path} has no `### {subtask}:` with another status on the next line.");
        let answer = Object::new().with("status", "warning");
        return Ok(Reply::of(answer.with("message", message)));
    };
    let action = Action::Edit {
        path: path.into(),
        after: changed.into_bytes(),
        before: bytes,
    };
    let message = format!("{subtask} is now {status}.");
    Ok(Reply::of(Reply::success().with("message", message)).doing([action]))
}

/// `read_current_goal`.
pub(crate) fn goal(desk: Desk<'_>) -> Result<Reply, Fault> {
    let plan = desk.plan()?.unwrap_or_default();
    let goal = task_plan::goal(&plan).filter(|goal| !goal.is_empty());
    let goal = goal.unwrap_or("Goal not found");
    Ok(Reply::plain(format!("{goal}\n")))
}

/// `get_current_phase`.
pub(crate) fn current_phase(desk: Desk<'_>) -> Result<Reply, Fault> {
    let plan = desk.plan()?.unwrap_or_default();
    let phase = task_plan::current_phase(&plan).unwrap_or("Phase not found");
    Ok(Reply::plain(format!("{phase}\n")))
}

/// `ensure_human_artifacts`: creates missing notes.
pub(crate) fn ensure(desk: Desk<'_>) -> Reply {
    let (mut created, mut existing, mut actions) = (Vec::new(), Vec::new(), Vec::new());
    for (name, contents) in SKELETONS {
        let path = desk.branch.file(name);
        if desk.exists(&path) {
            existing.push(*name);
            continue;
        }
        created.push(*name);
        actions.push(Action::Create {
            path: path.into(),
            contents: contents.as_bytes().to_vec(),
        });
    }
    let answer = Reply::success()
        .with("branch_dir", format!(".map/{}", desk.branch))
        .with("created", created)
        .with("existing", existing);
    Reply::of(answer).doing(actions)
}

/// Returns whether a note is unchanged.
pub(crate) fn is_skeleton(name: &str, text: &str) -> bool {
    let known = SKELETONS.iter().find(|(known, _)| *known == name);
    known.is_some_and(|(_, skeleton)| strip(skeleton) == strip(text))
}

/// Returns the largest three-digit number after a prefix, with its name.
pub(crate) fn numbered<'a>(names: &'a [String], prefix: &str) -> Option<(u32, &'a str)> {
    let number = |name: &'a String| {
        let digits = name.strip_prefix(prefix)?.strip_prefix('-')?;
        let digits = digits.strip_suffix(".md")?;
        let values: Option<Vec<u32>> = digits.chars().map(digit).collect();
        let values = values.filter(|values| values.len() == 3)?;
        let number = values.iter().fold(0, |number, digit| number * 10 + digit);
        Some((number, name.as_str()))
    };
    names.iter().filter_map(number).max()
}

/// Returns the next number and name.
pub fn next_name(desk: Desk<'_>, prefix: &str) -> (u32, String) {
    let names = desk.names(&desk.branch.file(""));
    let next = numbered(&names, prefix).map_or(0, |(number, _)| number) + 1;
    (next, format!("{prefix}-{next:03}.md"))
}

/// `next_numbered_artifact_path`: the next name with three digits.
pub(crate) fn next_numbered(desk: Desk<'_>, prefix: &str) -> Reply {
    let (next, name) = next_name(desk, prefix);
    let answer = Reply::success()
        .with("path", desk.branch.file(&name))
        .with("file_name", name)
        .with("index", i64::from(next));
    Reply::of(answer)
}
