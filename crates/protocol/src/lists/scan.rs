//! The lines of a task file, with what hides a check box taken away.
//!
//! Fences, comments and quotes hide lines; a block that is never closed hides nothing. Positions are
//! byte offsets into the file, so that a mark can be changed without touching another byte.

use std::borrow::Cow;

use rekindle_text::Document;

use crate::lists::task::Notice;

/// Blanks inside a line: space, tab, no-break space, ideographic space.
pub const BLANKS: [char; 4] = [' ', '\t', '\u{a0}', '\u{3000}'];

/// A file as lines.
#[derive(Debug)]
pub struct Page<'b> {
    /// The lines in order; hidden ones are empty.
    pub lines: Vec<PageLine<'b>>,
    /// What was noticed, with the 1-based line.
    pub noticed: Vec<(Notice, u64)>,
    /// Whether the last line has a line end.
    pub is_ended: bool,
}

/// One line.
#[derive(Debug)]
pub struct PageLine<'b> {
    /// The text without comments; empty if the line is hidden.
    pub text: Cow<'b, str>,
    /// The text as it is in the file, hidden or not.
    pub raw: Cow<'b, str>,
    /// Where the line begins in the file.
    pub start: usize,
    /// The pieces that were cut out of the text: where in it, and how many bytes.
    cuts: Vec<(usize, usize)>,
    /// The fence that the line may open or close.
    fence: Option<Fence>,
    /// What hides the line.
    pub hidden: Hidden,
}

/// What hides a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// Nothing.
    Not,
    /// It is a comment, or a fence around the whole file.
    Dropped,
    /// It is in a fence: text, but none with tasks.
    Fenced,
    /// It is in a quote: text, but none with tasks.
    Quoted,
}

/// A row of backticks or tildes at the start of a line.
#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: u8,
    len: usize,
    has_word: bool,
    is_page: bool,
}

impl<'b> Page<'b> {
    /// Reads a file; content never makes it fail.
    pub fn read(bytes: &'b Document) -> Self {
        let all = bytes.as_bytes();
        let mut noticed = Vec::new();
        let lines: Vec<PageLine<'b>> = bytes
            .lines()
            .map(|line| {
                let span = line.content;
                let raw = String::from_utf8_lossy(all.get(span.range()).unwrap_or_default());
                if matches!(raw, Cow::Owned(_)) && noticed.is_empty() {
                    noticed.push((
                        Notice::NotUtf8,
                        u64::try_from(line.number).unwrap_or(u64::MAX),
                    ));
                }
                PageLine {
                    fence: Fence::at(&raw),
                    text: raw.clone(),
                    raw,
                    start: span.start,
                    cuts: Vec::new(),
                    hidden: Hidden::Not,
                }
            })
            .collect();
        let mut page = Self {
            lines,
            noticed,
            is_ended: all.last().is_none_or(|last| *last == b'\n'),
        };
        page.unwrap();
        page.hide();
        page
    }

    /// Returns the fenced texts below headings of a title, each with its line from 0 and the word behind
    /// its fence; a deeper heading belongs to the one above it.
    pub fn fenced_below(&self, title: &str) -> Vec<(usize, String, String)> {
        let mut found = Vec::new();
        let mut below = None;
        let mut lines = self.lines.iter().enumerate();
        while let Some((at, line)) = lines.next() {
            if let Some((level, text)) = heading(&line.text) {
                if text.eq_ignore_ascii_case(title) {
                    below = Some(level);
                } else if below.is_some_and(|above| level <= above) {
                    below = None;
                }
                continue;
            }
            let opening = line.raw.trim_matches(is_space);
            let word = opening.trim_start_matches(['`', '~']);
            let is_fence = below.is_some()
                && opening.len() >= word.len() + 3
                && line.hidden != Hidden::Dropped;
            if !is_fence {
                continue;
            }
            let sign = &opening[..opening.len() - word.len()];
            let inside = lines.by_ref().map(|(_, line)| &*line.raw);
            let inside = inside.take_while(|line| !line.trim_matches(is_space).starts_with(sign));
            let text = inside.collect::<Vec<_>>().join("\n");
            found.push((at, word.trim().to_owned(), text));
        }
        found
    }

