//! A table in a TOML text: added at the end, and taken away again without a trace.
//!
//! Lines are cut and added as text, so every other byte stays. What that text then means is asked of
//! the parser, before and after: an edit that would change anything but the table is refused.

use std::fmt::Write as _;

use toml::de::{DeTable, DeValue};

use crate::document::{Document, Edit, EditError, Span};
use crate::json_style::quoted;

/// Why a text was not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TomlEditError {
    /// It is not TOML.
    #[error("it is not TOML: {0}")]
    Unparsable(String),
    /// The table is written so that it can not be changed without the rest.
    #[error("`{path}` is written in a form that can not be changed on its own")]
    Entangled {
        /// The keys to the table, with `.` between them.
        path: String,
    },
    /// The bytes could not be replaced, which would be a bug in this module.
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// What stands in a table: texts and lists of texts. Anything else in it is passed over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TomlTable {
    /// Each text with its key.
    pub texts: Vec<(String, String)>,
    /// Each list that has nothing but texts, with its key.
    pub lists: Vec<(String, Vec<String>)>,
}

impl TomlTable {
    /// Returns the text of a key.
    pub fn text(&self, key: &str) -> Option<&str> {
        let found = self.texts.iter().find(|(name, _)| name == key);
        found.map(|(_, text)| text.as_str())
    }

    /// Returns the list of a key.
    pub fn list(&self, key: &str) -> Option<&[String]> {
        let found = self.lists.iter().find(|(name, _)| name == key);
        found.map(|(_, list)| list.as_slice())
    }
}

/// Returns the table at a path; `None` where there is none.
///
/// # Errors
/// The text is no TOML.
pub fn toml_table(source: &str, path: &[&str]) -> Result<Option<TomlTable>, TomlEditError> {
    let root = parse(source)?;
    let Some(DeValue::Table(found)) = value_at(&root, path) else {
        return Ok(None);
    };
    let mut table = TomlTable::default();
    for (key, value) in found {
        let key = key.get_ref().to_string();
        match value.get_ref() {
            DeValue::String(text) => table.texts.push((key, text.to_string())),
            DeValue::Array(items) => {
                let texts = items.iter().map(|item| item.get_ref().as_str());
                if let Some(texts) = texts.map(|text| text.map(str::to_owned)).collect() {
                    table.lists.push((key, texts));
                }
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Table(_) => {}
        }
    }
    Ok(Some(table))
}

/// Adds a table behind everything that is there; where it is there already, its texts are set.
///
/// # Errors
/// See [`TomlEditError`].
pub fn add_toml_table(
    source: Option<&str>,
    path: &[&str],
    table: &TomlTable,
) -> Result<String, TomlEditError> {
    let text = source.unwrap_or_default();
    let root = parse(text)?;
    if value_at(&root, path).is_some() {
        return set_texts(text, path, table);
    }
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines = vec![format!("[{}]", path.join("."))];
    let of_texts = table.texts.iter();
    lines.extend(of_texts.map(|(key, text)| format!("{key} = {}", quoted(text))));
    for (key, list) in &table.lists {
        let items: Vec<String> = list.iter().map(|item| quoted(item)).collect();
        lines.push(format!("{key} = [{}]", items.join(", ")));
    }
    let block = lines.join(eol);
    let new = match source {
        None => format!("{block}{eol}"),
        Some(text) if text.is_empty() || text.ends_with('\n') => {
            format!("{text}{eol}{block}{eol}")
        }
        // Neither does the new end have a line end; by that it is known later who wrote it.
        Some(text) => format!("{text}{eol}{eol}{block}"),
    };
    unchanged_but_for(text, &new, path)?;
    Ok(new)
}

/// Takes a table away, and the tables below it.
///
/// Returns `None` when nothing is left that was there before.
///
/// # Errors
/// See [`TomlEditError`].
pub fn remove_toml_table(source: &str, path: &[&str]) -> Result<Option<String>, TomlEditError> {
    if value_at(&parse(source)?, path).is_none() {
        return Ok(Some(source.to_owned()));
    }
    let mut new = source.to_owned();
    while let Some(section) = section(&new, path) {
        new.replace_range(section, "");
    }
    if value_at(&parse(&new)?, path).is_some() {
        return Err(entangled(path));
    }
    unchanged_but_for(source, &new, path)?;
    Ok((!new.is_empty() || source.starts_with(['\r', '\n'])).then_some(new))
}

/// Sets texts of a table that is there.
fn set_texts(source: &str, path: &[&str], table: &TomlTable) -> Result<String, TomlEditError> {
    let root = parse(source)?;
    let Some(DeValue::Table(found)) = value_at(&root, path) else {
        return Err(entangled(path));
    };
    let mut edits = Vec::new();
    let document = Document::new(source.as_bytes().to_vec());
    for (key, text) in &table.texts {
        let old = found.get(key.as_str()).ok_or_else(|| entangled(path))?;
        if old.get_ref().as_str() != Some(text) {
            let span = Span::new(old.span().start, old.span().end);
            edits.push(Edit::replace(&document, span, quoted(text)));
        }
    }
    let bytes = document.apply(&edits)?.into_bytes();
    let new = String::from_utf8(bytes).map_err(|_| EditError::Spilled)?;
    unchanged_but_for(source, &new, path)?;
    Ok(new)
}

/// Returns the bytes of the last section of a table or of one below it, with the empty line before.
fn section(source: &str, path: &[&str]) -> Option<std::ops::Range<usize>> {
    let name = path.join(".");
    let mut found = None;
    let mut at = 0;
    let mut blank = None;
    for line in source.split_inclusive('\n') {
        let content = line.trim();
        let end = at + line.len();
        if content.starts_with('[') {
            if let Some((_, true)) = &found {
                found = found.map(|(range, _)| (range, false));
            }
            let header = content.trim_start_matches('[').trim_start();
            let rest = header.strip_prefix(&name);
            if rest.is_some_and(|rest| rest.starts_with([']', '.'])) {
                found = Some((blank.unwrap_or(at)..end, true));
            }
        } else if let Some((range, true)) = &mut found
            && !content.is_empty()
            && !content.starts_with('#')
        {
            range.end = end;
        }
        blank = content.is_empty().then_some(at);
        at = end;
    }
    let (mut range, _) = found?;
    if range.end == source.len() && !source.ends_with('\n') {
        // The line end before was made for it.
        let before = &source[..range.start];
        let kept = before.strip_suffix('\n').unwrap_or(before);
        range.start = kept.strip_suffix('\r').unwrap_or(kept).len();
    }
    Some(range)
}

fn entangled(path: &[&str]) -> TomlEditError {
    let path = path.join(".");
    TomlEditError::Entangled { path }
}

fn parse(source: &str) -> Result<DeTable<'_>, TomlEditError> {
    let parsed = DeTable::parse(source);
    let unparsable =
        |error: toml::de::Error| TomlEditError::Unparsable(error.message().replace('\n', " "));
    parsed.map(toml::Spanned::into_inner).map_err(unparsable)
}

