//! From evidence to a verdict on every run: a pure function.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use rekindle_model::{Code, Place};

use super::findings::Findings;
use super::layout::{self, Artifact};
use super::next::{NextAction, Situation, next_action};
use super::phase::{self, BasePhase, Phase};
use super::read::{Evidence, RunEvidence};
use super::task_graph::TaskGraph;
use super::tasks::Tasks;
use super::track::{Limit, State};

/// A run in which nothing happened for this long is old.
const STALE_AFTER: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The conclusions about all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) now: Timestamp,
    /// Sorted by name.
    pub(super) runs: Vec<RunVerdict>,
    pub(super) findings: Findings,
}

impl Verdict {
    pub(super) fn run(&self, id: &str) -> Option<&RunVerdict> {
        self.runs.iter().find(|run| run.evidence.id == id)
    }

    pub(super) fn incomplete(&self) -> impl Iterator<Item = &RunVerdict> {
        self.runs.iter().filter(|run| !run.complete)
    }
}

/// The conclusions about one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunVerdict {
    pub(super) evidence: RunEvidence,
    pub(super) complete: bool,
    pub(super) outcome: Option<&'static str>,
    pub(super) phase: Phase,
    /// One for each task of the graph, in its order.
    pub(super) states: Vec<State>,
    /// Tasks of the graph in the order in which they are chosen.
    pub(super) runnable: Vec<usize>,
    pub(super) done: usize,
    pub(super) total: Option<usize>,
    pub(super) failures: BTreeMap<String, u32>,
    pub(super) last_activity: Option<Timestamp>,
    pub(super) last_completed: Option<(String, String)>,
    pub(super) unknown_tasks: Vec<String>,
    pub(super) stale: bool,
    /// The usage limit that it waits for.
    pub(super) limit: Option<Limit>,
    pub(super) next: NextAction,
    pub(super) findings: Findings,
}

/// Judges every run.
pub(super) fn assess(evidence: Evidence) -> Verdict {
    let now = evidence.now;
    Verdict {
        now,
        runs: evidence
            .runs
            .into_iter()
            .map(|run| assess_run(run, now))
            .collect(),
        findings: evidence.findings,
    }
}

fn assess_run(run: RunEvidence, now: Timestamp) -> RunVerdict {
    let no_graph = TaskGraph::default();
    let graph = run.graph.get().unwrap_or(&no_graph);
    let tasks = Tasks::new(&run, graph);
    let phase = phase::phase(
        &run.folded,
        &run.artifacts,
        phase::Work {
            all_finished: !graph.tasks.is_empty() && tasks.all_finished(),
            any_started: tasks.any_started(),
            later_protocol: is_later_protocol(&run, graph),
        },
    );
    let outcome = outcome(&run);
    let complete = outcome.is_some();
    let started = rekindle_text::file_stamp(&run.id);
    let last_activity = run.folded.last_activity.or(started);
    // Looking at an old run does not make it a recent one.
    let last_work = run.folded.last_work.or(started).or(last_activity);
    let idle = last_work.map(|at| now.duration_since(at));
    let idle_too_long = idle.filter(|idle| !complete && *idle >= STALE_AFTER);
    let next = next_action(&situation(&run, &phase, &tasks, outcome));

    let mut findings = run.findings.clone();
    tasks.note(&mut findings);
    note_run(&run, &phase, idle_too_long, &mut findings);
    if outcome == Some(Artifact::Summary.file_name()) {
        tasks.note_open(&mut findings);
    }
    if !complete {
        note_missing(&run, phase.base, &mut findings);
        tasks.note_contracts(&mut findings);
    }

    RunVerdict {
        complete,
        outcome,
        done: tasks.n_done(),
        total: run.graph.get().map(|graph| graph.tasks.len()),
        failures: failures(&run),
        last_activity,
        last_completed: last_completed(&run, graph),
        unknown_tasks: tasks.unknown(),
        stale: idle_too_long.is_some(),
        limit: limit(&tasks, now),
        next,
        findings,
        phase,
        runnable: tasks.runnable,
        states: tasks.states,
        evidence: run,
    }
}

