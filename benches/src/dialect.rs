//! Events as the different writers of the protocol format them, and the small documents of a run.

use std::fmt::Write as _;

use crate::generate::Instant;

/// How one writer formats its events.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent differences between writers"
)]
pub(crate) struct Dialect {
    /// `event_type` or `type`.
    pub(crate) kind_key: &'static str,
    /// `task-started` instead of `task_started`.
    pub(crate) hyphens: bool,
    /// No space after `:` and `,`, as in JavaScript.
    pub(crate) compact: bool,
    /// The payload is below `details`.
    pub(crate) details: bool,
    /// Times have milliseconds.
    pub(crate) fractions: bool,
    /// Events name their run.
    pub(crate) names_run: bool,
}

/// The writer of rekindle.
pub(crate) const OWN: Dialect = Dialect {
    kind_key: "event_type",
    hyphens: false,
    compact: true,
    details: true,
    fractions: false,
    names_run: true,
};

/// What every event has.
pub(crate) struct Head<'a> {
    /// The type, with underscores.
    pub(crate) kind: &'a str,
    pub(crate) run: &'a str,
    pub(crate) at: Instant,
    pub(crate) actor: &'a str,
    pub(crate) task: Option<&'a str>,
}

impl Dialect {
    /// Returns one event as a line; `payload` has members of JSON, separated by `, `.
    pub(crate) fn line(self, head: &Head<'_>, payload: &str) -> String {
        let word_separator = if self.hyphens { "-" } else { "_" };
        let kind = head.kind.replace('_', word_separator);
        let mut at = head.at.long();
        if self.fractions {
            at.truncate(at.len() - 1);
            // No two events have the same second, so any fraction keeps the order.
            let _ = write!(at, ".{:03}Z", head.at.0 * 7919 % 1000);
        }
        let mut line = format!("{{\"{}\": \"{kind}\"", self.kind_key);
        if self.names_run {
            let _ = write!(line, ", \"run_id\": \"{}\"", head.run);
        }
        let _ = write!(
            line,
            ", \"timestamp\": \"{at}\", \"actor\": \"{}\"",
            head.actor
        );
        if let Some(task) = head.task {
            let _ = write!(line, ", \"task_id\": \"{task}\"");
        }
        let _ = match self.details {
            _ if payload.is_empty() => Ok(()),
            true => write!(line, ", \"details\": {{{payload}}}"),
            false => write!(line, ", {payload}"),
        };
        if self.compact {
            line = line.replace("\": ", "\":").replace(", \"", ",\"");
        }
        line + "}\n"
    }
}

/// Returns a document of a run: front matter, a heading, and a page of text.
pub(crate) fn document(run: &str, actor: &str, created: Instant, heading: &str) -> String {
    let created = created.long();
    let page = "The change keeps the interface and moves the implementation.\n".repeat(12);
    format!(
        "---\nrun_id: \"{run}\"\nactor: \"{actor}\"\ncreated: \"{created}\"\n---\n\n{heading}\n\n{page}"
    )
}

/// Returns a task graph in which each task depends on the one ten before it.
pub(crate) fn task_graph(run: &str, created: Instant, ids: &[String]) -> String {
    let created = created.long();
    let task = |(at, id): (usize, &String)| {
        let phase = at / 100 + 1;
        let before: Vec<&String> = at.checked_sub(10).map(|at| &ids[at]).into_iter().collect();
        format!(
            "\n    {{\n      \"id\": \"{id}\",\n      \"title\": \"Move module {at} to the new store\",\n      \
             \"phase\": {phase},\n      \"type\": \"implementation\",\n      \"description\": \"Move module {at} and its tests.\",\n      \
             \"dependencies\": {before:?},\n      \"files_likely\": [\"src/module_{at}/mod.rs\"],\n      \
             \"acceptance_criteria\": [\"The tests of module {at} pass\"],\n      \"estimated_complexity\": \"low\"\n    }}"
        )
    };
    let tasks: Vec<String> = ids.iter().enumerate().map(task).collect();
    format!(
        "{{\n  \"$schema\": \"task-graph.schema.json\",\n  \"run_id\": \"{run}\",\n  \"created\": \"{created}\",\n  \"tasks\": [{}\n  ]\n}}\n",
        tasks.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_format_of_its_writer() {
        let head = Head {
            kind: "task_started",
            run: "r",
            at: Instant(0),
            actor: "executor",
            task: Some("T1"),
        };
        let compact = Dialect {
            hyphens: true,
            names_run: false,
            ..OWN
        };
        let payload = r#""a": "b: \n\"", "c": ["d", "e"], "f": 1"#;
        let expect = r#"{"event_type":"task-started","timestamp":"1970-01-01T00:00:00Z","actor":"executor","task_id":"T1","details":{"a":"b: \n\"","c":["d","e"],"f":1}}"#;
        assert_eq!(compact.line(&head, payload), format!("{expect}\n"));
        let spaced = Dialect {
            kind_key: "type",
            compact: false,
            details: false,
            fractions: true,
            ..OWN
        };
        let expect = r#"{"type": "task_started", "run_id": "r", "timestamp": "1970-01-01T00:00:00.000Z", "actor": "executor", "task_id": "T1", "g": true}"#;
        assert_eq!(spaced.line(&head, r#""g": true"#), format!("{expect}\n"));
    }
}
