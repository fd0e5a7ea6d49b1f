//! Tasks that depend on each other: what can run, in which order, and what never can.
//!
//! Tasks are numbered by their place in the plan, and every answer is in that
//! order, so the same plan always gives the same answer. All questions are
//! linear in tasks plus dependencies.

mod layers;

use std::collections::{BTreeSet, HashMap};

pub use self::layers::Place;

/// A task's place in the plan, from 0.
pub type Index = usize;

/// Tasks in plan order with their dependencies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    ids: Vec<String>,
    index: HashMap<String, Index>,
    dependencies: Vec<Vec<Index>>,
    unknown: Vec<Vec<String>>,
    dependents: Vec<Vec<Index>>,
}

/// What is wrong with a plan as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The id occurred before; the first one counts.
    Duplicate {
        /// The id.
        id: String,
        /// The place in the list as it was written, from 0.
        position: usize,
    },
    /// A task depends on an id that is not there, and so can never run.
    UnknownDependency {
        /// The task.
        task: Index,
        /// The id that is not there.
        dependency: String,
    },
}

impl Graph {
    /// Builds the graph of tasks in plan order, each with the ids it depends on.
    pub fn new(tasks: impl IntoIterator<Item = (String, Vec<String>)>) -> (Self, Vec<Problem>) {
        let mut graph = Self::default();
        let mut problems = Vec::new();
        let mut wanted = Vec::new();
        for (position, (id, dependencies)) in tasks.into_iter().enumerate() {
            if graph.index.contains_key(&id) {
                problems.push(Problem::Duplicate { id, position });
                continue;
            }
            graph.index.insert(id.clone(), graph.ids.len());
            graph.ids.push(id);
            wanted.push(dependencies);
        }
        graph.dependents = vec![Vec::new(); graph.ids.len()];
        for (task, ids) in wanted.into_iter().enumerate() {
            let mut known = BTreeSet::new();
            let mut unknown = Vec::new();
            for id in ids {
                match graph.index.get(&id) {
                    Some(&dependency) => {
                        known.insert(dependency);
                    }
                    None if unknown.contains(&id) => {}
                    None => {
                        problems.push(Problem::UnknownDependency {
                            task,
                            dependency: id.clone(),
                        });
                        unknown.push(id);
                    }
                }
            }
            for &dependency in &known {
                graph.dependents[dependency].push(task);
            }
            graph.dependencies.push(known.into_iter().collect());
            graph.unknown.push(unknown);
        }
        (graph, problems)
    }

    /// Returns how many tasks there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the ids in plan order.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Returns the place of an id.
    pub fn find(&self, id: &str) -> Option<Index> {
        self.index.get(id).copied()
    }

    /// Returns the tasks that `task` depends on, in plan order.
    pub fn dependencies(&self, task: Index) -> &[Index] {
        &self.dependencies[task]
    }

    /// Returns the tasks that depend on `task`, in plan order.
    pub fn dependents(&self, task: Index) -> &[Index] {
        &self.dependents[task]
    }

    /// Returns whether every dependency of `task` is there and satisfied.
    pub fn is_ready(&self, task: Index, satisfied: impl Fn(Index) -> bool) -> bool {
        self.unknown[task].is_empty() && self.dependencies[task].iter().all(|&d| satisfied(d))
    }

    /// Returns the tasks that are not finished and whose dependencies all are, in plan order.
    pub fn runnable(&self, finished: impl Fn(Index) -> bool) -> Vec<Index> {
        (0..self.len())
            .filter(|&task| !finished(task) && self.is_ready(task, &finished))
            .collect()
    }

    /// Returns an order in which every task comes after what it depends on.
    ///
    /// Among tasks that could come next the plan's order decides. Tasks in a cycle, behind one, or
    /// behind an unknown id are left out.
    pub fn order(&self) -> Vec<Index> {
        let mut missing: Vec<usize> = self.dependencies.iter().map(Vec::len).collect();
        let mut ready: BTreeSet<Index> = (0..self.len())
            .filter(|&task| missing[task] == 0 && self.unknown[task].is_empty())
            .collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(task) = ready.pop_first() {
            order.push(task);
            for &dependent in &self.dependents[task] {
                missing[dependent] -= 1;
                if missing[dependent] == 0 && self.unknown[dependent].is_empty() {
                    ready.insert(dependent);
                }
            }
        }
        order
    }

