//! The tasks of a run as work for the engine, if `rekindle run` started it.

use rekindle_model::{AgentTask, Before, Command, Destination, Standing, Work, WorkTask};
use rekindle_world::World;

use super::assess::RunVerdict;
use super::layout::{self, Artifact};
use super::messages;
use super::read::{self, SettingsFile};
use super::settings;
use super::task_graph::Task;
use super::track::State;

/// Returns the remaining work of a run, or `None` if it is not the engine's.
pub(super) fn work(run: &RunVerdict) -> Option<Work> {
    let SettingsFile::Read(settings) = run.evidence.settings.clone() else {
        return None;
    };
    let graph = run.evidence.graph.get()?;
    let lacking = |task: usize| {
        graph.problems.iter().any(|problem| {
            matches!(problem, rekindle_model::graph::Problem::UnknownDependency { task: of, .. } if *of == task)
        })
    };
    let tasks = graph
        .tasks
        .iter()
        .enumerate()
        .map(|(index, task)| {
            let record = run.evidence.folded.tasks.get(&task.id);
            let trials = record.map(|record| record.trials).unwrap_or_default();
            WorkTask {
                id: task.id.clone(),
                title: task.title.clone(),
                needs: graph.graph.dependencies(index).to_vec(),
                unreachable: lacking(index),
                left_out_by_plan: task.skipped,
                files: task.files.clone(),
                checks: task.checks.clone(),
                may_be_empty: task.may_be_empty,
                standing: match run.states[index] {
                    State::Pending | State::InProgress | State::Failed => Standing::Open,
                    State::Blocked => Standing::Blocked,
                    State::Skipped => Standing::Skipped,
                    State::Done => Standing::Done,
                },
                failures: trials.failures,
                conflicts: trials.conflicts,
                interruptions: trials.interruptions,
                attempts: record.map_or(0, |record| record.attempts),
                last_failed: record.and_then(|record| record.last_failed),
                reason: record.and_then(|record| record.reason.clone()),
                limited_until: record
                    .and_then(|record| record.limit)
                    .and_then(|limit| limit.until),
                place: None,
                costs: record
                    .map(|record| record.costs.clone())
                    .unwrap_or_default(),
            }
        })
        .collect();
    let landed = run.evidence.folded.tasks.values();
    let last_commit = landed
        .filter_map(|record| record.landed.as_ref())
        .max_by_key(|(mark, _)| mark.order())
        .map(|(_, commit)| commit.clone());
    Some(Work {
        jobs: settings.jobs,
        settings: *settings,
        tasks,
        last_commit,
        destination: Destination::Branch,
        latest: run.evidence.folded.latest,
    })
}

/// Returns the checks that are run for the tasks that are left, with the files that ask for them.
pub(super) fn commands(run: &RunVerdict) -> Vec<Command> {
    let folder = layout::run_folder(&run.evidence.id);
    let no_tasks = Vec::new();
    let tasks = run
        .evidence
        .graph
        .get()
        .map_or(&no_tasks, |graph| &graph.tasks);
    let is_left = |(_, state): &(&Task, &State)| !state.is_finished();
    let left: Vec<&Task> = tasks
        .iter()
        .zip(&run.states)
        .filter(is_left)
        .map(|(task, _)| task)
        .collect();
    let of_tasks = left.iter().flat_map(|task| &task.checks);
    let graph = folder.join(Artifact::TaskGraph.file_name());
    let mut commands =
        Command::checks_of(graph.as_str(), of_tasks.map(|check| (check.as_str(), 1)));
    if let SettingsFile::Read(settings) = &run.evidence.settings
        && !left.is_empty()
    {
        let of_all = settings.verify.iter();
        commands.extend(Command::checks_of(
            folder.join(settings::FILE).as_str(),
            of_all.map(|check| (check.as_str(), left.len())),
        ));
    }
    commands
}

/// Returns the task of an agent for an attempt in its own worktree.
pub(super) fn brief(
    world: &dyn World,
    run: Option<&RunVerdict>,
    index: usize,
    attempt: u32,
    before: Option<Before<'_>>,
) -> AgentTask {
    let found = run.and_then(|run| Some((run, run.evidence.graph.get()?.tasks.get(index)?)));
    let Some((run, task)) = found else {
        return AgentTask {
            attempt,
            ..AgentTask::new("executor", "", "")
        };
    };
    let id = rekindle_text::excerpt(&task.id, 80);
    let title = rekindle_text::excerpt(&task.title, 200);
    let named = if title.is_empty() {
        id
    } else {
        format!("{id} - {title}")
    };
    let prompt = messages::entitled(
        messages::worktree_prompt(run, &task.id),
        &task.id,
        &task.title,
    );
    let mut prompt = messages::describe(prompt, task);
    if let Some((path, contract)) = read::contract_text(world, &run.evidence, &task.id) {
        prompt = prompt.contract(&format!("`{path}`, the task's contract"), &contract);
    }
    let constitution = world
        .project()
        .join(layout::run_folder(&run.evidence.id))
        .join("constitution.md");
    if let Some(rules) = read::document(world, &constitution) {
        prompt = prompt.quote("`constitution.md`, the rules of the run", &rules);
    }
    let record = run.evidence.folded.tasks.get(&task.id);
    if !task.may_be_empty {
        prompt = prompt.line("An attempt that changes no file counts as failed.");
    }
    let trouble = match before {
        Some(Before::CutShort(why)) => {
            prompt = prompt.line(format!(
                "This is attempt {attempt}, in which you go on: the last one was cut short, since {why}. The worktree is as you left it. A file that was being written or a command that was running may be incomplete, so look at what is there before you finish the task."
            ));
            None
        }
        Some(Before::Failed(why)) => Some(why),
        None => record.and_then(|record| record.reason.as_deref()),
    };
    if attempt > 1 && !matches!(before, Some(Before::CutShort(_))) {
        prompt = prompt.line(format!(
            "This is attempt {attempt}. The worktree is in its original state; the results of earlier attempts are saved under `refs/rekindle/`."
        ));
        if let Some(trouble) = trouble {
            prompt = prompt.quote("the last attempt, which did not succeed", trouble);
        }
    }
    let summary = format!("{named} (attempt {attempt})");
    let prompt = prompt.checks("`task-graph.json`", &task.checks).finish();
    AgentTask {
        task: Some(task.id.clone()),
        attempt,
        checks: task.checks.clone(),
        ..AgentTask::new("executor", summary, prompt)
    }
}
