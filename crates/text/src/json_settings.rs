//! Members and list elements in the JSON settings of other programs.
//!
//! A value that is added here and then removed leaves the same bytes, also where the objects around
//! it or the whole text had to be created. Containers that we create begin with a blank or a line
//! end, while in an empty container of the user the new value follows the bracket directly; removal
//! distinguishes the two by that. Comments are allowed and stay; trailing commas are not.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::{Range, Ranged};

use crate::document::Span;
use crate::json_edit::{
    Comments, JsonEditError, Replacement, apply, last_named, parse, span, split_bom,
};
use crate::json_style::{Style, blanks_before, quoted};

/// Returns the source of the value at a path.
pub fn json_member(source: &str, path: &[&str]) -> Result<Option<String>, JsonEditError> {
    let body = split_bom(source).1;
    let root = parse(body, Comments::Allowed)?;
    let found = find(&root, path)?;
    Ok(found.map(|value| text(body, value).to_owned()))
}

/// Returns the keys of an object, in their order.
pub fn json_keys(source: &str) -> Result<Vec<String>, JsonEditError> {
    let root = parse(split_bom(source).1, Comments::Allowed)?;
    let properties = object_at(&root, &[])?.properties.iter();
    Ok(properties
        .map(|property| property.name.as_str().to_owned())
        .collect())
}

/// Returns the string at a path; `None` if it is missing or has another type.
pub fn json_text(source: &str, path: &[&str]) -> Option<String> {
    let root = parse(split_bom(source).1, Comments::Allowed).ok()?;
    let text = find(&root, path).ok()??.as_string_lit()?;
    Some(text.value.to_string())
}

/// Returns the source of each element of the list at a path; none if the list is missing.
pub fn list_elements(source: &str, path: &[&str]) -> Result<Vec<String>, JsonEditError> {
    let body = split_bom(source).1;
    let root = parse(body, Comments::Allowed)?;
    let list = find_list(&root, path)?;
    let elements = list.iter().flat_map(|list| &list.elements);
    Ok(elements
        .map(|element| text(body, element).to_owned())
        .collect())
}

/// Sets the value at a path to a JSON value in one line, and creates missing objects.
///
/// Without a source it creates a whole text.
pub fn set_json_member(
    source: Option<&str>,
    path: &[&str],
    value: &str,
) -> Result<String, JsonEditError> {
    let Some(source) = source else {
        return Ok(Style::NEW.in_objects(path, value) + "\n");
    };
    edited(source, |body, root| match find(root, path)? {
        Some(old) => Ok((span(old), value.to_owned())),
        None => new_property(body, root, path, |style, below| {
            style.in_objects(below, value)
        }),
    })
}

/// Removes the value at a path and the containers created for it.
///
/// Returns `None` if nothing of the user is left.
pub fn remove_json_member(source: &str, path: &[&str]) -> Result<Option<String>, JsonEditError> {
    let (bom, body) = split_bom(source);
    let root = parse(body, Comments::Allowed)?;
    if find(&root, path)?.is_none() {
        return Ok(Some(source.to_owned()));
    }
    let removals = property_removal(body, &root, path);
    let new = removals.map(|removals| apply(body, removals)).transpose()?;
    Ok(new.map(|new| format!("{bom}{new}")))
}

/// Appends an element, a JSON value in one line, to the list at a path, and creates missing
/// containers.
///
/// Without a source it creates a whole text.
pub fn add_to_list(
    source: Option<&str>,
    path: &[&str],
    element: &str,
) -> Result<String, JsonEditError> {
    let Some(source) = source else {
        return Ok(Style::NEW.wrapped(path, element) + "\n");
    };
    edited(source, |body, root| match find_list(root, path)? {
        Some(list) => Ok(new_element(body, list, element)),
        None => new_property(body, root, path, |style, below| {
            style.wrapped(below, element)
        }),
    })
}

/// Removes every element with `is_ours` from the list at a path, and the containers created for it.
///
/// Returns `None` if nothing of the user is left.
pub fn remove_from_list(
    source: &str,
    path: &[&str],
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<Option<String>, JsonEditError> {
    let (bom, body) = split_bom(source);
    let mut now = body.to_owned();
    loop {
        let root = parse(&now, Comments::Allowed)?;
        let Some(list) = find_list(&root, path)? else {
            break;
        };
        // The last one first: it was added last.
        let is_one = |element: &Value<'_>| is_ours(text(&now, element));
        let Some(at) = list.elements.iter().rposition(is_one) else {
            break;
        };
        let elements: Vec<Range> = list.elements.iter().map(Ranged::range).collect();
        let removals = removal(&now, list.range, &elements, at)
            .or_else(|| property_removal(&now, &root, path));
        match removals {
            Some(removals) => now = apply(&now, removals)?,
            None => return Ok(None),
        }
    }
    Ok(Some(format!("{bom}{now}")))
}

/// Makes one replacement in a text.
fn edited(
    source: &str,
    edit: impl FnOnce(&str, &Value<'_>) -> Result<Replacement, JsonEditError>,
) -> Result<String, JsonEditError> {
    let (bom, body) = split_bom(source);
    let root = parse(body, Comments::Allowed)?;
    let new = apply(body, vec![edit(body, &root)?])?;
    Ok(format!("{bom}{new}"))
}

fn text<'s>(source: &'s str, node: &impl Ranged) -> &'s str {
    &source[span(node).range()]
}

