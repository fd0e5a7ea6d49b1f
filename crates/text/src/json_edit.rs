//! Byte-exact edits of a JSON text.
//!
//! The parser locates a value and [`Document`] replaces its bytes: order, indentation, escapes, the
//! spelling of numbers, a byte order mark and a missing final line end survive. A new key goes after
//! the last one of its object, a new element after the last one of its list, and both copy the layout
//! of their neighbors. Only strict JSON is edited, so that the program that wrote the file can read
//! the result. Start at [`edit_json`].

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::document::{Document, Edit, EditError, Span};
use crate::json_style::{Style, blanks_before, quoted};

/// One value to set or to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonChange<'a> {
    /// The keys and indices from the outermost container to the value.
    ///
    /// As in a JSON Pointer, a decimal number is an index where the container is a list, and `-` is
    /// the position after its last element. Anywhere else they are keys like any other.
    pub path: &'a [&'a str],
    /// The new value; `None` removes the key or element.
    pub value: Option<JsonValue>,
}

/// A value without members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonValue {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Number(i64),
    /// A string, not yet escaped.
    Text(String),
}

/// Why a text was not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonEditError {
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    Unparsable(String),
    /// A value on the path has no keys; the path is empty for the whole text.
    #[error("`{}` is not an object", if .path.is_empty() { "." } else { .path.as_str() })]
    NotAnObject {
        /// The keys to it, with `.` between them.
        path: String,
    },
    /// The value at the end of a path is not a list.
    #[error("`{path}` is not a list")]
    NotAList {
        /// The keys to it, with `.` between them.
        path: String,
    },
    /// A list has no element at an index.
    #[error("`{path}` does not exist: the list has {len} elements")]
    NoElement {
        /// The keys to the element, with `.` between them.
        path: String,
        /// The length of the list.
        len: usize,
    },
    /// The path of a change is empty.
    #[error("a change names no key")]
    NoKey,
    /// The bytes could not be replaced, which would be a bug in this module.
    #[error(transparent)]
    Edit(#[from] EditError),
}

impl JsonEditError {
    pub(crate) fn not_an_object(path: &[&str]) -> Self {
        let path = path.join(".");
        Self::NotAnObject { path }
    }
}

/// Returns the text with all changes made in order, or none of them.
///
/// Missing objects on the path are created, also in place of `null`; missing lists are not. A value
/// that is already equal keeps its spelling. Of a duplicate key, the last one is set, since readers
/// take that one, and all are removed.
pub fn edit_json(source: &str, changes: &[JsonChange<'_>]) -> Result<String, JsonEditError> {
    let (bom, body) = split_bom(source);
    let mut text = body.to_owned();
    // Each change is made in the result of the one before, whose spans are not those of the source.
    for change in changes {
        let edits = edits(&text, change)?;
        text = apply(&text, edits)?;
    }
    if changes.is_empty() {
        parse(&text, Comments::Refused)?;
    }
    Ok(format!("{bom}{text}"))
}

/// Returns the edits of one change.
fn edits(source: &str, change: &JsonChange<'_>) -> Result<Vec<Replacement>, JsonEditError> {
    let root = parse(source, Comments::Refused)?;
    let path = change.path;
    let mut container = &root;
    for (depth, key) in path.iter().enumerate() {
        let style = || Style::of_line(source, &root, container.start()).tight();
        let found = match (container, &change.value) {
            (Value::Object(object), value) => match (last_named(object, key), value) {
                (Some(property), _) => &property.value,
                (None, None) => return Ok(Vec::new()),
                (None, Some(value)) => {
                    return Ok(vec![new_key(source, &root, object, &path[depth..], value)]);
                }
            },
            (Value::Array(list), value) if *key == "-" || index(key).is_some() => {
                match (index(key).and_then(|at| list.elements.get(at)), value) {
                    (Some(element), _) => element,
                    (None, None) => return Ok(Vec::new()),
                    (None, Some(value)) if *key == "-" => {
                        let below = &path[depth + 1..];
                        return Ok(vec![new_element(source, &root, list, below, value)]);
                    }
                    (None, Some(_)) => {
                        let (path, len) = (path[..=depth].join("."), list.elements.len());
                        return Err(JsonEditError::NoElement { path, len });
                    }
                }
            }
            (Value::NullKeyword(null), Some(value)) if depth > 0 => {
                let new = style().in_objects(&path[depth..], &rendered(value));
                return Ok(vec![(span(null), new)]);
            }
            // A key below a value without keys is missing.
            (_, None) if depth > 0 => return Ok(Vec::new()),
            (_, Some(_) | None) => return Err(JsonEditError::not_an_object(&path[..depth])),
        };
        if depth + 1 == path.len() {
            return Ok(match &change.value {
                None => removals(container, key),
                Some(value) if means(found, value) => Vec::new(),
                Some(value) => vec![(span(found), rendered(value))],
            });
        }
        container = found;
    }
    Err(JsonEditError::NoKey)
}

/// Reads an index as a JSON Pointer writes it, without sign and leading zeros.
fn index(key: &str) -> Option<usize> {
    let index: usize = key.parse().ok()?;
    (index.to_string() == key).then_some(index)
}

/// A span and its new text.
pub(crate) type Replacement = (Span, String);

/// Splits a byte order mark off the front.
pub(crate) fn split_bom(source: &str) -> (&str, &str) {
    let body = source.strip_prefix('\u{feff}').unwrap_or(source);
    source.split_at(source.len() - body.len())
}

/// Whether a text may have comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    Allowed,
    Refused,
}

