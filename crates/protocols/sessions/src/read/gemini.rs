//! Gemini CLI: `tmp/<name>/chats/session-<time>-<8>.jsonl`.
//!
//! Observed with 0.61.0: a tool call is written only with its result, so a killed one leaves an empty
//! answer. Rows come again with the same id, and `$set` rows patch the session. A resume leaves a file
//! with the same id in which no person said anything.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::Preset;
use rekindle_agents::traces::{Tail, is_session_id, time};
use rekindle_world::{End, World};
use serde_json::Value;

use super::{Depth, Place, folders, named, rows};
use crate::layout;
use crate::story::{Call, Failure, Story, is_typed};
use crate::table::Turn;

/// How much of the beginning has the first row.
const HEAD: usize = 4 * 1024;
/// A list of projects is a few lines long.
const LARGEST_LIST: u64 = 1024 * 1024;

/// Finds all transcripts; the names have only the beginnings of the ids.
pub(super) fn places(world: &dyn World) -> Vec<Place> {
    let Some(home) = layout::gemini(world) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (_, folder) in folders(world, &home.join("tmp")) {
        let chats = folder.join("chats");
        for (name, file) in named(world, &chats, "session-", ".jsonl") {
            let short = name.rsplit('-').next().filter(|id| is_session_id(id));
            found.extend(short.map(|id| Place {
                agent: Preset::Gemini,
                id: id.to_owned(),
                file: file.clone(),
                modified: None,
            }));
        }
    }
    found
}

/// Reads a transcript; `None` if it is not one of a person.
pub(super) fn read(world: &dyn World, place: &Place, depth: Depth) -> Option<Story> {
    let head = world.read_end(&place.file, End::Head, HEAD).ok()?;
    let first = head.split(|&byte| byte == b'\n').next()?;
    let first = rekindle_agents::traces::partial_object(&String::from_utf8_lossy(first));
    let text = |key: &str| first.get(key).and_then(Value::as_str);
    if text("kind").is_some_and(|kind| kind != "main") {
        return None;
    }
    let id = text("sessionId").filter(|id| is_session_id(id));
    let tell = |tail: &Tail| story(&tail.rows);
    let is_settled = |tail: &Tail| story(&tail.rows).turn.is_some();
    let mut told = rows(world, &place.file, depth, tell, is_settled);
    if told.prompt.is_none() && (told.is_intact || told.turn.is_some()) {
        return None;
    }
    told.id = id.map(str::to_owned);
    told.folder = folder(world, place);
    told.title = told.title.or_else(|| text("summary").map(str::to_owned));
    Some(told)
}

/// Returns the folder of a transcript: the program keeps it next to the chats, and in a list.
fn folder(world: &dyn World, place: &Place) -> Option<Utf8PathBuf> {
    let kept = place.shelf().parent()?;
    let root = world.read(&kept.join(".project_root"), LARGEST_LIST).ok();
    let root = root.map(|root| String::from_utf8_lossy(&root).trim().to_owned());
    if let Some(root) = root.filter(|root| root.starts_with('/')) {
        return Some(root.into());
    }
    let list = layout::gemini(world)?.join("projects.json");
    let list: Value = serde_json::from_slice(&world.read(&list, LARGEST_LIST).ok()?).ok()?;
    let name = kept.file_name()?;
    let projects = list.get("projects")?.as_object()?;
    let mut named = projects
        .iter()
        .filter(|(_, other)| other.as_str() == Some(name));
    named
        .next()
        .map(|(folder, _)| Utf8Path::new(folder).to_owned())
}

/// Returns what rows say.
fn story(rows: &[Value]) -> Story {
    let mut story = Story::default();
    let mut messages: Vec<&Value> = Vec::new();
    let mut positions: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let patch = row.get("$set");
        if let Some(title) = patch.and_then(|patch| patch.get("summary")?.as_str()) {
            story.title = Some(title.to_owned());
        }
        let updated = patch.and_then(|patch| patch.get("lastUpdated")?.as_str());
        story.at(updated.and_then(|at| at.parse().ok()));
        let listed = patch.and_then(|patch| patch.get("messages")?.as_array());
        for message in listed.into_iter().flatten().chain([row]) {
            let Some(id) = message.get("id").and_then(Value::as_str) else {
                continue;
            };
            // A row that comes again replaces the earlier one, where that was.
            if let Some(&at) = positions.get(id) {
                messages[at] = message;
            } else {
                positions.insert(id, messages.len());
                messages.push(message);
            }
        }
    }
    for message in messages {
        read_message(&mut story, message);
    }
    story
}

fn read_message(story: &mut Story, message: &Value) {
    story.at(time(message));
    let text = content(message.get("content"));
    match message.get("type").and_then(Value::as_str) {
        Some("user") => {
            if is_typed(&text) && !text.trim().is_empty() {
                story.typed(&text);
            }
        }
        Some("gemini") => model(story, message, &text),
        Some("error") => {
            if story.turn.is_some() {
                story.fails(Failure::new(&text, None, time(message)));
            }
        }
        Some(_) | None => {}
    }
}

fn model(story: &mut Story, message: &Value, text: &str) {
    story.failure = None;
    story.says(text);
    let calls = message.get("toolCalls").and_then(Value::as_array);
    let mut n_calls = 0;
    for call in calls.into_iter().flatten() {
        n_calls += 1;
        read_call(story, call);
    }
    // After a tool the model has to say more.
    let is_over = !text.trim().is_empty() && n_calls == 0;
    story.turn = Some(if is_over { Turn::Over } else { Turn::Open });
}

fn read_call(story: &mut Story, call: &Value) {
    let text = |key: &str| call.get(key).and_then(Value::as_str);
    let name = text("name").unwrap_or("a tool");
    let input = call.get("args").cloned();
    if name == "write_todos" {
        let todos = input
            .as_ref()
            .and_then(|input| input.get("todos")?.as_array());
        let entries = todos.into_iter().flatten().filter_map(|todo| {
            let text = |key: &str| todo.get(key).and_then(Value::as_str);
            Some((text("description")?, text("status").unwrap_or_default()))
        });
        story.plans(entries);
    }
    let made = Call::new(text("id").unwrap_or_default(), name, input);
    match text("status") {
        Some("success") => story.ends(&made, None, text("resultDisplay").unwrap_or_default()),
        Some("error" | "cancelled") => {
            let error = text("resultDisplay").unwrap_or("failed");
            story.ends(&made, Some(error), "");
        }
        // Releases that write a call before its result.
        Some(_) => story.calls(made),
        None => {}
    }
}

/// Returns the text of a content: a text, or a list of parts.
fn content(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Some(_) | None => String::new(),
    }
}
