//! Masks secrets in an agent's output before it is kept.
//!
//! One pass over the bytes, by the shapes of well-known tokens and by names that stand before a
//! value (`password=…`). It masks too much rather than too little, but leaves a line of JSON a
//! line of JSON: what is replaced never holds a quote or half an escape. What has no known shape
//! is not found; this guards against accidents and not against an agent that wants to tell.

use std::borrow::Cow;

mod command;
mod shape;

use shape::SHAPES;

pub(crate) use command::redact_command;

/// What stands in the place of a secret.
const MASK: &str = "***";

/// The longest body of a private key, in lines; a block that never ends must not swallow the rest.
const MOST_KEY_LINES: usize = 400;

/// Masks secrets, line by line; remembers whether it is inside of a private key.
#[derive(Debug, Default)]
pub struct Redactor {
    /// How many more lines may belong to the private key that was begun.
    key_lines_left: usize,
}

impl Redactor {
    /// Returns a redactor at the beginning of an output.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the next line with its secrets masked.
    pub fn line<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        if self.key_lines_left > 0 {
            self.key_lines_left -= 1;
            match key_line(line) {
                KeyLine::Body(start, end) => {
                    let (before, after) = (line.get(..start), line.get(end..));
                    return Cow::Owned(format!(
                        "{}{MASK}{}",
                        before.unwrap_or_default(),
                        after.unwrap_or_default()
                    ));
                }
                KeyLine::Header => return Cow::Borrowed(line),
                KeyLine::Other => self.key_lines_left = 0,
            }
        }
        let mut scan = Scan::new(line);
        scan.run();
        if scan.key_is_open {
            self.key_lines_left = MOST_KEY_LINES;
        }
        scan.into_text()
    }
}

/// Returns a single line with its secrets masked.
pub fn redact(line: &str) -> Cow<'_, str> {
    Redactor::new().line(line)
}

enum KeyLine {
    /// The secret stands from here to there.
    Body(usize, usize),
    /// It belongs to the block and holds no secret.
    Header,
    /// The block is over.
    Other,
}

/// Says what a line after `-----BEGIN` is. Before the body may stand what editors and diffs put
/// in front of lines: numbers, bars, signs.
fn key_line(line: &str) -> KeyLine {
    let trimmed = line.trim_end();
    if trimmed.is_empty() || trimmed.contains("Proc-Type:") || trimmed.contains("DEK-Info:") {
        return KeyLine::Header;
    }
    let in_body = |char: char| char.is_ascii_alphanumeric() || matches!(char, '+' | '/' | '=');
    let start = trimmed
        .char_indices()
        .rev()
        .take_while(|(_, char)| in_body(*char))
        .last()
        .map_or(trimmed.len(), |(start, _)| start);
    let before = trimmed.get(..start).unwrap_or_default();
    if before.contains(|char: char| char.is_alphabetic()) {
        return KeyLine::Other;
    }
    if start == trimmed.len() {
        return KeyLine::Header;
    }
    KeyLine::Body(start, trimmed.len())
}

/// One pass over a line.
struct Scan<'a> {
    line: &'a str,
    bytes: &'a [u8],
    /// Whether it is an object of JSON; there a bare quote is always the end of a string.
    json: bool,
    at: usize,
    /// Up to here the line was copied.
    copied: usize,
    masked: String,
    key_is_open: bool,
}

