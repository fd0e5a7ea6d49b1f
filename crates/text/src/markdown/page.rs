//! A Markdown page with its sections, fields, check boxes, tables, code blocks and front matter.

use serde::de::DeserializeOwned;

use super::line::{CheckBox, Field, cell_text, cells, check_box, field, is_table_rule};
use super::{Block, Heading, blocks, content, front_matter, headings, prose};
use crate::document::{Line, Span};
use crate::yaml::{YamlError, parse_yaml};

/// A Markdown page.
#[derive(Debug, Clone)]
pub struct Page<'s> {
    source: &'s str,
    headings: Vec<Heading>,
}

/// A heading and the text below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'s> {
    /// The heading.
    pub heading: Heading,
    /// The text of the heading.
    pub title: &'s str,
    /// The section with its heading.
    pub text: &'s str,
    /// The section without its heading.
    pub body: &'s str,
    /// Number of the line after the section.
    pub end: usize,
}

/// A table with a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Number of the line of the header, from 1.
    pub line: usize,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with its line number and its cells.
    pub rows: Vec<(usize, Vec<String>)>,
}

/// A block of fenced code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeBlock<'s> {
    /// The info string after the opening fence, such as `rust`.
    pub info: &'s str,
    /// The position of the code.
    pub code: Span,
    /// Number of the line of the opening fence, from 1.
    pub line: usize,
    /// Whether there is a closing fence.
    pub is_closed: bool,
}

impl<'s> Page<'s> {
    /// Reads any text.
    pub fn new(source: &'s str) -> Self {
        let headings = headings(source);
        Self { source, headings }
    }

    /// Returns the sections in order; a section contains those of deeper levels below it.
    pub fn sections(&self) -> impl DoubleEndedIterator<Item = Section<'s>> {
        self.sections_until(|_, _| false)
    }

    /// Returns the sections, which end also at deeper headings that satisfy `ends`.
    pub fn sections_until(
        &self,
        ends: impl Fn(&Heading, &str) -> bool,
    ) -> impl DoubleEndedIterator<Item = Section<'s>> {
        self.headings.iter().enumerate().map(move |(at, heading)| {
            let is_end = |next: &&Heading| {
                next.level <= heading.level || ends(next, next.title(self.source))
            };
            let next = self.headings[at + 1..].iter().find(is_end);
            let end = next.map_or(self.source.len(), |next| next.line_start);
            let text = &self.source[heading.line_start..end];
            let body = text.split_once('\n').map_or("", |(_, body)| body);
            Section {
                heading: *heading,
                title: heading.title(self.source),
                text,
                body,
                end: next.map_or(usize::MAX, |next| next.line),
            }
        })
    }

    /// Returns the prose lines in order.
    pub fn lines(&self) -> impl Iterator<Item = (Line, &'s str)> {
        prose(self.source).map(|line| (line, content(self.source, line)))
    }

    /// Returns the fields in order, each with its line.
    pub fn fields(&self) -> impl Iterator<Item = (Line, Field<'s>)> {
        self.lines()
            .filter_map(|(line, text)| Some((line, field(text)?)))
    }

    /// Returns the first value of a key, in any case.
    pub fn value(&self, key: &str) -> Option<&'s str> {
        let mut fields = self.fields().map(|(_, field)| field);
        let found = fields.find(|field| field.key.eq_ignore_ascii_case(key))?;
        Some(found.value)
    }

    /// Returns the check boxes in order, each with its line.
    pub fn check_boxes(&self) -> impl Iterator<Item = (Line, CheckBox<'s>)> {
        self.lines()
            .filter_map(|(line, text)| Some((line, check_box(text)?)))
    }

    /// Returns the tables: a row, a rule, and the rows up to the first other line.
    pub fn tables(&self) -> Vec<Table> {
        let texts = |row: &str| -> Option<Vec<String>> {
            let row = row.as_bytes();
            let cells = cells(row)?.into_iter();
            Some(cells.map(|cell| cell_text(&row[cell.range()])).collect())
        };
        let mut tables: Vec<Table> = Vec::new();
        let mut before: Option<(usize, Vec<String>)> = None;
        let mut is_open = false;
        for (line, text) in self.lines() {
            let row = texts(text);
            let header = before.take_if(|(number, _)| *number + 1 == line.number);
            match (row, header) {
                (Some(_), Some((number, columns))) if is_table_rule(text.as_bytes()) => {
                    if let Some(open) = tables.last_mut().filter(|_| is_open) {
                        // The last row is the header of this table.
                        open.rows.pop_if(|(row, _)| *row == number);
                    }
                    tables.push(Table {
                        line: number,
                        columns,
                        rows: Vec::new(),
                    });
                    is_open = true;
                }
                (Some(row), _) => {
                    let last = tables.last_mut().filter(|_| is_open);
                    if let Some(open) = last {
                        open.rows.push((line.number, row.clone()));
                    }
                    before = Some((line.number, row));
                }
                (None, _) => is_open = false,
            }
        }
        tables
    }

    /// Returns the blocks of fenced code in order.
    pub fn code_blocks(&self) -> Vec<CodeBlock<'s>> {
        let mut found: Vec<CodeBlock<'s>> = Vec::new();
        for (line, before, after) in blocks(self.source) {
            match (before, after, found.last_mut()) {
                (Block::Prose, Block::Fence(_), _) => {
                    let text = content(self.source, line).trim();
                    found.push(CodeBlock {
                        info: text.trim_start_matches(['`', '~']).trim(),
                        code: Span::new(line.full.end, line.full.end),
                        line: line.number,
                        is_closed: false,
                    });
                }
                (Block::Fence(_), Block::Fence(_), Some(open)) => open.code.end = line.full.end,
                (Block::Fence(_), Block::Prose, Some(open)) => open.is_closed = true,
                (_, _, _) => {}
            }
        }
        found
    }

    /// Returns the text of the front matter without its `---` lines.
    pub fn front_matter(&self) -> Option<&'s str> {
        self.source.get(front_matter(self.source)?.range())
    }

    /// Reads the values of the front matter, if there is one.
    pub fn front_matter_values<T: DeserializeOwned>(&self) -> Option<Result<T, YamlError>> {
        self.front_matter().map(parse_yaml)
    }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
