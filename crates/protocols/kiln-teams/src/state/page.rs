//! A Markdown page as lines, with comments marked.
//!
//! Only the lines that are read must be UTF-8.

use memchr::memmem;
use rekindle_text::{Document, Line, Span};

/// A page that is read line by line and edited in spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) document: Document,
    pub(crate) lines: Vec<PageLine>,
}

/// A line of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageLine {
    pub(crate) line: Line,
    /// Its content up to a comment at its end.
    pub(crate) shown: Span,
    /// Whether it is part of a comment that starts a line.
    pub(crate) is_hidden: bool,
}

impl Page {
    /// Takes any bytes.
    pub(crate) fn parse(bytes: Vec<u8>) -> Self {
        let document = Document::new(bytes);
        let mut lines = Vec::new();
        let mut is_hidden = false;
        for line in document.lines() {
            let content = document.slice(line.content).unwrap_or_default();
            let starts = content.trim_ascii_start().starts_with(b"<!--");
            let closes = memmem::find(content, b"-->").is_some();
            let mut shown = line.content;
            let was_hidden = is_hidden;
            if is_hidden {
                is_hidden = !closes;
            } else if starts && !closes {
                // A comment that is never closed hides nothing but its own line: kiln's own reader
                // knows no comments, and would find what comes below.
                let below = document.as_bytes().get(line.full.end..).unwrap_or_default();
                is_hidden = memmem::find(below, b"-->").is_some();
            } else {
                shown.end = shown.start + end_of_shown(content);
            }
            lines.push(PageLine {
                line,
                shown,
                is_hidden: was_hidden || starts,
            });
        }
        Self { document, lines }
    }

    /// Returns the bytes of a span.
    pub(crate) fn bytes(&self, span: Span) -> &[u8] {
        self.document.slice(span).unwrap_or_default()
    }

    /// Returns the visible part of a line, if it is text.
    pub(crate) fn shown(&self, line: &PageLine) -> Option<&str> {
        let text = std::str::from_utf8(self.bytes(line.shown)).ok();
        text.filter(|_| !line.is_hidden)
    }

    /// Returns whether there are only blanks in a line.
    pub(crate) fn is_blank(&self, line: &PageLine) -> bool {
        self.bytes(line.line.content).trim_ascii().is_empty()
    }

    /// Returns the level and the words of a line that is a heading.
    pub(crate) fn heading(&self, line: &PageLine) -> Option<(usize, &str)> {
        let text = self.shown(line)?.trim();
        let words = text.trim_start_matches('#');
        let level = text.len() - words.len();
        let is_heading = (1..=6).contains(&level) && words.starts_with([' ', '\t']);
        is_heading.then(|| (level, words.trim_end_matches('#').trim()))
    }

    /// Returns the position of the first heading with these words, and its level.
    pub(crate) fn find_heading(&self, words: &str) -> Option<(usize, usize)> {
        let headings = self.lines.iter().enumerate();
        headings
            .filter_map(|(at, line)| Some((at, self.heading(line)?)))
            .find(|(_, (_, found))| found.eq_ignore_ascii_case(words))
            .map(|(at, (level, _))| (at, level))
    }

    /// Returns the position after the section of a heading: the next heading of its level or above.
    pub(crate) fn end_of_section(&self, at: usize, level: usize) -> usize {
        let ends = |line| self.heading(line).is_some_and(|(other, _)| other <= level);
        let below = self.lines.iter().skip(at + 1).position(ends);
        below.map_or(self.lines.len(), |below| at + 1 + below)
    }
}

/// Returns the start of a comment inside a line, or the end of the line.
fn end_of_shown(content: &[u8]) -> usize {
    memmem::find(content, b"<!--")
        .filter(|&at| memmem::find(&content[at..], b"-->").is_some())
        .unwrap_or(content.len())
}
