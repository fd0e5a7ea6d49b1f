//! Why a task is in its state: what each source said, in the seed's order, and which one decided.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::{Explanation, Place, Said, WorkflowId};

use super::assess::Judged;
use super::layout;
use super::read::shown;
use super::table::task::Source;
use super::task_list::{Heartbeat, TaskId};
use super::words;
use rekindle_protocol::table::Value as _;

/// Tells why a task is in its state, or `None` when the task list has no such task.
pub(super) fn explain(judged: &Judged, task: &str) -> Option<Explanation> {
    let named = |id: &&TaskId| id.to_string() == task || judged.name(id) == task;
    let id = judged.tasks.keys().find(named)?;
    let verdict = judged.tasks[id].verdict;
    let said = Source::ALL.iter().map(|&source| {
        let (place, at, what) = told(judged, id, source);
        Said {
            place,
            at,
            what,
            decided: source == verdict.by,
        }
    });
    Some(Explanation::new(
        WorkflowId::new(crate::NAME, words::phase_name(judged.phase.number)),
        id.to_string(),
        verdict.class.as_str(),
        verdict.sentence,
        said.collect(),
    ))
}

fn told(judged: &Judged, id: &TaskId, source: Source) -> (Place, Option<Timestamp>, String) {
    let task = &judged.phase.tasks[id];
    let file = Place::path(task.file.path.clone());
    match source {
        Source::Main => {
            let place = Place::path(".git");
            let what = match (&task.landed, &judged.tasks[id].stranger) {
                (Some(commit), _) => format!(
                    "main has {} `{}`",
                    words::short(&commit.id),
                    shown(&commit.subject)
                ),
                (None, Some(path)) => format!("main has something else at `{path}`"),
                (None, None) => "main has no commit of it".to_owned(),
            };
            (place, None, what)
        }
        Source::State => {
            let row = task.plan_task.as_ref().and_then(|plan_task| {
                let mut rows = judged.phase.state.ledger().iter();
                rows.rfind(|row| row.plan_task == *plan_task)
            });
            let paused = if judged.is_paused { "; paused" } else { "" };
            match row {
                Some(row) => (
                    Place::line(layout::STATE, u64::try_from(row.line).unwrap_or(u64::MAX)),
                    row.last_attempt,
                    format!(
                        "{} retries, last status `{}`, next action `{}`{paused}",
                        row.retries,
                        shown(&row.last_status),
                        shown(&row.next_action)
                    ),
                ),
                None => (
                    Place::path(layout::STATE),
                    None,
                    format!("the retry ledger has no row of it{paused}"),
                ),
            }
        }
        Source::TaskList => {
            let at = match &task.file.heartbeat {
                Heartbeat::At(at) => Some(*at),
                Heartbeat::Absent | Heartbeat::Unreadable(_) => None,
            };
            let stage = task
                .file
                .stage
                .as_ref()
                .map_or_else(|| "none".to_owned(), |stage| shown(stage.as_str()));
            let tier = judged.tasks[id].pulse.map_or_else(String::new, |pulse| {
                format!(", heartbeat {}", pulse.tier.as_str())
            });
            let what = format!(
                "status `{}`, stage `{stage}`{tier}",
                shown(task.file.status.as_str())
            );
            (file, at, what)
        }
        Source::Evidence => {
            let folder = task.plan_task.as_ref().map_or_else(
                || task.worktree.join(layout::ARTIFACTS),
                |plan_task| layout::artifacts(&task.worktree, plan_task),
            );
            (Place::path(folder), None, evidence(judged, id))
        }
        Source::Worktree => {
            let what = match &task.tree {
                None => "there is no sound worktree".to_owned(),
                Some(tree) if tree.has_own_commits => {
                    "a worktree with commits of its own".to_owned()
                }
                Some(tree) => format!("a worktree at {}", words::short(&tree.head)),
            };
            let place: Utf8PathBuf = task.worktree.clone();
            (Place::path(place), None, what)
        }
    }
}

fn evidence(judged: &Judged, id: &TaskId) -> String {
    let task = &judged.phase.tasks[id];
    let Some(artifacts) = &task.artifacts else {
        return "not looked at: it does not say that it succeeded, or has landed".to_owned();
    };
    let changed = match &artifacts.changed {
        None => "no changed_ops.json".to_owned(),
        Some(Err(reason)) => format!("changed_ops.json can not be used ({})", shown(reason)),
        Some(Ok(paths)) => format!("changed_ops.json names {} paths", paths.len()),
    };
    let touched = match &task.touched {
        Some(Ok(touched)) => format!(", the worktree changed {}", touched.0.len()),
        Some(Err(reason)) => format!(", the worktree can not be read ({})", shown(reason)),
        None => String::new(),
    };
    let passed = match artifacts.passed {
        Some(true) => "the checks passed",
        Some(false) => "the checks did not pass",
        None => "no verify_summary.json",
    };
    format!("{changed}{touched}; {passed}")
}