pub(crate) fn parse(source: &str, comments: Comments) -> Result<Value<'_>, JsonEditError> {
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
    let empty = || JsonEditError::Unparsable("it is empty".to_owned());
    parsed.value.ok_or_else(empty)
}

pub(crate) fn apply(source: &str, edits: Vec<Replacement>) -> Result<String, JsonEditError> {
    let document = Document::new(source.as_bytes().to_vec());
    let edits: Vec<Edit> = edits
        .into_iter()
        .map(|(span, new)| Edit::replace(&document, span, new))
        .collect();
    let bytes = document.apply(&edits)?.into_bytes();
    // The spans of a parsed text are on character boundaries, so the result is UTF-8.
    String::from_utf8(bytes).map_err(|_| EditError::Spilled.into())
}

pub(crate) fn last_named<'o, 's>(object: &'o Object<'s>, name: &str) -> Option<&'o ObjectProp<'s>> {
    let mut properties = object.properties.iter();
    properties.rfind(|property| property.name.as_str() == name)
}

pub(crate) fn span(node: &impl Ranged) -> Span {
    Span::new(node.range().start, node.range().end)
}

/// Returns whether a value equals the wanted one, whatever its spelling.
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

fn rendered(value: &JsonValue) -> String {
    match value {
        JsonValue::Null => "null".to_owned(),
        JsonValue::Bool(value) => value.to_string(),
        JsonValue::Number(value) => value.to_string(),
        JsonValue::Text(value) => quoted(value),
    }
}

/// Removes an element, or every property of a name, each with the comma that is no longer needed.
fn removals(container: &Value<'_>, key: &str) -> Vec<Replacement> {
    let removal = |start: usize, end: usize| (Span::new(start, end), String::new());
    let properties = container.as_object().into_iter();
    let properties = properties.flat_map(|object| &object.properties);
    let elements = container.as_array().into_iter();
    let elements = elements.flat_map(|list| &list.elements).enumerate();
    // The container is one or the other.
    let members: Vec<(Span, bool)> = properties
        .map(|property| (span(property), property.name.as_str() == key))
        .chain(elements.map(|(at, element)| (span(element), index(key) == Some(at))))
        .collect();
    let Some(last_kept) = members.iter().rposition(|(_, is_removed)| !is_removed) else {
        // Nothing is left, so the blanks around it go too.
        return vec![removal(container.start() + 1, container.end() - 1)];
    };
    let mut removals: Vec<Replacement> = members
        .windows(2)
        .take(last_kept)
        .filter(|pair| pair[0].1)
        .map(|pair| removal(pair[0].0.start, pair[1].0.start))
        .collect();
    if let Some((last, true)) = members.last() {
        removals.push(removal(members[last_kept].0.end, last.end));
    }
    removals
}

/// Adds a key after the last one of an object, with new objects around its value as needed.
fn new_key(
    source: &str,
    root: &Value<'_>,
    object: &Object<'_>,
    path: &[&str],
    value: &JsonValue,
) -> Replacement {
    let value = rendered(value);
    let Some(last) = object.properties.last() else {
        let style = Style::of_line(source, root, object.range.start).tight();
        return inside(object, &style.in_objects(path, &value));
    };
    let (key, inner) = path.split_first().unwrap_or((&"", &[]));
    let before = blanks_before(source, last.range.start);
    let style = Style::of_property(source, root, last, before).tight();
    let gap = gap(before, object.properties.len(), &style);
    let (key, value) = (quoted(key), style.in_objects(inner, &value));
    let new = format!(",{gap}{key}{}{value}", style.colon);
    (Span::new(last.range.end, last.range.end), new)
}

/// Adds an element after the last one of a list, with new objects around its value as needed.
fn new_element(
    source: &str,
    root: &Value<'_>,
    list: &Array<'_>,
    path: &[&str],
    value: &JsonValue,
) -> Replacement {
    let value = rendered(value);
    let Some(last) = list.elements.last() else {
        let style = Style::of_line(source, root, list.range.start).tight();
        return inside(
            list,
            &style.wrapped(&[], &style.deeper().in_objects(path, &value)),
        );
    };
    let before = blanks_before(source, last.start());
    let style = Style::of_line(source, root, last.start()).tight();
    let gap = gap(before, list.elements.len(), &style);
    let style = if before.contains('\n') {
        style
    } else {
        style.in_one_line()
    };
    let new = format!(",{gap}{}", style.in_objects(path, &value));
    (Span::new(last.end(), last.end()), new)
}

/// Replaces everything between the brackets of a container by that of another.
fn inside(container: &impl Ranged, new: &str) -> Replacement {
    let span = Span::new(container.start() + 1, container.end() - 1);
    (span, new[1..new.len() - 1].to_owned())
}

/// Returns the blanks between a comma and a new member; `before` are those of the last member.
fn gap<'b>(before: &'b str, n_members: usize, style: &Style<'_>) -> &'b str {
    match n_members {
        1 if !before.contains('\n') && style.colon.ends_with(' ') => " ",
        _ => before,
    }
}

#[cfg(test)]
#[path = "json_edit_tests.rs"]
mod tests;
