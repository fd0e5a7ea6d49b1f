//! A file as exact bytes, and edits that change the named bytes and no other.
//!
//! Nothing is parsed and printed again: a module that understands a format finds a [`Span`], and
//! [`Document::apply`] replaces the bytes in it. An [`Edit`] carries the bytes it expects to replace,
//! so an edit made for an older version of the file is refused. Start at [`Document`].

use std::fmt;
use std::ops::Range;

use memchr::{memchr, memchr_iter};

use crate::BOM;
use crate::display::excerpt;

/// The exact bytes of a file, UTF-8 or not.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Document {
    bytes: Vec<u8>,
}

impl Document {
    /// Takes the bytes unchanged.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// Returns the bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes without copying them.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the bytes in `span`, or nothing if it is reversed or outside the file.
    pub fn slice(&self, span: Span) -> Option<&[u8]> {
        self.bytes.get(span.range())
    }

    /// Returns the document with all `edits` made, or none of them; their order does not matter.
    ///
    /// All spans refer to this document. An insertion at the border of a replaced span comes
    /// before or after the replacement, according to its position.
    pub fn apply(&self, edits: &[Edit]) -> Result<Self, EditError> {
        let mut ordered: Vec<&Edit> = edits.iter().collect();
        ordered.sort_by_key(|edit| (edit.span.start, edit.span.end));
        self.check(&ordered)?;
        let spliced = splice(&self.bytes, &ordered)
            .filter(|new| only_spans_differ(&self.bytes, new, &ordered))
            .ok_or(EditError::Spilled)?;
        Ok(Self::new(spliced))
    }

    /// Returns the line end of most lines, `"\n"` or `"\r\n"`; LF if there is a tie.
    pub fn eol(&self) -> &'static str {
        let (n_crlf, n_all) = memchr_iter(b'\n', &self.bytes).fold((0, 0), |(crlf, all), at| {
            let is_crlf = self.bytes[..at].ends_with(b"\r");
            (crlf + usize::from(is_crlf), all + 1)
        });
        if 2 * n_crlf > n_all { "\r\n" } else { "\n" }
    }

    /// Returns whether the file begins with a UTF-8 byte order mark.
    pub fn has_bom(&self) -> bool {
        self.bytes.starts_with(BOM)
    }

    /// Returns the lines in order; their `full` spans together are the whole file.
    pub fn lines(&self) -> Lines<'_> {
        Lines::new(&self.bytes)
    }

    /// Returns the edit that inserts whole lines below a line, with the line ends of this file.
    ///
    /// Below a last line without a line end, the new last line has none either.
    pub fn insert_below(&self, line: Line, lines: &[impl AsRef<str>]) -> Edit {
        let eol = self.eol();
        let lines: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
        let text = lines.join(eol);
        if line.content.end == line.full.end {
            return Edit::insert(line.full.end, format!("{eol}{text}"));
        }
        Edit::insert(line.full.end, format!("{text}{eol}"))
    }

    /// Checks in three passes, so that the error does not depend on the order of the edits.
    fn check(&self, ordered: &[&Edit]) -> Result<(), EditError> {
        let len = self.bytes.len();
        for &&Edit { span, .. } in ordered {
            self.slice(span)
                .ok_or(EditError::OutOfRange { span, len })?;
        }
        for pair in ordered.windows(2) {
            let (first, second) = (pair[0].span, pair[1].span);
            // Equal spans overlap even if empty: the order of two insertions would be a guess.
            if second.start < first.end || second == first {
                return Err(EditError::Overlapping { first, second });
            }
        }
        for edit in ordered {
            let found = self.slice(edit.span).unwrap_or_default();
            if found != edit.expected {
                return Err(EditError::Unexpected {
                    span: edit.span,
                    expected: edit.expected.clone(),
                    found: found.to_vec(),
                });
            }
        }
        Ok(())
    }
}

/// Shows text instead of a list of numbers.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document(\"{}\")", self.bytes.escape_ascii())
    }
}

/// A range of bytes in a file; a reversed one counts as empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

