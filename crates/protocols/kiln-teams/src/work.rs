//! A wave's tasks as work for the engine, and the prompts of agents.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{
    AgentTask, Before, Destination, Settings, Standing, Work, WorkPlace, WorkTask,
};
use rekindle_world::{Kind, World};

use super::assess::Judged;
use super::layout;
use super::messages;
use super::read::shown;
use super::table::task::Class;
use super::task_list::TaskId;
use rekindle_protocol::prompt::{Prompt, plain_or};

/// The name of our workers in the task list.
pub(super) const OWNER: &str = "rekindle";
/// The longest report of a failed attempt.
const LONGEST_TROUBLE: u64 = 64 * 1024;
/// The depth to which documents of the project are copied, more than kiln has.
const DEEPEST: usize = 4;

/// Returns the tasks that workers can do now or are doing, in the order of the plan.
pub(super) fn work(world: &dyn World, judged: &Judged) -> Option<Work> {
    let repository = judged.phase.repository.as_ref()?;
    let head = repository.head.clone()?;
    let copies = copies(world, judged.phase.number);
    let tasks: Vec<WorkTask> = listed(judged)
        .into_iter()
        .filter_map(|id| task(judged, id, &head, &copies))
        .collect();
    Some(Work {
        settings: Settings {
            branch: repository.branch.clone()?,
            base: head,
            verify: Vec::new(),
            // The protocol counts retries itself, on its ledger.
            retries: 0,
            timeout: None,
            max_cost: None,
            title: String::new(),
            plan: None,
            agent: None,
            jobs: None,
            list: None,
        },
        tasks,
        last_commit: None,
        destination: Destination::Worktree,
        jobs: Some(judged.phase.config.wave_parallelism),
        // Each log of its workers is read by itself, line after line.
        latest: None,
    })
}

/// Returns the tasks of the work in order: those of our workers, then those that can start.
fn listed(judged: &Judged) -> Vec<&TaskId> {
    let ours = |id: &&TaskId| judged.phase.tasks[*id].file.owner.as_deref() == Some(OWNER);
    let at_work = judged.of(Class::InProgress).into_iter().filter(ours);
    at_work.chain(judged.of(Class::Pending)).collect()
}

fn task(
    judged: &Judged,
    id: &TaskId,
    head: &str,
    copies: &[(Utf8PathBuf, Utf8PathBuf)],
) -> Option<WorkTask> {
    let task = &judged.phase.tasks[id];
    let verdict = &judged.tasks[id];
    let plan_task = task.plan_task.as_ref()?;
    let base = base(judged, id, head);
    Some(WorkTask {
        id: id.to_string(),
        title: task.title.clone(),
        needs: Vec::new(),
        unreachable: false,
        left_out_by_plan: false,
        files: Vec::new(),
        checks: judged.phase.config.checks.clone(),
        // The protocol judges the evidence that the attempt leaves.
        may_be_empty: true,
        standing: match verdict.verdict.class {
            Class::InProgress => Standing::AtWork,
            Class::Pending
            | Class::Done
            | Class::ReadyForIntegration
            | Class::RerunRequired
            | Class::Gated => Standing::Open,
        },
        failures: 0,
        conflicts: 0,
        interruptions: 0,
        attempts: verdict.retries,
        last_failed: None,
        reason: None,
        limited_until: None,
        costs: BTreeMap::new(),
        place: Some(WorkPlace {
            worktree: task.worktree.clone(),
            base,
            keep: [layout::SNAPSHOT, layout::ARTIFACTS]
                .map(str::to_owned)
                .to_vec(),
            copies: copies.to_vec(),
            copies_folder: layout::SNAPSHOT.into(),
            artifacts: Utf8Path::new(layout::ARTIFACTS).join(plan_task),
            earlier: verdict.retries,
            mirror: task.file.path.clone(),
            seen: task.file.bytes().to_vec(),
        }),
    })
}

/// Returns the base of a task: that of its peers, or main if it is the first of its wave.
fn base(judged: &Judged, id: &TaskId, head: &str) -> String {
    let wave = judged.phase.waves.get(&id.wave);
    // If peers have landed and their worktrees are gone, the base is before the first of them.
    let known = wave.and_then(|wave| wave.base.clone().or_else(|| wave.before_first.clone()));
    known.unwrap_or_else(|| head.to_owned())
}

