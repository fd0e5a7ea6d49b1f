//! The states of the tasks by events and graph, and which tasks can run.

use rekindle_model::graph::Problem;
use rekindle_model::{Code, Place};

use super::event::TaskEvent;
use super::findings::Findings;
use super::layout::{self, Artifact};
use super::next::Work;
use super::read::RunEvidence;
use super::table::{Readiness, STATES, Signs, TURNS, Turn};
use super::task_graph::TaskGraph;
use super::track::{State, TaskRecord};

/// A task that failed this often is not tried again without a person.
pub(super) const MOST_FAILURES: u32 = 3;

/// The tasks of a run.
pub(super) struct Tasks<'a> {
    run: &'a RunEvidence,
    pub(super) graph: &'a TaskGraph,
    /// One for each task of the graph, in its order.
    pub(super) states: Vec<State>,
    /// Tasks of the graph in the order in which they are chosen.
    pub(super) runnable: Vec<usize>,
    /// Tasks that depend on each other, and are not finished.
    pub(super) cycles: Vec<Vec<usize>>,
}

impl<'a> Tasks<'a> {
    /// Judges the tasks by events and graph; the graph may be empty.
    pub(super) fn new(run: &'a RunEvidence, graph: &'a TaskGraph) -> Self {
        let states = states(run, graph);
        let runnable = runnable(graph, &states);
        let cycles = graph.graph.cycles(|task| states[task].is_finished());
        Self {
            run,
            graph,
            states,
            runnable,
            cycles,
        }
    }

    pub(super) fn all_finished(&self) -> bool {
        self.states.iter().all(|state| state.is_finished())
    }

    /// Returns how many tasks are done: in the graph, or by events if there is none.
    pub(super) fn n_done(&self) -> usize {
        if self.run.graph.get().is_some() {
            let done = self.states.iter().filter(|state| **state == State::Done);
            return done.count();
        }
        let records = self.run.folded.tasks.values();
        let states = records.filter_map(|record| record.decided.map(|d| d.event.state()));
        states.filter(|state| *state == State::Done).count()
    }

    /// Returns the tasks that events name and the graph lacks, sorted; without a graph none is known to be lacking.
    pub(super) fn unknown(&self) -> Vec<String> {
        let names = self.run.folded.tasks.keys();
        let lacking = names.filter(|id| {
            let graph = self.run.graph.get();
            graph.is_some_and(|graph| graph.graph.find(id).is_none())
        });
        lacking.cloned().collect()
    }

    /// Returns the records of the tasks of the graph that are not finished.
    pub(super) fn open_records(&self) -> impl Iterator<Item = &TaskRecord> {
        let tasks = self.graph.tasks.iter().zip(&self.states);
        let open = tasks.filter(|(_, state)| !state.is_finished());
        open.filter_map(|(task, _)| self.run.folded.tasks.get(&task.id))
    }

    /// Returns whether a task was started.
    pub(super) fn any_started(&self) -> bool {
        let records = self.run.folded.tasks.values();
        let mut states = records.filter_map(|record| record.decided.map(|d| d.event.state()));
        states.any(|state| match state {
            State::InProgress | State::Done | State::Failed | State::Blocked => true,
            State::Pending | State::Skipped => false,
        })
    }

    /// Returns the first runnable task with fewer than three failures, and whether only its verification is missing.
    pub(super) fn selectable(&self) -> Option<(Work, bool)> {
        let mut works = self.runnable.iter().map(|&task| (task, self.work(task)));
        let (task, work) = works.find(|(_, work)| work.attempt <= MOST_FAILURES)?;
        let decided = self.record(task).and_then(|record| record.decided);
        let implemented = decided.is_some_and(|decided| decided.event == TaskEvent::Implemented);
        Some((work, implemented))
    }

    /// Returns the first runnable task, whatever its failures.
    pub(super) fn first_runnable(&self) -> Option<Work> {
        self.runnable.first().map(|&task| self.work(task))
    }

    /// Returns the ids of the blocked tasks.
    pub(super) fn blocked(&self) -> Vec<String> {
        self.ids((0..self.states.len()).filter(|&task| self.states[task] == State::Blocked))
    }

    /// Returns the tasks that can never run: members of cycles and tasks with unknown dependencies,
    /// otherwise all unfinished tasks.
    pub(super) fn stuck(&self) -> Vec<String> {
        let mut stuck = self.cycles.concat();
        let problems = self.graph.problems.iter();
        stuck.extend(problems.filter_map(|problem| match problem {
            Problem::UnknownDependency { task, .. } => Some(*task),
            Problem::Duplicate { .. } => None,
        }));
        stuck.retain(|&task| !self.states[task].is_finished());
        if stuck.is_empty() {
            stuck.extend((0..self.states.len()).filter(|&task| !self.states[task].is_finished()));
        }
        stuck.sort_unstable();
        stuck.dedup();
        self.ids(stuck.into_iter())
    }

    pub(super) fn ids(&self, tasks: impl Iterator<Item = usize>) -> Vec<String> {
        tasks
            .map(|task| self.graph.tasks[task].id.clone())
            .collect()
    }