impl Span {
    /// Returns the span from `start` up to, but not including, `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Returns the number of bytes.
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Returns whether it contains no bytes.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the span as a range for indexing.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Position of the old bytes.
    pub span: Span,
    /// The old bytes; if the file has others there, the edit is refused.
    pub expected: Vec<u8>,
    /// The new bytes.
    pub replacement: Vec<u8>,
}

impl Edit {
    /// Replaces the present bytes of a span; [`Document::apply`] refuses a span outside the file.
    pub fn replace(document: &Document, span: Span, new: impl Into<Vec<u8>>) -> Self {
        let expected = document.slice(span).unwrap_or_default().to_vec();
        Self {
            span,
            expected,
            replacement: new.into(),
        }
    }

    /// Inserts before the byte at offset `at`.
    ///
    /// An insertion cannot notice that the file changed around it; where this matters, replace a
    /// neighboring span by itself and the new text.
    pub fn insert(at: usize, new: impl Into<Vec<u8>>) -> Self {
        Self {
            span: Span::new(at, at),
            expected: Vec::new(),
            replacement: new.into(),
        }
    }
}

/// Why edits were refused; the document is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The span ends after the file, or before its own start.
    #[error("bytes {span} are outside the file, which has {len} bytes")]
    OutOfRange {
        /// The span of the edit.
        span: Span,
        /// The length of the file.
        len: usize,
    },
    /// Two edits share bytes, or insert at the same point.
    #[error("the edits of bytes {first} and of bytes {second} overlap")]
    Overlapping {
        /// The span that starts first.
        first: Span,
        /// The span that starts inside it.
        second: Span,
    },
    /// The file does not have the bytes that the edit replaces.
    #[error("bytes {span} are `{}`, not `{}`", shown(found), shown(expected))]
    Unexpected {
        /// The span of the edit.
        span: Span,
        /// The bytes that the edit replaces.
        expected: Vec<u8>,
        /// The bytes of the file.
        found: Vec<u8>,
    },
    /// The check after splicing failed, which would be a bug in this module.
    #[error("bytes outside the edits would have changed")]
    Spilled,
}

/// One line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Number of the line, from 1.
    pub number: usize,
    /// The line without its line end and without a byte order mark.
    pub content: Span,
    /// The whole line.
    pub full: Span,
}

/// The lines of a file, made by [`Document::lines`].
///
/// A line ends with `\n` or `\r\n`; a lone `\r` is content. A final line end does not start
/// another, empty line.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let (at, number) = (0, 0);
        Self { bytes, at, number }
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (n_content, n_full) = match memchr(b'\n', rest) {
            Some(at) => (at - usize::from(rest[..at].ends_with(b"\r")), at + 1),
            None => (rest.len(), rest.len()),
        };
        let has_bom = self.at == 0 && rest.starts_with(BOM);
        let n_bom = if has_bom { BOM.len() } else { 0 };
        let start = self.at;
        self.at += n_full;
        self.number += 1;
        Some(Line {
            number: self.number,
            content: Span::new(start + n_bom, start + n_content),
            full: Span::new(start, self.at),
        })
    }
}

/// Returns the new bytes, or nothing if the spans are unordered or outside `old`.
fn splice(old: &[u8], ordered: &[&Edit]) -> Option<Vec<u8>> {
    let mut new = Vec::with_capacity(old.len());
    let mut at = 0;
    for edit in ordered {
        new.extend_from_slice(old.get(at..edit.span.start)?);
        new.extend_from_slice(&edit.replacement);
        at = edit.span.end;
    }
    new.extend_from_slice(old.get(at..)?);
    Some(new)
}

/// Returns whether `new` is `old` outside the spans; shares no arithmetic with [`splice`].
fn only_spans_differ(old: &[u8], new: &[u8], ordered: &[&Edit]) -> bool {
    let mut kept_from = 0;
    let mut rest = new;
    for edit in ordered {
        let gap = old.get(kept_from..edit.span.start);
        let after_gap = gap.and_then(|gap| rest.strip_prefix(gap));
        match after_gap.and_then(|rest| rest.strip_prefix(edit.replacement.as_slice())) {
            Some(after_edit) => rest = after_edit,
            None => return false,
        }
        kept_from = edit.span.end;
    }
    old.get(kept_from..) == Some(rest)
}

/// Returns bytes as a short, printable line for a message.
fn shown(bytes: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(bytes), 40)
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
