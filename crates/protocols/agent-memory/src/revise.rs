//! A plan file that was edited after its run was started: what the run can take over.
//!
//! The run's `task-graph.json` is compared with the file, so layout and prose around the tasks are not
//! differences. What has landed, and what somebody is at work on, stays as it is. A task that the file
//! no longer has is left out, not removed: its events are in the logs.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{Action, Code, Finding, Moment, Severity, Step};
use rekindle_protocol::capability::Revision;
use rekindle_text::excerpt;
use rekindle_world::World;
use serde_json::json;

use super::assess::RunVerdict;
use super::layout::{self, Artifact};
use super::read::{self, SettingsFile};
use super::record::Record;
use super::start::{self, PlanFile};
use super::task_graph::{self, Task};
use super::track::State;

/// Who changes a plan, as the log names it.
const ACTOR: &str = "person";

/// A task with the ids of what it needs.
type Entry = (Task, Vec<String>);

/// Compares a run with its plan file; `None` if the run has all of it, or is not made from a plan.
pub(super) fn revise(
    world: &dyn World,
    run: &RunVerdict,
    (path, bytes): (&Utf8Path, &[u8]),
    at_work: &[String],
) -> Option<Revision> {
    let own = Own::of(world, run)?;
    if run.complete || own.is_of_list {
        return None;
    }
    let mut plan = start::draft(path, bytes);
    renumber(&mut plan, &own.tasks);
    let mut merged = Merged::default();
    if !plan.findings.iter().any(is_fault_of_reading) {
        merged = Merged::of(&own.tasks, &plan, |id| own.state(id), at_work);
    }
    let faults = faults(path, &plan, &merged);
    if faults.is_none() && merged.changes.is_empty() {
        return None;
    }
    let steps = if faults.is_none() {
        steps(&own, (path, bytes), &merged)
    } else {
        Vec::new()
    };
    let known: BTreeSet<&String> = own
        .tasks
        .iter()
        .flat_map(|(task, _)| &task.checks)
        .collect();
    let checks = merged.changed().flat_map(|(task, _)| &task.checks);
    let checks: BTreeSet<&String> = checks.filter(|check| !known.contains(check)).collect();
    Some(Revision {
        checks: checks.into_iter().cloned().collect(),
        changes: merged.changes.values().cloned().collect(),
        kept: merged.kept,
        faults,
        steps,
    })
}

/// Leaves tasks out of a run that does the tasks of a list; `None` if none of them is left to be done.
pub(super) fn leave_out(
    world: &dyn World,
    run: &RunVerdict,
    list: (&Utf8Path, &[u8]),
    (gone, at_work): (&[String], &[String]),
) -> Option<Revision> {
    let own = Own::of(world, run)?;
    if run.complete || !own.is_of_list {
        return None;
    }
    let merged = Merged::without(&own.tasks, gone, |id| own.state(id), at_work);
    (!merged.changes.is_empty()).then(|| Revision {
        checks: Vec::new(),
        changes: merged.changes.values().cloned().collect(),
        faults: None,
        steps: steps(&own, list, &merged),
        kept: merged.kept,
    })
}

/// A run as its own files have it.
struct Own<'a> {
    run: &'a RunVerdict,
    files: Files<'a>,
    title: &'a str,
    is_of_list: bool,
    graph: Vec<u8>,
    tasks: Vec<Entry>,
}

impl<'a> Own<'a> {
    fn of(world: &'a dyn World, run: &'a RunVerdict) -> Option<Self> {
        run.evidence.graph.get().filter(|graph| graph.is_ours)?;
        let SettingsFile::Read(settings) = &run.evidence.settings else {
            return None;
        };
        let files = Files {
            world,
            folder: layout::run_folder(&run.evidence.id),
        };
        let graph = files.read(Artifact::TaskGraph.file_name())?;
        Some(Self {
            run,
            files,
            title: &settings.title,
            is_of_list: settings.list.is_some(),
            tasks: task_graph::list(&graph).ok()?,
            graph,
        })
    }

    fn state(&self, task: &str) -> Option<State> {
        let graph = self.run.evidence.graph.get()?;
        let task = graph.graph.find(task)?;
        self.run.states.get(task).copied()
    }
}