    fn record(&self, task: usize) -> Option<&TaskRecord> {
        self.run.folded.tasks.get(&self.graph.tasks[task].id)
    }

    fn work(&self, task: usize) -> Work {
        let n_failures = self.record(task).map_or(0, |record| record.failures);
        Work {
            task: self.graph.tasks[task].id.clone(),
            title: self.graph.tasks[task].title.clone(),
            attempt: n_failures.saturating_add(1),
            interrupted: self.states[task] == State::InProgress,
        }
    }

    /// Adds the findings about the graph and about unknown tasks.
    pub(super) fn note(&self, findings: &mut Findings) {
        let graph_file = layout::run_folder(&self.run.id).join(Artifact::TaskGraph.file_name());
        let in_graph = || Place::path(graph_file.clone());
        for problem in &self.graph.problems {
            let (code, about) = match problem {
                Problem::Duplicate { id, .. } => (Code::DuplicateTask, id.clone()),
                Problem::UnknownDependency { task, dependency } => (
                    Code::UnknownDependency,
                    format!("{} needs {dependency}", self.graph.tasks[*task].id),
                ),
            };
            findings.add_about(code, about, in_graph);
        }
        for members in &self.cycles {
            let about = self.ids(members.iter().copied()).join(", ");
            findings.add_about(Code::DependencyCycle, about, in_graph);
        }
        for (task, state) in self.states.iter().enumerate() {
            let id = &self.graph.tasks[task].id;
            if !layout::is_safe_name(id) {
                findings.add_about(Code::UnsafeName, id, in_graph);
            }
            let mut dependencies = self.graph.graph.dependencies(task).iter();
            let needs_skipped = dependencies.any(|&needed| self.states[needed] == State::Skipped);
            if needs_skipped && !state.is_finished() {
                findings.add_about(Code::BlockedBySkipped, id, in_graph);
            }
        }
        for id in &self.unknown() {
            let first = self.run.folded.tasks[id].first;
            findings.add_about(Code::UnknownTask, id, || self.run.place(first));
        }
        if let Some(mark) = self.run.folded.nameless_task_event {
            findings.add_about(Code::UnknownTask, "(none named)", || self.run.place(mark));
        }
    }

    /// Notes the tasks that nobody has finished.
    pub(super) fn note_open(&self, findings: &mut Findings) {
        let summary = layout::run_folder(&self.run.id).join(Artifact::Summary.file_name());
        for (task, state) in self.graph.tasks.iter().zip(&self.states) {
            if !state.is_finished() {
                findings.add_about(Code::OpenTasks, &task.id, || Place::path(&summary));
            }
        }
    }

    /// Notes the unfinished tasks that have no contract.
    pub(super) fn note_contracts(&self, findings: &mut Findings) {
        let is_task = |id: &str| self.graph.graph.find(id).is_some();
        for (task, state) in self.graph.tasks.iter().zip(&self.states) {
            let contract = layout::contract(&task.id, &self.run.contracts, is_task);
            if !state.is_finished() && contract.is_none() {
                let folder = layout::run_folder(&self.run.id).join("tasks");
                findings.add_about(Code::MissingContract, &task.id, || Place::path(folder));
            }
        }
    }
}

/// Returns the state of every task of the graph.
fn states(run: &RunEvidence, graph: &TaskGraph) -> Vec<State> {
    let signs = graph.tasks.iter().map(|task| {
        let record = run.folded.tasks.get(&task.id);
        let decided = record.and_then(|record| record.decided);
        Signs {
            said: decided.map_or(State::Pending, |decided| decided.event.state()),
            is_skipped: task.skipped,
            needs_skipped: false,
        }
    });
    let mut signs: Vec<Signs> = signs.collect();
    // Skipping does not depend on other tasks, so one pass is enough.
    let is_skipped = |signs: &Signs| *STATES.decide(*signs) == State::Skipped;
    let skipped: Vec<usize> = (0..signs.len())
        .filter(|&task| is_skipped(&signs[task]))
        .collect();
    for task in skipped {
        for &dependent in graph.graph.dependents(task) {
            signs[dependent].needs_skipped = true;
        }
    }
    signs
        .into_iter()
        .map(|signs| *STATES.decide(signs))
        .collect()
}

/// Returns the tasks that can run, in the order in which they are chosen.
fn runnable(graph: &TaskGraph, states: &[State]) -> Vec<usize> {
    let mut tasks = graph.tasks.iter().zip(states);
    let bootstrapping = tasks.any(|(task, state)| task.is_bootstrap() && !state.is_finished());
    let is_done = |dependency| states[dependency] == State::Done;
    let mut runnable: Vec<usize> = (0..states.len())
        .filter(|&task| {
            let turn = TURNS.decide(Readiness {
                state: states[task],
                is_ready: graph.graph.is_ready(task, is_done),
                is_early: bootstrapping && graph.tasks[task].is_development(),
            });
            *turn == Turn::Runs
        })
        .collect();
    runnable.sort_by_key(|&index| {
        let task = &graph.tasks[index];
        (
            states[index] != State::InProgress,
            !task.is_quality(),
            !task.is_bootstrap(),
            task.phase,
            index,
        )
    });
    runnable
}
