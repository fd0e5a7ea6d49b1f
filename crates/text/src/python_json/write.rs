//! Writes values as Python does.

use super::{Json, Object};
use crate::json_style::push_quoted;

/// The layout of a value.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// One line, with a blank after each `,` and `:`.
    Line,
    /// Each member on its own line, indented by two blanks.
    Lines,
}

impl Json {
    /// Returns it as `json.dumps(value, indent=2)` does, without a line end.
    pub fn to_lines(&self) -> String {
        written(|text| write(text, self, Layout::Lines, 0))
    }

    /// Returns it as `json.dumps(value)` does, without a line end.
    pub fn to_line(&self) -> String {
        written(|text| write(text, self, Layout::Line, 0))
    }
}

impl Object {
    /// Returns it as `json.dumps(value, indent=2)` does, without a line end.
    pub fn to_lines(&self) -> String {
        written(|text| write_object(text, self, Layout::Lines, 0))
    }

    /// Returns it as `json.dumps(value)` does, without a line end.
    pub fn to_line(&self) -> String {
        written(|text| write_object(text, self, Layout::Line, 0))
    }
}

fn written(write: impl FnOnce(&mut String)) -> String {
    let mut text = String::new();
    write(&mut text);
    text
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
        if !is_first {
            text.push_str(if layout == Layout::Line { ", " } else { "," });
        }
        if layout == Layout::Lines {
            new_line(text, depth + 1);
        }
        if let Some(key) = key {
            write_string(text, key);
            text.push_str(": ");
        }
        write(text, value, layout, depth + 1);
        is_first = false;
    }
    if layout == Layout::Lines && !is_first {
        new_line(text, depth);
    }
    text.push(close);
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

fn write_string(text: &mut String, string: &str) {
    push_quoted(text, string, |c| matches!(c, ' '..='~'));
}

/// Writes a number as Python does: the shortest digits that read back, with an exponent of at least
/// two digits below 0.0001 and from 1e16 on.
fn float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        let sign = if number < 0.0 { "-" } else { "" };
        return format!("{sign}Infinity");
    }
    let scientific = format!("{number:e}");
    let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or_default();
    if number == 0.0 || (-4..16).contains(&power) {
        let is_whole = number.fract() == 0.0;
        return format!("{number}{}", if is_whole { ".0" } else { "" });
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.unsigned_abs())
}
