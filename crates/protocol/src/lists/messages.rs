//! What agents and people are told about the tasks of a list.

use crate::prompt::{Prompt, plain_or};
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::AgentTask;
use rekindle_text::excerpt;
use rekindle_world::World;

use crate::lists::assess::Judged;
use crate::lists::format::{Content, Format, NextKind};

/// A document up to this length is quoted in full.
const SHORT: u64 = 8 * 1024;
const EXECUTOR: &str = "executor";

/// Returns what an agent is told to do for a task.
pub(crate) fn task(
    world: &dyn World,
    format: &dyn Format,
    judged: &Judged,
    at: usize,
    attempt: u32,
    trouble: Option<&str>,
) -> AgentTask {
    let list = &judged.list;
    let task = &list.file.tasks[at];
    let name = plain_or(&task.id, "TASK");
    let source = excerpt(list.source().as_str(), 200);
    let mut prompt = Prompt::new(format!(
        "Do task {name} of the list `{source}`, and nothing else.\n"
    ))
    .meaning("TASK", &format!("`{source}`"), &task.id)
    .quote(&format!("`{source}`, the task"), &text(judged, at))
    .line("Do not change its check box: it is marked when your work is accepted.");
    let groups = groups(judged);
    let before = before(judged, &groups, at);
    let before: Vec<String> = before
        .map(|group| {
            let total = rekindle_text::count(group.total, "task");
            format!("{}: {} of {total} finished", group.title, group.finished)
        })
        .collect();
    if !before.is_empty() {
        prompt = prompt.quoted_list(&format!("`{source}`, the groups before it"), &before);
    }
    for document in &list.documents {
        if document.content != Content::Present || document.path == list.source() {
            continue;
        }
        prompt = quote(prompt, world, &document.path);
    }
    for path in format.rules(world) {
        if world.is_file(&world.project().join(&path)) {
            let path = excerpt(path.as_str(), 200);
            prompt = prompt.line(format!("Follow the rules of the project in `{path}`."));
        }
    }
    if attempt > 1 {
        prompt = prompt.line(format!("This is attempt {attempt}."));
        if let Some(trouble) = trouble {
            prompt = prompt.quote("the last attempt, which did not succeed", trouble);
        }
    }
    let summary = format!("{} - {}", excerpt(&task.id, 80), excerpt(&task.title, 200));
    AgentTask {
        task: Some(task.id.clone()),
        attempt,
        ..AgentTask::new(EXECUTOR, summary, prompt.finish())
    }
}

/// Returns what an agent of a run has to know of a task: its text, the documents, the rules, and the
/// groups before it.
pub(crate) fn description(
    world: &dyn World,
    format: &dyn Format,
    judged: &Judged,
    groups: &[Group],
    at: usize,
) -> String {
    let list = &judged.list;
    let mut lines = vec![text(judged, at)];
    let others = list
        .documents
        .iter()
        .filter(|document| document.content == Content::Present && document.path != list.source());
    for document in others {
        lines.push(format!(
            "Read `{}` first.",
            excerpt(document.path.as_str(), 200)
        ));
    }
    for path in format.rules(world) {
        if world.is_file(&world.project().join(&path)) {
            let path = excerpt(path.as_str(), 200);
            lines.push(format!("Follow the rules of the project in `{path}`."));
        }
    }
    lines.extend(before(judged, groups, at).map(|group| {
        let total = rekindle_text::count(group.total, "task");
        format!("Before it: {} ({total}).", group.title)
    }));
    lines.push(format!(
        "Do not mark the task in `{0}`: it is marked when the work lands. \
         Only if no file has to be changed for it, such as where it only verifies, mark it in `{0}`.",
        excerpt(list.source().as_str(), 200)
    ));
    lines.join("\n")
}

/// Returns the text of a task with the lines below it.
fn text(judged: &Judged, at: usize) -> String {
    let task = &judged.list.file.tasks[at];
    format!("{}\n{}", task.title, task.details)
}

/// A group of tasks that has a heading.
pub(crate) struct Group {
    /// Its place in the file.
    at: usize,
    title: String,
    total: usize,
    finished: usize,
}

/// Returns the groups with a heading that have tasks, in the order of the file.
pub(crate) fn groups(judged: &Judged) -> Vec<Group> {
    let file = &judged.list.file;
    let titles = file.groups.iter().enumerate();
    let mut groups: Vec<Group> = titles
        .map(|(at, title)| Group {
            at,
            title: title.clone(),
            total: 0,
            finished: 0,
        })
        .collect();
    for &task in &judged.standing.needs.order {
        if let Some(group) = groups.get_mut(file.tasks[task].group) {
            group.total += 1;
            group.finished += usize::from(judged.standing.states[task].is_finished());
        }
    }
    groups.retain(|group| group.total > 0 && !group.title.is_empty());
    groups
}

/// Returns the groups before the one of a task.
fn before<'g>(
    judged: &Judged,
    groups: &'g [Group],
    task: usize,
) -> impl Iterator<Item = &'g Group> {
    let own = judged.list.file.tasks[task].group;
    groups.iter().take_while(move |group| group.at < own)
}

/// Names a document of a list, and quotes it where it is short.
fn quote(prompt: Prompt, world: &dyn World, path: &Utf8Path) -> Prompt {
    let shown = excerpt(path.as_str(), 200);
    let full: Utf8PathBuf = world.project().join(path);
    match world.read(&full, SHORT) {
        Ok(bytes) => prompt.quote(&format!("`{shown}`"), &String::from_utf8_lossy(&bytes)),
        Err(_) => prompt.line(format!("Read `{shown}` first.")),
    }
}

/// Returns what an agent is told to do for a stage that is not about tasks.
pub(crate) fn stage(world: &dyn World, format: &dyn Format, judged: &Judged) -> AgentTask {
    let list = &judged.list;
    let title = excerpt(&list.title, 120);
    let folder = excerpt(list.folder.as_str(), 200);
    let document = judged.next.document.unwrap_or_default();
    let summary = match judged.next.kind {
        NextKind::AskPerson => format!("settle the open questions in `{document}` of {title}"),
        NextKind::Close => format!("close {title}"),
        NextKind::WriteDocument | NextKind::ExecuteTasks | NextKind::None => {
            format!("write `{document}` of {title}")
        }
    };
    if let Some(command) = &judged.next.command {
        let prompt = Prompt::new(format!("{command}\n"));
        return AgentTask::new("author", summary, prompt.finish());
    }
    let mut prompt = Prompt::new(format!(
        "Write the document `{document}.md` in the folder `{folder}`, in the form that {} uses.\n",
        format.name()
    ));
    for other in &list.documents {
        if other.content == Content::Present {
            prompt = quote(prompt, world, &other.path);
        }
    }
    AgentTask::new("author", summary, prompt.finish())
}
