//! Events as rekindle writes them: one line, with a UTC time in microseconds.

use rekindle_model::Moment;
use serde::Serialize;
use serde_json::Value;

pub(super) use rekindle_protocol::AFTER;

/// A new event; the keys are written in this order.
#[derive(Debug, Serialize)]
pub(super) struct Record<'a> {
    event_type: &'a str,
    run_id: &'a str,
    timestamp: String,
    /// The lower bound of its time, if the timestamp is before it; other readers ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    rekindle_after: Option<String>,
    actor: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
}

impl<'a> Record<'a> {
    /// Returns an event of the orchestrator.
    pub(super) fn new(event_type: &'a str, run_id: &'a str, at: impl Into<Moment>) -> Self {
        let at = at.into();
        Self {
            event_type,
            run_id,
            timestamp: rekindle_text::format_instant(at.stamp),
            rekindle_after: at.after.map(rekindle_text::format_instant),
            actor: "orchestrator",
            task_id: None,
            details: None,
        }
    }

    pub(super) fn actor(mut self, actor: &'a str) -> Self {
        self.actor = actor;
        self
    }

    pub(super) fn task(mut self, task: &'a str) -> Self {
        self.task_id = Some(task);
        self
    }

    pub(super) fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Returns the line without its end.
    pub(super) fn line(&self) -> String {
        // Strings and numbers can always be written as JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}
