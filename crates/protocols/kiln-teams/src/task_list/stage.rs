//! The stage that a worker reports, and its heartbeat.

use jiff::Timestamp;
use rekindle_text::parse_instant;
use serde_json::Value;

/// The stage of a task: `kiln_stage`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    Claimed,
    Sharpening,
    Sharpened,
    Implementing,
    Implemented,
    Verifying,
    Verified,
    Failed,
    ShutdownAck,
    Unknown(String),
}

impl Stage {
    /// Reads a stage; those of the older list have their newer names.
    pub(crate) fn parse(text: &str) -> Self {
        match text.trim().to_ascii_lowercase().as_str() {
            "claimed" | "started" => Self::Claimed,
            "sharpening" => Self::Sharpening,
            "sharpened" => Self::Sharpened,
            "implementing" => Self::Implementing,
            "implemented" => Self::Implemented,
            "verifying" => Self::Verifying,
            "verified" | "done" => Self::Verified,
            "failed" => Self::Failed,
            "shutdown_ack" => Self::ShutdownAck,
            _ => Self::Unknown(text.trim().to_owned()),
        }
    }

    /// Returns its name as it is written.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Claimed => "claimed",
            Self::Sharpening => "sharpening",
            Self::Sharpened => "sharpened",
            Self::Implementing => "implementing",
            Self::Implemented => "implemented",
            Self::Verifying => "verifying",
            Self::Verified => "verified",
            Self::Failed => "failed",
            Self::ShutdownAck => "shutdown_ack",
            Self::Unknown(name) => name,
        }
    }

    /// Returns whether the worker reports that it has ended.
    pub(crate) fn is_terminal(&self) -> bool {
        match self {
            Self::Verified | Self::Failed | Self::ShutdownAck => true,
            Self::Claimed
            | Self::Sharpening
            | Self::Sharpened
            | Self::Implementing
            | Self::Implemented
            | Self::Verifying
            | Self::Unknown(_) => false,
        }
    }
}

/// The last heartbeat of a worker: `kiln_last_heartbeat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heartbeat {
    Absent,
    /// It is not a time.
    Unreadable(String),
    At(Timestamp),
}

impl Heartbeat {
    pub(crate) fn parse(value: Option<&Value>) -> Self {
        let text = match value {
            None | Some(Value::Null) => return Self::Absent,
            Some(Value::String(text)) => text.clone(),
            Some(other) => return Self::Unreadable(other.to_string()),
        };
        parse_instant(&text).map_or(Self::Unreadable(text), Self::At)
    }

    /// Returns the time, if there is one.
    pub(crate) fn at(&self) -> Option<Timestamp> {
        match self {
            Self::At(at) => Some(*at),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stages_of_both_task_lists_are_read() {
        for (text, expected, is_terminal) in [
            ("claimed", "claimed", false),
            ("started", "claimed", false),
            ("sharpening", "sharpening", false),
            ("sharpened", "sharpened", false),
            ("implementing", "implementing", false),
            (" Implemented ", "implemented", false),
            ("verifying", "verifying", false),
            ("verified", "verified", true),
            ("done", "verified", true),
            ("failed", "failed", true),
            ("shutdown_ack", "shutdown_ack", true),
            ("Dreaming", "Dreaming", false),
            ("", "", false),
        ] {
            let stage = Stage::parse(text);
            assert_eq!(
                (stage.as_str(), stage.is_terminal()),
                (expected, is_terminal),
                "{text}"
            );
        }
        assert_eq!(
            Stage::parse("Dreaming"),
            Stage::Unknown("Dreaming".to_owned())
        );
    }

    #[test]
    fn a_heartbeat_is_absent_unreadable_or_a_time() {
        let at = |value: Value| Heartbeat::parse(Some(&value));
        assert_eq!(Heartbeat::parse(None), Heartbeat::Absent);
        assert_eq!(at(json!(null)), Heartbeat::Absent);
        assert_eq!(at(json!("soon")), Heartbeat::Unreadable("soon".to_owned()));
        assert_eq!(at(json!("")), Heartbeat::Unreadable(String::new()));
        assert_eq!(at(json!(17)), Heartbeat::Unreadable("17".to_owned()));
        let read = at(json!("2026-02-16T14:00:00Z"));
        assert_eq!(read.at(), parse_instant("2026-02-16T14:00:00Z"));
        assert!(read.at().is_some());
    }
}
