//! The layout of new pieces of a JSON text, copied from the text around them.

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;

/// The layout of new lines.
#[derive(Clone, Copy)]
pub(crate) struct Style<'s> {
    /// The text between a key and its value.
    pub(crate) colon: &'s str,
    /// The line end and the indentation of the surrounding line; nothing if all is on one line.
    line: Option<(&'static str, &'s str)>,
    /// The text inside a new bracket if all is on one line.
    inline: &'static str,
    /// One step of indentation.
    step: &'s str,
    /// Further steps before every new line.
    depth: usize,
}

impl<'s> Style<'s> {
    /// The style of a text that we create.
    pub(crate) const NEW: Self = Self {
        colon: ": ",
        line: Some(("\n", "")),
        inline: " ",
        step: "  ",
        depth: 0,
    };

    /// Returns the style of a property that has `before` between it and the comma or brace.
    pub(crate) fn of_property(
        source: &'s str,
        root: &Value<'_>,
        last: &ObjectProp<'_>,
        before: &'s str,
    ) -> Self {
        let style = Self::of_line(source, root, last.range.start);
        Self {
            colon: colon(source, last),
            line: style.line.filter(|_| before.contains('\n')),
            ..style
        }
    }

    /// Returns the style of the line that contains the byte at `at`.
    pub(crate) fn of_line(source: &'s str, root: &Value<'_>, at: usize) -> Self {
        let line_start = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = &source[line_start..];
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let inside = &source[root.start()..root.end()];
        let is_crlf = inside.contains("\r\n");
        let eol = if is_crlf { "\r\n" } else { "\n" };
        let first = root.as_array().and_then(|list| list.elements.first());
        let object = root.as_object().or(first.and_then(Value::as_object));
        let property = object.and_then(|object| object.properties.first());
        let member = first.map(Ranged::start).or(property.map(Ranged::start));
        let step = member.map(|member| blanks_before(source, member));
        let step = step.and_then(|blanks| Some(blanks.rsplit_once('\n')?.1));
        Self {
            colon: property.map_or(": ", |property| colon(source, property)),
            line: inside.contains('\n').then_some((eol, indent)),
            step: step.filter(|step| !step.is_empty()).unwrap_or("  "),
            ..Self::NEW
        }
    }

    /// Returns the style without blanks inside brackets on one line.
    pub(crate) fn tight(self) -> Self {
        Self { inline: "", ..self }
    }

    /// Returns the style without line ends.
    pub(crate) fn in_one_line(self) -> Self {
        Self { line: None, ..self }
    }

    /// Returns the style of a value inside one more container.
    pub(crate) fn deeper(self) -> Self {
        let depth = self.depth + 1;
        Self { depth, ..self }
    }

    /// Writes objects, one for each key, around a list with one element.
    pub(crate) fn wrapped(&self, path: &[&str], element: &str) -> String {
        let (inner, outer) = (self.gap(path.len() + 1), self.gap(path.len()));
        self.in_objects(path, &format!("[{inner}{element}{outer}]"))
    }

    /// Writes objects, one for each key, around a value.
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

    /// Returns the blanks before a value inside this many new containers.
    fn gap(&self, depth: usize) -> String {
        match self.line {
            Some((eol, indent)) => format!("{eol}{indent}{}", self.step.repeat(self.depth + depth)),
            None => self.inline.to_owned(),
        }
    }
}

fn colon<'s>(source: &'s str, property: &ObjectProp<'_>) -> &'s str {
    &source[property.name.range().end..property.value.range().start]
}

pub(crate) fn blanks_before(source: &str, at: usize) -> &str {
    &source[source[..at].trim_end().len()..at]
}

pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    push_quoted(&mut quoted, text, |c| c >= ' ');
    quoted
}

/// Appends a JSON string; characters that are not `is_plain` are escaped.
pub(crate) fn push_quoted(out: &mut String, text: &str, is_plain: fn(char) -> bool) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if is_plain(c) => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}
