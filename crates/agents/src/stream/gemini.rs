//! Gemini CLI: `gemini -o stream-json`.
//!
//! Observed with 0.61.0: messages of the model come in pieces; a tool that the user has not allowed is
//! "not found"; `error` events are warnings or recovered; `result` is the end. In an untrusted folder
//! it prints nothing (exit code 55).

use serde_json::Value;

use super::{StreamEnd, Summary, Update, session_at, show, text_at};

/// The tools that exist, so they are missing only if they are not allowed.
const GUARDED: [&str; 5] = [
    "write_file",
    "replace",
    "run_shell_command",
    "web_fetch",
    "google_web_search",
];

/// The length of a message from which its last line is shown.
const MOST_KEPT: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The message since the last other event.
    saying: String,
    /// The id and name of the last tool use.
    tool: Option<(String, String)>,
}

impl Reader {
    pub(super) fn read(&mut self, event: &Value, before: &mut Summary) -> Update {
        let kind = text_at(event, &["type"]);
        let says = kind == Some("message") && text_at(event, &["role"]) == Some("assistant");
        if !says {
            self.saying.clear();
        }
        let mut update = Update::default();
        match kind {
            Some("init") => {
                before.ended = None;
                update.session = session_at(event, &["session_id"]);
            }
            Some("message") if says => update.text = self.say(event),
            Some("tool_use") => update.text = self.tool_use(event),
            Some("tool_result") => update.permission_denied = self.refused(event),
            Some("error") => {
                update.text = text_at(event, &["message"]).and_then(show::first_line);
                before.error.clone_from(&update.text);
            }
            Some("result") => end(event, before, &mut update),
            Some(_) | None => {}
        }
        update
    }

    fn say(&mut self, event: &Value) -> Option<String> {
        let piece = text_at(event, &["content"])?;
        if event.get("delta").and_then(Value::as_bool) != Some(true) {
            self.saying.clear();
        }
        self.saying.push_str(piece);
        let shown = show::line(&self.saying);
        if self.saying.len() > MOST_KEPT {
            self.saying.clear();
        }
        shown
    }

    fn tool_use(&mut self, event: &Value) -> Option<String> {
        let name = text_at(event, &["tool_name"])?;
        let id = text_at(event, &["tool_id"]).unwrap_or_default();
        self.tool = Some((id.to_owned(), name.to_owned()));
        show::tool(name, event.get("parameters"))
    }

    fn refused(&self, event: &Value) -> Option<String> {
        let id = text_at(event, &["tool_id"])?;
        let name = match &self.tool {
            Some((last, name)) if last == id => name.as_str(),
            // Of parallel calls, the id begins with the name.
            Some(_) | None => id.split("__").next().unwrap_or(id),
        };
        let refused = match text_at(event, &["error", "type"]) {
            Some("policy_violation") => true,
            Some("tool_not_registered") => GUARDED.contains(&name),
            Some(_) | None => false,
        };
        refused.then(|| show::first_line(name))?
    }
}

fn end(event: &Value, before: &Summary, update: &mut Update) {
    if text_at(event, &["status"]) == Some("success") {
        update.ended = Some(StreamEnd::Success);
        return;
    }
    if text_at(event, &["error", "type"]) == Some("FatalCancellationError") {
        update.ended = Some(StreamEnd::Interrupted);
        return;
    }
    let reason = text_at(event, &["error", "message"])
        .and_then(show::first_line)
        .or_else(|| before.error.clone())
        .unwrap_or_else(|| "it ended with an error".to_owned());
    // The time can be below the first line.
    update.limit = text_at(event, &["error", "message"])
        .and_then(crate::limit::in_words)
        .or_else(|| crate::limit::in_words(&reason));
    update.ended = Some(StreamEnd::Error(reason));
}
