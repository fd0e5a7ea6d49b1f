//! Work that was handed back to the caller: a resume without an agent logs what it asked for, and the
//! next one continues with the result.
//!
//! Our own log has these lines together with those of started agents. Only the last line counts: once
//! an agent was started, the work is no longer the caller's.

use serde_json::{Value, json};

/// The last work that was handed back, if no agent was started since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HandedBack {
    /// A validation, with the mark of the files before it.
    Validation { seen: String },
    /// The correction of a cycle.
    Correction { cycle: u32 },
}

impl HandedBack {
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

    /// Returns the log line.
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
    use super::super::names::{Helper, started};
    use super::*;

    #[test]
    fn only_the_last_line_counts_and_only_if_no_agent_was_started() {
        let validation = HandedBack::Validation {
            seen: "- x".to_owned(),
        };
        let correction = HandedBack::Correction { cycle: 2 };
        let (first, second) = (validation.line("t"), correction.line("t"));
        let off = started(Helper::Argus, None, "t");
        for (log, wanted) in [
            (String::new(), None),
            (first.clone(), Some(&validation)),
            (format!("{first}\n{second}\n"), Some(&correction)),
            (format!("{second}\n{first}\ntorn{{"), Some(&validation)),
            (format!("{first}\n{off}\n"), None),
            (r#"{"asked": "tea"}"#.to_owned(), None),
            (r#"{"asked": "correction", "cycle": -1}"#.to_owned(), None),
        ] {
            assert_eq!(HandedBack::parse(Some(&log)).as_ref(), wanted, "{log}");
        }
        assert_eq!(HandedBack::parse(None), None);
    }
}
