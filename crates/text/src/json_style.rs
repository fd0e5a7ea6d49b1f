//! How new pieces of a JSON text are written so that they look like what is around them.
//!
//! Where they go is decided in [`json_edit`](crate::json_edit).

use jsonc_parser::ast::{Object, ObjectProp};
use jsonc_parser::common::Ranged;

use crate::json_edit::JsonValue;

/// How new lines are laid out, taken from what is there.
pub(crate) struct Style<'s> {
    /// What stands between a key and its value.
    pub(crate) colon: &'s str,
    /// The line end and the indentation of the line around; nothing if all stands in one line.
    line: Option<(&'static str, &'s str)>,
    /// One step of indentation.
    step: &'s str,
}

impl<'s> Style<'s> {
    /// Takes the style of a property that has `before` between it and the comma or brace.
    pub(crate) fn beside(
        source: &'s str,
        root: &Object<'_>,
        last: &ObjectProp<'_>,
        before: &'s str,
    ) -> Self {
        let mut style = Self::of_line(source, root, last.range.start);
        style.colon = colon(source, last);
        if !before.contains('\n') {
            style.line = None;
        }
        style
    }

    /// Takes the style of the line that the byte at `at` stands in.
    pub(crate) fn of_line(source: &'s str, root: &Object<'_>, at: usize) -> Self {
        let line_start = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = &source[line_start..];
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let inside = &source[root.range.start..root.range.end];
        let eol = if inside.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        let first = root.properties.first();
        let step = first.map(|first| blanks_before(source, first.range.start));
        let step = step.and_then(|blanks| Some(blanks.rsplit_once('\n')?.1));
        Self {
            colon: first.map_or(": ", |first| colon(source, first)),
            line: inside.contains('\n').then_some((eol, indent)),
            step: step.filter(|step| !step.is_empty()).unwrap_or("  "),
        }
    }

    /// Returns the style of a text of our own.
    pub(crate) fn of_new_text() -> Self {
        Self {
            colon: ": ",
            line: Some(("\n", "")),
            step: "  ",
        }
    }

    /// Writes objects, one for each key, around a list with one element.
    ///
    /// No bracket stands right before what it holds: by that it is known later who made it.
    pub(crate) fn wrapped(&self, path: &[&str], element: &str) -> String {
        let (inner, outer) = (self.gap(path.len() + 1), self.gap(path.len()));
        self.in_objects(path, &format!("[{inner}{element}{outer}]"))
    }

    /// Writes objects, one for each key, around something; as with [`wrapped`](Self::wrapped) it is
    /// known later who made them.
    pub(crate) fn in_objects(&self, path: &[&str], value: &str) -> String {
        let mut text = String::new();
        for (depth, key) in path.iter().enumerate() {
            let (gap, key) = (self.gap(depth + 1), quoted(key));
            text.push_str(&format!("{{{gap}{key}{}", self.colon));
        }
        text.push_str(value);
        for depth in (0..path.len()).rev() {
            text.push_str(&format!("{}}}", self.gap(depth)));
        }
        text
    }

    /// Returns what stands before something in so many new containers.
    fn gap(&self, depth: usize) -> String {
        match self.line {
            Some((eol, indent)) => format!("{eol}{indent}{}", self.step.repeat(depth)),
            None => " ".to_owned(),
        }
    }

    /// Writes objects, one for each key, around a value.
    pub(crate) fn nested(&self, path: &[&str], value: &JsonValue) -> String {
        let mut text = String::new();
        let mut end = String::new();
        let mut steps = String::new();
        for key in path {
            let outer = self
                .line
                .map(|(eol, indent)| format!("{eol}{indent}{steps}"));
            steps.push_str(self.step);
            let inner = self
                .line
                .map(|(eol, indent)| format!("{eol}{indent}{steps}"));
            text.push_str(&format!(
                "{{{}{}{}",
                inner.unwrap_or_default(),
                quoted(key),
                self.colon
            ));
            end.insert_str(0, &format!("{}}}", outer.unwrap_or_default()));
        }
        text + &rendered(value) + &end
    }
}

fn colon<'s>(source: &'s str, property: &ObjectProp<'_>) -> &'s str {
    &source[property.name.range().end..property.value.range().start]
}

pub(crate) fn blanks_before(source: &str, at: usize) -> &str {
    &source[source[..at].trim_end().len()..at]
}

pub(crate) fn rendered(value: &JsonValue) -> String {
    match value {
        JsonValue::Null => "null".to_owned(),
        JsonValue::Bool(value) => value.to_string(),
        JsonValue::Number(value) => value.to_string(),
        JsonValue::Text(value) => quoted(value),
    }
}

pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
