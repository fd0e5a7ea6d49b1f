//! Claude Code: `projects/<folder>/<session>.jsonl`, `sessions/<pid>.json`, `tasks/<session>/<n>.json`.
//!
//! The name of a folder loses too much of its path, so the folder is taken from the rows. Sub-agents
//! have transcripts of their own in a folder next to that of their session.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::Preset;
use rekindle_agents::traces::{ClaudeProcess, Tail, claude_processes, is_session_id};
use rekindle_model::{SubAgent, TodoList};
use rekindle_text::claude_folder_name;
use rekindle_world::{End, Kind, World};
use serde_json::Value;

use super::claude_rows::{Who, is_settled, story};
use super::{Depth, Place, folders, named, rows};
use crate::layout;
use crate::story::{Story, one_line, todo_list};
use crate::table::Turn;

/// How much of the beginning of a transcript is read, if its end leaves something open.
const HEAD: usize = 16 * 1024;
/// A task file is a few hundred bytes long.
const LARGEST_TASK: u64 = 64 * 1024;
/// The most tasks of a list that are read.
const MOST_TASKS: usize = 400;
/// The most sub-agents of a session that are read, the newest first.
const MOST_SUBAGENTS: usize = 40;

/// Finds all transcripts.
pub(super) fn places(world: &dyn World) -> Vec<Place> {
    let Some(home) = layout::claude(world) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (_, folder) in folders(world, &home.join("projects")) {
        let ids = named(world, &folder, "", ".jsonl").filter(|(id, _)| is_session_id(id));
        found.extend(ids.map(|(id, file)| Place {
            agent: Preset::Claude,
            id,
            file,
            modified: None,
        }));
    }
    found
}

/// Reads a transcript.
pub(super) fn read(world: &dyn World, place: &Place, depth: Depth) -> Story {
    let shelf = place.shelf().file_name().unwrap_or_default();
    let tell = |tail: &Tail| story(&tail.rows, Who::Session, shelf);
    let mut told = rows(world, &place.file, depth, tell, |tail| {
        is_settled(&tail.rows, Who::Session)
    });
    if told.turn.is_none() && told.folder.is_none() {
        told.folder = unread_folder(world, shelf);
    }
    if !told.is_intact {
        look_at_the_beginning(world, place, shelf, &mut told);
    }
    told
}

/// Takes from the beginning of a long transcript what its end leaves open: a shell may have been
/// elsewhere for long, and a script may go on with what a person began.
fn look_at_the_beginning(world: &dyn World, place: &Place, shelf: &str, told: &mut Story) {
    let is_of_shelf = |folder: &Utf8PathBuf| claude_folder_name(folder.as_str()) == shelf;
    let is_elsewhere = told.folder.as_ref().is_some_and(|one| !is_of_shelf(one));
    if !is_elsewhere && !told.is_headless {
        return;
    }
    let Ok(head) = world.read_end(&place.file, End::Head, HEAD) else {
        return;
    };
    let lines = head.split(|&byte| byte == b'\n');
    let rows: Vec<Value> = lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let begun = story(&rows, Who::Session, shelf);
    if is_elsewhere && let Some(folder) = begun.folder.filter(is_of_shelf) {
        told.folder = Some(folder);
    }
    if begun.prompt.is_some() {
        told.is_headless &= begun.is_headless;
    }
}

/// Returns the folder of a transcript without a readable row: the project, one around it, or one in it.
fn unread_folder(world: &dyn World, shelf: &str) -> Option<Utf8PathBuf> {
    let is_it = |folder: &&Utf8Path| claude_folder_name(folder.as_str()) == shelf;
    let project = world.resolve(world.project()).ok()?;
    if let Some(around) = project.ancestors().find(is_it) {
        return Some(around.to_owned());
    }
    let inside = folders(world, &project)
        .into_iter()
        .map(|(_, folder)| folder);
    inside.into_iter().find(|folder| is_it(&folder.as_path()))
}

/// What Claude Code keeps besides transcripts.
pub(crate) struct Claude {
    home: Option<Utf8PathBuf>,
    processes: Vec<ClaudeProcess>,
}

impl Claude {
    /// Reads the list of processes.
    pub(crate) fn new(world: &dyn World) -> Self {
        let home = layout::claude(world);
        let processes = home.as_deref().map(|home| claude_processes(world, home));
        Self {
            home,
            processes: processes.unwrap_or_default(),
        }
    }

