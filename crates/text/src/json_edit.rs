//! Edits of a JSON text that leave all other bytes as they are.
//!
//! The parser finds where a value stands, and [`Document`] replaces those bytes: order, indentation,
//! escapes and the spelling of numbers survive, as do a byte order mark and a missing last line end.
//! A new key goes behind the last one of its object and looks like its neighbors. Only strict JSON
//! is edited, so that whoever wrote the file can read the result.
//! Reading values is left to others; start at [`edit_json`].

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::document::{Document, Edit, EditError, Span};
use crate::json_style::{Style, blanks_before, quoted, rendered};

/// One key to set or to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonChange<'a> {
    /// The keys from the outermost object to the value.
    pub path: &'a [&'a str],
    /// The new value; `None` removes the key, if it is there.
    pub value: Option<JsonValue>,
}

/// A value that holds no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonValue {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Number(i64),
    /// A text, not yet escaped.
    Text(String),
}

/// Why a text was not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonEditError {
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    Unparsable(String),
    /// Something on the way to the key is not an object; the path to it is empty for the whole text.
    #[error("`{}` is not an object", if .path.is_empty() { "." } else { .path.as_str() })]
    NotAnObject {
        /// The keys to it, with `.` between them.
        path: String,
    },
    /// What stands at the end of a path is not a list.
    #[error("`{path}` is not a list")]
    NotAList {
        /// The keys to it, with `.` between them.
        path: String,
    },
    /// A change names no key.
    #[error("a change names no key")]
    NoKey,
    /// The bytes could not be replaced, which would be a bug in this module.
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// Returns the text with all changes made, in order.
///
/// Missing objects on the way to a key are created, also in the place of `null`. A value that
/// already means what is to be set keeps its spelling. Of a key that is there twice, the last one
/// is set, since that is the one readers take, and both are removed.
///
/// # Errors
///
/// Either all changes are made or none: see [`JsonEditError`].
pub fn edit_json(source: &str, changes: &[JsonChange<'_>]) -> Result<String, JsonEditError> {
    let (bom, body) = match source.strip_prefix('\u{feff}') {
        Some(body) => (&source[..source.len() - body.len()], body),
        None => ("", source),
    };
    let mut text = body.to_owned();
    // Each change is made in the result of the one before, whose spans are not those of the source.
    for change in changes {
        text = changed(&text, change)?;
    }
    if changes.is_empty() {
        parse(&text, Comments::Refused)?;
    }
    Ok(format!("{bom}{text}"))
}

/// Makes one change.
fn changed(source: &str, change: &JsonChange<'_>) -> Result<String, JsonEditError> {
    let root = parse(source, Comments::Refused)?;
    let (&key, parents) = change.path.split_last().ok_or(JsonEditError::NoKey)?;
    let mut object = &root;
    for (depth, parent) in parents.iter().enumerate() {
        let found = last_named(object, parent);
        match (found.map(|property| &property.value), &change.value) {
            (Some(Value::Object(inner)), _) => object = inner,
            // A key below what is not there, or is no object, is not there either.
            (None | Some(_), None) => return Ok(source.to_owned()),
            (None, Some(value)) => {
                let edit = insertion(source, &root, object, &change.path[depth..], value);
                return apply(source, vec![edit]);
            }
            (Some(Value::NullKeyword(null)), Some(value)) => {
                let style = Style::of_line(source, &root, null.range.start);
                let new = style.nested(&change.path[depth + 1..], value);
                return apply(source, vec![(span(null), new)]);
            }
            (Some(_), Some(_)) => {
                let path = change.path[..=depth].join(".");
                return Err(JsonEditError::NotAnObject { path });
            }
        }
    }
    let edits = match (&change.value, last_named(object, key)) {
        (None, _) => removals(object, key),
        (Some(value), Some(property)) if means(&property.value, value) => Vec::new(),
        (Some(value), Some(property)) => vec![(span(&property.value), rendered(value))],
        (Some(value), None) => vec![insertion(source, &root, object, &[key], value)],
    };
    apply(source, edits)
}

/// Whether a text may have comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    Allowed,
    Refused,
}

