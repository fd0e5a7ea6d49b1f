//! Creates the files of a new run from a user's plan.
//!
//! Every reader of the protocol understands the run: documents, task graph, contracts, and the
//! events up to phase 2. Problems of the plan are reported with their line before anything is
//! written.

mod check;
mod documents;

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_model::{Code, Finding, Place};
use serde_json::{Value, json};

use super::event::INITIATOR;
use super::layout::{self, Artifact};
use super::record::Record;
use super::settings;
use super::task_graph::{self, Task};
pub(super) use check::check;
use documents::{constitution, front};
pub(super) use documents::{contract, plan_document};
use rekindle_protocol::capability::{Draft, DraftTask, ListedTask, NewRun};
use rekindle_protocol::lists::task::{Fields, Notice, Noticed, TaskFile};
use rekindle_protocol::lists::{Claim, plain};

/// The title of a run whose plan has none.
pub(super) const UNTITLED: &str = "Untitled run";

/// A plan that was read.
#[derive(Debug, Default)]
pub(super) struct PlanFile {
    title: String,
    pub(super) tasks: Vec<Task>,
    pub(super) needs: Vec<Vec<String>>,
    pub(super) findings: Vec<Finding>,
    /// The ids that only count the tasks, which the plan does not give itself.
    pub(super) counted: BTreeSet<String>,
}

/// Returns whether a plan is a Markdown list: by its name, else by how it begins.
fn is_list(path: &Utf8Path, text: &str) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "md" | "markdown" | "txt" => true,
        "json" => false,
        _ => !text.trim_start().starts_with(['{', '[']),
    }
}

/// Reads a plan: JSON in either shape of a task graph, or a Markdown list.
pub(super) fn draft(path: &Utf8Path, bytes: &[u8]) -> PlanFile {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let (parts, noticed) = if is_list(path, text) {
        let mut file = plain::read_text(text);
        let noticed = std::mem::take(&mut file.noticed);
        (Ok(from_list(file)), noticed)
    } else {
        (from_graph(text), Vec::new())
    };
    let unreadable = |reason: String| {
        let message = format!("the plan cannot be read: {reason}");
        let finding = Finding::new(Code::CorruptTaskGraph, message).at(Place::path(path));
        PlanFile {
            findings: vec![finding],
            ..PlanFile::default()
        }
    };
    match parts {
        Ok(parts) => {
            let mut findings = check(path, &parts.tasks, &parts.needs, &parts.lines);
            // A need without a task was found by the check already.
            let is_new = |noticed: &&Noticed| noticed.code != Notice::UnknownNeed;
            let noticed = noticed.iter().filter(is_new);
            findings.extend(noticed.map(|noticed| of_plan(path, noticed)));
            PlanFile {
                title: parts.title,
                tasks: parts.tasks,
                needs: parts.needs,
                findings,
                counted: parts.counted,
            }
        }
        Err(reason) => unreadable(reason),
    }
}

/// Takes the tasks of a list as a plan.
pub(super) fn listed(path: &Utf8Path, title: &str, listed: Vec<ListedTask>) -> PlanFile {
    let (tasks, needs): (Vec<Task>, Vec<Vec<String>>) = listed
        .into_iter()
        .map(|listed| {
            let task = task(listed.id, listed.title, listed.description, listed.fields);
            (task, listed.needs)
        })
        .unzip();
    PlanFile {
        title: title.to_owned(),
        findings: check(path, &tasks, &needs, &[]),
        tasks,
        needs,
        counted: BTreeSet::new(),
    }
}

/// Returns a task of a list as a graph describes it.
fn task(id: String, title: String, description: String, fields: Fields) -> Task {
    Task {
        id,
        title,
        description,
        files: fields.files,
        checks: fields.checks,
        acceptance: fields.acceptance,
        may_be_empty: fields.may_be_empty,
        ..Task::default()
    }
}

/// What a plan says, before it is checked.
#[derive(Debug, Default)]
struct Parts {
    title: String,
    tasks: Vec<Task>,
    /// The dependencies of each task.
    needs: Vec<Vec<String>>,
    /// The line of each task.
    lines: Vec<u64>,
    counted: BTreeSet<String>,
}

