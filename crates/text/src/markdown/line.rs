//! The grammar of single Markdown lines: list items, fields, check boxes and cells of tables.
//!
//! Whether a line is prose at all is decided by [`prose`](super::prose) or [`Page`](super::Page).

use crate::document::{Line, Span};

/// A field: `**Key:** value` or `key: value`, as a list item or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'l> {
    /// The key without bold and blanks.
    pub key: &'l str,
    /// The value without surrounding blanks.
    pub value: &'l str,
    /// The number of bytes of blanks before the field.
    pub indent: usize,
    /// The offset of the value in the line; after the colon if it is empty.
    pub value_at: usize,
}

/// A check box: `- [x] text`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckBox<'l> {
    /// The mark between the brackets, without blanks.
    pub mark: &'l str,
    /// The text after the box.
    pub text: &'l str,
    /// The number of bytes of blanks before the list item.
    pub indent: usize,
    /// The position of the content of the brackets in the line.
    pub mark_at: Span,
}

impl<'l> CheckBox<'l> {
    /// Returns whether the box is ticked; `None` if its mark is neither a blank nor an `x`.
    pub fn is_done(&self) -> Option<bool> {
        let is_done = self.mark.eq_ignore_ascii_case("x");
        (is_done || self.mark.is_empty()).then_some(is_done)
    }

    /// Returns the position of the mark in the file, from the position of its line.
    pub const fn mark_in(&self, line: Line) -> Span {
        let start = line.content.start;
        Span::new(start + self.mark_at.start, start + self.mark_at.end)
    }

    /// Returns the id and the title of the text, as [`id_and_title`] does.
    pub fn id_and_title(&self) -> Option<(&'l str, &'l str)> {
        let (id, title) = id_and_title(self.text);
        is_id(id).then_some((id, title))
    }
}

/// Reads a field whose key is bold, `**Key:** value` or `**Key**: value`.
pub fn bold_field(line: &str) -> Option<Field<'_>> {
    let item = without_bullet(line);
    let (key, rest) = item.strip_prefix("**")?.split_once("**")?;
    let (key, after) = match key.trim_end().strip_suffix(':') {
        Some(key) => (key, rest),
        None => (key, rest.trim_start().strip_prefix(':')?),
    };
    Some(field_of(line, key, after))
}

/// Reads a field with a bold or a plain key, such as `- key: value`.
///
/// A plain key begins with a letter and has letters, digits, blanks, `-` and `_` only.
pub fn field(line: &str) -> Option<Field<'_>> {
    let is_part = |c: char| c.is_alphanumeric() || " -_".contains(c);
    bold_field(line).or_else(|| {
        let (key, after) = without_bullet(line).split_once(':')?;
        let is_key = key.starts_with(char::is_alphabetic) && key.chars().all(is_part);
        is_key.then(|| field_of(line, key, after))
    })
}

fn field_of<'l>(line: &'l str, key: &'l str, after: &'l str) -> Field<'l> {
    let value = after.trim();
    let n_blanks = match value {
        "" => 0,
        _ => after.len() - after.trim_start().len(),
    };
    Field {
        key: key.trim(),
        value,
        indent: line.len() - line.trim_start().len(),
        value_at: line.len() - after.len() + n_blanks,
    }
}

/// Returns a line without blanks and a `-` or `*` before its text.
fn without_bullet(line: &str) -> &str {
    let line = line.trim_start();
    let item = line.strip_prefix(['-', '*']);
    let item = item.and_then(|item| item.strip_prefix([' ', '\t']));
    item.unwrap_or(line).trim_start()
}

/// Returns the text of a list item, `- text`, `* text`, `+ text`, `1. text` or `1) text`.
pub fn list_item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = digits.len() < line.len();
    let item = if is_numbered {
        digits.strip_prefix(['.', ')'])?
    } else {
        line.strip_prefix(['-', '*', '+'])?
    };
    let is_item = item.is_empty() || item.starts_with([' ', '\t']);
    is_item.then(|| item.trim())
}

/// Reads a list item with a check box; any text between the brackets is a mark.
pub fn check_box(line: &str) -> Option<CheckBox<'_>> {
    let inside = list_item(line)?.strip_prefix('[')?;
    let (mark, text) = inside.split_once(']')?;
    // A link is not a check box.
    if text.starts_with('(') {
        return None;
    }
    let start = line.trim_end().len() - inside.len();
    Some(CheckBox {
        mark: mark.trim(),
        text: text.trim(),
        indent: line.len() - line.trim_start().len(),
        mark_at: Span::new(start, start + mark.len()),
    })
}

/// Splits `**T001**: Title` into its first word, without marks around it, and the rest.
pub fn id_and_title(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let id = word.trim_matches(['*', '`', ':', '[', ']']);
    (
        id,
        rest.trim_start_matches(['-', '–', '—', ':', ' ']).trim(),
    )
}

/// Returns whether a word is an id of ASCII letters, digits and `-_.`, with a letter first and a digit.
pub fn is_id(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.contains(|c: char| c.is_ascii_digit())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Returns the positions of the cells of a table row, blanks included; `\|` is text.
pub fn cells(row: &[u8]) -> Option<Vec<Span>> {
    let first = row.len() - row.trim_ascii_start().len();
    if row.get(first) != Some(&b'|') {
        return None;
    }
    let mut cells = Vec::new();
    let mut start = first + 1;
    for (at, byte) in row.iter().enumerate().skip(start) {
        if *byte == b'|' && row[at - 1] != b'\\' {
            cells.push(Span::new(start, at));
            start = at + 1;
        }
    }
    if !row[start..].trim_ascii().is_empty() {
        cells.push(Span::new(start, row.len()));
    }
    Some(cells)
}

/// Returns whether a row is the rule below the header of a table, such as `| --- | :-: |`.
pub fn is_table_rule(row: &[u8]) -> bool {
    row.contains(&b'-') && row.iter().all(|byte| b"|:- \t".contains(byte))
}

/// Returns the text of a cell without bold, code marks and blanks around it.
pub fn cell_text(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(cell).replace("\\|", "|");
    text.trim_matches(|c: char| c.is_whitespace() || "*`".contains(c))
        .to_owned()
}
