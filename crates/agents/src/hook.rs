//! What an agent program tells its hooks, as one event, and what it is answered.
//!
//! Claude Code, Codex and Gemini CLI hand a hook one JSON object on standard input. The fields that
//! are needed here have the same names in all of them; whatever else is in it is passed over, since
//! the set grows with every release. What follows from an event is not decided here.

use camino::Utf8PathBuf;
use serde_json::{Value, json};

use crate::limit::{Limit, in_words};
use crate::{Preset, agent, stream};

/// What Claude Code calls the error of a server that has too much to do.
const OVERLOADED: &str = "overloaded";

/// A moment in an agent's life at which a hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A session begins, goes on, or was cleared or compacted.
    SessionStart,
    /// The conversation is about to be compacted.
    PreCompact,
    /// A session ends.
    SessionEnd,
    /// The agent has ended its turn.
    Stop,
    /// An error has ended the agent's turn.
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

    /// Returns the moment of a name as it is typed.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|moment| moment.name() == name)
    }

    /// Returns its name as it is typed.
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

/// What a hook was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub moment: Moment,
    /// Which program tells it, where that is known.
    pub agent: Option<Preset>,
    /// The session, if its id can be one.
    pub session: Option<String>,
    /// The folder that the agent is in, if it is an absolute path.
    pub folder: Option<Utf8PathBuf>,
    /// Whether the session is one that goes on, and not a new one.
    pub goes_on: bool,
    /// How the turn ended, at a moment that is the end of one.
    pub ending: Option<Ending>,
}

/// How an agent's turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The agent was done.
    Done,
    /// A usage limit was met.
    Limited(Limit),
    /// An error ended it, in the program's words.
    Failed(String),
}

/// Why what a hook was told can not be understood.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// It is no JSON.
    #[error("what the agent told is no JSON: {0}")]
    NotJson(serde_json::Error),
    /// It is JSON, but no object.
    #[error("what the agent told is no JSON object")]
    NotAnObject,
}

impl Event {
    /// Reads what an agent told; `agent` is who it is by the command line.
    ///
    /// Nothing at all is an event too, of which only the moment is known.
    pub fn parse(moment: Moment, agent: Option<Preset>, told: &[u8]) -> Result<Self, EventError> {
        let told = told.trim_ascii();
        let told: Value = if told.is_empty() {
            json!({})
        } else {
            serde_json::from_slice(told).map_err(EventError::NotJson)?
        };
        if !told.is_object() {
            return Err(EventError::NotAnObject);
        }
        let text = |key: &str| told.get(key).and_then(Value::as_str);
        // Gemini CLI of some releases calls it `trigger`.
        let source = text("source").or_else(|| text("trigger"));
        Ok(Self {
            moment,
            agent: agent.or_else(|| by_shape(&told)),
            session: text("session_id")
                .filter(|id| agent::is_session_id(id))
                .map(str::to_owned),
            folder: text("cwd")
                .filter(|folder| folder.starts_with('/') && !folder.contains('\0'))
                .map(Utf8PathBuf::from),
            goes_on: matches!(source, Some("resume" | "fork")),
            ending: ending(moment, text("error"), text("last_assistant_message")),
        })
    }
}

