//! The input and output of agent hooks.
//!
//! Claude Code, Codex and Gemini CLI give a hook one JSON object on standard input. The fields that
//! are read have the same names in all of them; other fields are ignored.

use camino::Utf8PathBuf;
use serde_json::{Value, json};

use crate::limit::{Limit, in_words};
use crate::{Preset, agent, stream};

/// The name of Claude Code for the error of an overloaded server.
const OVERLOADED: &str = "overloaded";

/// An event at which an agent calls a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A session starts, resumes, or was cleared or compacted.
    SessionStart,
    /// The conversation is about to be compacted.
    PreCompact,
    /// A session ends.
    SessionEnd,
    /// The agent ended its turn.
    Stop,
    /// An error ended the turn.
    StopFailure,
    /// A tool was used.
    PostToolUse,
}

impl Moment {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::SessionStart,
        Self::PreCompact,
        Self::SessionEnd,
        Self::Stop,
        Self::StopFailure,
        Self::PostToolUse,
    ];

    /// Returns the moment of a command line name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|moment| moment.name() == name)
    }

    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::PreCompact => "pre-compact",
            Self::SessionEnd => "session-end",
            Self::Stop => "stop",
            Self::StopFailure => "stop-failure",
            Self::PostToolUse => "post-tool-use",
        }
    }
}

/// The input of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The event.
    pub moment: Moment,
    /// The calling program, if known.
    pub agent: Option<Preset>,
    /// The session, if its id is valid.
    pub session: Option<String>,
    /// The working directory of the agent, if absolute.
    pub folder: Option<Utf8PathBuf>,
    /// Whether a session was resumed.
    pub goes_on: bool,
    /// Whether the conversation starts from nothing, although the session may have an earlier life.
    pub is_cleared: bool,
    /// The transcript of the session, if absolute.
    pub transcript: Option<Utf8PathBuf>,
    /// What its tools were used for, if the program says so instead of having a transcript.
    pub used: Option<String>,
    /// How the turn ended, if it did.
    pub ending: Option<Ending>,
}

/// How an agent's turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The agent finished.
    Done,
    /// A usage limit stopped it.
    Limited(Limit),
    /// An error ended it, in the words of the program.
    Failed(String),
}

/// Why the input of a hook is invalid.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// It is not JSON.
    #[error("the hook input is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// It is not a JSON object.
    #[error("the hook input is not a JSON object")]
    NotAnObject,
}

impl Event {
    /// Reads the input of a hook, which may be empty; `agent` comes from the command line.
    pub fn parse(moment: Moment, agent: Option<Preset>, input: &[u8]) -> Result<Self, EventError> {
        let input = input.trim_ascii();
        let input: Value = if input.is_empty() {
            json!({})
        } else {
            serde_json::from_slice(input).map_err(EventError::NotJson)?
        };
        if !input.is_object() {
            return Err(EventError::NotAnObject);
        }
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        // Some releases of Gemini CLI call it `trigger`.
        let source = text("source").or_else(|| text("trigger"));
        Ok(Self {
            moment,
            agent: agent.or_else(|| by_shape(&input)),
            session: text("session_id")
                .filter(|id| agent::is_session_id(id))
                .map(str::to_owned),
            folder: text("cwd")
                .filter(|folder| folder.starts_with('/') && !folder.contains('\0'))
                .map(Utf8PathBuf::from),
            goes_on: matches!(source, Some("resume" | "fork")),
            is_cleared: source == Some("clear"),
            transcript: text("transcript_path")
                .filter(|path| path.starts_with('/') && !path.contains('\0'))
                .map(Utf8PathBuf::from),
            used: text("used").map(str::to_owned),
            ending: ending(moment, text("error"), text("last_assistant_message")),
        })
    }
}

/// Recognizes the program by the path of its transcript.
fn by_shape(input: &Value) -> Option<Preset> {
    let path = input.get("transcript_path").and_then(Value::as_str)?;
    let mut parts = path.rsplit('/');
    let file = parts.next().unwrap_or_default();
    let folders: Vec<&str> = parts.collect();
    let below = |name: &str| folders.contains(&name);
    if below(".codex") || (file.starts_with("rollout-") && below("sessions")) {
        Some(Preset::Codex)
    } else if below(".gemini") {
        Some(Preset::Gemini)
    } else if below(".claude") || below("projects") {
        Some(Preset::Claude)
    } else {
        None
    }
}

fn ending(moment: Moment, error: Option<&str>, message: Option<&str>) -> Option<Ending> {
    match moment {
        Moment::Stop => Some(Ending::Done),
        Moment::StopFailure => Some(failure(error, message)),
        Moment::SessionStart | Moment::PreCompact | Moment::SessionEnd | Moment::PostToolUse => {
            None
        }
    }
}

/// Distinguishes a limit from other errors; `message` comes from the program, not the model.
fn failure(error: Option<&str>, message: Option<&str>) -> Ending {
    let by_message = message.and_then(in_words);
    let by_kind = error.and_then(in_words);
    // An overloaded server is not a limit of this user.
    let is_overloaded = error == Some(OVERLOADED);
    if let Some(limit) = by_message.or(by_kind).filter(|_| !is_overloaded) {
        return Ending::Limited(limit);
    }
    let words = [error, message].into_iter().flatten();
    let words: Vec<String> = words.filter_map(stream::first_line).collect();
    Ending::Failed(if words.is_empty() {
        "no reason given".to_owned()
    } else {
        words.join(": ")
    })
}

