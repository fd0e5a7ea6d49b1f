//! Claude Code: `claude -p --output-format stream-json --verbose`.
//!
//! Seen with 2.1.325: `init` is not the first event and can come twice, and so can `result`;
//! events of hooks before `init` can carry the id of another session; a 429 ends as
//! `subtype: "success"` with `is_error: true`; an interrupt ends the process with exit code 0;
//! a session that is not found ends with a `result` that carries the id that was asked for.
//! So only `init` tells the session, and only `is_error` with `terminal_reason` the end.

use serde_json::Value;

use super::{News, StreamEnd, Summary, money, session_at, show, text_at, value_at};
use crate::Limit;

#[derive(Debug, Default)]
pub(super) struct Reader {
    /// What the results until now have cost together.
    cost_usd: f64,
}

impl Reader {
    pub(super) fn read(&mut self, event: &Value, before: &mut Summary) -> News {
        match text_at(event, &["type"]) {
            Some("system") => system(event, before),
            Some("assistant") => {
                // A sub-agent in the background may speak after the end of all else.
                if text_at(event, &["parent_tool_use_id"]).is_none() {
                    before.ended = None;
                }
                assistant(event)
            }
            Some("rate_limit_event") => rate_limit(event),
            Some("result") if tells_an_end(event) => self.result(event, before),
            Some(_) | None => News::default(),
        }
    }

    fn result(&mut self, event: &Value, before: &mut Summary) -> News {
        let ended = end(event);
        let limit = match &ended {
            StreamEnd::Error(reason) => error_limit(event, reason),
            StreamEnd::Success | StreamEnd::Interrupted => None,
        };
        News {
            cost_usd: self.cost(event),
            permission_denied: denied(event, before),
            limit,
            ended: Some(ended),
            ..News::default()
        }
    }

    /// `total_cost_usd` is the session's, with what earlier runs of it cost; what came since the
    /// last result is told apart, though not by older releases.
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

fn system(event: &Value, before: &mut Summary) -> News {
    let mut news = News::default();
    match text_at(event, &["subtype"]) {
        Some("init") => {
            before.ended = None;
            news.session = session_at(event, &["session_id"]);
        }
        Some("permission_denied") => {
            news.permission_denied = text_at(event, &["tool_name"]).and_then(show::first_line);
            news.text = text_at(event, &["message"]).and_then(show::first_line);
        }
        Some("api_retry") => news.text = retry(event),
        Some(_) | None => {}
    }
    news
}

/// It waits by itself here, up to minutes: a person should see why nothing happens.
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

fn assistant(event: &Value) -> News {
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
    News {
        text,
        ..News::default()
    }
}

/// Tells of the limits of a subscription; only `rejected` stops the work.
fn rate_limit(event: &Value) -> News {
    let info = |key: &str| value_at(event, &["rate_limit_info", key]);
    let rejected = info("status").and_then(Value::as_str) == Some("rejected");
    let paid = info("isUsingOverage").and_then(Value::as_bool) == Some(true);
    let resets_at = info("resetsAt").and_then(Value::as_i64);
    News {
        limit: (rejected && !paid).then(|| Limit {
            resets_at: resets_at.and_then(crate::limit::stamp),
        }),
        ..News::default()
    }
}

/// A result of which nothing is known that tells good from bad is not taken for a good one.
fn tells_an_end(event: &Value) -> bool {
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
    // Older releases do not tell the reason, but an error in the subtype.
    match (reason, text_at(event, &["subtype"])) {
        (Some("completed"), _) | (None, Some("success") | None) => {}
        (Some(other), _) | (None, Some(other)) => {
            return StreamEnd::Error(format!("it stopped early: {}", words(other)));
        }
    }
    if event.get("num_turns").and_then(Value::as_u64) == Some(0) {
        return StreamEnd::Error("a hook kept the prompt from the agent".to_owned());
    }
    StreamEnd::Success
}

/// Returns what a person is told of an error: the words, else the name of its kind.
fn error(event: &Value) -> String {
    let errors = event.get("errors").and_then(Value::as_array);
    let told = errors
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        // A note of the program to its makers.
        .find(|error| !error.starts_with("[ede_diagnostic]"));
    let told = told.or_else(|| text_at(event, &["result"]));
    told.and_then(show::first_line).unwrap_or_else(|| {
        let kind = text_at(event, &["terminal_reason"]).or(text_at(event, &["subtype"]));
        format!(
            "it ended with an error: {}",
            words(kind.unwrap_or("unknown"))
        )
    })
}

fn error_limit(event: &Value, reason: &str) -> Option<Limit> {
    let told = crate::limit::in_words(reason);
    // 529 is "overloaded": to come back later helps there too.
    match event.get("api_error_status").and_then(Value::as_u64) {
        Some(429 | 529) => Some(told.unwrap_or_default()),
        Some(_) => None,
        None => told,
    }
}

/// Takes the tools of the result's list that were not told before. Returns the first of them.
///
/// Releases before the `permission_denied` event tell them only here.
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
