//! Claude Code: `claude -p --output-format stream-json --verbose`.
//!
//! Observed with 2.1.325: `init` is not the first event, and `init` and `result` can come twice;
//! events of hooks before `init` can have the id of another session; a 429 ends as
//! `subtype: "success"` with `is_error: true`; after an interrupt the exit code is 0; the `result` of
//! a session that is not found has the requested id.
//! So the session is read only from `init`, and the end only from `is_error` and `terminal_reason`.

use serde_json::Value;

use super::{StreamEnd, Summary, Update, money, session_at, show, text_at, value_at};
use crate::Limit;

#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The cost of all results so far.
    cost_usd: f64,
}

impl Reader {
    pub(super) fn read(&mut self, event: &Value, before: &mut Summary) -> Update {
        match text_at(event, &["type"]) {
            Some("system") => system(event, before),
            Some("assistant") => {
                // A sub-agent in the background may continue after the end.
                if text_at(event, &["parent_tool_use_id"]).is_none() {
                    before.ended = None;
                }
                assistant(event)
            }
            Some("rate_limit_event") => rate_limit(event),
            Some("result") if has_an_end(event) => self.result(event, before),
            Some(_) | None => Update::default(),
        }
    }

    fn result(&mut self, event: &Value, before: &mut Summary) -> Update {
        let ended = end(event);
        let limit = match &ended {
            StreamEnd::Error(reason) => error_limit(event, reason),
            StreamEnd::Success | StreamEnd::Interrupted => None,
        };
        Update {
            cost_usd: self.cost(event),
            permission_denied: denied(event, before),
            limit,
            ended: Some(ended),
            ..Update::default()
        }
    }

    /// Returns the cost of this run. `total_cost_usd` includes earlier runs of the session, so it
    /// is used only for older releases, which report nothing else.
    fn cost(&mut self, event: &Value) -> Option<f64> {
        let Some(models) =
            value_at(event, &["model_usage_since_last_result"]).and_then(Value::as_object)
        else {
            return money(event.get("total_cost_usd"));
        };
        let since: f64 = models
            .values()
            .filter_map(|model| money(model.get("costUSD")))
            .sum();
        self.cost_usd += since;
        Some(self.cost_usd)
    }
}

fn system(event: &Value, before: &mut Summary) -> Update {
    let mut update = Update::default();
    match text_at(event, &["subtype"]) {
        Some("init") => {
            before.ended = None;
            update.session = session_at(event, &["session_id"]);
        }
        Some("permission_denied") => {
            update.permission_denied = text_at(event, &["tool_name"]).and_then(show::first_line);
            update.text = text_at(event, &["message"]).and_then(show::first_line);
        }
        Some("api_retry") => update.text = retry(event),
        Some(_) | None => {}
    }
    update
}

/// Describes a retry, for which the program may wait for minutes.
fn retry(event: &Value) -> Option<String> {
    let error = text_at(event, &["error"]).unwrap_or("error");
    let status = event.get("error_status").and_then(Value::as_u64);
    let status = status.map_or_else(String::new, |status| format!(" {status}"));
    let number = |key: &str| event.get(key).and_then(Value::as_u64).unwrap_or_default();
    show::line(&format!(
        "{error}{status}, retry {} of {}",
        number("attempt"),
        number("max_retries")
    ))
}

fn assistant(event: &Value) -> Update {
    let blocks = value_at(event, &["message", "content"]).and_then(Value::as_array);
    let text =
        blocks
            .into_iter()
            .flatten()
            .rev()
            .find_map(|block| match text_at(block, &["type"]) {
                Some("text") => show::line(text_at(block, &["text"])?),
                Some("tool_use") => show::tool(text_at(block, &["name"])?, block.get("input")),
                Some(_) | None => None,
            });
    Update {
        text,
        ..Update::default()
    }
}

/// Reads the limits of a subscription; only `rejected` stops the work.
fn rate_limit(event: &Value) -> Update {
    let info = |key: &str| value_at(event, &["rate_limit_info", key]);
    let rejected = info("status").and_then(Value::as_str) == Some("rejected");
    let paid = info("isUsingOverage").and_then(Value::as_bool) == Some(true);
    let resets_at = info("resetsAt").and_then(Value::as_i64);
    Update {
        limit: (rejected && !paid).then(|| Limit {
            resets_at: resets_at.and_then(crate::limit::stamp),
        }),
        ..Update::default()
    }
}

/// Returns whether a result says how it ended; otherwise it does not count as a success.
fn has_an_end(event: &Value) -> bool {
    event.get("is_error").is_some_and(Value::is_boolean)
        || text_at(event, &["terminal_reason"]).is_some()
        || text_at(event, &["subtype"]).is_some()
}

fn end(event: &Value) -> StreamEnd {
    let flag = |key: &str| event.get(key).and_then(Value::as_bool) == Some(true);
    let reason = text_at(event, &["terminal_reason"]);
    if let Some("aborted_tools" | "aborted_streaming") = reason {
        return StreamEnd::Interrupted;
    }
    if flag("is_error") {
        return StreamEnd::Error(error(event));
    }
    // Older releases have only the subtype.
    match (reason, text_at(event, &["subtype"])) {
        (Some("completed"), _) | (None, Some("success") | None) => {}
        (Some(other), _) | (None, Some(other)) => {
            return StreamEnd::Error(format!("it stopped early: {}", words(other)));
        }
    }
    if event.get("num_turns").and_then(Value::as_u64) == Some(0) {
        return StreamEnd::Error("a hook blocked the prompt".to_owned());
    }
    StreamEnd::Success
}

/// Returns the message of an error, or its kind.
fn error(event: &Value) -> String {
    let errors = event.get("errors").and_then(Value::as_array);
    let message = errors
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        // A diagnostic for the developers of the program.
        .find(|error| !error.starts_with("[ede_diagnostic]"));
    let message = message.or_else(|| text_at(event, &["result"]));
    message.and_then(show::first_line).unwrap_or_else(|| {
        let kind = text_at(event, &["terminal_reason"]).or(text_at(event, &["subtype"]));
        format!(
            "it ended with an error: {}",
            words(kind.unwrap_or("unknown"))
        )
    })
}

fn error_limit(event: &Value, reason: &str) -> Option<Limit> {
    let message = crate::limit::in_words(reason);
    // 529 is "overloaded", where waiting helps too.
    match event.get("api_error_status").and_then(Value::as_u64) {
        Some(429 | 529) => Some(message.unwrap_or_default()),
        Some(_) => None,
        None => message,
    }
}

/// Adds the denied tools of a result and returns the first new one; older releases have no
/// `permission_denied` event.
fn denied(event: &Value, before: &mut Summary) -> Option<String> {
    let denials = event.get("permission_denials").and_then(Value::as_array)?;
    let new: Vec<String> = denials
        .iter()
        .filter_map(|denial| show::first_line(text_at(denial, &["tool_name"])?))
        .filter(|tool| !before.denied.contains(tool))
        .collect();
    for tool in &new {
        before.deny(tool);
    }
    new.into_iter().next()
}

fn words(name: &str) -> String {
    show::first_line(&name.replace('_', " ")).unwrap_or_default()
}