impl<'a> Scan<'a> {
    fn new(line: &'a str) -> Self {
        Self {
            line,
            bytes: line.as_bytes(),
            json: line.trim_start().starts_with('{'),
            at: 0,
            copied: 0,
            masked: String::new(),
            key_is_open: false,
        }
    }

    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            let secret = match byte {
                b'=' | b':' => self.named_value().or_else(|| self.url_password()),
                b'-' => self.private_key(),
                b'B' | b'b' => self.authorization().or_else(|| self.token()),
                byte if byte.is_ascii_alphabetic() => self.token(),
                _ => None,
            };
            match secret {
                Some((start, end)) => self.mask(start, end),
                None => self.at += 1,
            }
        }
    }

    /// Masks a range that begins at or after where we are and goes on behind it.
    fn mask(&mut self, start: usize, end: usize) {
        let secret = self.line.get(start..end);
        if secret != Some(MASK) {
            let kept = self.line.get(self.copied..start).unwrap_or_default();
            self.masked.push_str(kept);
            self.masked.push_str(MASK);
            self.copied = end;
        }
        self.at = end.max(self.at + 1);
    }

    fn into_text(self) -> Cow<'a, str> {
        if self.copied == 0 && self.masked.is_empty() {
            return Cow::Borrowed(self.line);
        }
        let rest = self.line.get(self.copied..).unwrap_or_default();
        Cow::Owned(self.masked + rest)
    }

    fn rest(&self, from: usize) -> &'a [u8] {
        self.bytes.get(from..).unwrap_or_default()
    }

    /// A token of a known shape, at the beginning of a word; its prefix stays readable.
    fn token(&self) -> Option<(usize, usize)> {
        if !self.at_word() {
            return None;
        }
        let rest = self.rest(self.at);
        let shape = SHAPES.iter().find(|shape| shape.fits(rest))?;
        let start = self.at + shape.prefix.len();
        Some((start, start + shape.length(self.rest(start))))
    }

    /// Returns whether a word begins here; an escape of JSON (`\n`) before it is no part of it, and
    /// neither is a secret that is masked.
    fn at_word(&self) -> bool {
        if self.at == self.copied {
            return true;
        }
        let before = |n: usize| self.at.checked_sub(n).and_then(|at| self.bytes.get(at));
        let Some(byte) = before(1) else { return true };
        if !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-') {
            return true;
        }
        before(2) == Some(&b'\\') || (before(6) == Some(&b'\\') && before(5) == Some(&b'u'))
    }

    /// `Bearer …` and `Basic …`
    fn authorization(&self) -> Option<(usize, usize)> {
        let rest = self.rest(self.at);
        let scheme = [&b"bearer "[..], b"basic "].into_iter().find(|scheme| {
            let word = rest.get(..scheme.len());
            word.is_some_and(|word| word.eq_ignore_ascii_case(scheme))
        })?;
        if !self.at_word() {
            return None;
        }
        let start = self.at + scheme.len();
        let value = run(self.rest(start), |byte| {
            byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
        });
        let has_digit = value.iter().any(u8::is_ascii_digit);
        // "Bearer tokens" and "basic authentication" are only words.
        let secret = value.len() >= 20 || (value.len() >= 8 && has_digit);
        secret.then_some((start, start + value.len()))
    }

    /// A private key on this line, to its end marker or to the end of the text.
    fn private_key(&mut self) -> Option<(usize, usize)> {
        const BEGIN: &[u8] = b"-----BEGIN ";
        const DASHES: &[u8] = b"-----";
        let rest = self.rest(self.at);
        if !rest.starts_with(BEGIN) {
            return None;
        }
        let name = run(self.rest(self.at + BEGIN.len()), |byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
        });
        let dashes = self.at + BEGIN.len() + name.len();
        if !name.ends_with(b"PRIVATE KEY") || !self.rest(dashes).starts_with(DASHES) {
            return None;
        }
        let after = dashes + DASHES.len();
        let body = self.rest(after);
        let stop = body
            .windows(DASHES.len())
            .position(|window| window == DASHES)
            .unwrap_or(body.len());
        let secret = run(body.get(..stop)?, |byte| !matches!(byte, b'"' | b'\''));
        self.key_is_open = secret.len() == body.len();
        let end = after + secret.len() - trailing_backslashes(secret);
        // In JSON the lines are divided by `\n`; nothing but that is nothing secret.
        let nothing = secret.iter().all(u8::is_ascii_whitespace);
        (!nothing && end > after).then_some((after, end))
    }

    /// `password=…`, `"token": "…"`, `API_KEY='…'`
    fn named_value(&self) -> Option<(usize, usize)> {
        let equals = self.bytes.get(self.at) == Some(&b'=');
        let mut name_end = self.at;
        let closing = self.quote_before(&mut name_end, equals);
        if !shape::is_secret_name(self.bytes.get(..name_end).unwrap_or_default()) {
            return None;
        }
        let mut start = self.at + 1;
        let spaces = run(self.rest(start), |byte| byte == b' ').len();
        start += spaces.min(2);
        if let Some(opening) = self.quote_at(start, closing) {
            return self.quoted(start + opening.len(), opening);
        }
        // Without quotes only `name=value` in one piece: the rest is prose and code.
        if !equals || closing || spaces > 0 || self.bytes.get(name_end) != Some(&b'=') {
            return None;
        }
        let value = run(self.rest(start), |byte| {
            !byte.is_ascii_whitespace() && !b"\"'`\\&,;()[]{}<>|".contains(&byte)
        });
        (!value.is_empty()).then_some((start, start + value.len()))
    }

    /// Steps back over spaces and a closing quote before the sign. Returns whether there was one.
    fn quote_before(&self, end: &mut usize, equals: bool) -> bool {
        let back = |end: usize| end.checked_sub(1).and_then(|at| self.bytes.get(at));
        if equals && back(*end) == Some(&b' ') {
            *end -= 1;
        }
        if !matches!(back(*end), Some(b'"' | b'\'')) {
            return false;
        }
        *end -= 1;
        if back(*end) == Some(&b'\\') {
            *end -= 1;
        }
        true
    }

    /// Returns the quote that opens a value here.
    ///
    /// In JSON a bare quote opens one only as the value of a member, whose name was in quotes.
    fn quote_at(&self, at: usize, name_was_quoted: bool) -> Option<&'static [u8]> {
        let rest = self.rest(at);
        let quotes: [&'static [u8]; 3] = [b"\\\"", b"'", b"\""];
        let quote = quotes.into_iter().find(|quote| rest.starts_with(quote))?;
        let bare = quote == b"\"";
        let member = name_was_quoted && self.bytes.get(self.at) == Some(&b':');
        (!bare || !self.json || member).then_some(quote)
    }

    /// Returns a value up to its closing quote, or to where it must end if there is none.
    fn quoted(&self, start: usize, quote: &[u8]) -> Option<(usize, usize)> {
        let mut end = start;
        while let Some(&byte) = self.bytes.get(end) {
            let rest = self.rest(end);
            if rest.starts_with(quote) || (byte == b'"' && self.json) {
                break;
            }
            end += match byte {
                // `\\` and `\"` inside of a bare quote; of another quote's text it is the end.
                b'\\' if quote == b"\"" => 2,
                b'\\' if self.json => break,
                _ => 1,
            };
        }
        end = end.min(self.bytes.len());
        // An escape of one character too many may have stepped into a longer one.
        while !self.line.is_char_boundary(end) {
            end -= 1;
        }
        (end > start).then_some((start, end))
    }

    /// `https://user:password@host`
    fn url_password(&self) -> Option<(usize, usize)> {
        let rest = self.rest(self.at);
        let user = rest.strip_prefix(b"://")?;
        let in_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%!$*+=".contains(&byte);
        // Names and passwords are short; without a limit `://` after `://` would be slow.
        let user = user.get(..user.len().min(512)).unwrap_or_default();
        let name = run(user, in_part);
        let password = user.get(name.len()..)?.strip_prefix(b":")?;
        let value = run(password, |byte| in_part(byte) || byte == b':');
        let closed = password.get(value.len()) == Some(&b'@') && !value.is_empty();
        let start = self.at + 3 + name.len() + 1;
        closed.then_some((start, start + value.len()))
    }
}

/// Returns the longest beginning of which every byte fits.
fn run(bytes: &[u8], fits: impl Fn(u8) -> bool) -> &[u8] {
    let length = bytes.iter().position(|byte| !fits(*byte));
    bytes
        .get(..length.unwrap_or(bytes.len()))
        .unwrap_or_default()
}

/// Returns how many bytes at the end belong to an escape that goes on behind it.
fn trailing_backslashes(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rev()
        .take_while(|byte| **byte == b'\\')
        .count()
        % 2
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
