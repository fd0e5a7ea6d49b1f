//! Codex CLI: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.
//!
//! Observed with 0.166.0: a turn begins with `task_started` and ends with `task_complete` or
//! `turn_aborted`, but a killed one has no end. While Codex uses a session it holds the lock of
//! `thread-writer-locks/<id>.lock`, a file that stays.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_world::{End, Kind, World};
use serde_json::{Map, Value};

use super::{Fitness, LastSession, Owner, Reached, TAIL, Tail, home, is_part_of, time, tool_line};
use crate::Preset;

/// The number of rollouts that are listed, newest days first.
const MOST_LISTED: usize = 400;
/// The length that usually contains the folder in the first row, before the long instructions.
const BEGINNING: usize = 4 * 1024;
/// The length that is read otherwise.
const HEAD: usize = 256 * 1024;
/// How deep a truncated object is looked into: the row, its payload, and one more.
const MOST_NESTED: u8 = 3;

pub(super) fn last_session(
    world: &dyn World,
    folder: &Utf8Path,
    is_ours: &dyn Fn(&str, &[Owner]) -> bool,
) -> Option<LastSession> {
    let real = world.resolve(folder).ok()?;
    let home = home(world, "CODEX_HOME", ".codex")?;
    let mut rollouts: Vec<_> = rollouts(world, &home.join("sessions"))
        .into_iter()
        .map(|(id, file)| (world.modified(&file), file, id))
        .collect();
    rollouts.sort_by(|a, b| b.cmp(a));
    rollouts.into_iter().find_map(|(modified, file, id)| {
        if !is_part_of(world, &real, &folder_of(world, &file)?) {
            return None;
        }
        let owners = owners(world, &home, &id);
        if is_ours(&id, &owners) {
            return None;
        }
        let tail = read_tail(world, &file);
        let said = Said::of(&tail.rows);
        Some(LastSession {
            agent: Preset::Codex,
            at: said.at.or(modified),
            reached: said.reached(tail.is_cut),
            owners,
            id,
        })
    })
}

pub(super) fn fitness(world: &dyn World, session: &str, folder: &Utf8Path) -> Fitness {
    let Some(home) = home(world, "CODEX_HOME", ".codex") else {
        return Fitness::Unknown;
    };
    let kept = rollouts(world, &home.join("sessions"));
    let is_cut = kept.len() >= MOST_LISTED;
    let found = kept.iter().find(|(id, _)| id == session);
    let Some((_, file)) = found else {
        // Another agent with the same stream may use another data folder.
        let is_unknown = kept.is_empty() || is_cut;
        return if is_unknown {
            Fitness::Unknown
        } else {
            Fitness::Missing
        };
    };
    let real = world.resolve(folder).ok();
    match folder_of(world, file) {
        Some(other) if Some(&other) != real.as_ref() => Fitness::Elsewhere(other),
        Some(_) | None if is_torn(&read_tail(world, file)) => Fitness::Torn,
        Some(_) | None => Fitness::Whole(owners(world, &home, session)),
    }
}

fn read_tail(world: &dyn World, file: &Utf8Path) -> Tail {
    let has_any = |tail: &Tail| tail.rows.iter().any(has_state);
    Tail::read(world, file, TAIL, has_any).unwrap_or_default()
}

fn is_torn(tail: &Tail) -> bool {
    tail.is_torn || tail.rows.is_empty()
}

/// Returns the file whose lock Codex holds while it uses a session.
pub fn codex_lock(home: &Utf8Path, session: &str) -> Utf8PathBuf {
    home.join(format!("thread-writer-locks/{session}.lock"))
}

/// Returns the lock of a session; older releases have none.
fn owners(world: &dyn World, home: &Utf8Path, session: &str) -> Vec<Owner> {
    let lock = codex_lock(home, session);
    let lock = world.is_file(&lock).then_some(Owner::Lock(lock));
    lock.into_iter().collect()
}

