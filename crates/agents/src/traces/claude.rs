//! Claude Code: `projects/<folder>/<session>.jsonl` and `sessions/<pid>.json`.
//!
//! Seen with 2.1.325: after SIGKILL the last `tool_use` has no `tool_result` and the file of the
//! process stays; after SIGTERM there is a result but no answer to it, and the file is gone. Rows are
//! written a moment after they came about, so what was killed at once ends with the prompt. Beside the
//! file of a process lies a key of the same number, which is never opened.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_text::claude_folder_name;
use rekindle_world::{End, Kind, World};
use serde_json::Value;

use super::{
    Fitness, LastSession, Owner, Reached, Tail, home, is_part_of, is_torn, time, tool_line,
};
use crate::Preset;

/// How many of the newest transcripts are looked at: two folders can have one name.
const MOST_LOOKED_AT: usize = 4;
/// How many folders with a longer name are looked at: `/w/app-web` begins like a folder in `/w/app`.
const MOST_FOLDERS: usize = 32;
/// The folder stands in every row of the conversation, and the first come soon.
const HEAD: usize = 64 * 1024;
/// The file of a process is a few hundred bytes long.
const LARGEST_PROCESS_FILE: u64 = 64 * 1024;
/// What Claude Code writes in the place of an answer that a person did not wait for.
const INTERRUPTED: &str = "[Request interrupted by user";
/// How a row begins that the program wrote in the place of a person, and nobody answers.
const NOT_TYPED: [&str; 6] = [
    "<bash-",
    "<command-",
    "<local-command-",
    "<system-reminder",
    "<task-notification",
    "<user-memory-",
];

pub(super) fn last_session(
    world: &dyn World,
    folder: &Utf8Path,
    is_ours: &dyn Fn(&str, &[Owner]) -> bool,
) -> Option<LastSession> {
    let home = home(world, "CLAUDE_CONFIG_DIR", ".claude")?;
    let real = world.resolve(folder).ok()?;
    let mut parts = BTreeMap::new();
    let mut is_part = |kept: &Kept| {
        if kept.is_exact {
            return true;
        }
        if let Some(&is_part) = parts.get(&kept.folder) {
            return is_part;
        }
        let is_part = parts.len() < MOST_FOLDERS
            && begun_in(world, &kept.file()).is_some_and(|begun| is_part_of(world, &real, &begun));
        parts.insert(kept.folder.clone(), is_part);
        is_part
    };
    transcripts(world, &home.join("projects"), &real)
        .into_iter()
        .filter(|kept| is_part(kept))
        .map(|kept| (owners(world, &home, &kept.id), kept))
        .filter(|(owners, kept)| !is_ours(&kept.id, owners))
        .take(MOST_LOOKED_AT)
        .find_map(|(owners, kept)| {
            let tail = Tail::read(world, &kept.file(), tells);
            let said = Said::of(&tail.rows);
            if kept.is_exact && !said.is_of(&real) {
                return None;
            }
            Some(LastSession {
                agent: Preset::Claude,
                at: said.at.or(kept.modified),
                reached: said.reached(tail.is_cut)?,
                owners,
                id: kept.id,
            })
        })
}

/// A transcript that is kept; the newer one is the greater.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    modified: Option<Timestamp>,
    id: String,
    folder: Utf8PathBuf,
    /// Whether its folder has the name of the project's, and not that of one below it.
    is_exact: bool,
}

impl Kept {
    fn file(&self) -> Utf8PathBuf {
        transcript(&self.folder, &self.id)
    }
}

/// Lists the transcripts of a folder and of all whose names begin with its own, the newest first.
fn transcripts(world: &dyn World, projects: &Utf8Path, real: &Utf8Path) -> Vec<Kept> {
    let name = claude_folder_name(real.as_str());
    let below = format!("{name}-");
    let folders = world.list(projects).unwrap_or_default();
    let folders = folders
        .into_iter()
        .filter(|entry| entry.name == name || entry.name.starts_with(&below));
    let mut kept: Vec<Kept> = folders
        .flat_map(|entry| {
            let folder = projects.join(&entry.name);
            let is_exact = entry.name == name;
            let files = world.list(&folder).unwrap_or_default();
            files
                .into_iter()
                .filter(|file| file.kind == Kind::File)
                .filter_map(|file| Some(file.name.strip_suffix(".jsonl")?.to_owned()))
                .filter(|id| crate::agent::is_session_id(id))
                .map(|id| Kept {
                    modified: world.modified(&transcript(&folder, &id)),
                    id,
                    folder: folder.clone(),
                    is_exact,
                })
                .collect::<Vec<_>>()
        })
        .collect();
    kept.sort_by(|a, b| b.cmp(a));
    kept
}

/// Returns the folder that a session was begun in.
fn begun_in(world: &dyn World, file: &Utf8Path) -> Option<Utf8PathBuf> {
    let bytes = world.read_end(file, End::Head, HEAD).ok()?;
    bytes.split(|&byte| byte == b'\n').find_map(|line| {
        let row: Value = serde_json::from_slice(line).ok()?;
        Some(Utf8PathBuf::from(row.get("cwd")?.as_str()?))
    })
}

