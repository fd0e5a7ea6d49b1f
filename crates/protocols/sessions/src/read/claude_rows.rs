//! The rows of a transcript of Claude Code.
//!
//! Observed with 2.1.325: a killed tool is a `tool_use` without `tool_result`; a turn ends with
//! `turn_duration`, and without a terminal with a reason other than `tool_use`; an error is a row of
//! the model with `isApiErrorMessage`. `last-prompt` is written anew after every step.

use camino::Utf8PathBuf;
use rekindle_agents::traces::time;
use rekindle_text::claude_folder_name;
use serde_json::Value;

use crate::story::{Call, Failure, Story, is_typed};
use crate::table::Turn;

/// The text of an interrupted turn.
const INTERRUPTED: &str = "[Request interrupted by user";
/// The result that Claude Code gives a call that was cut off, when the session is resumed.
const CUT_OFF: &str = "[Tool call interrupted";
/// What the model is made to say then.
const NOTHING_SAID: &str = "No response requested.";

/// Whose rows are read: those of sub-agents are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// The session's own.
    Session,
    /// Those of a sub-agent.
    SubAgent,
}

/// Returns what rows say; `shelf` is the name of the folder that the transcript is in.
pub(super) fn story(rows: &[Value], who: Who, shelf: &str) -> Story {
    let mut reader = Reader::default();
    for row in rows {
        reader.read(row, who);
    }
    reader.finish(shelf)
}

/// Returns whether rows say how far a session had come: the last message of the model is whole.
///
/// Calls that run at the same time are rows of one message. The end of a turn does not say how it ended,
/// and long rows of the program may stand between it and the last message.
pub(super) fn is_settled(rows: &[Value], who: Who) -> bool {
    let mut message = None;
    let mut is_over = false;
    for row in rows.iter().rev().filter(|row| is_of(row, who)) {
        match kind(row) {
            "assistant" => {
                let id = row.pointer("/message/id").and_then(Value::as_str);
                if is_over || message.is_some_and(|last| last != id) {
                    return true;
                }
                message = Some(id);
            }
            "user" => {
                let mut reader = Reader::default();
                reader.read(row, who);
                let is_boundary =
                    reader.story.prompt.is_some() || reader.story.turn == Some(Turn::Stopped);
                if is_over || message.is_some() || is_boundary {
                    return true;
                }
            }
            "system" if is_end(row) => is_over = true,
            _ => {}
        }
    }
    false
}

