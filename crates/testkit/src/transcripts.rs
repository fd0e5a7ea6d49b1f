//! Sessions as coding agents leave them on disk, and programs that stand in for the agents.
//!
//! A stand-in writes down how it was called and says that all went well; it runs `~/then` first, if a
//! test has put commands there.

use std::ffi::OsStr;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::process::{Call, write_script};
use crate::sandbox::{LIMIT, Sandbox, Typed};

/// The agents that are stood in for.
const PROGRAMS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// Writes what it was given, then says in its own way that the turn is over.
const STAND_IN: &str = r#"#!/bin/sh
out="$HOME/called/$$"
{
    printf '%s\n' "${0##*/}" "$(pwd -P)"
    for word in "$@"; do printf '%s\037' "$word"; done
    printf '\036'
    if [ -t 0 ]; then printf 'a terminal'; else cat; fi
} >"$out.part"
mv "$out.part" "$out"
if [ -f "$HOME/then" ]; then . "$HOME/then"; fi
case "${0##*/}" in
claude) echo '{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"done","num_turns":1}' ;;
codex) echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}' ;;
gemini) echo '{"type":"result","status":"success"}' ;;
esac
"#;

/// How the last turn of a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// In a tool.
    Tool,
    /// In a question to the person.
    Question,
    /// At a usage limit until half past two.
    Limit,
    /// It did not: it is over.
    Over,
}

/// A home with sessions of the 20th of January 2026.
#[derive(Debug)]
pub struct Transcripts<'s> {
    sandbox: &'s Sandbox,
    home: Utf8PathBuf,
}

/// A call of a stand-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// The number of its process.
    pub pid: u32,
    /// Its name.
    pub program: String,
    /// The folder in which it ran.
    pub folder: Utf8PathBuf,
    /// Its arguments.
    pub words: Vec<String>,
    /// What was on its standard input, or `a terminal`.
    pub input: String,
}

impl<'s> Transcripts<'s> {
    /// Puts the stand-ins into the home of a sandbox.
    pub fn new(sandbox: &'s Sandbox) -> io::Result<Self> {
        let home = sandbox.root().join("home");
        fs_err::create_dir_all(home.join("bin"))?;
        fs_err::create_dir_all(home.join("called"))?;
        for program in PROGRAMS {
            write_script(home.join("bin").join(program).as_std_path(), STAND_IN)?;
        }
        Ok(Self { sandbox, home })
    }

    /// Returns the home.
    pub fn home(&self) -> &Utf8Path {
        &self.home
    }