    /// Returns the cycles among tasks that are not finished, each in plan order, sorted by their first task.
    ///
    /// A finished task breaks the cycle it is in: what is done needs nothing any more.
    pub fn cycles(&self, finished: impl Fn(Index) -> bool) -> Vec<Vec<Index>> {
        let mut search = ComponentSearch::new(self, &finished);
        for task in 0..self.len() {
            if !finished(task) {
                search.visit(task);
            }
        }
        let mut cycles: Vec<Vec<Index>> = search
            .components
            .into_iter()
            .filter(|members| {
                members.len() > 1 || self.dependencies[members[0]].contains(&members[0])
            })
            .collect();
        for members in &mut cycles {
            members.sort_unstable();
        }
        cycles.sort_unstable();
        cycles
    }
}

/// Tarjan's strongly connected components with an explicit stack: a chain of
/// 100,000 tasks must not exhaust the thread's own.
struct ComponentSearch<'g, F> {
    graph: &'g Graph,
    finished: &'g F,
    next_number: usize,
    number: Vec<Option<usize>>,
    low: Vec<usize>,
    on_path: Vec<bool>,
    path: Vec<Index>,
    components: Vec<Vec<Index>>,
}

impl<'g, F: Fn(Index) -> bool> ComponentSearch<'g, F> {
    fn new(graph: &'g Graph, finished: &'g F) -> Self {
        Self {
            graph,
            finished,
            next_number: 0,
            number: vec![None; graph.len()],
            low: vec![0; graph.len()],
            on_path: vec![false; graph.len()],
            path: Vec::new(),
            components: Vec::new(),
        }
    }

    fn enter(&mut self, task: Index) {
        self.number[task] = Some(self.next_number);
        self.low[task] = self.next_number;
        self.next_number += 1;
        self.on_path[task] = true;
        self.path.push(task);
    }

    fn visit(&mut self, start: Index) {
        if self.number[start].is_some() {
            return;
        }
        self.enter(start);
        let mut calls: Vec<(Index, usize)> = vec![(start, 0)];
        while let Some((task, edge)) = calls.pop() {
            let Some(&dependency) = self.graph.dependencies[task].get(edge) else {
                self.leave(task);
                if let Some(&(parent, _)) = calls.last() {
                    self.low[parent] = self.low[parent].min(self.low[task]);
                }
                continue;
            };
            calls.push((task, edge + 1));
            if (self.finished)(dependency) {
                continue;
            }
            match self.number[dependency] {
                None => {
                    self.enter(dependency);
                    calls.push((dependency, 0));
                }
                Some(number) if self.on_path[dependency] => {
                    self.low[task] = self.low[task].min(number);
                }
                Some(_) => {}
            }
        }
    }