fn kind(row: &Value) -> &str {
    row.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn is_end(row: &Value) -> bool {
    row.get("subtype").and_then(Value::as_str) == Some("turn_duration")
}

/// Returns whether a row is one of those that are meant.
fn is_of(row: &Value, who: Who) -> bool {
    let is_aside = row.get("isSidechain").and_then(Value::as_bool) == Some(true);
    match who {
        Who::Session => !is_aside,
        Who::SubAgent => true,
    }
}

#[derive(Default)]
struct Reader {
    story: Story,
    folders: Vec<Utf8PathBuf>,
    /// Whether a row says that a script runs the program.
    is_scripted: bool,
    /// Whether a person typed a prompt.
    is_typed: bool,
    custom_title: Option<String>,
}

impl Reader {
    fn read(&mut self, row: &Value, who: Who) {
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        if !is_of(row, who) {
            return;
        }
        self.story.at(time(row));
        match kind(row) {
            "last-prompt" => {
                if let Some(prompt) = text("lastPrompt") {
                    self.story.remembers(prompt);
                }
            }
            "custom-title" => {
                let title = text("customTitle").or_else(|| text("title"));
                self.custom_title = title.map(str::to_owned).or(self.custom_title.take());
            }
            "ai-title" => {
                let title = text("aiTitle").or_else(|| text("title"));
                let title = title.map(str::to_owned);
                self.story.title = title.or(self.story.title.take());
            }
            "user" => {
                self.place(row);
                self.user(row);
            }
            "assistant" => {
                self.place(row);
                self.model(row);
            }
            "system" => {
                self.place(row);
                if is_end(row) {
                    self.story.finishes();
                }
            }
            "attachment" => self.place(row),
            _ => {}
        }
    }

    /// Reads where the session was.
    fn place(&mut self, row: &Value) {
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        if let Some(folder) = text("cwd").filter(|folder| folder.starts_with('/'))
            && self.folders.last().is_none_or(|last| last != folder)
        {
            self.folders.push(folder.into());
        }
        if let Some(branch) = text("gitBranch") {
            let branch = Some(branch.to_owned());
            self.story.branch = branch.filter(|branch| !branch.is_empty() && branch != "HEAD");
        }
        if let Some(entry) = text("entrypoint") {
            self.is_scripted |= entry == "sdk-cli";
        }
        if let Some(id) = text("uuid") {
            self.story.last_row = Some(id.to_owned());
        }
    }

    fn user(&mut self, row: &Value) {
        let Some(content) = row.pointer("/message/content") else {
            return;
        };
        if let Some(text) = content.as_str() {
            self.user_text(text, row);
        }
        for block in content.as_array().into_iter().flatten() {
            let text = |key: &str| block.get(key).and_then(Value::as_str);
            match text("type") {
                Some("tool_result") => self.result(block),
                Some("text") => self.user_text(text("text").unwrap_or_default(), row),
                Some(_) | None => {}
            }
        }
    }

    fn result(&mut self, block: &Value) {
        let id = block.get("tool_use_id").and_then(Value::as_str);
        let id = id.unwrap_or_default();
        let answer = content_text(block.get("content"));
        if answer.trim_start().starts_with(CUT_OFF) {
            self.story.interrupted_calls.push(id.to_owned());
        }
        let is_error = block.get("is_error").and_then(Value::as_bool) == Some(true);
        self.story
            .returns(id, is_error.then_some(answer.as_str()), &answer);
        self.story.turn = Some(Turn::Open);
        self.story.failure = None;
    }

    /// Reads a text of a user row, which the program may have written.
    fn user_text(&mut self, text: &str, row: &Value) {
        let has = |key: &str| row.get(key).and_then(Value::as_bool) == Some(true);
        if text.starts_with(INTERRUPTED) {
            self.story.turn = Some(Turn::Stopped);
            self.story.failure = None;
        } else if !has("isMeta") && !has("isCompactSummary") && is_typed(text) {
            self.story.typed(text);
            let source = row.get("promptSource").and_then(Value::as_str);
            let entry = row.get("entrypoint").and_then(Value::as_str);
            let is_scripted = match source {
                Some(source) => source == "sdk",
                None => entry == Some("sdk-cli"),
            };
            self.is_typed |= !is_scripted;
            self.is_scripted |= is_scripted;
        }
    }

    fn model(&mut self, row: &Value) {
        let Some(content) = row.pointer("/message/content") else {
            return;
        };
        let has = |key: &str| row.get(key).and_then(Value::as_bool) == Some(true);
        if has("isApiErrorMessage") {
            let words = content_text(Some(content));
            let kind = row.get("error").and_then(Value::as_str);
            let is_limit = match kind {
                Some("rate_limit") => Some(true),
                // Other errors have their own kinds, and one that is unknown is known by its words.
                Some("unknown") | None => None,
                Some(_) => Some(false),
            };
            self.story.fails(Failure::new(&words, is_limit, time(row)));
            return;
        }
        self.story.failure = None;
        self.story.turn = Some(Turn::Open);
        for block in content.as_array().into_iter().flatten() {
            let text = |key: &str| block.get(key).and_then(Value::as_str);
            match text("type") {
                Some("tool_use") => self.tool(block),
                Some("text") => {
                    let said = text("text").unwrap_or_default();
                    if said != NOTHING_SAID {
                        self.story.says(said);
                    }
                }
                Some(_) | None => {}
            }
        }
        if let Some(said) = content.as_str() {
            self.story.says(said);
        }
        let reason = row.pointer("/message/stop_reason").and_then(Value::as_str);
        if reason.is_some_and(|reason| reason != "tool_use") {
            self.story.turn = Some(Turn::Over);
        }
    }

    fn tool(&mut self, block: &Value) {
        let text = |key: &str| block.get(key).and_then(Value::as_str);
        let name = text("name").unwrap_or("a tool");
        if name == "TodoWrite" {
            let todos = block.pointer("/input/todos").and_then(Value::as_array);
            let entries = todos.into_iter().flatten().filter_map(|todo| {
                let text = |key: &str| todo.get(key).and_then(Value::as_str);
                Some((text("content")?, text("status").unwrap_or_default()))
            });
            self.story.plans(entries);
        }
        let id = text("id").unwrap_or_default();
        self.story
            .calls(Call::new(id, name, block.get("input").cloned()));
    }

    fn finish(self, shelf: &str) -> Story {
        let mut story = self.story;
        story.title = self.custom_title.or(story.title);
        story.is_headless = self.is_scripted && !self.is_typed;
        let of_shelf = |folder: &&Utf8PathBuf| claude_folder_name(folder.as_str()) == shelf;
        let folders = self.folders;
        story.folder = folders.iter().rfind(of_shelf).or(folders.last()).cloned();
        story
    }
}

/// Returns the text of a content, which is a text or a list of blocks.
fn content_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let text = |block: &Value| Some(block.get("text")?.as_str()?.to_owned());
            let texts: Vec<String> = blocks.iter().filter_map(text).collect();
            texts.join("\n")
        }
        Some(_) | None => String::new(),
    }
}
