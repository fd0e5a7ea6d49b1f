//! The open work of a phase, as far as its documents say.

use rekindle_text::{excerpt, headings};

use super::super::assess::Judged;
use super::super::phase::Phase;
use super::super::read::is_placeholder;
use super::super::tasks::{Task, Tasks};
use super::super::validate::{missing_from_plan, missing_from_spec};

/// Returns the open work of the phase, with at most this many items of one kind.
pub(super) fn left(judged: &Judged, most: usize) -> String {
    let lines = match judged.phase {
        Phase::Spec => of_spec(judged, most),
        Phase::Plan => of_plan(judged, most),
        Phase::Tasks => of_tasks(judged, most),
        Phase::Implement => of_implement(judged, most),
    };
    let lines = if lines.is_empty() {
        "- nothing, by its documents\n".to_owned()
    } else {
        lines
    };
    format!("\nLeft in the {} phase:\n{lines}", judged.phase.as_str())
}

fn of_spec(judged: &Judged, most: usize) -> String {
    let Some(spec) = &judged.feature.spec else {
        return "- spec.md, which does not exist\n".to_owned();
    };
    let open = clarifications("spec.md", spec);
    let mut text = items("Open clarifications", &open, most);
    text.push_str(&sections("spec.md", &missing_from_spec(spec)));
    text
}

fn of_plan(judged: &Judged, most: usize) -> String {
    let feature = &judged.feature;
    let mut missing: Vec<String> = Vec::new();
    let design = feature.design.iter().filter(|(_, is_there)| !is_there);
    let design = design.map(|(name, _)| format!("{name} (where the plan needs it)"));
    let plan = feature.plan.as_deref();
    match plan {
        None => missing.push("plan.md".to_owned()),
        Some(text) if is_placeholder(text) => {
            missing.push("plan.md (still a placeholder)".to_owned());
        }
        Some(_) => {}
    }
    missing.extend(design);
    let mut text = items("Missing artifacts", &missing, most);
    let Some(plan) = plan.filter(|text| !is_placeholder(text)) else {
        return text;
    };
    let mut open = clarifications("plan.md", plan);
    open.extend(questions(plan));
    text.push_str(&items("Open questions", &open, most));
    text.push_str(&sections("plan.md", &missing_from_plan(plan)));
    text
}

fn of_tasks(judged: &Judged, most: usize) -> String {
    let tasks = judged.feature.tasks.as_ref();
    let Some(tasks) = tasks.filter(|tasks| !tasks.all.is_empty()) else {
        return "- the task breakdown: tasks.md has no tasks\n".to_owned();
    };
    breakdown(tasks, most)
}

/// Returns the groups of a task list with their sizes and tasks.
pub(super) fn breakdown(tasks: &Tasks, most: usize) -> String {
    let groups = (0..tasks.groups.len()).map(Some).chain([None]);
    let mut text = String::new();
    for group in groups {
        let all: Vec<&Task> = tasks.of_group(group).collect();
        if all.is_empty() {
            continue;
        }
        let name = group.and_then(|at| tasks.groups.get(at));
        let name = name.map_or("Without a group", String::as_str);
        let n_settled = all.iter().filter(|task| task.state.is_settled()).count();
        let size = match (all.len(), n_settled) {
            (1, 0) => "1 task".to_owned(),
            (n, 0) => format!("{n} tasks"),
            (n, settled) => format!("{n} tasks, {settled} settled"),
        };
        let shown: Vec<String> = all.iter().map(|task| named(task)).collect();
        let title = format!("{} ({size})", excerpt(name, 120));
        text.push_str(&list(&title, &shown, most));
    }
    text
}

fn of_implement(judged: &Judged, most: usize) -> String {
    let Some(tasks) = &judged.feature.tasks else {
        return String::new();
    };
    let open = tasks.all.iter().filter(|task| !task.state.is_settled());
    let open = open.map(|task| {
        let waits = tasks.waits_for(task);
        let waits = if waits.is_empty() {
            "waits for nothing".to_owned()
        } else {
            format!("waits for {}", excerpt(&waits.join(", "), 120))
        };
        format!("{}: {}, {waits}", named(task), task.state.as_str())
    });
    items("Open tasks", &open.collect::<Vec<_>>(), most)
}

fn named(task: &Task) -> String {
    format!("{} {}", task.id, excerpt(&task.title, 120))
}

/// Returns the lines that ask for a clarification.
fn clarifications(file: &str, text: &str) -> Vec<String> {
    let is_open = |line: &str| line.to_uppercase().contains("[NEEDS CLARIFICATION");
    let lines = (1..).zip(text.lines()).filter(|(_, line)| is_open(line));
    let shown = lines.map(|(n, line)| format!("{file}:{n} {}", excerpt(line.trim(), 160)));
    shown.collect()
}

/// Returns the items under a heading for open questions.
fn questions(text: &str) -> Vec<String> {
    let all = headings(text);
    let is_asking = |words: &str| words.to_lowercase().contains("open question");
    let mut found = Vec::new();
    for (place, heading) in all.iter().enumerate() {
        if !is_asking(text.get(heading.text.range()).unwrap_or_default()) {
            continue;
        }
        let end = all.get(place + 1).map_or(usize::MAX, |next| next.line);
        let lines = (1..).zip(text.lines());
        let below = lines.filter(|(n, _)| *n > heading.line && *n < end);
        let asked = below.map(|(_, line)| line.trim()).filter(|line| {
            let is_item =
                line.starts_with(['-', '*']) || line.starts_with(|c: char| c.is_ascii_digit());
            let is_answered = line.contains("[x]") || line.contains("[X]") || line.contains("~~");
            let is_marker = line.to_uppercase().contains("[NEEDS CLARIFICATION");
            is_item && !is_answered && !is_marker && !line.to_lowercase().ends_with("none")
        });
        found.extend(asked.map(|line| excerpt(line.trim_start_matches(['-', '*', ' ']), 160)));
    }
    found
}

fn sections(file: &str, missing: &[&str]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    format!("- Missing sections of {file}: {}\n", missing.join(", "))
}

/// Returns a list with its number of items, or nothing.
fn items(title: &str, items: &[String], most: usize) -> String {
    if items.is_empty() {
        return String::new();
    }
    list(&format!("{title} ({})", items.len()), items, most)
}

fn list(title: &str, items: &[String], most: usize) -> String {
    let mut text = format!("- {title}\n");
    for item in items.iter().take(most) {
        text.push_str(&format!("  - {item}\n"));
    }
    let more = items.len().saturating_sub(most);
    if more > 0 {
        text.push_str(&format!("  - … and {more} more\n"));
    }
    text
}
