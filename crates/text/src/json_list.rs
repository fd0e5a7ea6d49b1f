//! Elements of lists in a JSON text: put at the end, and taken away again without a trace.
//!
//! Settings of other programs are lists of hooks in which everybody has a place. What is added here
//! and then removed leaves the same bytes, also where the list, the objects around it or the whole
//! text had to be made. To know later what was made, containers of ours begin with a blank or a line
//! end, while in an empty one that was there the new piece stands right behind its bracket. Comments
//! are allowed and stay; commas behind the last element are not.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::{Range, Ranged};

use crate::document::Span;
use crate::json_edit::{Comments, JsonEditError, apply, last_named, parse};
use crate::json_style::{Style, blanks_before, quoted};

/// Returns the elements of the list at a path, each as it stands there; none where there is no list.
///
/// # Errors
/// See [`JsonEditError`].
pub fn list_elements(source: &str, path: &[&str]) -> Result<Vec<String>, JsonEditError> {
    let body = without_bom(source).1;
    let root = parse(body, Comments::Allowed)?;
    let Some(list) = find(&root, path)? else {
        return Ok(Vec::new());
    };
    let texts = list.elements.iter().map(|element| text(body, element));
    Ok(texts.map(str::to_owned).collect())
}

/// Returns the text at a path; `None` where there is none, or something else.
pub fn json_text(source: &str, path: &[&str]) -> Option<String> {
    let (key, parents) = path.split_last()?;
    let root = parse(without_bom(source).1, Comments::Allowed).ok()?;
    let mut object = &root;
    for parent in parents {
        object = last_named(object, parent)?.value.as_object()?;
    }
    let text = last_named(object, key)?.value.as_string_lit()?;
    Some(text.value.to_string())
}

/// Puts an element, a JSON value in one line, at the end of the list at a path.
///
/// Without a source a whole text is made. Missing objects and the list are made too.
///
/// # Errors
/// Something on the way is no object or the end of it no list, or the text is no JSON.
pub fn add_to_list(
    source: Option<&str>,
    path: &[&str],
    element: &str,
) -> Result<String, JsonEditError> {
    let Some(source) = source else {
        let style = Style::of_new_text();
        return Ok(style.wrapped(path, element) + "\n");
    };
    let (bom, body) = without_bom(source);
    let root = parse(body, Comments::Allowed)?;
    let mut object = &root;
    for (depth, key) in path.iter().enumerate() {
        let below = &path[depth + 1..];
        let Some(property) = last_named(object, key) else {
            let (at, new) = new_property(body, &root, object, key, |style| {
                style.wrapped(below, element)
            });
            return Ok(format!("{bom}{}", insert(body, at, new)?));
        };
        let value = &property.value;
        if below.is_empty() {
            let list = value.as_array();
            let list = list.ok_or_else(|| wrong_kind(&path[..=depth], below))?;
            let (at, new) = new_element(body, list, element);
            return Ok(format!("{bom}{}", insert(body, at, new)?));
        }
        let inner = value.as_object();
        object = inner.ok_or_else(|| wrong_kind(&path[..=depth], below))?;
    }
    Err(JsonEditError::NoKey)
}

/// Takes every element that `is_ours` knows from the list at a path, and what was made for it.
///
/// Returns `None` when nothing is left that was there before.
///
/// # Errors
/// See [`JsonEditError`].
pub fn remove_from_list(
    source: &str,
    path: &[&str],
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<Option<String>, JsonEditError> {
    let (bom, body) = without_bom(source);
    let mut text_now = body.to_owned();
    loop {
        let root = parse(&text_now, Comments::Allowed)?;
        let Some(list) = find(&root, path)? else {
            break;
        };
        let is_one = |element: &Value<'_>| is_ours(text(&text_now, element));
        // The last one first: it was added last.
        let Some(at) = list.elements.iter().rposition(is_one) else {
            break;
        };
        match removal(&text_now, &root, path, list, at) {
            Some(edits) => text_now = apply(&text_now, edits)?,
            None => return Ok(None),
        }
    }
    Ok(Some(format!("{bom}{text_now}")))
}

pub(crate) fn without_bom(source: &str) -> (&str, &str) {
    match source.strip_prefix('\u{feff}') {
        Some(body) => (&source[..source.len() - body.len()], body),
        None => ("", source),
    }
}

pub(crate) fn text<'s>(source: &'s str, node: &impl Ranged) -> &'s str {
    &source[node.range().start..node.range().end]
}

pub(crate) fn insert(source: &str, at: usize, new: String) -> Result<String, JsonEditError> {
    apply(source, vec![(Span::new(at, at), new)])
}

/// Finds the list at a path; `None` where it, or something on the way, is not there.
fn find<'o, 's>(
    root: &'o Object<'s>,
    path: &[&str],
) -> Result<Option<&'o Array<'s>>, JsonEditError> {
    let mut object = root;
    for (depth, key) in path.iter().enumerate() {
        let below = &path[depth + 1..];
        match last_named(object, key).map(|property| &property.value) {
            None => return Ok(None),
            Some(Value::Object(inner)) if !below.is_empty() => object = inner,
            Some(Value::Array(list)) if below.is_empty() => return Ok(Some(list)),
            Some(_) => return Err(wrong_kind(&path[..=depth], below)),
        }
    }
    Err(JsonEditError::NoKey)
}

