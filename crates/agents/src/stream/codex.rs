//! Codex CLI: `codex exec --json`.
//!
//! Observed with 0.166.0: an item of type `error` is a warning, and a top-level `error` can be
//! "Reconnecting... 1/5"; only `turn.completed` and `turn.failed` end a turn. After an interrupt
//! neither comes. It reports tokens but no cost.

use serde_json::Value;

use super::{StreamEnd, Summary, Update, session_at, show, text_at, value_at};

pub(super) fn read(event: &Value, before: &mut Summary) -> Update {
    let mut update = Update::default();
    match text_at(event, &["type"]) {
        Some("thread.started") => update.session = session_at(event, &["thread_id"]),
        Some("turn.started") => before.ended = None,
        Some("item.started" | "item.updated" | "item.completed") => {
            if let Some(item) = event.get("item") {
                update.text = item_text(item);
                update.permission_denied = declined(item);
            }
        }
        Some("error") => {
            update.text = text_at(event, &["message"]).and_then(show::first_line);
            before.error.clone_from(&update.text);
        }
        Some("turn.completed") => update.ended = Some(StreamEnd::Success),
        Some("turn.failed") => {
            let message = text_at(event, &["error", "message"]).and_then(show::first_line);
            let reason = message
                .or_else(|| before.error.clone())
                .unwrap_or_else(|| "its turn failed".to_owned());
            update.limit = crate::limit::in_words(&reason);
            update.ended = Some(StreamEnd::Error(reason));
        }
        Some(_) | None => {}
    }
    update
}

fn item_text(item: &Value) -> Option<String> {
    match text_at(item, &["type"])? {
        "agent_message" => show::line(text_at(item, &["text"])?),
        "error" => show::first_line(text_at(item, &["message"])?),
        "file_change" => show::tool(tool(item)?, value_at(item, &["changes"])?.get(0)),
        _ => show::tool(tool(item)?, Some(item)),
    }
}

/// Returns the name of the tool of an item.
fn tool(item: &Value) -> Option<&str> {
    match text_at(item, &["type"])? {
        "command_execution" => Some("shell"),
        "file_change" => Some("edit"),
        "web_search" => Some("search"),
        "mcp_tool_call" => text_at(item, &["tool"]),
        _ => None,
    }
}

fn declined(item: &Value) -> Option<String> {
    if text_at(item, &["status"]) != Some("declined") {
        return None;
    }
    show::first_line(tool(item)?)
}