/// Returns whether a finding means that the file has no tasks to compare.
fn is_fault_of_reading(finding: &Finding) -> bool {
    finding.code == Code::CorruptTaskGraph
}

/// Returns what is wrong with the plan as the run would have it.
fn faults(path: &Utf8Path, plan: &PlanFile, merged: &Merged) -> Option<Vec<Finding>> {
    // Whether needs can be met is a question to all tasks, those that have landed included.
    let is_of_graph = |finding: &&Finding| {
        matches!(
            finding.code,
            Code::UnknownDependency | Code::DependencyCycle
        )
    };
    let is_fault = |finding: &&Finding| finding.severity() >= Severity::Blocker;
    let (tasks, needs): (Vec<Task>, Vec<Vec<String>>) = merged.entries.iter().cloned().unzip();
    let of_graph = start::check(path, &tasks, &needs, &[]);
    let of_file = plan.findings.iter().filter(|finding| !is_of_graph(finding));
    let mut faults: Vec<Finding> = of_file.filter(is_fault).cloned().collect();
    faults.extend(of_graph.iter().filter(is_of_graph).cloned());
    (plan.tasks.is_empty() || !faults.is_empty()).then_some(faults)
}

/// The tasks of a run with what a file changes.
#[derive(Debug, Default)]
struct Merged {
    entries: Vec<Entry>,
    /// What changes, by the place in `entries`.
    changes: BTreeMap<usize, String>,
    kept: Vec<String>,
}

impl Merged {
    fn of(
        old: &[Entry],
        plan: &PlanFile,
        state: impl Fn(&str) -> Option<State>,
        at_work: &[String],
    ) -> Self {
        let mut merged = Self::default();
        let before: BTreeMap<&str, &Entry> = old
            .iter()
            .map(|entry| (entry.0.id.as_str(), entry))
            .collect();
        let is_done = |id: &str| state(id) == Some(State::Done);
        let is_at_work = |id: &str| at_work.iter().any(|task| task == id);
        let mut seen = BTreeSet::new();
        for (task, needs) in plan.tasks.iter().zip(&plan.needs) {
            let new = (ours(task), needs.clone());
            let shown = excerpt(&task.id, 80);
            seen.insert(task.id.as_str());
            let Some(entry) = before.get(task.id.as_str()) else {
                let title = excerpt(&task.title, 60);
                merged.change(new, format!("`{shown}`: new ({title})"));
                continue;
            };
            let differences = differences(entry, &new);
            if differences.is_empty() {
                merged.entries.push((*entry).clone());
            } else if is_done(&task.id) {
                // A landed task that is ticked says what everybody knows.
                if differences != [LEFT_OUT] {
                    merged.kept.push(format!("`{shown}` has landed"));
                }
                merged.entries.push((*entry).clone());
            } else if is_at_work(&task.id) {
                merged
                    .kept
                    .push(format!("`{shown}` has an attempt that is not over"));
                merged.entries.push((*entry).clone());
            } else {
                merged.change(new, format!("`{shown}`: {}", differences.join(", ")));
            }
        }
        for entry in old
            .iter()
            .filter(|(task, _)| !seen.contains(task.id.as_str()))
        {
            let shown = excerpt(&entry.0.id, 80);
            if is_at_work(&entry.0.id) {
                merged
                    .kept
                    .push(format!("`{shown}` has an attempt that is not over"));
            }
            if entry.0.skipped || is_done(&entry.0.id) || is_at_work(&entry.0.id) {
                merged.entries.push(entry.clone());
                continue;
            }
            let mut left_out = entry.clone();
            left_out.0.skipped = true;
            merged.change(left_out, format!("`{shown}`: {LEFT_OUT}"));
        }
        merged
    }

