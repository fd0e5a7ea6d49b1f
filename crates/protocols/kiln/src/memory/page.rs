//! MEMORY.md as lines: sections, keys at the first column, and blocks that belong to a key.
//!
//! Kiln's template has comments (`# …` at the first column) that look like headings, and a commented
//! tail with whole sections in it. So a section starts at `## ` only and ends at the next one, and a
//! key counts only at the first column. Indented lines below a key are its block, whatever they say.
//! [`Memory`](super::Memory) knows what the values mean.

use rekindle_text::{Document, Line, Span};

/// The file by lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) document: Document,
    pub(super) lines: Vec<Line>,
    pub(super) sections: Vec<Section>,
    pub(super) fields: Vec<Field>,
}

/// A part of the file from a `## ` heading to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    /// The position of the heading among the lines.
    pub(super) heading: usize,
    /// The position after the last line.
    pub(super) end: usize,
}

/// A line `key: value`, with the lines of its block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) key: String,
    /// The position of its section, if it is in one.
    pub(super) section: Option<usize>,
    /// The position of its line.
    pub(super) at: usize,
    /// The position of the last line of its block; a new line is inserted after it.
    pub(super) last: usize,
    /// Whether its value is the block and not on its own line.
    has_block: bool,
    /// Where the colon ends.
    colon: usize,
    /// The value on its own line, without blanks around it.
    inline: Span,
}

impl Page {
    /// Reads any bytes.
    pub(super) fn parse(bytes: Vec<u8>) -> Self {
        let document = Document::new(bytes);
        let lines: Vec<Line> = document.lines().collect();
        let mut page = Self {
            document,
            lines,
            sections: Vec::new(),
            fields: Vec::new(),
        };
        let mut at = 0;
        while at < page.lines.len() {
            let mut next = at + 1;
            if let Some(name) = page.heading(at) {
                page.end_section(at);
                page.sections.push(Section {
                    name,
                    heading: at,
                    end: page.lines.len(),
                });
            } else if let Some(field) = page.field(at) {
                next = field.last + 1;
                page.fields.push(field);
            }
            at = next;
        }
        page
    }

    fn end_section(&mut self, at: usize) {
        if let Some(open) = self.sections.last_mut() {
            open.end = at;
        }
    }

    /// Returns the bytes of a line without its end.
    pub(super) fn content(&self, at: usize) -> &[u8] {
        let line = self.lines.get(at);
        line.and_then(|line| self.document.slice(line.content))
            .unwrap_or_default()
    }

    /// Returns a line as text.
    pub(super) fn text(&self, at: usize) -> String {
        String::from_utf8_lossy(self.content(at)).into_owned()
    }

    pub(super) fn is_blank(&self, at: usize) -> bool {
        self.content(at).trim_ascii().is_empty()
    }

    /// Returns whether a line is one of the template's comments.
    pub(super) fn is_comment(&self, at: usize) -> bool {
        self.content(at).starts_with(b"#")
    }