fn from_list(file: TaskFile) -> Parts {
    let mut parts = Parts {
        title: file.heading.unwrap_or_default(),
        ..Parts::default()
    };
    for listed in file.tasks {
        if listed.is_counted {
            parts.counted.insert(listed.id.clone());
        }
        parts.lines.push(listed.line);
        parts.needs.push(listed.names);
        parts.tasks.push(Task {
            skipped: listed.claim != Claim::Open,
            ..task(listed.id, listed.title, listed.details, listed.fields)
        });
    }
    parts
}

/// Returns what was noticed in a plan, where a fault ends the run.
fn of_plan(path: &Utf8Path, noticed: &Noticed) -> Finding {
    let found = noticed.finding(path);
    match noticed.code {
        Notice::MisspeltKey => {
            found.hint("correct the key, or write the line without a colon if it is text")
        }
        Notice::NoId => {
            let message = "this checkbox has no id, so it is not a task of the run";
            Finding::new(Code::TaskWithoutId, message)
                .at(Place::line(path, noticed.line))
                .hint("start it with an id: `- [ ] T1 Title`")
        }
        Notice::DuplicateId => {
            let id = rekindle_text::excerpt(&noticed.about, 80);
            let message = format!("the id `{id}` is already used");
            Finding::new(Code::DuplicateTask, message).at(Place::line(path, noticed.line))
        }
        Notice::UnknownMark
        | Notice::NearlyABox
        | Notice::UnknownNeed
        | Notice::NoText
        | Notice::TornLine
        | Notice::UnclosedBlock
        | Notice::NotUtf8
        | Notice::BadGraph => found,
    }
}

fn from_graph(text: &str) -> Result<Parts, String> {
    let root: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let title = root
        .get("title")
        .or_else(|| root.get("name"))
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let listed = task_graph::list(text.as_bytes())?;
    let lines = lines_of(text, listed.iter().map(|(task, _)| task.id.as_str()));
    let (tasks, needs) = listed.into_iter().unzip();
    Ok(Parts {
        title,
        tasks,
        needs,
        lines,
        counted: BTreeSet::new(),
    })
}

/// Returns the lines on which these ids are a value of `id`.
fn lines_of<'i>(text: &str, ids: impl Iterator<Item = &'i str>) -> Vec<u64> {
    let places: Vec<(u64, &str)> = (1..)
        .zip(text.lines())
        .flat_map(|(number, line)| line.split("\"id\"").skip(1).map(move |rest| (number, rest)))
        .collect();
    let mut places = places.into_iter();
    ids.map(|id| {
        let quoted = Value::from(id).to_string();
        let is_here =
            |(_, rest): &(u64, &str)| rest.trim_start_matches([':', ' ']).starts_with(&quoted);
        places
            .by_ref()
            .find(is_here)
            .map_or(1, |(number, _)| number)
    })
    .collect()
}

