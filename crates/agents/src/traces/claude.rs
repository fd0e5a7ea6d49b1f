//! Claude Code: `projects/<folder>/<session>.jsonl` and `sessions/<pid>.json`.
//!
//! Observed with 2.1.325: after SIGKILL the last `tool_use` has no `tool_result` and the file of the
//! process stays; after SIGTERM there is a result without an answer, and the file is gone. Rows are
//! written with a delay, so an early kill leaves only the prompt. The key file next to the file of a
//! process is never opened.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_text::claude_folder_name;
use rekindle_world::{End, Kind, World};
use serde_json::Value;

use super::{Fitness, LastSession, Owner, Reached, TAIL, Tail, home, is_part_of, time, tool_line};
use crate::Preset;

/// The number of transcripts that are read, since folders can share a name.
const MOST_LOOKED_AT: usize = 4;
/// The number of folders with the same prefix: `/w/app-web` looks like a folder in `/w/app`.
const MOST_FOLDERS: usize = 32;
/// The first rows with a folder are within this many bytes.
const HEAD: usize = 64 * 1024;
const LARGEST_PROCESS_FILE: u64 = 64 * 1024;
/// Killed processes stay listed, so there may be many.
const MOST_PROCESSES: usize = 4096;
/// The text of an interrupted turn.
const INTERRUPTED: &str = "[Request interrupted by user";
/// The beginnings of user rows that the program wrote and nobody answers.
const NOT_TYPED: &str =
    "<bash- <command- <local-command- <system-reminder <task-notification <user-memory-";

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
            && started_in(world, &kept.file())
                .is_some_and(|started| is_part_of(world, &real, &started));
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
            let tail = read_tail(world, &kept.file());
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

/// A transcript, ordered by time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    modified: Option<Timestamp>,
    id: String,
    folder: Utf8PathBuf,
    /// Whether its folder has exactly the name of the project.
    is_exact: bool,
}

impl Kept {
    fn file(&self) -> Utf8PathBuf {
        transcript(&self.folder, &self.id)
    }
}

/// Lists the transcripts of a folder and of all folders with its prefix, the newest first.
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

/// Returns the folder in which a session was started.
fn started_in(world: &dyn World, file: &Utf8Path) -> Option<Utf8PathBuf> {
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
        let tail = read_tail(world, &file);
        let said = Said::of(&tail.rows);
        return match said.folders.first() {
            Some(other) if !said.is_of(&real) => Fitness::Elsewhere(other.clone()),
            Some(_) | None if tail.is_torn || tail.rows.is_empty() => Fitness::Torn,
            Some(_) | None => Fitness::Whole(owners(world, &home, session)),
        };
    }
    let others = world.list(&projects).unwrap_or_default();
    let elsewhere = others
        .iter()
        .find(|other| world.is_file(&transcript(&projects.join(&other.name), session)));
    match elsewhere {
        Some(other) => Fitness::Elsewhere(projects.join(&other.name)),
        // Another agent with the same stream may use another data folder.
        None if world.stat(&kept).is_err() => Fitness::Unknown,
        None => Fitness::Missing,
    }
}

fn transcript(folder: &Utf8Path, session: &str) -> Utf8PathBuf {
    folder.join(format!("{session}.jsonl"))
}

fn read_tail(world: &dyn World, file: &Utf8Path) -> Tail {
    let has_any = |tail: &Tail| tail.rows.iter().any(has_state);
    Tail::read(world, file, TAIL, has_any).unwrap_or_default()
}

/// A process in Claude Code's list, which keeps killed ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeProcess {
    /// Its session.
    pub session: String,
    /// Its number.
    pub pid: u32,
    /// Its start in clock ticks since boot.
    pub start_time: Option<u64>,
    /// When it started.
    pub started: Option<Timestamp>,
    /// When it was last written.
    pub updated: Option<Timestamp>,
    /// What it did: `busy`, `idle`, `waiting`, `shell`.
    pub status: Option<String>,
    /// What it waited for.
    pub waiting_for: Option<String>,
    /// How it runs: `interactive`, `bg` and others.
    pub kind: Option<String>,
}

impl ClaudeProcess {
    /// Returns it as the owner of its session.
    pub fn owner(&self) -> Option<Owner> {
        Some(Owner::Process {
            pid: self.pid,
            start_time: self.start_time?,
            started: self.started,
        })
    }

    fn of(pid: u32, file: &Value) -> Option<Self> {
        let text = |key: &str| Some(file.get(key)?.as_str()?.to_owned());
        let at = |key: &str| Timestamp::from_millisecond(file.get(key)?.as_i64()?).ok();
        let start = file.get("procStart");
        let ticks = start.and_then(|start| match start.as_str() {
            Some(text) => text.parse().ok(),
            None => start.as_u64(),
        });
        Some(Self {
            session: text("sessionId")?,
            pid,
            start_time: ticks,
            started: at("startedAt"),
            updated: at("updatedAt"),
            status: text("status"),
            waiting_for: text("waitingFor"),
            kind: text("kind"),
        })
    }
}

