//! Events as the protocol's different writers spell them, and the small documents of a run.

use std::fmt::Write as _;

use super::generate::Instant;

/// How one writer spells its events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    /// `event_type` or `type`.
    pub(super) kind_key: &'static str,
    pub(super) words: Words,
    pub(super) blanks: Blanks,
    pub(super) payload: Payload,
    pub(super) seconds: Seconds,
    pub(super) run: Run,
}

/// Whether types are `task_started` or `task-started`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Words {
    Underscores,
    Hyphens,
}

/// Whether a blank follows `:` and `,`, as Python writes, or not, as JavaScript does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Blanks {
    None,
    One,
}

/// Whether the payload stands at the top or under `details`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Payload {
    Top,
    Details,
}

/// Whether times have milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seconds {
    Whole,
    Fraction,
}

/// Whether events name their run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Run {
    Named,
    Unnamed,
}

/// What every event has.
pub(super) struct Head<'a> {
    /// The type, with underscores.
    pub(super) kind: &'a str,
    pub(super) run: &'a str,
    pub(super) at: Instant,
    pub(super) actor: &'a str,
    pub(super) task: Option<&'a str>,
}

/// A value in an event's payload.
pub(super) enum Value {
    Text(String),
    Texts(Vec<String>),
    Number(u64),
    Flag(bool),
}

impl Dialect {
    /// Appends one event as a line.
    pub(super) fn line(self, out: &mut String, head: &Head<'_>, payload: &[(&str, Value)]) {
        let kind = match self.words {
            Words::Underscores => head.kind.to_owned(),
            Words::Hyphens => head.kind.replace('_', "-"),
        };
        let mut at = head.at.long();
        if matches!(self.seconds, Seconds::Fraction) {
            at.truncate(at.len() - 1);
            // Below a second nothing else happens, so any fraction keeps the order.
            let _ = write!(at, ".{:03}Z", head.at.0 * 7919 % 1000);
        }
        let mut object = self.object(out);
        object.text(self.kind_key, &kind);
        if matches!(self.run, Run::Named) {
            object.text("run_id", head.run);
        }
        object.text("timestamp", &at);
        object.text("actor", head.actor);
        if let Some(task) = head.task {
            object.text("task_id", task);
        }
        match self.payload {
            Payload::Top => object.fields(payload),
            Payload::Details if payload.is_empty() => {}
            Payload::Details => {
                object.key("details");
                let mut details = self.object(object.out);
                details.fields(payload);
                details.end();
            }
        }
        object.end();
        out.push('\n');
    }

    fn object(self, out: &mut String) -> Object<'_> {
        out.push('{');
        Object {
            out,
            dialect: self,
            is_empty: true,
        }
    }
}

/// A JSON object while it is written.
struct Object<'a> {
    out: &'a mut String,
    dialect: Dialect,
    is_empty: bool,
}

impl Object<'_> {
    fn fields(&mut self, fields: &[(&str, Value)]) {
        for (key, value) in fields {
            self.key(key);
            match value {
                Value::Text(text) => self.quoted(text),
                Value::Texts(texts) => {
                    self.out.push('[');
                    for (at, text) in texts.iter().enumerate() {
                        if at > 0 {
                            self.after(',');
                        }
                        self.quoted(text);
                    }
                    self.out.push(']');
                }
                Value::Number(number) => self.out.push_str(&number.to_string()),
                Value::Flag(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            }
        }
    }

    fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        self.quoted(text);
    }

    fn key(&mut self, key: &str) {
        if !self.is_empty {
            self.after(',');
        }
        self.is_empty = false;
        self.quoted(key);
        self.after(':');
    }

    fn after(&mut self, sign: char) {
        self.out.push(sign);
        if matches!(self.dialect.blanks, Blanks::One) {
            self.out.push(' ');
        }
    }

    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    fn end(self) {
        self.out.push('}');
    }
}

/// Returns a document of a run: front matter, a heading, and a page of text.
pub(super) fn document(run: &str, actor: &str, created: Instant, heading: &str) -> String {
    let created = created.long();
    let page = "The change keeps what callers see and moves what they do not.\n".repeat(12);
    format!(
        "---\nrun_id: \"{run}\"\nactor: \"{actor}\"\ncreated: \"{created}\"\n---\n\n{heading}\n\n{page}"
    )
}

/// Returns a task graph in which each task depends on the one ten before it.
pub(super) fn task_graph(run: &str, created: Instant, ids: &[String]) -> String {
    let created = created.long();
    let mut text = format!(
        "{{\n  \"$schema\": \"task-graph.schema.json\",\n  \"run_id\": \"{run}\",\n  \"created\": \"{created}\",\n  \"tasks\": ["
    );
    for (at, id) in ids.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let before = at
            .checked_sub(10)
            .map(|before| format!("\"{}\"", ids[before]));
        let _ = write!(
            text,
            "{comma}\n    {{\n      \"id\": \"{id}\",\n      \"title\": \"Move module {at} to the new store\",\n      \
             \"phase\": {},\n      \"type\": \"implementation\",\n      \"description\": \"Move module {at} and its tests.\",\n      \
             \"dependencies\": [{}],\n      \"files_likely\": [\"src/module_{at}/mod.rs\"],\n      \
             \"acceptance_criteria\": [\"The tests of module {at} pass\"],\n      \"estimated_complexity\": \"low\"\n    }}",
            at / 100 + 1,
            before.unwrap_or_default(),
        );
    }
    text.push_str("\n  ]\n}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head<'_> = Head {
        kind: "task_started",
        run: "r",
        at: Instant(0),
        actor: "executor",
        task: Some("T1"),
    };

    fn payload() -> Vec<(&'static str, Value)> {
        vec![
            ("a", Value::Text("b\n\"".to_owned())),
            ("c", Value::Texts(vec!["d".to_owned(), "e".to_owned()])),
            ("f", Value::Number(1)),
            ("g", Value::Flag(true)),
        ]
    }

    #[test]
    fn an_event_is_spelled_in_its_writers_way() {
        let mut out = String::new();
        let compact = Dialect {
            kind_key: "event_type",
            words: Words::Hyphens,
            blanks: Blanks::None,
            payload: Payload::Details,
            seconds: Seconds::Whole,
            run: Run::Unnamed,
        };
        compact.line(&mut out, &HEAD, &payload());
        let expect = r#"{"event_type":"task-started","timestamp":"1970-01-01T00:00:00Z","actor":"executor","task_id":"T1","details":{"a":"b\n\"","c":["d","e"],"f":1,"g":true}}"#;
        assert_eq!(out, format!("{expect}\n"));
        out.clear();
        let spaced = Dialect {
            kind_key: "type",
            words: Words::Underscores,
            blanks: Blanks::One,
            payload: Payload::Top,
            seconds: Seconds::Fraction,
            run: Run::Named,
        };
        spaced.line(&mut out, &HEAD, &payload()[3..]);
        let expect = r#"{"type": "task_started", "run_id": "r", "timestamp": "1970-01-01T00:00:00.000Z", "actor": "executor", "task_id": "T1", "g": true}"#;
        assert_eq!(out, format!("{expect}\n"));
    }
}