    /// The same tasks without some; who needs one of these needs what it needed.
    fn without(
        old: &[Entry],
        gone: &[String],
        state: impl Fn(&str) -> Option<State>,
        at_work: &[String],
    ) -> Self {
        let mut merged = Self::default();
        let gone: BTreeSet<&String> = gone.iter().collect();
        let is_over = |task: &Task| task.skipped || state(&task.id) == Some(State::Done);
        let is_at_work = |task: &Task| at_work.contains(&task.id);
        let left_out = old
            .iter()
            .filter(|(task, _)| gone.contains(&task.id) && !is_over(task) && !is_at_work(task));
        let left_out: BTreeMap<&str, &[String]> = left_out
            .map(|(task, needs)| (task.id.as_str(), needs.as_slice()))
            .collect();
        for (task, needs) in old {
            let shown = excerpt(&task.id, 80);
            if left_out.contains_key(task.id.as_str()) {
                let mut task = task.clone();
                task.skipped = true;
                merged.change((task, needs.clone()), format!("`{shown}`: {LEFT_OUT}"));
                continue;
            }
            if gone.contains(&task.id) && is_at_work(task) {
                merged
                    .kept
                    .push(format!("`{shown}` has an attempt that is not over"));
            }
            let fewer = spliced(needs, &left_out);
            if fewer == *needs || is_over(task) {
                merged.entries.push((task.clone(), needs.clone()));
            } else {
                merged.change((task.clone(), fewer), format!("`{shown}`: needs"));
            }
        }
        merged
    }

    fn change(&mut self, entry: Entry, what: String) {
        self.changes.insert(self.entries.len(), what);
        self.entries.push(entry);
    }

    fn changed(&self) -> impl Iterator<Item = &Entry> {
        self.changes
            .keys()
            .filter_map(|place| self.entries.get(*place))
    }
}

/// Returns needs in which what is left out is replaced with what it needs.
fn spliced(needs: &[String], left_out: &BTreeMap<&str, &[String]>) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<&String> = needs.iter().rev().collect();
    while let Some(need) = open.pop() {
        if !seen.insert(need) {
            continue;
        }
        match left_out.get(need.as_str()) {
            Some(before) => open.extend(before.iter().rev()),
            None => found.push(need.clone()),
        }
    }
    found
}

/// Returns a task of a plan as a graph of ours describes it.
fn ours(task: &Task) -> Task {
    let mut task = task.clone();
    if task.kind.is_empty() {
        "implementation".clone_into(&mut task.kind);
    }
    task
}

/// What a task is that the plan no longer has, or has ticked.
const LEFT_OUT: &str = "left out";

/// Returns in what two versions of a task differ, for a person.
fn differences((old, old_needs): &Entry, (new, needs): &Entry) -> Vec<&'static str> {
    let is_text_new = old.description != new.description || old.acceptance != new.acceptance;
    let has_new_rest =
        old.phase != new.phase || old.kind != new.kind || old.forbidden != new.forbidden;
    [
        (new.skipped && !old.skipped, LEFT_OUT),
        (old.skipped && !new.skipped, "to be done"),
        (old.title != new.title, "title"),
        (is_text_new, "text"),
        (old.checks != new.checks, "checks"),
        (old_needs != needs, "needs"),
        (old.files != new.files, "files"),
        (
            old.may_be_empty != new.may_be_empty,
            "whether it may change nothing",
        ),
        (has_new_rest, "details"),
    ]
    .into_iter()
    .filter_map(|(is_so, what)| is_so.then_some(what))
    .collect()
}

