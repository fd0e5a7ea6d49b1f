//! The headings and the prose of a Markdown text, by a line scanner.
//!
//! Only ATX headings (`## Title`) count, and only where a reader of the page would see one: not in
//! fenced or indented code, HTML comments or front matter. The rules are those of `CommonMark` for
//! the top level of a page. Underlined (setext) headings, headings inside quotes and list items,
//! and HTML blocks other than comments are deliberately not looked at.
//! Start at [`headings`] and [`prose`].

use crate::document::{Line, Lines, Span};

/// One `#` heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading {
    /// The number of `#` signs, 1 to 6.
    pub level: u8,
    /// The words of the heading in the source, without `#` signs and blanks around them.
    pub text: Span,
    /// Number of the line; the first is 1.
    pub line: usize,
}

/// Returns the headings in order.
pub fn headings(source: &str) -> Vec<Heading> {
    prose(source)
        .filter_map(|line| heading(Indented::new(content(source, line)), line))
        .collect()
}

/// Returns the lines that are text to a reader of the page, headings among them.
///
/// Fenced code, comments and front matter are left out. Indented lines are not: below a list item
/// they are text, and which of them are code only a whole parser could tell.
pub fn prose(source: &str) -> impl Iterator<Item = Line> {
    let mut place = Place::Prose;
    let lines = Lines::new(source.as_bytes()).skip(n_front_matter_lines(source));
    lines.filter(move |line| {
        let text = Indented::new(content(source, *line));
        let before = place;
        place = match place {
            Place::Prose => place_after(text),
            Place::Fence(fence) if fence.is_closed_by(text) => Place::Prose,
            Place::Comment if text.rest.contains("-->") => Place::Prose,
            Place::Fence(_) | Place::Comment => place,
        };
        matches!((before, place), (Place::Prose, Place::Prose))
    })
}

/// What the next line is part of.
#[derive(Clone, Copy)]
enum Place {
    Prose,
    Fence(Fence),
    Comment,
}

/// Tells what a line of prose opens for the next one.
fn place_after(text: Indented<'_>) -> Place {
    if let Some(fence) = Fence::opened_by(text) {
        return Place::Fence(fence);
    }
    // As in CommonMark, a comment hides the lines below only if it begins its line, and the whole
    // line is searched for its end, so that `<!-->` is complete.
    let opens_comment = !text.is_code() && text.rest.starts_with("<!--");
    if opens_comment && !text.rest.contains("-->") {
        Place::Comment
    } else {
        Place::Prose
    }
}

/// The line that opened a block of fenced code.
#[derive(Clone, Copy)]
struct Fence {
    indent: usize,
    mark: char,
    len: usize,
}

impl Fence {
    fn opened_by(text: Indented<'_>) -> Option<Self> {
        let mark = text
            .rest
            .chars()
            .next()
            .filter(|c| matches!(c, '`' | '~'))?;
        let info = text.rest.trim_start_matches(mark);
        let len = text.rest.len() - info.len();
        // Three backticks on both ends of a line are inline code, not a fence.
        let is_inline = mark == '`' && info.contains('`');
        let is_fence = len >= 3 && !is_inline && !text.is_code();
        is_fence.then_some(Self {
            indent: text.indent,
            mark,
            len,
        })
    }

    fn is_closed_by(self, text: Indented<'_>) -> bool {
        let after = text.rest.trim_start_matches(self.mark);
        // An indented fence mostly belongs to a list item, and then its end may be indented by
        // three more than the item's text, which begins no later than the opening fence.
        text.rest.len() - after.len() >= self.len
            && after.trim_matches(BLANKS).is_empty()
            && text.indent <= self.indent + 3
    }
}

/// Reads a line of prose as a heading.
fn heading(text: Indented<'_>, line: Line) -> Option<Heading> {
    let after_signs = text.rest.trim_start_matches('#');
    let level = u8::try_from(text.rest.len() - after_signs.len()).ok()?;
    let is_separate = after_signs.is_empty() || after_signs.starts_with(BLANKS);
    if !(1..=6).contains(&level) || !is_separate || text.is_code() {
        return None;
    }
    let words = without_closing_signs(after_signs).trim_matches(BLANKS);
    // Both are pieces of the same line, so the distance from its end gives the offset.
    let n_before = after_signs.len() - after_signs.trim_start_matches(BLANKS).len();
    let start = match words {
        "" => line.content.end - after_signs.len(),
        _ => line.content.end - after_signs.len() + n_before,
    };
    Some(Heading {
        level,
        text: Span::new(start, start + words.len()),
        line: line.number,
    })
}

/// Cuts the `#` signs that close a heading; signs that touch a word are part of it, as in `C#`.
fn without_closing_signs(text: &str) -> &str {
    let trimmed = text.trim_end_matches(BLANKS);
    let without = trimmed.trim_end_matches('#');
    if without.is_empty() || without.ends_with(BLANKS) {
        without
    } else {
        trimmed
    }
}

/// Counts the lines of YAML front matter, which stands between two lines `---` at the very top.
///
/// Without the second `---`, or with an empty line below the first (a rule that pandoc has too),
/// the first one is a line across the page and the headings below it are real.
fn n_front_matter_lines(source: &str) -> usize {
    let mut lines =
        Lines::new(source.as_bytes()).map(|line| content(source, line).trim_end_matches(BLANKS));
    if lines.next() != Some("---") || lines.clone().next() == Some("") {
        return 0;
    }
    lines
        .position(|line| line == "---")
        .map_or(0, |between| between + 2)
}

/// Blanks inside a line; a `\r` can be there at the end of a text cut off in mid line.
const BLANKS: [char; 3] = [' ', '\t', '\r'];

/// A line with its indentation taken off.
#[derive(Clone, Copy)]
struct Indented<'a> {
    /// Columns before the first other character.
    indent: usize,
    rest: &'a str,
}

impl<'a> Indented<'a> {
    fn new(text: &'a str) -> Self {
        let rest = text.trim_start_matches([' ', '\t']);
        let blanks = text.bytes().take(text.len() - rest.len());
        // A tab reaches to the next multiple of four columns.
        let indent = blanks.fold(0, |at, c| if c == b'\t' { at / 4 * 4 + 4 } else { at + 1 });
        Self { indent, rest }
    }

    /// Tells whether the line is indented too far to be anything but code or more of a paragraph.
    fn is_code(self) -> bool {
        self.indent >= 4
    }
}

/// Returns the text of a line; its borders are ASCII or the ends of the text, so `get` holds.
fn content(source: &str, line: Line) -> &str {
    source.get(line.content.range()).unwrap_or_default()
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
