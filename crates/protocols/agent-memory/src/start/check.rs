//! What is wrong with the tasks of a plan as a graph.

use std::collections::HashMap;

use camino::Utf8Path;
use rekindle_model::graph::{Graph, Problem};
use rekindle_model::{Code, Finding, Place};

use crate::layout;
use crate::task_graph::Task;

/// Returns what is wrong with the tasks, each with its line.
pub(crate) fn check(
    path: &Utf8Path,
    tasks: &[Task],
    needs: &[Vec<String>],
    lines: &[u64],
) -> Vec<Finding> {
    let at = |task: usize| Place::line(path, lines.get(task).copied().unwrap_or(1));
    let name = |task: &Task| rekindle_text::excerpt(&task.id, 80);
    let mut findings = Vec::new();
    let edges = tasks
        .iter()
        .zip(needs)
        .map(|(task, needs)| (task.id.clone(), needs.clone()));
    let (graph, problems) = Graph::new(edges);
    // The graph has each id once; the plan has every line.
    let place_of: HashMap<&str, usize> = tasks
        .iter()
        .enumerate()
        .rev()
        .map(|(at, task)| (task.id.as_str(), at))
        .collect();
    let place = |index: usize| {
        place_of
            .get(graph.ids()[index].as_str())
            .copied()
            .unwrap_or(0)
    };
    for problem in problems {
        findings.push(match problem {
            Problem::Duplicate { id, position } => Finding::new(
                Code::DuplicateTask,
                format!(
                    "the id `{}` is already used",
                    rekindle_text::excerpt(&id, 80)
                ),
            )
            .at(at(position)),
            Problem::UnknownDependency { task, dependency } => Finding::new(
                Code::UnknownDependency,
                format!(
                    "`{}` needs `{}`, but the plan has no such task",
                    name(&tasks[place(task)]),
                    rekindle_text::excerpt(&dependency, 80)
                ),
            )
            .at(at(place(task))),
        });
    }
    for members in graph.cycles(|_| false) {
        let names: Vec<String> = members
            .iter()
            .map(|&task| format!("`{}`", name(&tasks[place(task)])))
            .collect();
        findings.push(
            Finding::new(
                Code::DependencyCycle,
                format!(
                    "these tasks depend on each other in a cycle: {}",
                    names.join(", ")
                ),
            )
            .at(at(place(members[0]))),
        );
    }
    for (position, task) in tasks
        .iter()
        .enumerate()
        .filter(|(_, task)| !layout::is_safe_name(&task.id))
    {
        findings.push(
            Finding::new(
                Code::UnsafeName,
                format!("`{}` is not a safe file name", name(task)),
            )
            .at(at(position)),
        );
    }
    findings.extend(
        overlaps(tasks, &graph)
            .into_iter()
            .map(|(first, second, file)| {
                Finding::new(
                    Code::OverlappingFiles,
                    format!(
                        "`{}` and `{}` are both about `{}`, so they will not run side by side",
                        name(&tasks[first]),
                        name(&tasks[second]),
                        rekindle_text::excerpt(&file, 80)
                    ),
                )
                .at(at(second))
            }),
    );
    findings
}

/// Returns pairs of tasks that could run side by side and declare the same file.
fn overlaps(tasks: &[Task], graph: &Graph) -> Vec<(usize, usize, String)> {
    let mut owners: HashMap<&str, Vec<usize>> = HashMap::new();
    for (position, task) in tasks.iter().enumerate() {
        for file in &task.files {
            owners.entry(file).or_default().push(position);
        }
    }
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    for (file, sharing) in owners {
        for pair in sharing.windows(2).take(20) {
            let ids = [&tasks[pair[0]].id, &tasks[pair[1]].id].map(|id| graph.find(id));
            let [Some(first), Some(second)] = ids else {
                continue;
            };
            if !reaches(graph, first, second) && !reaches(graph, second, first) {
                found.push((pair[0], pair[1], file.to_owned()));
            }
        }
    }
    found.sort();
    found
}

fn reaches(graph: &Graph, from: usize, to: usize) -> bool {
    let mut seen = vec![false; graph.len()];
    let mut open = vec![from];
    while let Some(task) = open.pop() {
        if task == to {
            return true;
        }
        if !std::mem::replace(&mut seen[task], true) {
            open.extend_from_slice(graph.dependencies(task));
        }
    }
    false
}
