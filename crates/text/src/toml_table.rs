//! Adds a table at the end of a TOML text, and removes it again byte for byte.
//!
//! The edits are textual, so every other byte stays. The parser reads the text before and after, and
//! an edit that changes the meaning of anything but the table is refused.

use toml::de::{DeTable, DeValue};

use crate::document::{Document, Edit, EditError, Span};
use crate::json_style::quoted;

/// Why a text was not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TomlEditError {
    /// It is not TOML.
    #[error("it is not TOML: {0}")]
    Unparsable(String),
    /// The table cannot be changed without the rest.
    #[error("`{path}` is written in a form that cannot be changed on its own")]
    Entangled {
        /// The keys to the table, with `.` between them.
        path: String,
    },
    /// The bytes could not be replaced, which would be a bug in this module.
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// The strings and lists of strings of a table; other values are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TomlTable {
    /// The strings with their keys.
    pub texts: Vec<(String, String)>,
    /// The lists of strings with their keys.
    pub lists: Vec<(String, Vec<String>)>,
}

impl TomlTable {
    /// Returns the string of a key.
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

/// Returns the table at a path.
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

/// Adds a table at the end; if the table exists, sets its strings.
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
        // Without a final line end before, there is none after, so that removal restores it.
        Some(text) => format!("{text}{eol}{eol}{block}"),
    };
    unchanged_but_for(text, &new, path)?;
    Ok(new)
}

/// Removes a table and the tables below it; returns `None` if nothing of the user is left.
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

/// Sets strings of a present table.
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

/// Returns the last section of a table or of one below it, with the empty line before it.
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
        // The line end before it was added with it.
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

/// Refuses a change of meaning anywhere except at a path.
fn unchanged_but_for(before: &str, after: &str, path: &[&str]) -> Result<(), TomlEditError> {
    let meaning = |source: &str| -> Result<String, TomlEditError> {
        let mut text = String::new();
        spell_table(
            &parse(source).map_err(|_| entangled(path))?,
            path,
            &mut text,
        );
        Ok(text)
    };
    let is_equal = meaning(before)? == meaning(after)?;
    is_equal.then_some(()).ok_or_else(|| entangled(path))
}

/// Writes a table without the value at a path and without tables that contain only that.
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
        DeValue::Integer(value) => text.push_str(&value.to_string()),
        DeValue::Float(value) => text.push_str(&format!("{value}f")),
        DeValue::Boolean(value) => text.push_str(&value.to_string()),
        DeValue::Datetime(value) => text.push_str(&value.to_string()),
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

#[cfg(test)]
#[path = "toml_table_tests.rs"]
mod tests;
