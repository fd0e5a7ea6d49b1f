//! opencode: `opencode run --format json`.
//!
//! Observed with 1.18.33: there is no event for the end. A step that finishes with `stop` is the
//! last; after `tool-calls` another must follow. When a permission is refused, the process ends
//! after `tool-calls` with exit code 0, which is not a success. A 429 is retried without an event.

use serde_json::Value;

use super::{StreamEnd, Summary, Update, money, session_at, show, text_at, value_at};

pub(super) fn read(event: &Value, before: &mut Summary) -> Update {
    let mut update = Update {
        session: session_at(event, &["sessionID"])
            .filter(|session| before.session.as_ref() != Some(session)),
        ..Update::default()
    };
    match text_at(event, &["type"]) {
        Some("step_start") => before.ended = None,
        Some("text") => update.text = text_at(event, &["part", "text"]).and_then(show::line),
        Some("tool_use") => {
            let tool = text_at(event, &["part", "tool"]).unwrap_or("tool");
            update.text = show::tool(tool, value_at(event, &["part", "state", "input"]));
            update.permission_denied = refused(event).then(|| tool.to_owned());
        }
        Some("step_finish") => {
            let step = money(value_at(event, &["part", "cost"]));
            update.cost_usd = step.map(|usd| before.cost_usd.unwrap_or_default() + usd);
            update.ended = finish(text_at(event, &["part", "reason"]).unwrap_or_default());
        }
        Some("error") => {
            let reason = error(event);
            update.limit =
                match value_at(event, &["error", "data", "statusCode"]).and_then(Value::as_u64) {
                    Some(429 | 529) => Some(crate::limit::in_words(&reason).unwrap_or_default()),
                    Some(_) => None,
                    None => crate::limit::in_words(&reason),
                };
            update.ended = Some(StreamEnd::Error(reason));
        }
        Some(_) | None => {}
    }
    update
}

/// Reads a reason of the AI SDK; opencode continues after `unknown` as after `tool-calls`.
fn finish(reason: &str) -> Option<StreamEnd> {
    match reason {
        "tool-calls" | "unknown" | "" => None,
        "length" | "content-filter" | "error" => Some(StreamEnd::Error(format!(
            "the model stopped early: {reason}"
        ))),
        _ => Some(StreamEnd::Success),
    }
}

fn refused(event: &Value) -> bool {
    text_at(event, &["part", "state", "status"]) == Some("error")
        && text_at(event, &["part", "state", "error"]).is_some_and(|error| {
            error.contains("rejected permission") || error.contains("rule which prevents you")
        })
}

fn error(event: &Value) -> String {
    text_at(event, &["error", "data", "message"])
        .or_else(|| text_at(event, &["error", "message"]))
        .or_else(|| text_at(event, &["error", "name"]))
        .and_then(show::first_line)
        .unwrap_or_else(|| "it ended with an error".to_owned())
}
