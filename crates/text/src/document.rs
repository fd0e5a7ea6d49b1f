//! A file as exact bytes, and edits that change the named bytes and no other.
//!
//! There is no parse-and-print here: whoever understands a format finds a [`Span`], and
//! [`Document::apply`] replaces the bytes in it. An [`Edit`] carries the bytes it expects to
//! replace, so an edit made for an older version of the file is refused instead of applied.
//! What the bytes mean (fields, headings, JSON) is the business of other modules, and reading and
//! writing the file is the business of other crates. Start at [`Document`].

use std::fmt;
use std::ops::Range;

use memchr::{memchr, memchr_iter};

use crate::BOM;
use crate::display::excerpt;

/// The exact bytes of a file: any bytes, UTF-8 or not.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Document {
    bytes: Vec<u8>,
}

impl Document {
    /// Takes the bytes as they are; nothing is normalized.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// Returns the bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Gives the bytes back without copying them.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the bytes in `span`, or nothing when it reaches outside the file or is reversed.
    pub fn slice(&self, span: Span) -> Option<&[u8]> {
        self.bytes.get(span.range())
    }

    /// Returns the document with all `edits` made; their order does not matter.
    ///
    /// All spans refer to this document, not to the result of another edit. The result differs
    /// from this document inside the spans only, which is checked after splicing. An insertion at
    /// the very border of a replaced span is allowed: it comes before or after the replacement as
    /// its position says.
    ///
    /// # Errors
    ///
    /// Either all edits are made or none: see [`EditError`] for the reasons to refuse.
    pub fn apply(&self, edits: &[Edit]) -> Result<Self, EditError> {
        let mut ordered: Vec<&Edit> = edits.iter().collect();
        ordered.sort_by_key(|edit| (edit.span.start, edit.span.end));
        self.check(&ordered)?;
        let spliced = splice(&self.bytes, &ordered)
            .filter(|new| only_spans_differ(&self.bytes, new, &ordered))
            .ok_or(EditError::Spilled)?;
        Ok(Self::new(spliced))
    }

    /// Returns the line end most lines have; with equal numbers, or with no line end, it is LF.
    pub fn eol(&self) -> Eol {
        let mut n_lf = 0_usize;
        let mut n_crlf = 0_usize;
        for at in memchr_iter(b'\n', &self.bytes) {
            if self.bytes[..at].ends_with(b"\r") {
                n_crlf += 1;
            } else {
                n_lf += 1;
            }
        }
        if n_crlf > n_lf { Eol::CrLf } else { Eol::Lf }
    }

    /// Tells whether the file begins with a UTF-8 byte order mark.
    pub fn has_bom(&self) -> bool {
        self.bytes.starts_with(BOM)
    }

    /// Returns the lines in order; their `full` spans put together are the whole file.
    pub fn lines(&self) -> Lines<'_> {
        Lines::new(&self.bytes)
    }

    /// Returns the edit that puts whole lines below a line, with the line ends of this file.
    ///
    /// If that line was the last and has no line end, the new last one has none either.
    pub fn insert_below(&self, line: Line, lines: &[impl AsRef<str>]) -> Edit {
        let eol = self.eol().as_str();
        let lines: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
        let text = lines.join(eol);
        if line.content.end == line.full.end {
            return Edit::insert(line.full.end, format!("{eol}{text}"));
        }
        Edit::insert(line.full.end, format!("{text}{eol}"))
    }

    /// Checks in three passes, so that the answer does not depend on the order edits came in.
    fn check(&self, ordered: &[&Edit]) -> Result<(), EditError> {
        for edit in ordered {
            if self.slice(edit.span).is_none() {
                return Err(EditError::OutOfRange {
                    span: edit.span,
                    len: self.bytes.len(),
                });
            }
        }
        for (first, second) in ordered.iter().zip(ordered.iter().skip(1)) {
            let (first, second) = (first.span, second.span);
            // Equal spans overlap even when empty: which insertion comes first would be a guess.
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

/// Shows text as text, since a list of numbers helps nobody who reads a failed test.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document(\"{}\")", self.bytes.escape_ascii())
    }
}

/// A range of bytes in a file, `start` included and `end` not.
///
/// A reversed span counts as empty and is refused wherever bytes are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// Names the bytes from `start` up to and without `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Returns the number of bytes.
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Tells whether there is no byte in it.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the span in the form that slices are indexed with.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// One change of a file; it names what it replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Where the old bytes stand.
    pub span: Span,
    /// The old bytes; if something else stands there, the edit is refused.
    pub expected: Vec<u8>,
    /// The bytes to stand there instead.
    pub replacement: Vec<u8>,
}

impl Edit {
    /// Replaces what stands in `span` of `document` now.
    ///
    /// A span outside the document makes an edit that [`Document::apply`] refuses.
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
    /// An insertion replaces nothing and so cannot notice that the file moved below it; where this
    /// matters, replace a neighboring span by itself and the new text.
    pub fn insert(at: usize, new: impl Into<Vec<u8>>) -> Self {
        Self {
            span: Span::new(at, at),
            expected: Vec::new(),
            replacement: new.into(),
        }
    }
}

/// Why edits were refused; the document is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The span reaches beyond the end of the file, or ends before it starts.
    #[error("bytes {span} do not lie in the file, which has {len} bytes")]
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
    /// The file does not hold what the edit wants to replace.
    #[error("bytes {span} are `{}`, not `{}`", shown(found), shown(expected))]
    Unexpected {
        /// The span of the edit.
        span: Span,
        /// What the edit wants to replace.
        expected: Vec<u8>,
        /// What stands there.
        found: Vec<u8>,
    },
    /// The check after splicing failed, which would be a bug in this module.
    #[error("bytes outside the edits would have changed")]
    Spilled,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Eol {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
}

impl Eol {
    /// Returns the line end as text to insert.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// One line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Number of the line; the first is 1.
    pub number: usize,
    /// The line without its line end, and the first line without a byte order mark.
    pub content: Span,
    /// The line with everything that belongs to it.
    pub full: Span,
}

/// The lines of a file, made by [`Document::lines`].
///
/// A line ends with `\n` or `\r\n`; a lone `\r` is content. A file that ends with a line end has
/// no further empty line, and an empty file has no line.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            number: 0,
        }
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
        // A byte order mark holds no line end, so the content never ends before it.
        let n_bom = if self.at == 0 && rest.starts_with(BOM) {
            BOM.len()
        } else {
            0
        };
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

/// Returns the new bytes, or nothing when the spans are not in order and inside `old`.
fn splice(old: &[u8], ordered: &[&Edit]) -> Option<Vec<u8>> {
    let n_added: usize = ordered.iter().map(|edit| edit.replacement.len()).sum();
    let mut new = Vec::with_capacity(old.len().saturating_add(n_added));
    let mut at = 0;
    for edit in ordered {
        new.extend_from_slice(old.get(at..edit.span.start)?);
        new.extend_from_slice(&edit.replacement);
        at = edit.span.end;
    }
    new.extend_from_slice(old.get(at..)?);
    Some(new)
}

/// Tells whether `new` is `old` outside the spans and the replacements inside them.
///
/// This walks `new` from its beginning and shares no arithmetic with [`splice`]; comparing costs
/// less than the copy did.
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

/// Makes bytes fit for a message: readable, on one line, and short.
fn shown(bytes: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(bytes), 40)
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
