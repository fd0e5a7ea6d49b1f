//! What there is to read about the tasks of a picture: why, output, diff.
//!
//! Secrets are masked in all of it, as when output is written to disk.

use std::collections::BTreeMap;

use rekindle_agents::Redactor;
use rekindle_git::{ObjectId, Program, Repo};
use rekindle_model::{Explanation, Said, WorkflowId};
use rekindle_protocol::Ask;
use rekindle_runner::AttemptLog;
use rekindle_text::printable;
use rekindle_wire::{DiffOut, OutputOut, Picture, PictureTask, SaidOut, TaskDetail, WhyOut};

use crate::Project;
use crate::logs::all_lines;

/// The most tasks of which the reasons are given: each reads the whole record again.
const MOST_WHYS: usize = 40;
/// Of so few tasks even those are explained that went well.
const FEW: usize = 400;
/// The most tasks with output or a diff.
const MOST_TASKS: usize = 300;
/// The most lines of one output.
const MOST_LINES: usize = 200;
/// The most bytes of one diff, and of all.
const LARGEST_DIFF: usize = 64 * 1024;
const LARGEST_DIFFS: usize = 4 * 1024 * 1024;

/// What a report contains besides the picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportWish {
    /// What agents and checks printed.
    pub output: bool,
}

pub(super) fn details(
    project: &Project,
    id: &WorkflowId,
    picture: &Picture,
    wish: ReportWish,
) -> Vec<TaskDetail> {
    let mut details: BTreeMap<usize, TaskDetail> = BTreeMap::new();
    let mut of = |task: usize, add: &mut dyn FnMut(&mut TaskDetail)| {
        add(details.entry(task).or_insert(TaskDetail {
            task,
            why: None,
            output: None,
            diff: None,
        }));
    };
    let ordered = by_interest(&picture.tasks);
    // Of very many tasks only those that are worth a question.
    let is_worth = |task: &&usize| picture.tasks.len() <= FEW || rank(&picture.tasks[**task]) < 4;
    for &task in ordered.iter().filter(is_worth).take(MOST_WHYS) {
        if let Some(why) = why(project, id, &picture.tasks[task]) {
            of(task, &mut |detail| detail.why = Some(why.clone()));
        }
    }
    if wish.output {
        let logs = project.state().attempt_logs(id);
        for &task in ordered.iter().take(MOST_TASKS) {
            if let Some(output) = output(&logs, &picture.tasks[task]) {
                of(task, &mut |detail| detail.output = Some(output.clone()));
            }
        }
    }
    let program = Program::find(&project.search_path).ok();
    let repo = program.map(|program| Repo::at(&program, project.folder()).for_looking());
    let mut left = LARGEST_DIFFS;
    for &task in ordered.iter().take(MOST_TASKS) {
        let found = repo
            .as_ref()
            .and_then(|repo| diff(repo, &picture.tasks[task], left));
        if let Some(diff) = found {
            left = left.saturating_sub(diff.text.len());
            of(task, &mut |detail| detail.diff = Some(diff.clone()));
        }
    }
    details.into_values().collect()
}

/// Returns the tasks, those that a person looks at first in front.
fn by_interest(tasks: &[PictureTask]) -> Vec<usize> {
    let mut ordered: Vec<usize> = (0..tasks.len()).collect();
    ordered.sort_by_key(|&task| (rank(&tasks[task]), task));
    ordered
}

fn rank(task: &PictureTask) -> u8 {
    match task.state.as_str() {
        "needs_person" => 0,
        "failed" | "interrupted" | "limited" => 1,
        "running" => 2,
        _ if task.attempts.len() > 1 => 3,
        "open" | "skipped" => 5,
        _ => 4,
    }
}

fn why(project: &Project, id: &WorkflowId, task: &PictureTask) -> Option<WhyOut> {
    let ask = Ask {
        name: Some(id.name.clone()),
        alone: true,
        ..Ask::default()
    };
    let protocol = rekindle_registry::find(id.protocol);
    let found = protocol.explain(&project.world(), &ask, &task.id)?;
    Some(WhyOut {
        rule: masked(&found.rule),
        said: said(&found),
        left_out: found.left_out,
    })
}

/// Returns what each source says; what is said several times in a row, such as a heartbeat, is one line.
fn said(found: &Explanation) -> Vec<SaidOut> {
    let is_same =
        |one: &Said, other: &Said| one.what == other.what && !one.decided && !other.decided;
    let runs = found.said.chunk_by(is_same);
    let last = runs.filter_map(|run| Some((run.last()?, run.len())));
    last.map(|(said, n)| {
        let what = masked(&said.what);
        SaidOut {
            place: said.place.to_string(),
            at: said.at.map(rekindle_text::format_seconds),
            what: if n > 1 {
                format!("{what}, {n} times")
            } else {
                what
            },
            decided: said.decided,
        }
    })
    .collect()
}

fn output(logs: &[AttemptLog], task: &PictureTask) -> Option<OutputOut> {
    // They are sorted by task and number.
    let last = logs.iter().rfind(|log| log.task == task.id)?;
    let lines = all_lines(last);
    let left_out = lines.len().saturating_sub(MOST_LINES);
    let mut masker = Redactor::new();
    let shown = lines[left_out..].iter();
    let shown = shown.map(|line| printable(&masker.line(line)).into_owned());
    Some(OutputOut {
        attempt: last.attempt,
        lines: shown.collect(),
        left_out,
    })
}

/// Returns what the work of a task changed: of the attempt that landed, or of its last delivery.
fn diff(repo: &Repo, task: &PictureTask, left: usize) -> Option<DiffOut> {
    let commit = task
        .attempts
        .iter()
        .rev()
        .find_map(|one| one.commit.as_ref())?;
    let commit = ObjectId::parse(commit).ok()?;
    let patch = repo.patch(&commit).ok()?;
    let most = LARGEST_DIFF.min(left);
    let text = String::from_utf8_lossy(&patch);
    let mut masked = Redactor::new();
    let mut shown = String::new();
    let mut is_cut = false;
    for line in text.lines() {
        let line = masked.line(line).into_owned();
        if shown.len() + line.len() > most {
            is_cut = true;
            break;
        }
        shown.push_str(&printable(&line));
        shown.push('\n');
    }
    Some(DiffOut {
        commit: commit.as_str().to_owned(),
        text: shown,
        is_cut,
    })
}

/// Returns a text with its secrets masked and without control characters.
fn masked(text: &str) -> String {
    printable(&rekindle_agents::redact(text)).into_owned()
}