    /// Returns the processes of a session, which may have ended.
    pub(crate) fn of(&self, session: &str) -> impl Iterator<Item = &ClaudeProcess> {
        let processes = self.processes.iter();
        processes.filter(move |process| process.session == session)
    }

    /// Returns whether the process that had a session last waited for a permission.
    pub(crate) fn waited_for_permission(&self, session: &str) -> bool {
        const PERMISSIONS: [&str; 4] = [
            "permission prompt",
            "sandbox request",
            "worker request",
            "dialog open",
        ];
        let last = self
            .of(session)
            .max_by_key(|process| (process.updated, process.started));
        last.is_some_and(|process| {
            let waits = process.status.as_deref() == Some("waiting");
            let what = process.waiting_for.as_deref();
            waits && what.is_some_and(|what| PERMISSIONS.contains(&what))
        })
    }

    /// Reads the task list of a session.
    pub(crate) fn tasks(&self, world: &dyn World, session: &str) -> Option<TodoList> {
        let folder = self.home.as_ref()?.join("tasks").join(session);
        let mut files: Vec<(u64, Utf8PathBuf)> = named(world, &folder, "", ".json")
            .filter_map(|(number, file)| Some((number.parse().ok()?, file)))
            .collect();
        files.sort_unstable();
        let read = |(_, file): &(u64, Utf8PathBuf)| -> Option<(String, String)> {
            let task: Value = serde_json::from_slice(&world.read(file, LARGEST_TASK).ok()?).ok()?;
            let text = |key: &str| Some(task.get(key)?.as_str()?.to_owned());
            Some((text("subject")?, text("status").unwrap_or_default()))
        };
        let tasks: Vec<(String, String)> = files.iter().take(MOST_TASKS).filter_map(read).collect();
        todo_list(
            tasks
                .iter()
                .map(|(text, state)| (text.as_str(), state.as_str())),
        )
    }

    /// Returns the sub-agents of a session that are in flight.
    pub(crate) fn subagents(world: &dyn World, place: &Place, story: &Story) -> Vec<SubAgent> {
        let folder = place.shelf().join(&place.id).join("subagents");
        // Most sessions have none, and a missing folder costs one call.
        if !world
            .stat(&folder)
            .is_ok_and(|meta| meta.kind == Kind::Folder)
        {
            return Vec::new();
        }
        let found: Vec<(String, Utf8PathBuf)> = named(world, &folder, "agent-", ".jsonl").collect();
        let files: Vec<Utf8PathBuf> = found.iter().map(|(_, file)| file.clone()).collect();
        let seen = world.look_at_each(&files);
        let mut dated: Vec<_> = found.into_iter().zip(seen).collect();
        dated.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.and_then(|seen| seen.modified)));
        dated.truncate(MOST_SUBAGENTS);
        dated.sort_by(|(a, _), (b, _)| a.cmp(b));
        let open = dated
            .into_iter()
            .filter_map(|((id, file), _)| subagent(world, &folder, id, &file, story));
        open.collect()
    }
}

/// Returns a sub-agent if it is in flight.
fn subagent(
    world: &dyn World,
    folder: &Utf8Path,
    id: String,
    file: &Utf8Path,
    of: &Story,
) -> Option<SubAgent> {
    if world.ownership(file).ok()?.owner != rekindle_world::Owner::Me {
        return None;
    }
    let tell = |tail: &Tail| story(&tail.rows, Who::SubAgent, "");
    let told = rows(world, file, Depth::State, tell, |tail| {
        is_settled(&tail.rows, Who::SubAgent)
    });
    let call = told.calls.iter().rfind(|call| !call.is_question());
    if call.is_none() && told.turn != Some(Turn::Open) {
        return None;
    }
    let meta = world.read(&folder.join(format!("agent-{id}.meta.json")), LARGEST_TASK);
    let meta: Value = meta
        .ok()
        .and_then(|meta| serde_json::from_slice(&meta).ok())
        .unwrap_or_default();
    let text = |key: &str| meta.get(key).and_then(Value::as_str);
    // Its session was resumed since: the program itself noted that the call was cut off.
    let is_settled = |call: &str| of.interrupted_calls.iter().any(|other| other == call);
    if text("toolUseId").is_some_and(is_settled) {
        return None;
    }
    Some(SubAgent {
        id,
        kind: text("agentType").and_then(one_line),
        about: text("description").and_then(one_line),
        step: call.map(|call| call.step.clone()),
    })
}