    /// Returns the sections of a name, in order.
    pub(super) fn named<'p>(
        &'p self,
        name: &'p str,
    ) -> impl DoubleEndedIterator<Item = &'p Section> {
        self.sections
            .iter()
            .filter(move |section| section.name == name)
    }

    /// Returns the positions of the lines below the headings of a name.
    pub(super) fn below<'p>(&'p self, name: &'p str) -> impl Iterator<Item = usize> + 'p {
        self.named(name)
            .flat_map(|section| section.heading + 1..section.end)
    }

    /// Returns the value of a field: its line, or its block without the indentation.
    pub(super) fn value(&self, field: &Field) -> String {
        let inline = self.document.slice(field.inline).unwrap_or_default();
        if !field.has_block {
            let text = String::from_utf8_lossy(inline);
            let is_empty = is_block_sign(&text) || matches!(text.as_ref(), "\"\"" | "''");
            return if is_empty {
                String::new()
            } else {
                text.into_owned()
            };
        }
        let block: Vec<String> = (field.at + 1..=field.last)
            .map(|at| self.text(at))
            .collect();
        // Tabs and blanks have no common width, so each kind is removed separately.
        let depth = |line: &String, blank: char| line.len() - line.trim_start_matches(blank).len();
        let least = |blank: char| {
            let filled = block.iter().filter(|line| !line.trim().is_empty());
            let of_kind = filled.filter(|line| line.starts_with(blank));
            of_kind.map(|line| depth(line, blank)).min().unwrap_or(0)
        };
        let (blanks, tabs) = (least(' '), least('\t'));
        let lines: Vec<&str> = block
            .iter()
            .map(|line| {
                let indent = if line.starts_with('\t') { tabs } else { blanks };
                line.get(indent..).unwrap_or_default().trim_end()
            })
            .collect();
        lines.join("\n")
    }

    /// Returns the field's value with the blanks before it: its block, or the rest of its line.
    pub(super) fn after_colon(&self, field: &Field) -> Span {
        self.up_to(
            field,
            if field.has_block {
                field.last
            } else {
                field.at
            },
        )
    }

    /// Returns the span of the field's block, after its colon.
    pub(super) fn room_for_block(&self, field: &Field) -> Span {
        self.up_to(field, field.last)
    }

    fn up_to(&self, field: &Field, last: usize) -> Span {
        let line = self.lines.get(last);
        Span::new(
            field.colon,
            line.map_or(field.colon, |line| line.content.end),
        )
    }

    /// Returns the value on the field's own line; empty if the value is a block.
    pub(super) fn inline(&self, field: &Field) -> Span {
        if field.has_block {
            Span::new(field.colon, field.colon)
        } else {
            field.inline
        }
    }

    fn heading(&self, at: usize) -> Option<String> {
        let rest = self.content(at).strip_prefix(b"##")?;
        let is_heading = rest.first().is_some_and(|c| matches!(c, b' ' | b'\t'));
        is_heading.then(|| String::from_utf8_lossy(rest.trim_ascii()).into_owned())
    }

    fn field(&self, at: usize) -> Option<Field> {
        let content = self.content(at);
        let n_key = content
            .iter()
            .take_while(|c| c.is_ascii_alphanumeric() || **c == b'_')
            .count();
        if n_key == 0 || content.get(n_key) != Some(&b':') {
            return None;
        }
        let start = self.lines.get(at)?.content.start;
        let colon = start + n_key + 1;
        let rest = content.get(n_key + 1..)?;
        let inner = rest.trim_ascii();
        let inner_start = colon + rest.len() - rest.trim_ascii_start().len();
        let inline = Span::new(inner_start, inner_start + inner.len());
        let opens_block = inner.is_empty() || is_block_sign(&String::from_utf8_lossy(inner));
        let last = self.last_of_block(at);
        Some(Field {
            key: String::from_utf8_lossy(content.get(..n_key)?).into_owned(),
            section: self.sections.len().checked_sub(1),
            at,
            last,
            has_block: opens_block && last > at,
            colon,
            // An empty value is right after the colon.
            inline: if inner.is_empty() {
                Span::new(colon, colon)
            } else {
                inline
            },
        })
    }

    /// Returns the position of the last indented line below another, with blank lines in between.
    pub(super) fn last_of_block(&self, at: usize) -> usize {
        let mut last = at;
        for below in at + 1..self.lines.len() {
            let is_indented =
                self.content(below).starts_with(b" ") || self.content(below).starts_with(b"\t");
            if self.is_blank(below) {
                continue;
            }
            if !is_indented {
                break;
            }
            last = below;
        }
        last
    }
}

/// Returns whether a value only announces a block: `|`, `>-`, `|2`, `| # comment`.
fn is_block_sign(text: &str) -> bool {
    let sign = text
        .split_once(" #")
        .map_or(text, |(sign, _)| sign)
        .trim_end();
    let Some(rest) = sign.strip_prefix(['|', '>']) else {
        return false;
    };
    rest.len() <= 2
        && rest
            .chars()
            .all(|c| c == '-' || c == '+' || c.is_ascii_digit())
}