    /// Takes away a fence around the whole file.
    fn unwrap(&mut self) {
        let Some(first) = self.lines.first().and_then(|line| line.fence) else {
            return;
        };
        let is_empty = |line: &PageLine<'_>| line.raw.trim_matches(is_space).is_empty();
        let Some(last) = self.lines.iter().rposition(|line| !is_empty(line)) else {
            return;
        };
        let is_closed = last > 0
            && self.lines[last]
                .fence
                .is_some_and(|fence| fence.closes(first));
        if !first.is_page || !is_closed {
            return;
        }
        for at in [0, last] {
            self.lines[at].hide(Hidden::Dropped);
        }
    }

    /// Empties the lines that blocks hide, and cuts comments out of the others.
    fn hide(&mut self) {
        let ends_comment: Vec<usize> = self.ends_of_comments();
        let mut at = 0;
        while at < self.lines.len() {
            if let Some(fence) = self.lines[at].fence {
                at = self.hide_fence(at, fence);
                continue;
            }
            self.lines[at].cut_comments();
            let text = self.lines[at].text.trim_start_matches(BLANKS);
            if text.starts_with('>') {
                self.lines[at].hide(Hidden::Quoted);
            } else if text.starts_with("<!--") {
                match ends_comment.get(at + 1) {
                    Some(&end) if end < self.lines.len() => {
                        for line in &mut self.lines[at..=end] {
                            line.hide(Hidden::Dropped);
                        }
                        at = end;
                    }
                    Some(_) | None => self.notice(Notice::UnclosedBlock, at),
                }
            }
            at += 1;
        }
    }

    /// Hides a fence with what is in it, if it is closed; returns where reading goes on.
    fn hide_fence(&mut self, opened: usize, fence: Fence) -> usize {
        for at in opened + 1..self.lines.len() {
            let Some(other) = self.lines[at].fence else {
                continue;
            };
            if other.closes(fence) {
                for line in &mut self.lines[opened..=at] {
                    line.hide(Hidden::Fenced);
                }
                return at + 1;
            }
            if other.mark == fence.mark && other.has_word {
                break;
            }
        }
        self.notice(Notice::UnclosedBlock, opened);
        self.lines[opened].hide(Hidden::Fenced);
        opened + 1
    }

    /// Returns for each line the first one from there on that ends a comment.
    fn ends_of_comments(&self) -> Vec<usize> {
        let mut ends = vec![self.lines.len(); self.lines.len() + 1];
        for (at, line) in self.lines.iter().enumerate().rev() {
            ends[at] = if line.raw.contains("-->") {
                at
            } else {
                ends[at + 1]
            };
        }
        ends
    }

    fn notice(&mut self, code: Notice, at: usize) {
        self.noticed.push((code, number(at)));
    }
}

impl PageLine<'_> {
    fn hide(&mut self, hidden: Hidden) {
        self.text = Cow::Borrowed("");
        self.cuts = Vec::new();
        self.fence = None;
        self.hidden = hidden;
    }

    /// Cuts comments out that begin and end on the line.
    fn cut_comments(&mut self) {
        if !self.text.contains("<!--") {
            return;
        }
        let mut kept = String::with_capacity(self.text.len());
        let mut rest: &str = &self.text;
        while let Some(start) = rest.find("<!--") {
            let Some(end) = rest[start + 4..].find("-->") else {
                break;
            };
            let len = end + 7;
            kept.push_str(&rest[..start]);
            self.cuts.push((kept.len(), len));
            rest = &rest[start + len..];
        }
        kept.push_str(rest);
        self.text = Cow::Owned(kept);
    }

    /// Returns where a byte of the text is in the file; comments that were cut out before it count.
    pub fn in_file(&self, at: usize) -> usize {
        let before = self.cuts.iter().filter(|(cut, _)| *cut <= at);
        self.start + at + before.map(|(_, len)| len).sum::<usize>()
    }
}

