//! Codex CLI: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.
//!
//! Observed with 0.166.0: a turn begins with `task_started` and ends with `task_complete` or
//! `turn_aborted`. A call that was cut off never gets an output, even if the session goes on, so only
//! calls of the last turn count. The first row has the folder before its long instructions.

use rekindle_agents::Preset;
use rekindle_agents::traces::{Tail, codex_input, is_session_id, partial_object, time};
use rekindle_world::{End, World};
use serde_json::{Map, Value};

use super::{Depth, FOR_PROMPT, Place, folders, named, rows};
use crate::layout;
use crate::story::{Call, Failure, Story};
use crate::table::Turn;

/// How much of the beginning usually has the folder.
const BEGINNING: usize = 4 * 1024;
/// How much of it is read otherwise.
const HEAD: usize = 256 * 1024;
/// The time in the name of a file.
const TIME: usize = "2026-11-16T04-00-00-".len();

/// Finds all rollouts.
pub(super) fn places(world: &dyn World) -> Vec<Place> {
    let Some(home) = layout::codex(world) else {
        return Vec::new();
    };
    let inside =
        |path: &camino::Utf8PathBuf| folders(world, path).into_iter().map(|(_, path)| path);
    let years: Vec<_> = inside(&home.join("sessions")).collect();
    let months = years.iter().flat_map(inside);
    let days = months.collect::<Vec<_>>();
    let days = days.iter().flat_map(inside);
    let mut found = Vec::new();
    for day in days {
        for (name, file) in named(world, &day, "rollout-", ".jsonl") {
            let id = name.get(TIME..).filter(|id| is_session_id(id));
            found.extend(id.map(|id| Place {
                agent: Preset::Codex,
                id: id.to_owned(),
                file: file.clone(),
                modified: None,
            }));
        }
    }
    found
}

/// Reads a rollout; `None` if it belongs to a sub-agent.
pub(super) fn read(world: &dyn World, place: &Place, depth: Depth) -> Option<Story> {
    let first = first_row(world, place);
    if is_of_a_subagent(&first) {
        return None;
    }
    let tell = |tail: &Tail| story(&tail.rows, &first);
    let is_settled = |tail: &Tail| {
        let has_folder = tail.len >= FOR_PROMPT || tail.rows.iter().any(is_context);
        has_folder && tail.rows.iter().any(is_boundary)
    };
    let mut told = rows(world, &place.file, depth, tell, is_settled);
    let whole_turn = told.turn.is_none() && !told.is_intact && !told.calls.is_empty();
    if whole_turn {
        // The turn is longer than what is read.
        told.turn = Some(Turn::Open);
    }
    Some(told)
}

/// Returns the payload of the first row, of which long instructions may be missing.
fn first_row(world: &dyn World, place: &Place) -> Map<String, Value> {
    let read = |most: usize| {
        let head = world.read_end(&place.file, End::Head, most).ok()?;
        let first = head.split(|&byte| byte == b'\n').next()?;
        let row = partial_object(&String::from_utf8_lossy(first));
        Some(row.get("payload")?.as_object()?.clone())
    };
    let found = [BEGINNING, HEAD].into_iter().filter_map(read);
    let mut found = found.filter(|payload| payload.contains_key("cwd"));
    found.next().unwrap_or_default()
}

fn is_of_a_subagent(first: &Map<String, Value>) -> bool {
    let thread = first.get("thread_source").and_then(Value::as_str);
    let source = first.get("source").and_then(Value::as_object);
    thread.is_some_and(|source| source != "user")
        || source.is_some_and(|source| source.contains_key("subagent"))
}

/// Returns whether a row is the start or the end of a turn.
fn is_boundary(row: &Value) -> bool {
    let kind = row.pointer("/payload/type").and_then(Value::as_str);
    is_event(row)
        && matches!(
            kind,
            Some("task_started" | "task_complete" | "turn_aborted")
        )
}

/// Returns whether a row says in which folder its turn works.
fn is_context(row: &Value) -> bool {
    row.get("type").and_then(Value::as_str) == Some("turn_context")
}

fn is_event(row: &Value) -> bool {
    row.get("type").and_then(Value::as_str) == Some("event_msg")
}

/// Returns what rows say, after a first row with this payload.
fn story(rows: &[Value], first: &Map<String, Value>) -> Story {
    let mut story = Story::default();
    begin(&mut story, first);
    for row in rows {
        let Some(payload) = row.get("payload") else {
            continue;
        };
        story.at(time(row));
        match row.get("type").and_then(Value::as_str) {
            Some("event_msg") => event(&mut story, payload, row),
            Some("response_item") => item(&mut story, payload),
            Some("turn_context") => {
                if let Some(folder) = payload.get("cwd").and_then(Value::as_str) {
                    story.folder = Some(folder.into());
                }
            }
            Some("session_meta") => {
                let meta = payload.as_object();
                story.is_headless = meta.is_some_and(is_scripted);
            }
            Some(_) | None => {}
        }
    }
    story
}

