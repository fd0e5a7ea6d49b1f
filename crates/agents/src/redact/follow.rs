//! Secrets over several lines: private keys, wrapped tokens, and values below their names.

use std::ops::Range;

use super::{MASK, names, rules, scan::run, value};

/// The maximum length of a private key in lines.
const MOST_KEY_LINES: usize = 400;
/// The number of lines of a netrc entry after its first.
const NETRC_LINES: u8 = 3;

/// The state after earlier lines.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Follow {
    /// The number of lines that may belong to the open private key.
    key_lines_left: usize,
    /// Whether the last line ended with a secret, which may continue.
    is_wrapped: bool,
    /// Whether the last line was like `name: DB_PASSWORD`, before `value:`.
    value_is_secret: bool,
    /// The number of lines that may belong to a netrc entry.
    netrc_left: u8,
}

impl Follow {
    /// Returns the secret of a line inside a private key; `None` outside one.
    pub(super) fn private_key(&mut self, line: &str) -> Option<Vec<Range<usize>>> {
        if self.key_lines_left == 0 {
            return None;
        }
        self.key_lines_left -= 1;
        match key_line(line) {
            KeyLine::Body(range) => Some(vec![range]),
            KeyLine::Header => Some(Vec::new()),
            KeyLine::Other => {
                self.key_lines_left = 0;
                None
            }
        }
    }

    /// Adds the secrets that depend on earlier lines.
    pub(super) fn lines(&mut self, text: &str, secrets: &mut Vec<Range<usize>>, key_is_open: bool) {
        let mut start = 0;
        for line in text.split('\n') {
            let found = self.line(line);
            let wrapped = found.is_some();
            if let Some(found) = found {
                secrets.push(start + found.start..start + found.end);
            }
            let end = start + line.trim_end().len();
            let reaches_end = |range: &Range<usize>| range.start < end && range.end >= end;
            self.is_wrapped = line.trim_end().ends_with(MASK) || secrets.iter().any(reaches_end);
            self.is_wrapped &= !wrapped || line.trim().len() > 40;
            start += line.len() + 1;
        }
        if key_is_open || text.trim_start().starts_with("Private-Lines:") {
            self.key_lines_left = MOST_KEY_LINES;
        }
    }

    fn line(&mut self, line: &str) -> Option<Range<usize>> {
        let words = Words::of(line);
        let wrapped = self.is_wrapped.then(|| rest_of_token(line)).flatten();
        let (is_value, is_netrc) = (self.value_is_secret, self.netrc_left > 0);
        let first = words.first.trim_start_matches("- ");
        self.value_is_secret = matches!(first, "name:" | "key:")
            && names::is_secret(words.second.trim_matches(['"', '\'']).as_bytes());
        self.netrc_left = match first {
            "machine" | "login" | "default" => NETRC_LINES,
            _ => self.netrc_left.saturating_sub(1),
        };
        if wrapped.is_some() {
            return wrapped;
        }
        let has_value = !words.second.is_empty() && !value::is_reference(words.second);
        match first {
            "value:" if is_value && has_value => Some(words.rest),
            "password"
                if has_value && words.is_pair && (is_netrc || value::is_random(words.second)) =>
            {
                Some(words.rest)
            }
            _ => None,
        }
    }
}

/// The first words of a line.
struct Words<'a> {
    first: &'a str,
    second: &'a str,
    /// From the second word to the end of the line.
    rest: Range<usize>,
    is_pair: bool,
}

impl<'a> Words<'a> {
    fn of(line: &'a str) -> Self {
        let trimmed = line.trim();
        let trimmed = trimmed.strip_prefix("- ").unwrap_or(trimmed);
        let (first, rest) = trimmed
            .split_once(char::is_whitespace)
            .unwrap_or((trimmed, ""));
        let rest = rest.trim_start();
        let end = line.trim_end().len();
        let second = rest.split_whitespace().next().unwrap_or_default();
        Self {
            first,
            second,
            rest: end - rest.len()..end,
            is_pair: second.len() == rest.len(),
        }
    }
}

/// Returns the rest of a wrapped token at the start of a line; not words, file names or commit ids.
fn rest_of_token(line: &str) -> Option<Range<usize>> {
    let start = line.len() - line.trim_start().len();
    let token = run(line.as_bytes().get(start..)?, |byte| {
        byte.is_ascii_alphanumeric() || b"-_+/=.~".contains(&byte)
    });
    let end = start + token.len();
    let is_closed = line
        .get(end..)?
        .starts_with(|c: char| c.is_whitespace() || "\"'`,;)".contains(c));
    let has = |fits: fn(&u8) -> bool| token.iter().any(fits);
    let is_token = token.len() >= 8
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_uppercase) || token.len() >= 20)
        && !token.iter().all(u8::is_ascii_hexdigit)
        && !has(|byte| *byte == b'.')
        && rules::entropy(token) >= 2.5;
    (is_token && (is_closed || end == line.len())).then_some(start..end)
}

enum KeyLine {
    /// The secret.
    Body(Range<usize>),
    /// The line belongs to the block and has no secret.
    Header,
    /// The block is over.
    Other,
}

/// Classifies a line after `-----BEGIN`, also with a prefix of an editor or a diff.
fn key_line(line: &str) -> KeyLine {
    const HEADERS: &str = "Proc-Type: DEK-Info: Version: Comment: Charset: Hash:";
    let trimmed = line.trim_end();
    if trimmed.is_empty() || HEADERS.split(' ').any(|header| trimmed.contains(header)) {
        return KeyLine::Header;
    }
    let in_body = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let start = trimmed
        .char_indices()
        .rev()
        .take_while(|(_, c)| in_body(*c))
        .last()
        .map_or(trimmed.len(), |(start, _)| start);
    let before = trimmed.get(..start).unwrap_or_default();
    if before.contains(|c: char| c.is_alphabetic()) {
        return KeyLine::Other;
    }
    if start == trimmed.len() {
        return KeyLine::Header;
    }
    KeyLine::Body(start..trimmed.len())
}
