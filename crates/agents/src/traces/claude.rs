//! Claude Code: `projects/<folder>/<session>.jsonl` and `sessions/<pid>.json`.
//!
//! Seen with 2.1.325: after SIGKILL the last `tool_use` has no `tool_result` and the file of the
//! process stays; after SIGTERM there is a result but no answer to it, and the file is gone. Rows are
//! written a moment after they came about, so what was killed at once ends with the prompt. Beside the
//! file of a process lies a key of the same number, which is never opened.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_text::claude_folder_name;
use rekindle_world::{Kind, World};
use serde_json::Value;

use super::{Fitness, LastSession, Owner, Reached, home, is_torn, last_rows, time, tool_line};
use crate::Preset;

/// How many of the newest transcripts are looked at: two folders can have one name.
const MOST_LOOKED_AT: usize = 4;
/// The file of a process is a few hundred bytes long.
const LARGEST_PROCESS_FILE: u64 = 64 * 1024;
/// What Claude Code writes in the place of an answer that a person did not wait for.
const INTERRUPTED: &str = "[Request interrupted by user";

pub(super) fn last_session(
    world: &dyn World,
    folder: &Utf8Path,
    except: Option<&str>,
) -> Option<LastSession> {
    let home = home(world, "CLAUDE_CONFIG_DIR", ".claude")?;
    let real = world.resolve(folder).ok()?;
    let kept = home
        .join("projects")
        .join(claude_folder_name(real.as_str()));
    let mut transcripts: Vec<(_, String)> = world
        .list(&kept)
        .ok()?
        .into_iter()
        .filter(|entry| entry.kind == Kind::File)
        .filter_map(|entry| Some(entry.name.strip_suffix(".jsonl")?.to_owned()))
        .filter(|id| Some(id.as_str()) != except && crate::agent::is_session_id(id))
        .map(|id| (world.modified(&transcript(&kept, &id)), id))
        .collect();
    transcripts.sort_by(|a, b| b.cmp(a));
    transcripts
        .into_iter()
        .take(MOST_LOOKED_AT)
        .find_map(|(modified, id)| {
            let rows = last_rows(world, &transcript(&kept, &id));
            let said = Said::of(&rows);
            if !said.is_of(&real) {
                return None;
            }
            Some(LastSession {
                agent: Preset::Claude,
                at: said.at.or(modified),
                reached: said.reached(),
                owner: owner(world, &home, &id),
                id,
            })
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
        let said = Said::of(&last_rows(world, &file));
        return match said.folders.first() {
            Some(other) if !said.is_of(&real) => Fitness::Elsewhere(other.clone()),
            Some(_) | None if is_torn(world, &file) => Fitness::Torn,
            Some(_) | None => Fitness::Whole(owner(world, &home, session)),
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

/// Returns the process of a session by Claude Code's list.
fn owner(world: &dyn World, home: &Utf8Path, session: &str) -> Option<Owner> {
    let folder = home.join("sessions");
    let entries = world.list(&folder).ok()?;
    entries.into_iter().find_map(|entry| {
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
    })
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
                }
                Some("text") if !is_model => {
                    let is_interrupted =
                        text("text").is_some_and(|text| text.starts_with(INTERRUPTED));
                    self.is_interrupted |= is_interrupted;
                }
                Some(_) | None => {}
            }
        }
    }

    /// Hears what a person typed, or what the program typed for them.
    fn hear_person(&mut self, text: &str, row: &Value) {
        self.is_interrupted = text.starts_with(INTERRUPTED);
        // Commands of the program itself, such as `/exit`, stand in tags, and nobody answers them.
        let is_meta = row.get("isMeta").and_then(Value::as_bool) == Some(true);
        if !self.is_interrupted && !is_meta && !text.starts_with('<') {
            self.is_unanswered = true;
        }
    }

    /// Returns whether the session belongs to a folder; an agent may have gone down from it.
    fn is_of(&self, folder: &Utf8Path) -> bool {
        self.folders.is_empty() || self.folders.iter().any(|other| other.starts_with(folder))
    }

    fn reached(mut self) -> Reached {
        match self.open.pop() {
            _ if self.is_interrupted => Reached::Interrupted,
            Some((_, line)) => Reached::InTool(line),
            None if self.is_unanswered => Reached::InTurn,
            None => Reached::EndOfTurn,
        }
    }
}