    /// Closes the component whose first visited member is `task`, if it is one.
    fn leave(&mut self, task: Index) {
        if self.number[task] != Some(self.low[task]) {
            return;
        }
        let mut members = Vec::new();
        while let Some(member) = self.path.pop() {
            self.on_path[member] = false;
            members.push(member);
            if member == task {
                break;
            }
        }
        self.components.push(members);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn graph(text: &str) -> (Graph, Vec<Problem>) {
        Graph::new(text.split_whitespace().map(|task| {
            let (id, dependencies) = task.split_once('<').unwrap_or((task, ""));
            let dependencies = dependencies
                .split(',')
                .filter(|d| !d.is_empty())
                .map(str::to_owned)
                .collect();
            (id.to_owned(), dependencies)
        }))
    }

    fn names(graph: &Graph, tasks: &[Index]) -> String {
        let ids: Vec<&str> = tasks.iter().map(|&t| graph.ids()[t].as_str()).collect();
        ids.join(" ")
    }

    #[test]
    fn runnable_tasks_have_finished_dependencies_and_keep_plan_order() {
        let (graph, problems) = graph("c<a a b d<b,c");
        assert_eq!(problems, []);
        assert_eq!(names(&graph, &graph.runnable(|_| false)), "a b");
        let done = ["a", "b"].map(|id| graph.find(id).unwrap());
        assert_eq!(names(&graph, &graph.runnable(|t| done.contains(&t))), "c");
        assert_eq!(names(&graph, &graph.order()), "a c b d");
    }

    #[test]
    fn a_cycle_is_named_and_keeps_its_dependents_from_running() {
        let (graph, _) = graph("a<c b<a c<b d<c e self<self");
        let cycles: Vec<String> = graph
            .cycles(|_| false)
            .iter()
            .map(|members| names(&graph, members))
            .collect();
        assert_eq!(cycles, ["a b c", "self"]);
        assert_eq!(names(&graph, &graph.order()), "e");
    }

    #[test]
    fn a_finished_member_breaks_its_cycle() {
        let (graph, _) = graph("a<c b<a c<b");
        assert_eq!(graph.cycles(|t| t == 1), Vec::<Vec<Index>>::new());
    }

    #[test]
    fn the_first_of_two_equal_ids_counts_and_unknown_dependencies_never_run() {
        let (graph, problems) = graph("a a<b b<x,x");
        assert_eq!(
            problems,
            [
                Problem::Duplicate {
                    id: "a".into(),
                    position: 1
                },
                Problem::UnknownDependency {
                    task: 1,
                    dependency: "x".into()
                },
            ]
        );
        assert_eq!(names(&graph, &graph.runnable(|_| false)), "a");
    }

    #[test]
    fn a_hundred_thousand_tasks_in_one_chain_do_not_exhaust_the_stack() {
        let chain = (0..100_000_u32).map(|n| {
            let dependency = n.checked_sub(1).map(|d| d.to_string());
            (n.to_string(), dependency.into_iter().collect())
        });
        let (graph, problems) = Graph::new(chain);
        assert_eq!(problems, []);
        assert_eq!(graph.order().len(), 100_000);
        assert_eq!(graph.cycles(|_| false), Vec::<Vec<Index>>::new());
        assert_eq!(graph.runnable(|task| task < 500), [500]);
    }

    /// Whether `from` reaches `to` over unfinished tasks, by plain search.
    fn reaches(graph: &Graph, finished: &[bool], from: Index, to: Index) -> bool {
        let mut seen = vec![false; graph.len()];
        let mut open = graph.dependencies(from).to_vec();
        while let Some(task) = open.pop() {
            if finished[task] || seen[task] {
                continue;
            }
            if task == to {
                return true;
            }
            seen[task] = true;
            open.extend_from_slice(graph.dependencies(task));
        }
        false
    }

    proptest! {
        #[test]
        fn cycles_are_just_the_tasks_that_reach_themselves(
            edges in proptest::collection::vec((0_usize..9, 0_usize..9), 0..24),
            finished in proptest::collection::vec(any::<bool>(), 9),
        ) {
            let tasks = (0..9).map(|task| {
                let dependencies = edges.iter().filter(|(t, _)| *t == task);
                (task.to_string(), dependencies.map(|(_, d)| d.to_string()).collect())
            });
            let (graph, _) = Graph::new(tasks);
            let mut in_cycle: Vec<Index> = graph.cycles(|t| finished[t]).concat();
            in_cycle.sort_unstable();
            let expected: Vec<Index> = (0..9)
                .filter(|&t| !finished[t] && reaches(&graph, &finished, t, t))
                .collect();
            prop_assert_eq!(in_cycle, expected);
        }

        #[test]
        fn the_order_never_puts_a_task_before_what_it_needs(
            edges in proptest::collection::vec((0_usize..12, 0_usize..12), 0..30),
        ) {
            let tasks = (0..12).map(|task| {
                let dependencies = edges.iter().filter(|(t, _)| *t == task);
                (task.to_string(), dependencies.map(|(_, d)| d.to_string()).collect())
            });
            let (graph, _) = Graph::new(tasks);
            let order = graph.order();
            for (at, &task) in order.iter().enumerate() {
                for dependency in graph.dependencies(task) {
                    prop_assert!(order[..at].contains(dependency));
                }
            }
            let stuck = (0..12).filter(|t| !order.contains(t));
            for task in stuck {
                let behind_a_cycle = (0..12).any(|member| {
                    reaches(&graph, &[false; 12], member, member)
                        && (member == task || reaches(&graph, &[false; 12], task, member))
                });
                prop_assert!(behind_a_cycle);
            }
        }
    }
}