fn object_at<'o, 's>(value: &'o Value<'s>, path: &[&str]) -> Result<&'o Object<'s>, JsonEditError> {
    let object = value.as_object();
    object.ok_or_else(|| JsonEditError::not_an_object(path))
}

/// Finds the value at a path; `None` if it or an object on the path is missing.
fn find<'o, 's>(
    root: &'o Value<'s>,
    path: &[&str],
) -> Result<Option<&'o Value<'s>>, JsonEditError> {
    let mut value = root;
    for (depth, key) in path.iter().enumerate() {
        match last_named(object_at(value, &path[..depth])?, key) {
            Some(property) => value = &property.value,
            None => return Ok(None),
        }
    }
    (!path.is_empty())
        .then_some(Some(value))
        .ok_or(JsonEditError::NoKey)
}

fn find_list<'o, 's>(
    root: &'o Value<'s>,
    path: &[&str],
) -> Result<Option<&'o Array<'s>>, JsonEditError> {
    let not_a_list = || JsonEditError::NotAList {
        path: path.join("."),
    };
    let found = find(root, path)?;
    found
        .map(|value| value.as_array().ok_or_else(not_a_list))
        .transpose()
}

/// Returns the first missing property of a path; `value` writes the rest of the path.
fn new_property(
    source: &str,
    root: &Value<'_>,
    path: &[&str],
    value: impl Fn(&Style<'_>, &[&str]) -> String,
) -> Result<Replacement, JsonEditError> {
    let (mut key, mut below) = path.split_first().ok_or(JsonEditError::NoKey)?;
    let mut object = object_at(root, &[])?;
    while let (Some(property), Some((next, rest))) = (last_named(object, key), below.split_first())
        && let Some(inner) = property.value.as_object()
    {
        (object, key, below) = (inner, next, rest);
    }
    let (at, gap, style) = match object.properties.last() {
        None => {
            let style = Style::of_line(source, root, object.range.start);
            (object.range.start + 1, String::new(), style)
        }
        Some(last) => {
            let before = blanks_before(source, last.range.start);
            let style = Style::of_property(source, root, last, before);
            (last.range.end, comma_and(before), style)
        }
    };
    let new = format!(
        "{gap}{}{}{}",
        quoted(key),
        style.colon,
        value(&style, below)
    );
    Ok((Span::new(at, at), new))
}

fn new_element(source: &str, list: &Array<'_>, element: &str) -> Replacement {
    let (at, gap) = match list.elements.last() {
        None => (list.range.start + 1, String::new()),
        Some(last) => (last.end(), comma_and(blanks_before(source, last.start()))),
    };
    (Span::new(at, at), format!("{gap}{element}"))
}

fn comma_and(blanks: &str) -> String {
    format!(",{}", if blanks.is_empty() { " " } else { blanks })
}

/// Returns the removals of the property at a path and of the objects created for it; `None` if
/// nothing is left, or if there is no such property.
fn property_removal(source: &str, root: &Value<'_>, path: &[&str]) -> Option<Vec<Replacement>> {
    let mut objects = vec![root.as_object()?];
    for key in path.split_last()?.1 {
        let inner = last_named(objects.last()?, key)?;
        objects.push(inner.value.as_object()?);
    }
    objects
        .into_iter()
        .zip(path)
        .rev()
        .find_map(|(object, key)| {
            let members: Vec<Range> = object.properties.iter().map(Ranged::range).collect();
            let mut properties = object.properties.iter();
            let at = properties.rposition(|property| property.name.as_str() == *key)?;
            removal(source, object.range, &members, at)
        })
}

/// Returns the removals of one member of a container; `None` if the container was created for it.
fn removal(
    source: &str,
    container: Range,
    members: &[Range],
    at: usize,
) -> Option<Vec<Replacement>> {
    let piece = |start: usize, end: usize| (Span::new(start, end), String::new());
    let member = members[at];
    let alone = piece(member.start, member.end);
    let before = at.checked_sub(1).map(|before| members[before]);
    Some(match (before, members.get(at + 1)) {
        (Some(before), None) => {
            let between = &source[before.end..member.start];
            if between.trim() == "," {
                return Some(vec![piece(before.end, member.end)]);
            }
            // A comment of the user is between the two.
            let comma = before.end + comma_in(between);
            let blanks = member.start - blanks_before(source, member.start).len();
            vec![piece(comma, comma + 1), piece(blanks, member.end)]
        }
        (_, Some(after)) => {
            let between = &source[member.end..after.start];
            if between.trim() == "," {
                return Some(vec![piece(member.start, after.start)]);
            }
            let comma = member.end + comma_in(between);
            vec![alone, piece(comma, comma + 1)]
        }
        (None, None) => {
            let ahead = &source[container.start + 1..member.start];
            let behind = &source[member.end..container.end - 1];
            let is_bare = ahead.trim().is_empty() && behind.trim().is_empty();
            if !ahead.is_empty() && is_bare {
                return None;
            }
            vec![alone]
        }
    })
}

/// Returns the position of the comma between two members, which comments may surround.
fn comma_in(between: &str) -> usize {
    let mut at = 0;
    while let Some(c) = between[at..].chars().next() {
        let rest = &between[at..];
        at += match c {
            ',' => return at,
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            c => c.len_utf8(),
        };
    }
    0
}

#[cfg(test)]
#[path = "json_list_tests.rs"]
mod list_tests;

#[cfg(test)]
#[path = "json_member_tests.rs"]
mod member_tests;
