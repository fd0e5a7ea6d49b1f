//! What was handed back to the caller: a resume without an agent of its own notes what it asked for, and
//! the next one takes up what came of it.
//!
//! The notes stand in our own log beside those of who was sent off. Only the last line counts: once
//! somebody was sent off, the work is no longer the caller's.

use serde_json::{Value, json};

/// What was asked for last, if nobody was sent off for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Handed {
    /// A validation, with the mark of what was there before.
    Validation { seen: String },
    /// The correction of a cycle.
    Correction { cycle: u32 },
}

impl Handed {
    /// Reads the last whole line of the log.
    pub(super) fn parse(log: Option<&str>) -> Option<Self> {
        let mut lines = log?.lines().rev();
        let last: Value = lines.find_map(|line| serde_json::from_str(line).ok())?;
        match last.get("asked")?.as_str()? {
            "validation" => Some(Self::Validation {
                seen: last.get("seen")?.as_str()?.to_owned(),
            }),
            "correction" => Some(Self::Correction {
                cycle: last.get("cycle")?.as_u64()?.try_into().ok()?,
            }),
            _ => None,
        }
    }

    /// Returns the line that notes it.
    pub(super) fn line(&self, at: &str) -> String {
        let line = match self {
            Self::Validation { seen } => {
                json!({"timestamp": at, "asked": "validation", "seen": seen})
            }
            Self::Correction { cycle } => {
                json!({"timestamp": at, "asked": "correction", "cycle": cycle})
            }
        };
        line.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::{Helper, sent};
    use super::*;

    #[test]
    fn only_what_was_asked_for_last_counts_and_only_if_nobody_was_sent_off() {
        let validation = Handed::Validation {
            seen: "- x".to_owned(),
        };
        let correction = Handed::Correction { cycle: 2 };
        let (first, second) = (validation.line("t"), correction.line("t"));
        let off = sent(Helper::Argus, None, "t");
        for (log, wanted) in [
            (String::new(), None),
            (first.clone(), Some(&validation)),
            (format!("{first}\n{second}\n"), Some(&correction)),
            (format!("{second}\n{first}\ntorn{{"), Some(&validation)),
            (format!("{first}\n{off}\n"), None),
            (r#"{"asked": "tea"}"#.to_owned(), None),
            (r#"{"asked": "correction", "cycle": -1}"#.to_owned(), None),
        ] {
            assert_eq!(Handed::parse(Some(&log)).as_ref(), wanted, "{log}");
        }
        assert_eq!(Handed::parse(None), None);
    }
}
