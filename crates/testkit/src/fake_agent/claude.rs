//! The words of Claude Code's `stream-json`, as 2.1.325 prints them, less what nobody reads.

use serde_json::{Value, json};

use super::Outcome;

/// The first event that tells the session.
pub(super) fn init(session: &str, folder: &str) -> Value {
    json!({
        "type": "system", "subtype": "init", "cwd": folder, "session_id": session,
        "tools": ["Bash", "Edit", "Read", "Write"], "mcp_servers": [], "model": "fake",
        "permissionMode": "default", "claude_code_version": "2.1.325",
    })
}

/// Something that the assistant says.
pub(super) fn message(session: &str, text: &str) -> Value {
    json!({
        "type": "assistant",
        "message": {
            "type": "message", "role": "assistant", "model": "fake",
            "content": [{"type": "text", "text": text}],
        },
        "parent_tool_use_id": null, "session_id": session,
    })
}

/// A tool that was wanted and refused.
pub(super) fn denied(session: &str, tool: &str) -> Value {
    json!({
        "type": "system", "subtype": "permission_denied", "tool_name": tool,
        "tool_use_id": "toolu_fake",
        "message": format!("Claude requested permissions to use {tool}, but you haven't granted it yet."),
        "session_id": session,
    })
}

/// The limit of a subscription, told before the result.
pub(super) fn limit(session: &str, resets_at: Option<i64>) -> Value {
    let mut info = json!({"status": "rejected", "rateLimitType": "five_hour"});
    if let (Some(info), Some(seconds)) = (info.as_object_mut(), resets_at) {
        info.insert("resetsAt".to_owned(), seconds.into());
    }
    json!({"type": "rate_limit_event", "rate_limit_info": info, "session_id": session})
}

/// The last event.
pub(super) fn result(session: &str, outcome: &Outcome, cost: f64, denied: &[String]) -> Value {
    let denials: Vec<Value> = denied
        .iter()
        .map(|tool| json!({"tool_name": tool, "tool_use_id": "toolu_fake", "tool_input": {}}))
        .collect();
    let mut event = json!({
        "type": "result", "session_id": session, "num_turns": 1, "duration_ms": 1,
        "total_cost_usd": cost, "permission_denials": denials,
        "model_usage_since_last_result": {"fake": {"costUSD": cost}},
    });
    let ending = match outcome {
        Outcome::Success => json!({
            "subtype": "success", "is_error": false, "terminal_reason": "completed",
            "api_error_status": null, "result": "done",
        }),
        Outcome::Error(reason) => json!({
            "subtype": "error_during_execution", "is_error": true,
            "terminal_reason": "model_error", "errors": [reason],
        }),
        // It really says `success` here.
        Outcome::Limit(_) => json!({
            "subtype": "success", "is_error": true, "terminal_reason": "api_error",
            "api_error_status": 429, "result": "You've hit your limit",
        }),
    };
    if let (Some(event), Value::Object(ending)) = (event.as_object_mut(), ending) {
        event.extend(ending);
    }
    event
}
