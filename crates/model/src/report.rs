//! Checks the words of a report: the actor names a folder of the log, so not every text is valid.

use crate::Report;

/// Why a word cannot be part of a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseReportError {
    /// It is no type of an event.
    #[error("an event's type is letters, digits, `_` and `-`")]
    Event,
    /// It is no name of an actor.
    #[error("an actor's name is letters, digits, `_`, `-` and `.`, and names a folder")]
    Actor,
}

impl Report {
    /// Returns the heartbeat of a task that an actor works on.
    pub fn heartbeat(actor: String, task: String) -> Self {
        Self {
            event: "heartbeat".to_owned(),
            actor,
            task: Some(task),
            details: None,
        }
    }

    /// Returns the type of an event as it was written, if it is one.
    pub fn parse_event(text: &str) -> Result<String, ParseReportError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if text.is_empty() || text.len() > 64 || !text.chars().all(plain) {
            return Err(ParseReportError::Event);
        }
        Ok(text.to_owned())
    }

    /// Returns the name of an actor as it was written, if it is one.
    pub fn parse_actor(text: &str) -> Result<String, ParseReportError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if text.is_empty()
            || text.len() > 100
            || text.starts_with(['.', '-'])
            || !text.chars().all(plain)
        {
            return Err(ParseReportError::Actor);
        }
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_elsewhere_is_neither_an_actor_nor_an_event() {
        for bad in ["", "..", ".x", "-x", "a/b", "a b", "a\nb", "é"] {
            assert_eq!(
                Report::parse_actor(bad),
                Err(ParseReportError::Actor),
                "{bad}"
            );
        }
        for bad in ["", "a.b", "a/b", "a b", "a\nb"] {
            assert_eq!(
                Report::parse_event(bad),
                Err(ParseReportError::Event),
                "{bad}"
            );
        }
        assert_eq!(Report::parse_actor("ci-2.x").as_deref(), Ok("ci-2.x"));
        assert_eq!(Report::parse_event("task_done").as_deref(), Ok("task_done"));
    }
}