fn wrong_kind(path: &[&str], below: &[&str]) -> JsonEditError {
    let path = path.join(".");
    if below.is_empty() {
        JsonEditError::NotAList { path }
    } else {
        JsonEditError::NotAnObject { path }
    }
}

/// Returns where a new property goes, and its text.
pub(crate) fn new_property(
    source: &str,
    root: &Object<'_>,
    object: &Object<'_>,
    key: &str,
    value: impl Fn(&Style<'_>) -> String,
) -> (usize, String) {
    let Some(last) = object.properties.last() else {
        let style = Style::of_line(source, root, object.range.start);
        let new = format!("{}{}{}", quoted(key), style.colon, value(&style));
        return (object.range.start + 1, new);
    };
    let before = blanks_before(source, last.range.start);
    let style = Style::beside(source, root, last, before);
    let gap = if before.is_empty() { " " } else { before };
    let new = format!(",{gap}{}{}{}", quoted(key), style.colon, value(&style));
    (last.range.end, new)
}

/// Returns where a new element goes, and its text.
fn new_element(source: &str, list: &Array<'_>, element: &str) -> (usize, String) {
    let Some(last) = list.elements.last() else {
        return (list.range.start + 1, element.to_owned());
    };
    let before = blanks_before(source, last.start());
    let gap = if before.is_empty() { " " } else { before };
    (last.end(), format!(",{gap}{element}"))
}

/// Returns the cuts that take away one element and what was made for it; `None` if nothing is left.
fn removal(
    source: &str,
    root: &Object<'_>,
    path: &[&str],
    list: &Array<'_>,
    at: usize,
) -> Option<Vec<(Span, String)>> {
    let elements: Vec<Range> = list.elements.iter().map(Ranged::range).collect();
    match cut(source, list.range, &elements, at) {
        Cut::Pieces(pieces) => return Some(pieces),
        Cut::Container => {}
    }
    // The list was made for the element.
    property_removal(source, root, path)
}

/// Returns the cuts that take away the property at a path and the objects that were made for it;
/// `None` if nothing is left, or if there is no such property.
pub(crate) fn property_removal(
    source: &str,
    root: &Object<'_>,
    path: &[&str],
) -> Option<Vec<(Span, String)>> {
    let mut objects = vec![root];
    for key in path.split_last()?.1 {
        let inner = last_named(objects.last()?, key)?;
        objects.push(inner.value.as_object()?);
    }
    for (object, key) in objects.into_iter().zip(path).rev() {
        let properties: Vec<Range> = object.properties.iter().map(Ranged::range).collect();
        let named = |property: &jsonc_parser::ast::ObjectProp<'_>| property.name.as_str() == *key;
        let at = object.properties.iter().rposition(named)?;
        match cut(source, object.range, &properties, at) {
            Cut::Pieces(pieces) => return Some(pieces),
            Cut::Container => {}
        }
    }
    None
}

enum Cut {
    /// These pieces go.
    Pieces(Vec<(Span, String)>),
    /// The container goes with its only member.
    Container,
}

/// Cuts one member out of a container.
fn cut(source: &str, container: Range, members: &[Range], at: usize) -> Cut {
    let piece = |start: usize, end: usize| (Span::new(start, end), String::new());
    let member = members[at];
    let before = at.checked_sub(1).map(|before| members[before]);
    let after = members.get(at + 1);
    match (before, after) {
        (Some(before), None) => {
            let between = &source[before.end..member.start];
            let comma = before.end + comma_in(between);
            let blanks = member.start - blanks_before(source, member.start).len();
            if between.trim() == "," {
                Cut::Pieces(vec![piece(before.end, member.end)])
            } else {
                // Somebody's comment stands between the two.
                Cut::Pieces(vec![piece(comma, comma + 1), piece(blanks, member.end)])
            }
        }
        (_, Some(after)) => {
            let between = &source[member.end..after.start];
            let comma = member.end + comma_in(between);
            if between.trim() == "," {
                Cut::Pieces(vec![piece(member.start, after.start)])
            } else {
                Cut::Pieces(vec![
                    piece(member.start, member.end),
                    piece(comma, comma + 1),
                ])
            }
        }
        (None, None) => {
            let ahead = &source[container.start + 1..member.start];
            let behind = &source[member.end..container.end - 1];
            let is_bare = ahead.trim().is_empty() && behind.trim().is_empty();
            if ahead.is_empty() || !is_bare {
                Cut::Pieces(vec![piece(member.start, member.end)])
            } else {
                Cut::Container
            }
        }
    }
}

/// Returns the place of the comma between two members, which comments may surround.
fn comma_in(between: &str) -> usize {
    let bytes = between.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &between[at..];
        at += match byte {
            b',' => return at,
            b'/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
    }
    0
}

#[cfg(test)]
#[path = "json_list_tests.rs"]
mod tests;