/// Gives tasks that the plan only counts the ids that they have in the run.
///
/// A task that was put in between moves all that follow: so the title counts first, then the place,
/// and what is left is new.
fn renumber(plan: &mut PlanFile, old: &[Entry]) {
    let is_counted = |id: &String| plan.counted.contains(id);
    let mut free: Vec<&Task> = old.iter().map(|(task, _)| task).collect();
    let given: BTreeSet<&String> = plan.tasks.iter().map(|task| &task.id).collect();
    let given: BTreeSet<&String> = given.into_iter().filter(|id| !is_counted(id)).collect();
    free.retain(|task| !given.contains(&task.id));
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for by_title in [true, false] {
        for task in plan.tasks.iter().filter(|task| is_counted(&task.id)) {
            let is_it = |old: &&Task| {
                if by_title {
                    old.title == task.title
                } else {
                    old.id == task.id
                }
            };
            if names.contains_key(&task.id) {
                continue;
            }
            if let Some(place) = free.iter().position(is_it) {
                names.insert(task.id.clone(), free.remove(place).id.clone());
            }
        }
    }
    let numbers = old.iter().map(|(task, _)| &task.id).chain(given);
    let mut last = numbers
        .filter_map(|id| id.parse().ok())
        .max()
        .unwrap_or(0_u64);
    for task in plan.tasks.iter().filter(|task| is_counted(&task.id)) {
        names.entry(task.id.clone()).or_insert_with(|| {
            last = last.saturating_add(1);
            last.to_string()
        });
    }
    let renamed = |id: &mut String| {
        if let Some(name) = names.get(id.as_str()) {
            name.clone_into(id);
        }
    };
    plan.tasks.iter_mut().for_each(|task| renamed(&mut task.id));
    plan.needs.iter_mut().flatten().for_each(renamed);
}

/// The files of a run.
struct Files<'a> {
    world: &'a dyn World,
    folder: Utf8PathBuf,
}

impl Files<'_> {
    fn read(&self, name: &str) -> Option<Vec<u8>> {
        read::bytes(
            self.world,
            &self.world.project().join(self.folder.join(name)),
        )
    }

    /// Returns the step that writes a file, unless it is so already.
    fn write(&self, name: &str, contents: String, why: &str) -> Option<Step> {
        let path = self.folder.join(name);
        let after = contents.into_bytes();
        let action = match self.read(name) {
            Some(before) if before == after => return None,
            Some(before) => Action::Edit {
                path,
                before,
                after,
            },
            None => Action::Create {
                path,
                contents: after,
            },
        };
        Some(Step::new(action, why))
    }
}

/// Returns the effects; the task graph is the one that counts, and the events say so.
fn steps(own: &Own<'_>, (path, bytes): (&Utf8Path, &[u8]), merged: &Merged) -> Vec<Step> {
    let Own { run, files, .. } = own;
    let why = "the plan has changed";
    let id = run.evidence.id.as_str();
    let now = files.world.now();
    let stamp = rekindle_text::format_seconds(now);
    let title = if own.title.is_empty() {
        start::UNTITLED
    } else {
        own.title
    };
    let mut steps = Vec::new();
    for (task, needs) in merged.changed() {
        let contract = start::contract(id, &stamp, task, needs);
        steps.extend(files.write(&format!("tasks/{}.md", task.id), contract, why));
    }
    let text = String::from_utf8_lossy(bytes);
    let text = (path.as_str(), text.as_ref());
    let plan = start::plan_document(id, title, &stamp, text);
    steps.extend(files.write(Artifact::Plan.file_name(), plan, why));
    let (tasks, needs): (Vec<Task>, Vec<Vec<String>>) = merged.entries.iter().cloned().unzip();
    let graph = Action::Edit {
        path: files.folder.join(Artifact::TaskGraph.file_name()),
        before: own.graph.clone(),
        after: start::graph_text(id, &stamp, &tasks, &needs).into_bytes(),
    };
    steps.push(Step::new(graph, why));
    let day = now.strftime("%Y%m%d").to_string();
    let log = layout::actor_log(id, ACTOR, &day);
    let at = Moment::next(now, run.evidence.folded.latest);
    let append = |record: Record<'_>| {
        let (log, record) = (log.clone(), record.actor(ACTOR).line());
        Step::new(Action::Append { log, record }, why)
    };
    let name = run.evidence.name_in_events();
    let ids: Vec<&str> = merged.changed().map(|(task, _)| task.id.as_str()).collect();
    let details = json!({"source": path.as_str(), "tasks": ids});
    steps.push(append(
        Record::new("plan_updated", name, at).details(details),
    ));
    // What was given up with the old text is tried with the new one.
    let blocked = merged
        .changed()
        .filter(|(task, _)| !task.skipped && own.state(&task.id) == Some(State::Blocked));
    steps.extend(blocked.map(|(task, _)| {
        let details = json!({"reason": why});
        append(
            Record::new("task_ready", name, at)
                .task(&task.id)
                .details(details),
        )
    }));
    steps
}