fn begin(story: &mut Story, first: &Map<String, Value>) {
    let folder = first.get("cwd").and_then(Value::as_str);
    story.folder = folder.map(Into::into);
    let branch = first.get("git").and_then(|git| git.get("branch"));
    story.branch = branch.and_then(Value::as_str).map(str::to_owned);
    story.is_headless = is_scripted(first);
    let at = first.get("timestamp").and_then(Value::as_str);
    story.at(at.and_then(|at| at.parse().ok()));
}

fn is_scripted(first: &Map<String, Value>) -> bool {
    let is = |key: &str, wanted: &str| first.get(key).and_then(Value::as_str) == Some(wanted);
    is("source", "exec") || is("originator", "codex_exec")
}

fn event(story: &mut Story, payload: &Value, row: &Value) {
    let text = |key: &str| payload.get(key).and_then(Value::as_str);
    match text("type") {
        Some("task_started") => {
            story.turn = Some(Turn::Open);
            story.failure = None;
            story.calls.clear();
        }
        Some("task_complete") => {
            if let Some(said) = text("last_agent_message") {
                story.says(said);
            }
            match payload.get("error").filter(|error| !error.is_null()) {
                Some(error) => story.fails(failure(error, row)),
                None => story.turn = Some(Turn::Over),
            }
            story.calls.clear();
        }
        Some("turn_aborted") => {
            story.turn = Some(Turn::Stopped);
            story.calls.clear();
        }
        Some("error") => story.fails(failure(payload, row)),
        Some("user_message") => story.prompted(text("message").unwrap_or_default()),
        Some("agent_message") => story.says(text("message").unwrap_or_default()),
        Some("item_completed") => completed(story, payload),
        Some(_) | None => {}
    }
}

/// Returns an error that ended a turn: an object with a message, or a text.
fn failure(error: &Value, row: &Value) -> Failure {
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    let message = error
        .as_str()
        .or_else(|| text("message"))
        .unwrap_or_default();
    let info = error.get("codex_error_info").and_then(Value::as_str);
    let is_limit = info.map(|info| info == "usage_limit_exceeded");
    Failure::new(message, is_limit, time(row))
}

fn completed(story: &mut Story, payload: &Value) {
    let kind = payload.pointer("/item/type").and_then(Value::as_str);
    let content = texts(payload.pointer("/item/content"));
    match kind {
        Some("UserMessage") => story.prompted(&content),
        Some("AgentMessage") => story.says(&content),
        Some(_) | None => {}
    }
}

/// Returns the texts of the parts of a message.
fn texts(content: Option<&Value>) -> String {
    let parts = content.and_then(Value::as_array).into_iter().flatten();
    let texts = parts.filter_map(|part| part.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

fn item(story: &mut Story, payload: &Value) {
    let text = |key: &str| payload.get(key).and_then(Value::as_str);
    let id = text("call_id").or_else(|| text("id")).unwrap_or_default();
    match text("type") {
        Some("message") if text("role") == Some("assistant") => {
            story.says(&texts(payload.get("content")));
        }
        Some("function_call" | "custom_tool_call" | "local_shell_call") => {
            let name = text("name").unwrap_or("shell");
            // A patch is a text and not an object.
            let input = codex_input(payload).or_else(|| payload.get("input").cloned());
            if name == "update_plan" {
                plan(story, input.as_ref());
            }
            story.calls(Call::new(id, name, input));
        }
        Some("function_call_output" | "custom_tool_call_output" | "local_shell_call_output") => {
            let output = text("output").map(str::to_owned);
            let output = output.unwrap_or_else(|| texts(payload.get("output")));
            let failed = error_of(&output);
            story.returns(id, failed, &output);
        }
        Some(_) | None => {}
    }
}

/// Returns the output of a command that failed: it names the exit code before the output.
fn error_of(output: &str) -> Option<&str> {
    for mark in ["Process exited with code ", "Exit code: ", "\"exit_code\":"] {
        let after = output.split_once(mark).map(|(_, after)| after.trim_start());
        if let Some(after) = after {
            return (!after.starts_with('0')).then_some(output);
        }
    }
    let is_error = output.starts_with("apply_patch verification failed")
        || output.starts_with("aborted")
        || output.starts_with("unsupported call");
    is_error.then_some(output)
}

fn plan(story: &mut Story, input: Option<&Value>) {
    let steps = input.and_then(|input| input.get("plan")?.as_array());
    let entries = steps.into_iter().flatten().filter_map(|step| {
        let text = |key: &str| step.get(key).and_then(Value::as_str);
        Some((text("step")?, text("status").unwrap_or_default()))
    });
    story.plans(entries);
}
