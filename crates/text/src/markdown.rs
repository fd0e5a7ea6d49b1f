//! A tolerant reader of Markdown pages, by a line scanner.
//!
//! Only ATX headings (`## Title`) outside fenced or indented code, HTML comments and front matter
//! count, by the rules of `CommonMark` for the top level of a page. Setext headings, headings in
//! quotes and list items, and other HTML blocks are deliberately ignored.
//! A [`Page`] has sections, fields, check boxes, tables, code blocks and front matter; [`line`](mod@line) reads
//! single lines. All positions are byte offsets into the source, for exact edits.
//! Start at [`Page`], [`headings`] and [`prose`].

pub mod line;
mod page;

use crate::document::{Line, Lines, Span};

pub use page::{CodeBlock, Page, Section, Table};

/// One `#` heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading {
    /// The number of `#` signs, 1 to 6.
    pub level: u8,
    /// Position of the text without `#` signs and surrounding blanks.
    pub text: Span,
    /// Number of the line, from 1.
    pub line: usize,
    /// Offset of the line.
    pub line_start: usize,
}

impl Heading {
    /// Returns the text of the heading.
    pub fn title<'s>(&self, source: &'s str) -> &'s str {
        source.get(self.text.range()).unwrap_or_default()
    }
}

/// Returns the headings in order.
pub fn headings(source: &str) -> Vec<Heading> {
    prose(source)
        .filter_map(|line| heading(Indented::new(content(source, line)), line))
        .collect()
}

/// Returns the first line that says something: not a heading, a field, a rule, a table, a quote or a
/// placeholder in brackets, and without the mark of a list item.
pub fn opening(source: &str) -> Option<&str> {
    let lines = prose(source).map(|line| content(source, line).trim());
    let texts = lines.filter(|line| line::field(line).is_none() && line::check_box(line).is_none());
    let mut texts = texts.map(|line| line::list_item(line).unwrap_or(line));
    texts.find(|text| {
        let mut chars = text.chars();
        let first = chars.find(|c| !matches!(c, '*' | '_' | '`' | '"'));
        first.is_some_and(char::is_alphanumeric)
    })
}

/// Returns the lines outside fenced code, comments and front matter, including headings.
///
/// Indented lines are included: below a list item they are text, and only a full parser could
/// recognize indented code.
pub fn prose(source: &str) -> impl Iterator<Item = Line> {
    blocks(source).filter_map(|(line, before, after)| {
        let is_prose = matches!((before, after), (Block::Prose, Block::Prose));
        is_prose.then_some(line)
    })
}

/// Returns the lines below the front matter, each with the block before and after it.
fn blocks(source: &str) -> impl Iterator<Item = (Line, Block, Block)> {
    let mut block = Block::Prose;
    let start = front_matter(source).map_or(0, |text| text.end);
    let lines = Lines::new(source.as_bytes()).skip_while(move |line| line.full.start < start);
    let n_rules = usize::from(start > 0);
    lines.skip(n_rules).map(move |line| {
        let text = Indented::new(content(source, line));
        let before = block;
        block = match block {
            Block::Prose => block_after(text),
            Block::Fence(fence) if fence.is_closed_by(text) => Block::Prose,
            Block::Comment if text.rest.contains("-->") => Block::Prose,
            Block::Fence(_) | Block::Comment => block,
        };
        (line, before, block)
    })
}

/// The block that contains the next line.
#[derive(Clone, Copy)]
enum Block {
    Prose,
    Fence(Fence),
    Comment,
}

/// Returns the block that a line of prose opens.
fn block_after(text: Indented<'_>) -> Block {
    if let Some(fence) = Fence::opened_by(text) {
        return Block::Fence(fence);
    }
    // As in CommonMark, a comment must begin its line, and `<!-->` is complete.
    let opens_comment = !text.is_code() && text.rest.starts_with("<!--");
    if opens_comment && !text.rest.contains("-->") {
        Block::Comment
    } else {
        Block::Prose
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
        // The end of a fence in a list item may be indented by three more than the item's text.
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
    let n_before = after_signs.len() - after_signs.trim_start_matches(BLANKS).len();
    let start = match words {
        "" => line.content.end - after_signs.len(),
        _ => line.content.end - after_signs.len() + n_before,
    };
    Some(Heading {
        level,
        text: Span::new(start, start + words.len()),
        line: line.number,
        line_start: line.full.start,
    })
}

/// Removes the `#` signs that close a heading, but not those of a word such as `C#`.
fn without_closing_signs(text: &str) -> &str {
    let trimmed = text.trim_end_matches(BLANKS);
    let without = trimmed.trim_end_matches('#');
    if without.is_empty() || without.ends_with(BLANKS) {
        without
    } else {
        trimmed
    }
}

/// Returns the position of YAML front matter, between two lines `---` at the top of the page.
///
/// Without the second `---`, or with an empty line below the first, as in pandoc, the first one is a
/// thematic break.
fn front_matter(source: &str) -> Option<Span> {
    let is_rule = |line: &Line| content(source, *line).trim_end_matches(BLANKS) == "---";
    let mut lines = Lines::new(source.as_bytes());
    let first = lines.next().filter(is_rule)?;
    let second = lines.clone().next()?;
    if content(source, second).trim_end_matches(BLANKS).is_empty() {
        return None;
    }
    let end = lines.find(is_rule)?;
    Some(Span::new(first.full.end, end.full.start))
}

/// Blanks inside a line; a truncated text can end with `\r`.
const BLANKS: [char; 3] = [' ', '\t', '\r'];

/// A line without its indentation.
#[derive(Clone, Copy)]
struct Indented<'a> {
    /// The width of the indentation in columns.
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

    /// Returns whether the line is indented code or continues a paragraph.
    fn is_code(self) -> bool {
        self.indent >= 4
    }
}

/// Returns the text of a line.
fn content(source: &str, line: Line) -> &str {
    source.get(line.content.range()).unwrap_or_default()
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