impl Fence {
    fn at(line: &str) -> Option<Self> {
        let text = line.trim_start_matches(BLANKS);
        let mark = *text.as_bytes().first()?;
        if !matches!(mark, b'`' | b'~') {
            return None;
        }
        let len = text.bytes().take_while(|byte| *byte == mark).count();
        let word = text[len..].trim_matches(is_space);
        (len >= 3).then_some(Self {
            mark,
            len,
            has_word: !word.is_empty(),
            is_page: text.len() == line.len() && matches!(word, "" | "markdown" | "md"),
        })
    }

    /// Returns whether this row closes a fence.
    fn closes(self, opened: Self) -> bool {
        self.mark == opened.mark && self.len >= opened.len && !self.has_word
    }
}

/// Returns whether a character is a blank or the rest of a line end.
pub fn is_space(c: char) -> bool {
    BLANKS.contains(&c) || c == '\r'
}

/// Returns the 1-based number of a line.
pub fn number(at: usize) -> u64 {
    u64::try_from(at).map_or(u64::MAX, |at| at.saturating_add(1))
}

/// Returns level and text of a heading, decorations and closing signs removed.
pub fn heading(text: &str) -> Option<(usize, &str)> {
    let after = text.trim_start_matches('#');
    let level = text.len() - after.len();
    let is_heading = (1..=6).contains(&level) && (after.is_empty() || after.starts_with(BLANKS));
    let title = after.trim_matches(is_space);
    let open = title.trim_end_matches('#');
    // Signs at the end close the heading only behind a blank: `C#` is a name.
    let is_closed = open.is_empty() || open.ends_with(BLANKS);
    let title = if is_closed { open } else { title };
    is_heading.then_some((level, title.trim_matches(is_space)))
}

/// A list item with a box.
#[derive(Debug, Clone, Copy)]
pub struct CheckBox<'l> {
    /// The columns before the bullet; a tab reaches to the next multiple of four.
    pub indent: usize,
    /// The mark.
    pub mark: Mark,
    /// Where the content of the brackets begins in the line.
    pub mark_at: usize,
    /// Whether a blank separates bullet and box, as Markdown wants it.
    pub is_spaced: bool,
    /// What follows the box, blanks included.
    pub rest: &'l str,
}

/// What is between the brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Blanks.
    Open,
    /// An `x`.
    Done,
    /// Another character.
    Other(char),
    /// Nothing at all.
    Nothing,
}

impl Mark {
    /// Returns the sign of a mark that means nothing by itself.
    pub fn sign(self) -> String {
        match self {
            Self::Other(sign) => sign.to_string(),
            Self::Open | Self::Done | Self::Nothing => String::new(),
        }
    }
}

/// What a line is, as far as boxes go.
#[derive(Debug, Clone, Copy)]
pub enum Item<'l> {
    /// A list item with a box.
    Box(CheckBox<'l>),
    /// The line ends inside of a box.
    Torn,
    /// One sign keeps the line from being a list item with a box.
    Nearly,
    /// Something else.
    Other,
}

/// Reads a line as a list item with a box.
pub fn item(line: &str) -> Item<'_> {
    read_item(line).unwrap_or_else(|| {
        if is_nearly_a_box(line) {
            Item::Nearly
        } else {
            Item::Other
        }
    })
}