fn situation<'a>(
    run: &'a RunEvidence,
    phase: &'a Phase,
    tasks: &Tasks<'_>,
    outcome: Option<&'static str>,
) -> Situation<'a> {
    Situation {
        outcome,
        phase,
        artifacts: &run.artifacts,
        has_graph: run.graph.get().is_some(),
        all_finished: tasks.all_finished(),
        selectable: tasks.selectable(),
        runnable: tasks.first_runnable(),
        blocked: tasks.blocked(),
        stuck: tasks.stuck(),
        cleanup_completed: run.folded.cleanup_completed,
    }
}

/// Returns the limit that ends last of those that open tasks wait for.
fn limit(tasks: &Tasks<'_>, now: Timestamp) -> Option<Limit> {
    let records = tasks.open_records();
    let limits = records.filter_map(|record| record.limit);
    limits
        .filter(|limit| limit.until.is_none_or(|until| until > now))
        .max_by_key(|limit| limit.until)
}

fn failures(run: &RunEvidence) -> BTreeMap<String, u32> {
    let records = run.folded.tasks.iter();
    let failed = records.filter(|(_, record)| record.failures > 0);
    failed
        .map(|(id, record)| (id.clone(), record.failures))
        .collect()
}

/// Returns the task that was completed last and its title: the graph's, else its contract's.
fn last_completed(run: &RunEvidence, graph: &TaskGraph) -> Option<(String, String)> {
    let (task, _) = run.folded.last_completed()?;
    let in_graph = graph
        .graph
        .find(task)
        .map(|at| graph.tasks[at].title.clone())
        .filter(|title| !title.is_empty());
    let in_contract = || {
        let title = run.contract_title.clone();
        title.filter(|(of, _)| of == task).map(|(_, title)| title)
    };
    let title = in_graph.or_else(in_contract).unwrap_or_default();
    Some((task.to_owned(), title))
}

/// Returns whether the run follows a later version of the protocol, with other phase numbers.
fn is_later_protocol(run: &RunEvidence, graph: &TaskGraph) -> bool {
    run.artifacts.contains(&Artifact::WorkflowState)
        || run.artifacts.contains(&Artifact::BootstrapPlan)
        || graph
            .tasks
            .iter()
            .any(|task| task.is_bootstrap() || task.is_development())
}

/// Returns what makes the run complete, if it is.
fn outcome(run: &RunEvidence) -> Option<&'static str> {
    if let Some(end) = run.folded.ended {
        return Some(end.as_str());
    }
    // A run that was opened again after its end is at work, whatever its first end left behind.
    let tells = run.artifacts.contains(&Artifact::Summary) && !run.folded.reopened;
    tells.then(|| Artifact::Summary.file_name())
}

/// Adds the findings about the run as a whole.
fn note_run(
    run: &RunEvidence,
    phase: &Phase,
    idle_too_long: Option<SignedDuration>,
    findings: &mut Findings,
) {
    let folder = layout::run_folder(&run.id);
    if !layout::is_conforming(&run.id) {
        findings.add(Code::RunIdNonconforming, || Place::path(folder.clone()));
    }
    if phase.out_of_range {
        findings.add_about(Code::PhaseOutOfRange, phase.number.to_string(), || {
            Place::path(folder.join("events"))
        });
    }
    if let Some(idle) = idle_too_long {
        let days = idle.as_hours() / 24;
        findings.add_about(Code::StaleRun, format!("{days} days"), || {
            Place::path(folder)
        });
    }
}

/// Adds the findings about missing documents of earlier phases.
fn note_missing(run: &RunEvidence, phase: BasePhase, findings: &mut Findings) {
    if layout::is_small(&run.artifacts) {
        return;
    }
    let required: &[Artifact] = match phase {
        BasePhase::Intake => &[],
        BasePhase::Planning => &[Artifact::Prd],
        BasePhase::Execution | BasePhase::Cleanup | BasePhase::Consolidation => &[
            Artifact::Prd,
            Artifact::Plan,
            Artifact::TaskGraph,
            Artifact::Constitution,
        ],
    };
    let is_there = |artifact: Artifact| {
        // An unreadable graph counts as missing.
        let is_readable = artifact != Artifact::TaskGraph || run.graph.get().is_some();
        run.artifacts.contains(&artifact) && is_readable
    };
    for &artifact in required.iter().filter(|artifact| !is_there(**artifact)) {
        findings.add_about(Code::MissingArtifact, artifact.file_name(), || {
            Place::path(layout::run_folder(&run.id))
        });
    }
}