    /// Returns a command line that finds the stand-ins.
    pub fn typed(&self, args: &[&str]) -> Typed<'s> {
        let path = self.sandbox.environment().get(OsStr::new("PATH"));
        let path = path.and_then(|path| path.to_str()).unwrap_or_default();
        let path = format!("{}/bin:{path}", self.home);
        self.sandbox.typed(args).with("PATH", path)
    }

    /// Makes stand-ins run this before they end.
    pub fn then(&self, script: &str) -> io::Result<()> {
        fs_err::write(self.home.join("then"), script)
    }

    /// Returns how the stand-ins were called, in the order of their names, folders and arguments.
    pub fn calls(&self) -> io::Result<Vec<Called>> {
        let mut calls = Vec::new();
        for entry in self.home.join("called").read_dir_utf8()? {
            let entry = entry?;
            let Ok(pid) = entry.file_name().parse() else {
                continue;
            };
            let told = fs_err::read_to_string(entry.path())?;
            let (called, input) = told.split_once('\u{1e}').unwrap_or_default();
            let mut parts = called.splitn(3, '\n').map(str::to_owned);
            let mut next = || parts.next().unwrap_or_default();
            let (program, folder, words) = (next(), next(), next());
            let words = words.split_terminator('\u{1f}').map(str::to_owned);
            calls.push(Called {
                pid,
                program,
                folder: folder.into(),
                words: words.collect(),
                input: input.to_owned(),
            });
        }
        calls.sort_by(|a, b| {
            let key = |call: &Called| {
                (
                    call.program.clone(),
                    call.folder.clone(),
                    call.words.clone(),
                )
            };
            key(a).cmp(&key(b))
        });
        Ok(calls)
    }

    /// Runs git in a folder.
    pub fn git(&self, folder: &Utf8Path, args: &[&str]) -> io::Result<()> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let call = Call {
            program: "git",
            args: &args,
            folder,
            environment: self.sandbox.environment(),
            stdin: "",
            limit: LIMIT,
        };
        let output = call.run().map_err(io::Error::other)?;
        let said = String::from_utf8_lossy(&output.stderr);
        let failed = || io::Error::other(format!("git {args:?}: {said}"));
        output.status.success().then_some(()).ok_or_else(failed)
    }

    /// Makes a folder next to the project.
    pub fn folder(&self, name: &str) -> io::Result<Utf8PathBuf> {
        let folder = self.sandbox.root().join("work").join(name);
        fs_err::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Writes a session of Claude Code and returns its transcript.
    pub fn claude(
        &self,
        folder: &Utf8Path,
        short: &str,
        minute: u8,
        prompt: &str,
        cut: Cut,
    ) -> io::Result<Utf8PathBuf> {
        self.claude_with(folder, short, minute, prompt, cut, &[])
    }

    /// Writes a session of Claude Code that edited files first.
    pub fn claude_with(
        &self,
        folder: &Utf8Path,
        short: &str,
        minute: u8,
        prompt: &str,
        cut: Cut,
        edited: &[&str],
    ) -> io::Result<Utf8PathBuf> {
        let id = claude_id(short);
        let row = |kind: &str, number: usize, message: Value| {
            json!({"type": kind, "uuid": format!("{short}-{number}"), "timestamp": at(minute),
                "cwd": folder.as_str(), "gitBranch": "main", "entrypoint": "cli", "message": message})
        };
        let tool = |number: usize, name: &str, input: Value| {
            let block = json!({"type": "tool_use", "id": format!("t{number}"), "name": name, "input": input});
            let message =
                json!({"id": format!("m{number}"), "content": [block], "stop_reason": "tool_use"});
            row("assistant", number, message)
        };
        let mut first = row("user", 0, json!({"content": prompt}));
        first["promptSource"] = json!("typed");
        let mut rows = vec![first];
        for (file, number) in edited.iter().zip(1..) {
            rows.push(tool(
                number,
                "Edit",
                json!({"file_path": folder.join(file)}),
            ));
            let result = json!({"type": "tool_result", "tool_use_id": format!("t{number}"), "content": "ok"});
            rows.push(row("user", 50 + number, json!({"content": [result]})));
        }
        match cut {
            Cut::Tool => rows.push(tool(99, "Bash", json!({"command": "pytest -q"}))),
            Cut::Question => {
                let questions = json!([{"question": "Postgres or SQLite?"}]);
                rows.push(tool(99, "AskUserQuestion", json!({"questions": questions})));
            }
            Cut::Limit => {
                let words = "You've hit your limit · resets 2:30pm (UTC)";
                let block = json!({"type": "text", "text": words});
                let mut limit = row("assistant", 99, json!({"id": "m99", "content": [block]}));
                limit["isApiErrorMessage"] = json!(true);
                limit["error"] = json!("rate_limit");
                rows.push(limit);
            }
            Cut::Over => {
                let block = json!({"type": "text", "text": "It is done."});
                let message = json!({"id": "m99", "content": [block], "stop_reason": "end_turn"});
                rows.push(row("assistant", 99, message));
            }
        }
        rows.push(json!({"type": "last-prompt", "lastPrompt": prompt, "sessionId": id}));
        let name = folder
            .as_str()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let kept = self.home.join(".claude/projects").join(name);
        self.write(&kept.join(format!("{id}.jsonl")), &rows)
    }

    /// Puts a process on the list of Claude Code.
    pub fn claude_process(&self, short: &str, pid: u32, start: &str) -> io::Result<()> {
        let entry = json!({"pid": pid, "sessionId": claude_id(short), "procStart": start});
        let path = self.home.join(format!(".claude/sessions/{pid}.json"));
        self.write(&path, &[entry]).map(drop)
    }

    /// Writes a session of Codex and returns its rollout.
    pub fn codex(
        &self,
        folder: &Utf8Path,
        short: &str,
        minute: u8,
        prompt: &str,
        cut: Cut,
    ) -> io::Result<Utf8PathBuf> {
        let id = codex_id(short);
        let row = |kind: &str, payload: Value| json!({"timestamp": at(minute), "type": kind, "payload": payload});
        let said = json!({"type": "UserMessage", "content": [{"type": "text", "text": prompt}]});
        let mut rows = vec![
            row(
                "session_meta",
                json!({"id": id, "cwd": folder.as_str(), "originator": "codex-tui", "source": "cli", "thread_source": "user"}),
            ),
            row("event_msg", json!({"type": "task_started"})),
            row("event_msg", json!({"type": "item_completed", "item": said})),
        ];
        rows.push(match cut {
            Cut::Tool => row(
                "response_item",
                json!({"type": "function_call", "name": "exec_command", "call_id": "c", "arguments": "{\"cmd\": \"make slow\"}"}),
            ),
            Cut::Question => row(
                "response_item",
                json!({"type": "function_call", "name": "request_user_input", "call_id": "c", "arguments": "{}"}),
            ),
            Cut::Limit => row(
                "event_msg",
                json!({"type": "task_complete", "error": {"message": "try again at Jan 20th, 2026 2:30 PM.", "codex_error_info": "usage_limit_exceeded"}}),
            ),
            Cut::Over => row(
                "event_msg",
                json!({"type": "task_complete", "last_agent_message": "It is done."}),
            ),
        });
        let name = format!("rollout-2026-01-20T11-00-00-{id}.jsonl");
        let kept = self.home.join(".codex/sessions/2026/01/20");
        self.write(&kept.join(name), &rows)
    }

    /// Writes a session of Gemini CLI that was cut off in its turn, and returns its transcript.
    pub fn gemini(
        &self,
        folder: &Utf8Path,
        short: &str,
        minute: u8,
        prompt: &str,
    ) -> io::Result<Utf8PathBuf> {
        let kept = self
            .home
            .join(".gemini/tmp")
            .join(folder.file_name().unwrap_or("x"));
        let rows = [
            json!({"sessionId": gemini_id(short), "startTime": at(minute), "kind": "main"}),
            json!({"id": "g1", "timestamp": at(minute), "type": "user", "content": [{"text": prompt}]}),
            json!({"id": "g2", "timestamp": at(minute), "type": "gemini", "content": "", "thoughts": []}),
        ];
        let name = format!("session-2026-01-20T11-00-{short}.jsonl");
        let written = self.write(&kept.join("chats").join(name), &rows)?;
        fs_err::write(kept.join(".project_root"), folder.as_str())?;
        Ok(written)
    }

    fn write(&self, path: &Utf8Path, rows: &[Value]) -> io::Result<Utf8PathBuf> {
        fs_err::create_dir_all(path.parent().unwrap_or(&self.home))?;
        let lines: Vec<String> = rows.iter().map(|row| format!("{row}\n")).collect();
        fs_err::write(path, lines.concat())?;
        Ok(path.to_owned())
    }
}

/// Returns the whole id of a session of Claude Code, by its first eight characters.
pub fn claude_id(short: &str) -> String {
    format!("{short}-5b1e-4c77-9a10-2d6c1b7e0001")
}

/// Returns the whole id of a session of Codex, by its last eight characters.
pub fn codex_id(short: &str) -> String {
    format!("019bdb10-aaaa-7bbb-8ccc-0123{short}")
}

/// Returns the whole id of a session of Gemini CLI, by its first eight characters.
pub fn gemini_id(short: &str) -> String {
    format!("{short}-0000-4000-8000-00000000000a")
}

fn at(minute: u8) -> String {
    format!("2026-01-20T11:{minute:02}:05.000Z")
}