impl Draft for PlanFile {
    fn title(&self) -> &str {
        &self.title
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn n_tasks(&self) -> usize {
        self.tasks.len()
    }

    fn tasks(&self) -> Vec<DraftTask> {
        let tasks = self.tasks.iter().zip(&self.needs);
        tasks
            .map(|(task, needs)| DraftTask {
                id: task.id.clone(),
                title: task.title.clone(),
                needs: needs.clone(),
                is_skipped: task.skipped,
            })
            .collect()
    }

    fn checks(&self) -> Vec<(&str, usize)> {
        let checks = self.tasks.iter().flat_map(|task| &task.checks);
        checks.map(|check| (check.as_str(), 1)).collect()
    }

    fn workflow(&self, now: Timestamp, short_id: &str) -> String {
        run_id(&self.title, now, short_id)
    }

    fn folder(&self, run: &str) -> Utf8PathBuf {
        layout::run_folder(run)
    }

    fn log(&self, run: &str, now: Timestamp) -> Utf8PathBuf {
        layout::session_log(run, &now.strftime("%Y%m%d-%H%M%S").to_string(), &[])
    }

    fn files(&self, new: &NewRun, now: Timestamp) -> (String, Vec<(Utf8PathBuf, String)>) {
        let run = self.workflow(now, &new.short_id);
        let title = if self.title.is_empty() {
            UNTITLED
        } else {
            self.title.as_str()
        };
        let stamp = rekindle_text::format_seconds(now);
        let prd = format!(
            "{}# PRD: {title}\n\nThe user's plan says what is wanted; see plan.md.\n",
            front(&run, "agentic-spec-writer", &stamp)
        );
        let plan = plan_document(&run, title, &stamp, (&new.source, &new.text));
        let named =
            |artifact: Artifact, text: String| (Utf8PathBuf::from(artifact.file_name()), text);
        let mut files = vec![
            named(Artifact::Prd, prd),
            named(Artifact::Plan, plan),
            named(
                Artifact::TaskGraph,
                graph_text(&run, &stamp, &self.tasks, &self.needs),
            ),
            named(
                Artifact::Constitution,
                constitution(&run, title, &stamp, &new.settings),
            ),
            (settings::FILE.into(), settings::text(&new.settings)),
        ];
        for (task, needs) in self.tasks.iter().zip(&self.needs) {
            files.push((
                format!("tasks/{}.md", task.id).into(),
                contract(&run, &stamp, task, needs),
            ));
        }
        let branch = new.settings.branch.as_str();
        let events = [
            (
                "run_started",
                json!({"feature_name": title, "initiated_by": INITIATOR, "branch_name": branch}),
            ),
            (
                "phase_transition",
                json!({"from_phase": 0, "to_phase": 1, "trigger": "prd_ready"}),
            ),
            (
                "phase_transition",
                json!({"from_phase": 1, "to_phase": 2, "trigger": "user_approval", "notes": "started with `rekindle run`"}),
            ),
        ];
        let lines: Vec<String> = events
            .into_iter()
            .map(|(event, details)| Record::new(event, &run, now).details(details).line())
            .collect();
        let lines = lines.join("\n") + "\n";
        let log = self.log(&run, now);
        let inside = log
            .strip_prefix(layout::run_folder(&run))
            .map(ToOwned::to_owned)
            .unwrap_or(log.clone());
        files.push((inside, lines));
        (run, files)
    }
}

/// Returns the text of `task-graph.json`.
pub(super) fn graph_text(run: &str, stamp: &str, tasks: &[Task], needs: &[Vec<String>]) -> String {
    let tasks: Vec<Value> = tasks
        .iter()
        .zip(needs)
        .map(|(task, needs)| {
            let mut entry = json!({
                "id": task.id,
                "title": task.title,
                "phase": task.phase,
                "type": if task.kind.is_empty() { "implementation" } else { task.kind.as_str() },
                "description": task.description,
                "dependencies": needs,
                "files_likely": task.files,
                "acceptance_criteria": task.acceptance,
                "verification": {"commands": task.checks},
            });
            if task.skipped {
                entry["status"] = Value::from("skipped");
            }
            if task.may_be_empty {
                entry["allow_empty"] = Value::from(true);
            }
            if !task.forbidden.is_empty() {
                entry["files"] = json!({"forbidden": task.forbidden});
            }
            entry
        })
        .collect();
    let graph = json!({
        "run_id": run,
        "created": stamp,
        "actor": task_graph::MAKER,
        "summary": {"total_tasks": tasks.len()},
        "tasks": tasks,
    });
    let mut text = serde_json::to_string_pretty(&graph).unwrap_or_default();
    text.push('\n');
    text
}

/// Returns `YYYYMMDD-HHMM-<title>-<short id>`, with a title of at most twenty characters.
fn run_id(title: &str, now: Timestamp, short: &str) -> String {
    let mut slug = String::new();
    for c in title.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(20);
    let slug = slug.trim_matches('-');
    let slug = if slug.is_empty() { "run" } else { slug };
    format!("{}-{slug}-{short}", now.strftime("%Y%m%d-%H%M"))
}