/// Returns whether one wrong sign is all that is wrong with a box. Instead of a bullet, a blank or `]` a
/// letter, a digit or a sign of other Markdown makes it something else.
fn is_nearly_a_box(line: &str) -> bool {
    let mut signs = line.trim_start_matches(BLANKS).chars();
    let mut next = || signs.next().unwrap_or(' ');
    let (bullet, gap, open, mark, close, after) = (next(), next(), next(), next(), next(), next());
    let is_odd = |sign: char| !sign.is_alphanumeric() && !"|>#`'\"([{".contains(sign);
    let has_bullet = matches!(bullet, '-' | '*' | '+');
    let has_gap = BLANKS.contains(&gap);
    let is_one_wrong = match (has_bullet, has_gap, open == '[', close == ']') {
        (false, true, true, true) => is_odd(bullet),
        (true, false, true, true) => is_odd(gap),
        (true, true, false, true) => true,
        (true, true, true, false) => is_odd(close),
        _ => false,
    };
    is_one_wrong && matches!(mark, ' ' | 'x' | 'X') && BLANKS.contains(&after)
}

fn read_item(line: &str) -> Option<Item<'_>> {
    let text = line.trim_start_matches(BLANKS);
    let after_bullet = bullet(text)?;
    let inside = after_bullet.trim_start_matches(BLANKS);
    let is_spaced = inside.len() < after_bullet.len();
    let inside = inside.strip_prefix('[')?;
    let start = line.len() - inside.len();
    let Some(end) = inside.find(']') else {
        let is_short = character(inside).is_some_and(|mark| !matches!(mark, Mark::Nothing))
            || inside.is_empty();
        return is_short.then_some(Item::Torn);
    };
    let content = &inside[..end];
    let mark = character(content)?;
    let rest = &inside[end + 1..];
    if mark != Mark::Open && rest.starts_with('(') {
        return None;
    }
    Some(Item::Box(CheckBox {
        indent: columns(&line[..line.len() - text.len()]),
        mark,
        mark_at: start,
        is_spaced,
        rest,
    }))
}

/// Returns what the content of brackets means; nothing if it is too long for a mark.
fn character(content: &str) -> Option<Mark> {
    if content.is_empty() {
        return Some(Mark::Nothing);
    }
    // A variation selector belongs to the sign before it.
    let is_shown = |c: &char| !matches!(c, '\u{fe0e}' | '\u{fe0f}');
    let mut shown = content.trim_matches(is_space).chars().filter(is_shown);
    match (shown.next(), shown.next()) {
        (None, _) => Some(Mark::Open),
        (Some('x' | 'X'), None) => Some(Mark::Done),
        (Some(other), None) => Some(Mark::Other(other)),
        (Some(_), Some(_)) => None,
    }
}

/// Returns what follows the bullet of a list item.
fn bullet(text: &str) -> Option<&str> {
    let after_digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if after_digits.len() < text.len() {
        return after_digits.strip_prefix(['.', ')']);
    }
    text.strip_prefix(['-', '*', '+'])
}

/// Returns how many columns blanks take.
pub fn columns(blanks: &str) -> usize {
    blanks.chars().fold(0, |at, c| match c {
        '\t' => at / 4 * 4 + 4,
        _ => at + 1,
    })
}

/// Returns the columns before the text of a line; nothing for an empty one.
pub fn indent_of(line: &str) -> Option<usize> {
    let text = line.trim_start_matches(BLANKS);
    let blanks = &line[..line.len() - text.len()];
    (!text.trim_matches(is_space).is_empty()).then(|| columns(blanks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_with_one_wrong_sign_is_noticed_and_other_text_is_not() {
        for (line, is_noticed) in [
            ("- [ \\ T1 a", true),
            ("  - [x\u{fffd} T1 a", true),
            ("- Z ] T1 a", true),
            ("-! [ ] a", false),
            ("-![ ] a", true),
            (", [x] T1 a", true),
            ("• [ ] a", true),
            ("- [ ] a", false),
            ("- [x](https://a.b) c", false),
            ("| [x] | done", false),
            ("> [ ] quoted", false),
            ("- [a link][1]", false),
            ("- [ text", false),
            ("a [ ] b", false),
            ("- a", false),
            ("", false),
        ] {
            assert_eq!(matches!(item(line), Item::Nearly), is_noticed, "{line}");
        }
    }
}