/// Returns the processes in Claude Code's list, in the order of their files.
pub fn claude_processes(world: &dyn World, home: &Utf8Path) -> Vec<ClaudeProcess> {
    let folder = home.join("sessions");
    let entries = world.list(&folder).unwrap_or_default();
    let processes = entries.into_iter().filter_map(|entry| {
        // `<pid>.<hash>.key` is a secret.
        let pid: u32 = entry.name.strip_suffix(".json")?.parse().ok()?;
        let is_file = entry.kind == Kind::File;
        let path = is_file.then(|| folder.join(&entry.name))?;
        let bytes = world.read(&path, LARGEST_PROCESS_FILE).ok()?;
        ClaudeProcess::of(pid, &serde_json::from_slice(&bytes).ok()?)
    });
    processes.take(MOST_PROCESSES).collect()
}

/// Returns the processes of a session, including killed ones, which stay listed.
fn owners(world: &dyn World, home: &Utf8Path, session: &str) -> Vec<Owner> {
    let processes = claude_processes(world, home).into_iter();
    let own = processes.filter(|process| process.session == session);
    own.filter_map(|process| process.owner()).collect()
}

/// Returns whether a row says that a person compacted the conversation.
fn is_manual_compaction(row: &Value) -> bool {
    let is = |pointer: &str, word: &str| row.pointer(pointer).and_then(Value::as_str) == Some(word);
    is("/subtype", "compact_boundary") && is("/compactMetadata/trigger", "manual")
}

/// Returns whether a row decides the state of its session.
fn has_state(row: &Value) -> bool {
    Said::of(std::slice::from_ref(row)).is_anything
}

/// The state after the last rows of a transcript.
#[derive(Default)]
struct Said {
    /// The working directories of rows.
    folders: Vec<Utf8PathBuf>,
    at: Option<jiff::Timestamp>,
    /// Tool calls without results, by id.
    open: Vec<(String, String)>,
    is_interrupted: bool,
    /// Whether the model has not answered the last prompt or result.
    is_unanswered: bool,
    /// Whether there was any row of the conversation.
    is_anything: bool,
}

impl Said {
    fn of(rows: &[Value]) -> Self {
        let mut said = Self::default();
        for row in rows {
            let kind = row.get("type").and_then(Value::as_str);
            // Rows of sub-agents.
            let is_aside = row.get("isSidechain").and_then(Value::as_bool) == Some(true);
            if is_aside || !matches!(kind, Some("user" | "assistant" | "system" | "attachment")) {
                continue;
            }
            said.read(kind == Some("assistant"), row);
        }
        said
    }

    fn read(&mut self, is_model: bool, row: &Value) {
        if let Some(folder) = row.get("cwd").and_then(Value::as_str) {
            let folder = Utf8PathBuf::from(folder);
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
        self.at = time(row).or(self.at);
        if is_manual_compaction(row) {
            // A person can compact only between turns.
            self.open.clear();
            self.is_unanswered = false;
            self.is_anything = true;
        }
        // The program writes the summary in the place of a prompt, and nobody answers it.
        if row.get("isCompactSummary").and_then(Value::as_bool) == Some(true) {
            return;
        }
        let Some(content) = row.pointer("/message/content") else {
            return;
        };
        if is_model {
            self.is_unanswered = false;
            self.is_interrupted = false;
            self.is_anything = true;
        } else if let Some(text) = content.as_str() {
            self.read_user(text, row);
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
                    self.read_user(text("text").unwrap_or_default(), row);
                }
                Some(_) | None => {}
            }
        }
    }

    /// Reads a user row, which the program may have written.
    fn read_user(&mut self, text: &str, row: &Value) {
        if text.starts_with(INTERRUPTED) {
            self.is_interrupted = true;
            self.is_anything = true;
            return;
        }
        let is_meta = row.get("isMeta").and_then(Value::as_bool) == Some(true);
        if !is_meta && !NOT_TYPED.split(' ').any(|tag| text.starts_with(tag)) {
            self.is_interrupted = false;
            self.is_unanswered = true;
            self.is_anything = true;
        }
    }

    /// Returns whether the session belongs to a folder or a folder below it.
    fn is_of(&self, folder: &Utf8Path) -> bool {
        self.folders.is_empty() || self.folders.iter().any(|other| other.starts_with(folder))
    }

    /// Returns the last state; `None` for an empty session.
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