/// Tells the programs apart by where they keep their transcripts.
fn by_shape(told: &Value) -> Option<Preset> {
    let path = told.get("transcript_path").and_then(Value::as_str)?;
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

/// Tells a limit from other errors. What the agent "said" last is here the program's own word.
fn failure(error: Option<&str>, message: Option<&str>) -> Ending {
    let by_message = message.and_then(in_words);
    let by_kind = error.and_then(in_words);
    // A server that has too much to do has set this user no limit, and may have time in a moment.
    let is_overloaded = error == Some(OVERLOADED);
    if let Some(limit) = by_message.or(by_kind).filter(|_| !is_overloaded) {
        return Ending::Limited(limit);
    }
    let words = [error, message].into_iter().flatten();
    let words: Vec<String> = words.filter_map(stream::first_line).collect();
    Ending::Failed(if words.is_empty() {
        "no reason was told".to_owned()
    } else {
        words.join(": ")
    })
}

/// Returns what a hook prints so that a text becomes part of a session that starts.
///
/// All three programs take exactly this. With any other field in it Codex drops it whole.
pub fn session_context(text: &str) -> String {
    json!({
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": text,
        }
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn heard(moment: Moment, told: &Value) -> Event {
        Event::parse(moment, None, told.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_moment_is_found_by_its_name_and_no_other() {
        for moment in Moment::ALL {
            assert_eq!(Moment::of(moment.name()), Some(moment));
        }
        assert_eq!(Moment::of("SessionStart"), None);
    }

    #[test]
    fn the_programs_are_told_apart_by_their_transcripts() {
        let by = |path: &str| heard(Moment::Stop, &json!({"transcript_path": path})).agent;
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
        assert_eq!(heard(Moment::Stop, &json!({})).agent, None);
        let told = json!({"transcript_path": "/h/.claude/projects/-w/ab.jsonl"}).to_string();
        let named = Event::parse(Moment::Stop, Some(Preset::Gemini), told.as_bytes()).unwrap();
        assert_eq!(named.agent, Some(Preset::Gemini));
    }

    #[test]
    fn what_can_not_be_a_folder_or_a_session_is_none() {
        let event = heard(
            Moment::SessionStart,
            &json!({"session_id": "9134cf00-e3ef", "cwd": "/w/x", "source": "resume", "new": [1]}),
        );
        assert_eq!(event.session.as_deref(), Some("9134cf00-e3ef"));
        assert_eq!(event.folder.as_deref(), Some("/w/x".into()));
        assert!(event.goes_on);
        let event = heard(
            Moment::SessionStart,
            &json!({"session_id": "--x", "cwd": "w/x", "source": "startup"}),
        );
        assert_eq!(
            (event.session, event.folder, event.goes_on),
            (None, None, false)
        );
        let event = heard(
            Moment::SessionStart,
            &json!({"session_id": 7, "cwd": ["/"]}),
        );
        assert_eq!((event.session, event.folder), (None, None));
    }

    #[test]
    fn limits_are_told_from_other_failures() {
        let ended = |error: &str, message: &str| {
            let told = json!({"error": error, "last_assistant_message": message});
            heard(Moment::StopFailure, &told).ending.unwrap()
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
        let nothing = heard(Moment::StopFailure, &json!({})).ending;
        assert_eq!(
            nothing,
            Some(Ending::Failed("no reason was told".to_owned()))
        );
        // What an agent says at the end of its turn is no error's word.
        let told = json!({"last_assistant_message": "the rate limit of the API is 5"});
        assert_eq!(heard(Moment::Stop, &told).ending, Some(Ending::Done));
        assert_eq!(heard(Moment::PreCompact, &told).ending, None);
    }

    #[test]
    fn nothing_is_an_event_and_what_is_no_object_is_none() {
        let parse = |told: &[u8]| Event::parse(Moment::Stop, None, told);
        assert!(parse(b" \n").is_ok());
        assert!(matches!(parse(b"{"), Err(EventError::NotJson(_))));
        assert!(matches!(parse(b"\xff"), Err(EventError::NotJson(_))));
        assert!(matches!(parse(b"[]"), Err(EventError::NotAnObject)));
    }

    #[test]
    fn the_answer_has_exactly_the_fields_that_all_programs_take() {
        assert_eq!(
            session_context("a\n\"b\""),
            r#"{"hookSpecificOutput":{"additionalContext":"a\n\"b\"","hookEventName":"SessionStart"}}"#
        );
    }

    proptest! {
        #[test]
        fn no_input_can_break_it(told in any::<Vec<u8>>(), path in ".*", message in ".*") {
            Event::parse(Moment::StopFailure, None, &told).ok();
            let told = json!({"transcript_path": path, "cwd": path, "session_id": path,
                "error": message, "last_assistant_message": message});
            heard(Moment::StopFailure, &told);
        }
    }
}
