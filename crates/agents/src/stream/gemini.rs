//! Gemini CLI: `gemini -o stream-json`.
//!
//! Seen with 0.61.0: what the model says comes in pieces; a tool that the user has not allowed is
//! simply "not found"; `error` events are warnings or were got over; `result` is the end. Nothing
//! is printed at all in a folder that the user does not trust (exit code 55).

use serde_json::Value;

use super::{News, StreamEnd, Summary, session_at, show, text_at};

/// The tools that are missing when they are not allowed, and not because the model made them up.
const GUARDED: [&str; 5] = [
    "write_file",
    "replace",
    "run_shell_command",
    "web_fetch",
    "google_web_search",
];

/// How much of a message is kept to show its last line.
const MOST_KEPT: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Reader {
    /// What was said since the last other event.
    saying: String,
    /// The last use of a tool: its id and its name.
    tool: Option<(String, String)>,
}

impl Reader {
    pub(super) fn read(&mut self, event: &Value, before: &mut Summary) -> News {
        let kind = text_at(event, &["type"]);
        let says = kind == Some("message") && text_at(event, &["role"]) == Some("assistant");
        if !says {
            self.saying.clear();
        }
        let mut news = News::default();
        match kind {
            Some("init") => {
                before.ended = None;
                news.session = session_at(event, &["session_id"]);
            }
            Some("message") if says => news.text = self.say(event),
            Some("tool_use") => news.text = self.tool_use(event),
            Some("tool_result") => news.permission_denied = self.refused(event),
            Some("error") => {
                news.text = text_at(event, &["message"]).and_then(show::first_line);
                before.error.clone_from(&news.text);
            }
            Some("result") => end(event, before, &mut news),
            Some(_) | None => {}
        }
        news
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
            // Several were asked for at once: the id begins with the name.
            Some(_) | None => id.split("__").next().unwrap_or(id),
        };
        let refused = match text_at(event, &["error", "type"]) {
            Some("policy_violation") => true,
            Some("tool_not_registered") => GUARDED.contains(&name),
            Some(_) | None => false,
        };
        if refused {
            show::first_line(name)
        } else {
            None
        }
    }
}

fn end(event: &Value, before: &Summary, news: &mut News) {
    if text_at(event, &["status"]) == Some("success") {
        news.ended = Some(StreamEnd::Success);
        return;
    }
    if text_at(event, &["error", "type"]) == Some("FatalCancellationError") {
        news.ended = Some(StreamEnd::Interrupted);
        return;
    }
    let reason = text_at(event, &["error", "message"])
        .and_then(show::first_line)
        .or_else(|| before.error.clone())
        .unwrap_or_else(|| "it ended with an error".to_owned());
    // The words with the time can stand below the first line.
    news.limit = text_at(event, &["error", "message"])
        .and_then(crate::limit::in_words)
        .or_else(|| crate::limit::in_words(&reason));
    news.ended = Some(StreamEnd::Error(reason));
}
