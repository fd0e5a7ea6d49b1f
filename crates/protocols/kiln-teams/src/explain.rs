//! Why a task is in its state: what each source says, the most important first, and which one decided.

use rekindle_model::{Explanation, Place, Said, WorkflowId};

use super::assess::Judged;
use super::layout;
use super::messages;
use super::read::{TaskEvidence, shown};
use super::table::task::Source;
use super::task_list::TaskId;
use rekindle_protocol::table::Value as _;

/// Explains why a task is in its state; `None` if the task list has no such task.
pub(super) fn explain(judged: &Judged, task: &str) -> Option<Explanation> {
    let named = |id: &&TaskId| id.to_string() == task || judged.name(id) == task;
    let id = judged.tasks.keys().find(named)?;
    let verdict = judged.tasks[id].verdict;
    let said = Source::ALL.iter().map(|&source| {
        let decided = source == verdict.by;
        match source {
            Source::Main => main(judged, id, decided),
            Source::State => state(judged, id, decided),
            Source::TaskList => task_list(judged, id, decided),
            Source::Evidence => evidence(judged, id, decided),
            Source::Worktree => worktree(judged, id, decided),
        }
    });
    Some(Explanation::new(
        WorkflowId::new(crate::NAME, messages::phase_name(judged.phase.number)),
        id.to_string(),
        verdict.class.as_str(),
        verdict.sentence,
        said.collect(),
    ))
}

fn main(judged: &Judged, id: &TaskId, decided: bool) -> Said {
    let what = match (&judged.phase.tasks[id].landed, &judged.tasks[id].stranger) {
        (Some(commit), _) => format!(
            "main has {} `{}`",
            messages::short(&commit.id),
            shown(&commit.subject)
        ),
        (None, Some(path)) => format!("main has other content at `{path}`"),
        (None, None) => "main has no commit of it".to_owned(),
    };
    Said::new(Place::path(".git"), what, decided)
}

fn state(judged: &Judged, id: &TaskId, decided: bool) -> Said {
    let paused = if judged.is_paused { "; paused" } else { "" };
    let Some(row) = judged.phase.ledger_row(&judged.phase.tasks[id]) else {
        let what = format!("the retry ledger has no row for it{paused}");
        return Said::new(Place::path(layout::STATE), what, decided);
    };
    let what = format!(
        "{} retries, last status `{}`, next action `{}`{paused}",
        row.retries,
        shown(&row.last_status),
        shown(&row.next_action)
    );
    Said::new(Place::line(layout::STATE, row.line), what, decided).when(row.last_attempt)
}

fn task_list(judged: &Judged, id: &TaskId, decided: bool) -> Said {
    let file = &judged.phase.tasks[id].file;
    let stage = file.stage.as_ref().map_or("none", |stage| stage.as_str());
    let tier = judged.tasks[id].pulse.map_or_else(String::new, |pulse| {
        format!(", heartbeat {}", pulse.tier.as_str())
    });
    let (status, stage) = (shown(file.status.as_str()), shown(stage));
    let what = format!("status `{status}`, stage `{stage}`{tier}");
    Said::new(Place::path(&file.path), what, decided).when(file.heartbeat.at())
}

fn worktree(judged: &Judged, id: &TaskId, decided: bool) -> Said {
    let task = &judged.phase.tasks[id];
    let what = match &task.tree {
        None => "no sound worktree".to_owned(),
        Some(tree) if tree.has_own_commits => "a worktree with commits of its own".to_owned(),
        Some(tree) => format!("a worktree at {}", messages::short(&tree.head)),
    };
    Said::new(Place::path(&task.worktree), what, decided)
}

fn evidence(judged: &Judged, id: &TaskId, decided: bool) -> Said {
    let task = &judged.phase.tasks[id];
    let folder = task.plan_task.as_ref().map_or_else(
        || task.worktree.join(layout::ARTIFACTS),
        |plan_task| layout::artifacts(&task.worktree, plan_task),
    );
    Said::new(Place::path(folder), artifacts(task), decided)
}

fn artifacts(task: &TaskEvidence) -> String {
    let Some(artifacts) = &task.artifacts else {
        return "not read: the task does not report success, or has landed".to_owned();
    };
    let changed = match &artifacts.changed {
        None => "no changed_ops.json".to_owned(),
        Some(Err(reason)) => format!("changed_ops.json cannot be used ({})", shown(reason)),
        Some(Ok(paths)) => format!("changed_ops.json names {} paths", paths.len()),
    };
    let touched = match &task.touched {
        Some(Ok(touched)) => format!(", the worktree changed {}", touched.0.len()),
        Some(Err(reason)) => format!(", the worktree cannot be read ({})", shown(reason)),
        None => String::new(),
    };
    let passed = match artifacts.passed {
        Some(true) => "the checks passed",
        Some(false) => "the checks did not pass",
        None => "no verify_summary.json",
    };
    format!("{changed}{touched}; {passed}")
}