/// Returns the hook output that adds a text to a session that starts, and shows a line to its user.
///
/// All three programs accept exactly this; Codex ignores output with other fields.
pub fn session_context(text: &str, line: Option<&str>) -> String {
    let mut output = json!({
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": text,
        }
    });
    if let Some(line) = line {
        output["systemMessage"] = json!(line);
    }
    output.to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(moment: Moment, input: &Value) -> Event {
        Event::parse(moment, None, input.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_moment_is_found_only_by_its_name() {
        for moment in Moment::ALL {
            assert_eq!(Moment::of(moment.name()), Some(moment));
        }
        assert_eq!(Moment::of("SessionStart"), None);
    }

    #[test]
    fn programs_are_recognized_by_their_transcripts() {
        let by = |path: &str| parsed(Moment::Stop, &json!({"transcript_path": path})).agent;
        for (path, agent) in [
            ("/h/.claude/projects/-w/ab.jsonl", Some(Preset::Claude)),
            ("/elsewhere/projects/-w/ab.jsonl", Some(Preset::Claude)),
            (
                "/h/.codex/sessions/2026/11/16/rollout-2026-11-16T04-00-00-ab.jsonl",
                Some(Preset::Codex),
            ),
            (
                "/elsewhere/sessions/2026/11/16/rollout-x.jsonl",
                Some(Preset::Codex),
            ),
            (
                "/h/.gemini/tmp/w/chats/session-1.jsonl",
                Some(Preset::Gemini),
            ),
            ("/h/x.jsonl", None),
        ] {
            assert_eq!(by(path), agent, "{path}");
        }
        assert_eq!(parsed(Moment::Stop, &json!({})).agent, None);
        let input = json!({"transcript_path": "/h/.claude/projects/-w/ab.jsonl"}).to_string();
        let named = Event::parse(Moment::Stop, Some(Preset::Gemini), input.as_bytes()).unwrap();
        assert_eq!(named.agent, Some(Preset::Gemini));
    }

    #[test]
    fn invalid_folders_and_sessions_are_ignored() {
        let event = parsed(
            Moment::SessionStart,
            &json!({"session_id": "9134cf00-e3ef", "cwd": "/w/x", "source": "resume", "new": [1]}),
        );
        assert_eq!(event.session.as_deref(), Some("9134cf00-e3ef"));
        assert_eq!(event.folder.as_deref(), Some("/w/x".into()));
        assert!(event.goes_on);
        let event = parsed(
            Moment::SessionStart,
            &json!({"session_id": "--x", "cwd": "w/x", "source": "startup"}),
        );
        assert_eq!(
            (event.session, event.folder, event.goes_on),
            (None, None, false)
        );
        let event = parsed(
            Moment::SessionStart,
            &json!({"session_id": 7, "cwd": ["/"]}),
        );
        assert_eq!((event.session, event.folder), (None, None));
    }

    #[test]
    fn limits_are_distinguished_from_other_failures() {
        let ended = |error: &str, message: &str| {
            let input = json!({"error": error, "last_assistant_message": message});
            parsed(Moment::StopFailure, &input).ending.unwrap()
        };
        let limit = |time: Option<&str>| {
            Ending::Limited(Limit {
                resets_at: time.map(str::to_owned),
            })
        };
        assert_eq!(
            ended(
                "rate_limit",
                "You've hit your limit · resets 3am (America/New_York)"
            ),
            limit(Some("3am (America/New_York)"))
        );
        assert_eq!(ended("rate_limit", "API Error"), limit(None));
        assert_eq!(
            ended("overloaded", "API Error: 529 Overloaded"),
            Ending::Failed("overloaded: API Error: 529 Overloaded".to_owned())
        );
        assert_eq!(
            ended("authentication_failed", "Please run /login\nnow"),
            Ending::Failed("authentication_failed: Please run /login".to_owned())
        );
        let nothing = parsed(Moment::StopFailure, &json!({})).ending;
        assert_eq!(nothing, Some(Ending::Failed("no reason given".to_owned())));
        // The last message of a normal turn comes from the model.
        let input = json!({"last_assistant_message": "the rate limit of the API is 5"});
        assert_eq!(parsed(Moment::Stop, &input).ending, Some(Ending::Done));
        assert_eq!(parsed(Moment::PreCompact, &input).ending, None);
    }

    #[test]
    fn empty_input_is_valid_and_other_values_than_objects_are_not() {
        let parse = |input: &[u8]| Event::parse(Moment::Stop, None, input);
        assert!(parse(b" \n").is_ok());
        assert!(matches!(parse(b"{"), Err(EventError::NotJson(_))));
        assert!(matches!(parse(b"\xff"), Err(EventError::NotJson(_))));
        assert!(matches!(parse(b"[]"), Err(EventError::NotAnObject)));
    }

    #[test]
    fn the_output_has_exactly_the_fields_that_all_programs_accept() {
        assert_eq!(
            session_context("a\n\"b\"", None),
            r#"{"hookSpecificOutput":{"additionalContext":"a\n\"b\"","hookEventName":"SessionStart"}}"#
        );
        assert_eq!(
            session_context("a", Some("b")),
            r#"{"hookSpecificOutput":{"additionalContext":"a","hookEventName":"SessionStart"},"systemMessage":"b"}"#
        );
    }

    proptest! {
        #[test]
        fn no_input_causes_a_panic(input in any::<Vec<u8>>(), path in ".*", message in ".*") {
            Event::parse(Moment::StopFailure, None, &input).ok();
            let input = json!({"transcript_path": path, "cwd": path, "session_id": path,
                "error": message, "last_assistant_message": message});
            parsed(Moment::StopFailure, &input);
        }
    }
}
