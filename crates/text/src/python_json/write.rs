//! Value to text.

use super::{Json, Object};

/// How the parts of a value are set.
#[derive(Clone, Copy)]
enum Layout {
    /// All on one line, a blank after each `,` and `:`.
    Line,
    /// Each part on a line of its own, two blanks deeper than what it is in.
    Lines,
}

impl Json {
    /// Returns it as `json.dumps(value, indent=2)` does, without a line end.
    pub fn to_lines(&self) -> String {
        let mut text = String::new();
        write(&mut text, self, Layout::Lines, 0);
        text
    }

    /// Returns it as `json.dumps(value)` does, without a line end.
    pub fn to_line(&self) -> String {
        let mut text = String::new();
        write(&mut text, self, Layout::Line, 0);
        text
    }
}

impl Object {
    /// Returns it as `json.dumps(value, indent=2)` does, without a line end.
    pub fn to_lines(&self) -> String {
        let mut text = String::new();
        write_object(&mut text, self, Layout::Lines, 0);
        text
    }

    /// Returns it as `json.dumps(value)` does, without a line end.
    pub fn to_line(&self) -> String {
        let mut text = String::new();
        write_object(&mut text, self, Layout::Line, 0);
        text
    }
}

fn write(text: &mut String, value: &Json, layout: Layout, depth: usize) {
    match value {
        Json::Null => text.push_str("null"),
        Json::Bool(true) => text.push_str("true"),
        Json::Bool(false) => text.push_str("false"),
        Json::Int(number) => text.push_str(&number.to_string()),
        Json::LargeInt(digits) => text.push_str(digits),
        Json::Float(number) => match &number.spelling {
            Some(spelling) => text.push_str(spelling),
            None => text.push_str(&float(number.value)),
        },
        Json::Text(string) => write_string(text, string),
        Json::List(items) => {
            let items = items.iter().map(|item| (None, item));
            write_parts(text, ('[', ']'), items, layout, depth);
        }
        Json::Object(object) => write_object(text, object, layout, depth),
    }
}

fn write_object(text: &mut String, object: &Object, layout: Layout, depth: usize) {
    let pairs = object.iter().map(|(key, value)| (Some(key), value));
    write_parts(text, ('{', '}'), pairs, layout, depth);
}

fn write_parts<'a>(
    text: &mut String,
    (open, close): (char, char),
    parts: impl Iterator<Item = (Option<&'a str>, &'a Json)>,
    layout: Layout,
    depth: usize,
) {
    text.push(open);
    let mut is_first = true;
    for (key, value) in parts {
        match (layout, is_first) {
            (Layout::Line, true) => {}
            (Layout::Line, false) => text.push_str(", "),
            (Layout::Lines, true) => new_line(text, depth + 1),
            (Layout::Lines, false) => {
                text.push(',');
                new_line(text, depth + 1);
            }
        }
        if let Some(key) = key {
            write_string(text, key);
            text.push_str(": ");
        }
        write(text, value, layout, depth + 1);
        is_first = false;
    }
    if let (Layout::Lines, false) = (layout, is_first) {
        new_line(text, depth);
    }
    text.push(close);
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

fn write_string(text: &mut String, string: &str) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            ' '..='~' => text.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    text.push('"');
}

/// Writes a number as Python does: the shortest digits that read back, with an exponent of at least
/// two digits below 0.0001 and from 1e16 on.
fn float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or_default();
    if number == 0.0 || (-4..16).contains(&power) {
        let plain = number.to_string();
        return if plain.contains('.') {
            plain
        } else {
            format!("{plain}.0")
        };
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.unsigned_abs())
}