/// Returns the ids and files of rollouts, newest days first.
fn rollouts(world: &dyn World, sessions: &Utf8Path) -> Vec<(String, Utf8PathBuf)> {
    let below = |folder: &Utf8Path| {
        let mut entries = world.list(folder).unwrap_or_default();
        entries.retain(|entry| entry.kind == Kind::Folder);
        let names = entries.into_iter().rev();
        names
            .map(|entry| folder.join(entry.name))
            .collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    let years = below(sessions).into_iter();
    let months = years.flat_map(|year| below(&year));
    for day in months.flat_map(|month| below(&month)) {
        for entry in world.list(&day).unwrap_or_default().into_iter().rev() {
            if found.len() >= MOST_LISTED {
                return found;
            }
            if let Some(id) = id_of(&entry.name) {
                found.push((id.to_owned(), day.join(&entry.name)));
            }
        }
    }
    found
}

/// Returns the id in `rollout-2026-11-16T04-00-00-<id>.jsonl`.
fn id_of(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
    rest.get("2026-11-16T04-00-00-".len()..)
        .filter(|id| crate::agent::is_session_id(id))
}

/// Returns the folder in which a session was started.
fn folder_of(world: &dyn World, file: &Utf8Path) -> Option<Utf8PathBuf> {
    let folder = [BEGINNING, HEAD].into_iter().find_map(|most| {
        let head = world.read_end(file, End::Head, most).ok()?;
        started_in(&head)
    })?;
    // The path may contain links; a removed folder cannot be resolved.
    Some(world.resolve(&folder).unwrap_or(folder))
}

/// Returns the folder in the first row of a rollout, which may be truncated.
fn started_in(head: &[u8]) -> Option<Utf8PathBuf> {
    let first = head.split(|&byte| byte == b'\n').next()?;
    let row = partial_object(&String::from_utf8_lossy(first));
    Some(row.get("payload")?.get("cwd")?.as_str()?.into())
}

/// Returns the members of an object that may be truncated; of a truncated object inside it, those of
/// its members that are whole.
pub fn partial_object(text: &str) -> Map<String, Value> {
    members(text, MOST_NESTED)
}

fn members(text: &str, depth: u8) -> Map<String, Value> {
    let mut members = Map::new();
    let Some(mut rest) = text.trim_start().strip_prefix('{') else {
        return members;
    };
    while let Some((key, after)) = leading::<String>(rest) {
        let Some(value) = after.trim_start().strip_prefix(':') else {
            break;
        };
        if let Some((whole, after)) = leading::<Value>(value) {
            members.insert(key, whole);
            rest = after.trim_start().trim_start_matches(',');
        } else {
            if depth > 0 && value.trim_start().starts_with('{') {
                members.insert(key, Value::Object(self::members(value, depth - 1)));
            }
            break;
        }
    }
    members
}

/// Reads the value at the beginning of a text.
fn leading<'a, T: serde::Deserialize<'a>>(text: &'a str) -> Option<(T, &'a str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?))
}

/// Returns whether a row is the start or the end of a turn.
fn has_state(row: &Value) -> bool {
    Said::of(std::slice::from_ref(row)).is_in_turn.is_some()
}

/// The state after the last rows of a rollout.
#[derive(Default)]
struct Said {
    at: Option<jiff::Timestamp>,
    /// Whether a turn is open; `None` if neither its start nor its end was read.
    is_in_turn: Option<bool>,
    is_interrupted: bool,
    open: Vec<(String, String)>,
}

impl Said {
    fn of(rows: &[Value]) -> Self {
        let mut said = Self::default();
        for row in rows {
            said.at = time(row).or(said.at);
            if let Some(payload) = row.get("payload") {
                said.read(payload);
            }
        }
        said
    }

    fn read(&mut self, payload: &Value) {
        let text = |key: &str| payload.get(key).and_then(Value::as_str);
        let call = || text("call_id").unwrap_or_default().to_owned();
        match text("type") {
            Some("task_started") => {
                self.is_in_turn = Some(true);
                self.is_interrupted = false;
                self.open.clear();
            }
            Some("task_complete") => self.is_in_turn = Some(false),
            Some("turn_aborted") => {
                self.is_in_turn = Some(false);
                self.is_interrupted = true;
            }
            Some("function_call" | "custom_tool_call" | "local_shell_call") => {
                let name = text("name").unwrap_or("shell");
                self.open
                    .push((call(), tool_line(name, codex_input(payload).as_ref())));
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let call = call();
                self.open.retain(|(id, _)| *id != call);
            }
            Some(_) | None => {}
        }
    }

    fn reached(mut self, is_cut: bool) -> Reached {
        // A long tail without the end of a turn is one long turn.
        match (self.is_in_turn.unwrap_or(is_cut), self.open.pop()) {
            (true, Some((_, line))) => Reached::InTool(line),
            (true, None) => Reached::InTurn,
            (false, _) if self.is_interrupted => Reached::Interrupted,
            (false, _) => Reached::EndOfTurn,
        }
    }
}

/// Returns the arguments of a tool call of Codex, with a command as one line.
pub fn codex_input(payload: &Value) -> Option<Value> {
    let text = payload.get("arguments").and_then(Value::as_str);
    let mut input = match text {
        Some(text) => serde_json::from_str(text).ok()?,
        None => payload.get("action")?.clone(),
    };
    for key in ["command", "cmd"] {
        if let Some(words) = input.get(key).and_then(Value::as_array) {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            // The first words are the shell.
            let line = match words.as_slice() {
                [shell, "-lc" | "-c", command] if !shell.is_empty() => (*command).to_owned(),
                words => words.join(" "),
            };
            input[key] = Value::String(line);
        }
    }
    Some(input)
}
