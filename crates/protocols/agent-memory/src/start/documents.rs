//! The documents of a new run: constitution and contracts.

use rekindle_model::Settings;

use crate::task_graph::Task;

/// Returns the front matter of a document.
pub(super) fn front(run: &str, actor: &str, stamp: &str) -> String {
    format!("---\nrun_id: \"{run}\"\nactor: \"{actor}\"\ncreated: \"{stamp}\"\n---\n\n")
}

/// Returns `plan.md` of a run: the user's plan, quoted.
pub(in super::super) fn plan_document(
    run: &str,
    title: &str,
    stamp: &str,
    (source, text): (&str, &str),
) -> String {
    format!(
        "{}# Implementation Plan: {title}\n\nFrom `{source}`:\n\n{}\n",
        front(run, "agentic-planner", stamp),
        quoted(text)
    )
}

fn quoted(text: &str) -> String {
    let fence = "~".repeat(
        text.lines()
            .filter(|line| line.starts_with("~~~"))
            .map(str::len)
            .max()
            .unwrap_or(2)
            + 1,
    );
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

pub(super) fn constitution(run: &str, title: &str, stamp: &str, settings: &Settings) -> String {
    let mut text = format!(
        "---\nconstitution_id: \"CONST-{run}\"\nrun_id: \"{run}\"\nactor: \"agentic-orchestrator\"\ncreated: \"{stamp}\"\n---\n\n\
         # Constitution: {title}\n\n\
         - Each task is done in a worktree of its own and lands as one commit on `{}`.\n\
         - A task changes what its contract names and nothing else.\n",
        settings.branch
    );
    for command in &settings.verify {
        text.push_str(&format!("- `{command}` passes on every integrated tree.\n"));
    }
    text
}

pub(in super::super) fn contract(run: &str, stamp: &str, task: &Task, needs: &[String]) -> String {
    let list = |title: &str, items: &[String], mark: &str| {
        if items.is_empty() {
            return String::new();
        }
        let lines: Vec<String> = items.iter().map(|item| format!("{mark}{item}")).collect();
        format!("\n### {title}\n\n{}\n", lines.join("\n"))
    };
    format!(
        "---\nrun_id: \"{run}\"\nactor: \"task-breaker\"\ncreated: \"{stamp}\"\ntask_id: \"{id}\"\n---\n\n\
         ## Task: {id} - {title}\n{description}{acceptance}{needs}{files}",
        id = task.id,
        title = task.title,
        description = if task.description.is_empty() {
            String::new()
        } else {
            format!("\n### Description\n\n{}\n", task.description)
        },
        acceptance = list("Acceptance Criteria", &task.acceptance, "- [ ] "),
        needs = list("Dependencies", needs, "- "),
        files = list("Scope", &task.files, "- "),
    )
}