pub(crate) fn parse(source: &str, comments: Comments) -> Result<Object<'_>, JsonEditError> {
    let strict = ParseOptions {
        allow_comments: comments == Comments::Allowed,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(source, &CollectOptions::default(), &strict)
        .map_err(|error| JsonEditError::Unparsable(error.to_string()))?;
    match parsed.value {
        Some(Value::Object(object)) => Ok(object),
        Some(_) => Err(JsonEditError::NotAnObject {
            path: String::new(),
        }),
        None => Err(JsonEditError::Unparsable("it is empty".to_owned())),
    }
}

pub(crate) fn apply(source: &str, edits: Vec<(Span, String)>) -> Result<String, JsonEditError> {
    let document = Document::new(source.as_bytes().to_vec());
    let edits: Vec<Edit> = edits
        .into_iter()
        .map(|(span, new)| Edit::replace(&document, span, new))
        .collect();
    let bytes = document.apply(&edits)?.into_bytes();
    // The spans of a parsed text lie between characters, so what was text stays text.
    String::from_utf8(bytes).map_err(|_| EditError::Spilled.into())
}

pub(crate) fn last_named<'o, 's>(object: &'o Object<'s>, name: &str) -> Option<&'o ObjectProp<'s>> {
    object
        .properties
        .iter()
        .rfind(|property| is_named(property, name))
}

fn is_named(property: &ObjectProp<'_>, name: &str) -> bool {
    property.name.as_str() == name
}

fn span(node: &impl Ranged) -> Span {
    Span::new(node.range().start, node.range().end)
}

/// Tells whether a value already is what is to be set, however it is spelled.
fn means(found: &Value<'_>, wanted: &JsonValue) -> bool {
    match wanted {
        JsonValue::Null => found.as_null_keyword().is_some(),
        JsonValue::Bool(wanted) => found.as_boolean_lit().is_some_and(|is| is.value == *wanted),
        JsonValue::Number(wanted) => found
            .as_number_lit()
            .is_some_and(|is| is.value.parse() == Ok(*wanted)),
        JsonValue::Text(wanted) => found.as_string_lit().is_some_and(|is| is.value == *wanted),
    }
}

/// Cuts out every property of a name, each with the comma that is no longer needed.
fn removals(object: &Object<'_>, key: &str) -> Vec<(Span, String)> {
    let properties = &object.properties;
    let Some(last_kept) = properties.iter().rposition(|other| !is_named(other, key)) else {
        // Nothing stays: the blanks around what was there go too.
        let inside = Span::new(object.range.start + 1, object.range.end - 1);
        return if properties.is_empty() {
            Vec::new()
        } else {
            vec![(inside, String::new())]
        };
    };
    let mut spans = Vec::new();
    for (at, property) in properties.iter().enumerate().take(last_kept) {
        // What comes next takes the place, with the blanks before it.
        if let Some(next) = properties.get(at + 1).filter(|_| is_named(property, key)) {
            spans.push((
                Span::new(property.range.start, next.range.start),
                String::new(),
            ));
        }
    }
    if let Some(last) = properties.last().filter(|last| is_named(last, key)) {
        let from = properties[last_kept].range.end;
        spans.push((Span::new(from, last.range.end), String::new()));
    }
    spans
}

/// Puts a key behind the last one of an object, with new objects around its value as needed.
fn insertion(
    source: &str,
    root: &Object<'_>,
    object: &Object<'_>,
    path: &[&str],
    value: &JsonValue,
) -> (Span, String) {
    let Some(last) = object.properties.last() else {
        let inside = Span::new(object.range.start + 1, object.range.end - 1);
        let style = Style::of_line(source, root, object.range.start);
        let braced = style.nested(path, value);
        return (inside, braced[1..braced.len() - 1].to_owned());
    };
    let (key, inner) = path.split_first().unwrap_or((&"", &[]));
    let before = blanks_before(source, last.range.start);
    let style = Style::beside(source, root, last, before);
    let gap = match object.properties.len() {
        1 if !before.contains('\n') && style.colon.ends_with(' ') => " ",
        _ => before,
    };
    let new = match inner {
        [] => rendered(value),
        inner => style.nested(inner, value),
    };
    let new = format!(",{gap}{}{}{new}", quoted(key), style.colon);
    (Span::new(last.range.end, last.range.end), new)
}

#[cfg(test)]
#[path = "json_edit_tests.rs"]
mod tests;