/// Returns the documents that a worker gets a copy of: settings, state, docs and the phase's own.
fn copies(world: &dyn World, phase: u32) -> Vec<(Utf8PathBuf, Utf8PathBuf)> {
    let track = layout::track(phase);
    let mut found = Vec::new();
    for name in ["config.json", "STATE.md"] {
        found.push(Utf8Path::new(".kiln").join(name));
    }
    collect(world, Utf8Path::new(".kiln/docs"), DEEPEST, &mut found);
    let documents = world
        .list(&world.project().join(&track))
        .unwrap_or_default();
    let documents = documents
        .into_iter()
        .filter(|entry| entry.kind == Kind::File);
    found.extend(documents.map(|entry| track.join(entry.name)));
    let target = |path: &Utf8PathBuf| {
        let inner = path.strip_prefix(".kiln").unwrap_or(path);
        Utf8Path::new(layout::SNAPSHOT).join(inner)
    };
    found
        .into_iter()
        .map(|path| (path.clone(), target(&path)))
        .collect()
}

fn collect(world: &dyn World, folder: &Utf8Path, depth: usize, found: &mut Vec<Utf8PathBuf>) {
    for entry in world
        .list(&world.project().join(folder))
        .unwrap_or_default()
    {
        let path = folder.join(&entry.name);
        match entry.kind {
            Kind::File => found.push(path),
            Kind::Folder if depth > 0 => collect(world, &path, depth - 1, found),
            Kind::Folder | Kind::Link | Kind::Other => {}
        }
    }
}

/// Returns the agent's task for an attempt at a task of the work.
pub(super) fn brief(
    world: &dyn World,
    judged: &Judged,
    index: usize,
    attempt: u32,
    before: Option<Before<'_>>,
) -> AgentTask {
    let Some(id) = listed(judged).get(index).copied() else {
        return AgentTask::new("worker", "", "");
    };
    let name = judged.name(id);
    let task = &judged.phase.tasks[id];
    let artifacts = Utf8Path::new(layout::ARTIFACTS).join(&name);
    let mut prompt = Prompt::new(format!(
        "You are the worker of task {} in wave {} of {}.\n\
         \n\
         Your working folder is a git worktree for this task only, at the base commit of the wave.\n\
         Leave your work in it as files; it is put on main for you, so do not commit, switch branches or change other folders.\n\
         `{snapshot}/` has copies of the project's documents (settings, state, docs, the phase's plan) to read.\n\
         `{artifacts}/` is for evidence; files that you do not write there are written for you. Neither folder is part of your work.\n\
         Exit with code 0 when the task is done and verified, and with any other code when it is not.\n",
        plain_or(&name, "TASK"),
        id.wave,
        messages::phase_name(judged.phase.number),
        snapshot = layout::SNAPSHOT,
    ))
    .meaning("TASK", "the task list", &name);
    if !task.title.is_empty() {
        prompt = prompt.quote("the task list, the task's title", &task.title);
    }
    let packet = judged
        .phase
        .plan
        .tasks
        .iter()
        .find(|planned| planned.id == name);
    if let Some(packet) = packet {
        prompt = prompt.contract("`PLAN.md`, the task's packet", &packet.text);
    }
    let retries = judged.tasks[id].retries;
    if retries > 0 {
        prompt = prompt.line(format!(
            "This is retry {retries} of {}. The worktree was reset to its state before the first attempt; the evidence of earlier attempts is in `{artifacts}/attempt-*/`.",
            judged.phase.config.max_retries
        ));
    }
    // The report of the last attempt is still in its folder; it is moved when this attempt starts.
    let left = task.worktree.join(&artifacts).join("error_context.json");
    let left = world.read(&left, LONGEST_TROUBLE).ok();
    let left = left.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let trouble = before.map(|(Before::Failed(why) | Before::CutShort(why))| why);
    if let Some(trouble) = trouble.or(left.as_deref()) {
        prompt = prompt.quote("the last attempt, which did not succeed", trouble);
    }
    let checks = judged.phase.config.checks.clone();
    let summary = format!("{name} - {}", shown(&task.title));
    let prompt = prompt.checks("`.kiln/config.json`", &checks).finish();
    AgentTask {
        task: Some(id.to_string()),
        attempt,
        checks,
        ..AgentTask::new("worker", summary, prompt)
    }
}