fn value_at<'t, 'i>(root: &'t DeTable<'i>, path: &[&str]) -> Option<&'t DeValue<'i>> {
    let (key, parents) = path.split_last()?;
    let mut table = root;
    for parent in parents {
        table = table.get(*parent)?.get_ref().as_table()?;
    }
    table.get(*key).map(toml::Spanned::get_ref)
}

/// Refuses a text that means something else than before anywhere but at a path.
fn unchanged_but_for(before: &str, after: &str, path: &[&str]) -> Result<(), TomlEditError> {
    let meaning = |source: &str| -> Result<String, TomlEditError> {
        let root = parse(source).map_err(|_| entangled(path))?;
        let mut text = String::new();
        spell_table(&root, path, &mut text);
        Ok(text)
    };
    if meaning(before)? == meaning(after)? {
        Ok(())
    } else {
        Err(entangled(path))
    }
}

/// Spells a table without what stands at a path, and without tables that hold nothing else.
fn spell_table(table: &DeTable<'_>, without: &[&str], text: &mut String) {
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        match (without, value.get_ref()) {
            ([last], _) if *last == name => {}
            ([first, rest @ ..], DeValue::Table(inner)) if *first == name => {
                spell_table(inner, rest, text);
            }
            (_, value) => {
                text.push_str(&quoted(name));
                spell(value, text);
            }
        }
    }
}

fn spell(value: &DeValue<'_>, text: &mut String) {
    match value {
        DeValue::String(value) => text.push_str(&quoted(value)),
        DeValue::Integer(value) => put(text, format_args!("{value}")),
        DeValue::Float(value) => put(text, format_args!("{value}f")),
        DeValue::Boolean(value) => put(text, format_args!("{value}")),
        DeValue::Datetime(value) => put(text, format_args!("{value}")),
        DeValue::Array(items) => {
            text.push('[');
            for item in items {
                spell(item.get_ref(), text);
                text.push(',');
            }
            text.push(']');
        }
        DeValue::Table(table) => {
            text.push('{');
            spell_table(table, &[], text);
            text.push('}');
        }
    }
}

fn put(text: &mut String, piece: std::fmt::Arguments<'_>) {
    // Writing to a text can not fail.
    text.write_fmt(piece).unwrap_or_default();
}

#[cfg(test)]
#[path = "toml_table_tests.rs"]
mod tests;