pub(super) fn fitness(world: &dyn World, session: &str, folder: &Utf8Path) -> Fitness {
    let Some(home) = home(world, "CLAUDE_CONFIG_DIR", ".claude") else {
        return Fitness::Unknown;
    };
    let projects = home.join("projects");
    let Ok(real) = world.resolve(folder) else {
        return Fitness::Unknown;
    };
    let kept = projects.join(claude_folder_name(real.as_str()));
    let file = transcript(&kept, session);
    if world.is_file(&file) {
        let said = Said::of(&Tail::read(world, &file, tells).rows);
        return match said.folders.first() {
            Some(other) if !said.is_of(&real) => Fitness::Elsewhere(other.clone()),
            Some(_) | None if is_torn(world, &file) => Fitness::Torn,
            Some(_) | None => Fitness::Whole(owners(world, &home, session)),
        };
    }
    let others = world.list(&projects).unwrap_or_default();
    let elsewhere = others
        .iter()
        .find(|other| world.is_file(&transcript(&projects.join(&other.name), session)));
    match elsewhere {
        Some(other) => Fitness::Elsewhere(projects.join(&other.name)),
        // An agent of the same stream may keep its things where we do not look.
        None if world.stat(&kept).is_err() => Fitness::Unknown,
        None => Fitness::Missing,
    }
}

fn transcript(folder: &Utf8Path, session: &str) -> Utf8PathBuf {
    folder.join(format!("{session}.jsonl"))
}

/// Returns the processes of a session by Claude Code's list, on which one that was killed stays: who
/// goes on with its session stands beside it.
fn owners(world: &dyn World, home: &Utf8Path, session: &str) -> Vec<Owner> {
    let folder = home.join("sessions");
    let entries = world.list(&folder).unwrap_or_default();
    let owners = entries.into_iter().filter_map(|entry| {
        // `<pid>.<hash>.key` stands beside it and is a secret.
        let pid: u32 = entry.name.strip_suffix(".json")?.parse().ok()?;
        let bytes = world
            .read(&folder.join(&entry.name), LARGEST_PROCESS_FILE)
            .ok()?;
        let told: Value = serde_json::from_slice(&bytes).ok()?;
        let is_it = told.get("sessionId").and_then(Value::as_str) == Some(session);
        let start = told.get("procStart").filter(|_| is_it)?;
        let start_time = match start.as_str() {
            Some(text) => text.parse().ok()?,
            None => start.as_u64()?,
        };
        Some(Owner::Process { pid, start_time })
    });
    owners.collect()
}

/// Returns whether a row says how far its session had come.
fn tells(row: &Value) -> bool {
    Said::of(std::slice::from_ref(row)).is_anything
}

/// What the rows at the end of a transcript say.
#[derive(Default)]
struct Said {
    /// The folders that rows were written in.
    folders: Vec<Utf8PathBuf>,
    at: Option<jiff::Timestamp>,
    /// Tools that were called and have given no result, by the id of the call.
    open: Vec<(String, String)>,
    is_interrupted: bool,
    /// Whether a prompt or a result has come that the model has not answered.
    is_unanswered: bool,
    /// Whether there was anything of the conversation itself.
    is_anything: bool,
}

impl Said {
    fn of(rows: &[Value]) -> Self {
        let mut said = Self::default();
        for row in rows {
            let kind = row.get("type").and_then(Value::as_str);
            // Sub-agents write of their own work.
            let is_aside = row.get("isSidechain").and_then(Value::as_bool) == Some(true);
            if is_aside || !matches!(kind, Some("user" | "assistant" | "system" | "attachment")) {
                continue;
            }
            said.hear(kind == Some("assistant"), row);
        }
        said
    }

    fn hear(&mut self, is_model: bool, row: &Value) {
        if let Some(folder) = row.get("cwd").and_then(Value::as_str) {
            let folder = Utf8PathBuf::from(folder);
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
        self.at = time(row).or(self.at);
        let content = row
            .get("message")
            .and_then(|message| message.get("content"));
        let Some(content) = content else {
            return;
        };
        if is_model {
            self.is_unanswered = false;
            self.is_interrupted = false;
            self.is_anything = true;
        } else if let Some(text) = content.as_str() {
            self.hear_person(text, row);
        }
        for block in content.as_array().into_iter().flatten() {
            let text = |key: &str| block.get(key).and_then(Value::as_str);
            match text("type") {
                Some("tool_use") => {
                    let line = tool_line(text("name").unwrap_or("a tool"), block.get("input"));
                    self.open
                        .push((text("id").unwrap_or_default().to_owned(), line));
                }
                Some("tool_result") => {
                    self.open
                        .retain(|(id, _)| Some(id.as_str()) != text("tool_use_id"));
                    self.is_unanswered = true;
                    self.is_anything = true;
                }
                Some("text") if !is_model => {
                    self.hear_person(text("text").unwrap_or_default(), row);
                }
                Some(_) | None => {}
            }
        }
    }

    /// Hears what a person typed, or what the program typed for them.
    fn hear_person(&mut self, text: &str, row: &Value) {
        if text.starts_with(INTERRUPTED) {
            self.is_interrupted = true;
            self.is_anything = true;
            return;
        }
        let is_meta = row.get("isMeta").and_then(Value::as_bool) == Some(true);
        if !is_meta && !NOT_TYPED.iter().any(|tag| text.starts_with(tag)) {
            self.is_interrupted = false;
            self.is_unanswered = true;
            self.is_anything = true;
        }
    }

    /// Returns whether the session belongs to a folder; an agent may have gone down from it.
    fn is_of(&self, folder: &Utf8Path) -> bool {
        self.folders.is_empty() || self.folders.iter().any(|other| other.starts_with(folder))
    }

    /// Returns how far it had come; nothing of a session in which nothing was said.
    fn reached(mut self, is_cut: bool) -> Option<Reached> {
        let reached = match self.open.pop() {
            _ if self.is_interrupted => Reached::Interrupted,
            Some((_, line)) => Reached::InTool(line),
            None if self.is_unanswered => Reached::InTurn,
            None if self.is_anything => Reached::EndOfTurn,
            None if is_cut => Reached::Unknown,
            None => return None,
        };
        Some(reached)
    }
}
