//! One pass over a text for tokens, named values, private keys and URLs with a password.

use std::ops::Range;

use super::{names, shape, value};

/// The maximum length of a masked header or unquoted value.
const LONGEST_VALUE: usize = 8 * 1024;

/// One pass over a text of one line or more.
pub(super) struct Scan<'a> {
    line: &'a str,
    bytes: &'a [u8],
    /// Whether it begins like JSON, where a bare quote always ends a string.
    json: bool,
    at: usize,
    found: Vec<Range<usize>>,
    key_is_open: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self {
            line,
            bytes: line.as_bytes(),
            json: line.trim_start().starts_with('{'),
            at: 0,
            found: Vec::new(),
            key_is_open: false,
        }
    }

    pub(super) fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            let secret = match byte {
                b'=' | b':' => self.named_value().or_else(|| self.url_password()),
                b'-' => self.private_key().or_else(|| self.option()),
                b'>' => self.element(),
                b'B' | b'b' => self.authorization().or_else(|| self.token()),
                byte if byte.is_ascii_alphabetic() => self.token(),
                _ => None,
            };
            match secret {
                Some((start, end)) => {
                    self.found.push(start..end);
                    self.at = end.max(self.at + 1);
                }
                None => self.at += 1,
            }
        }
    }

    /// Returns the secrets, and whether a private key continues after the text.
    pub(super) fn into_found(self) -> (Vec<Range<usize>>, bool) {
        (self.found, self.key_is_open)
    }

    fn rest(&self, from: usize) -> &'a [u8] {
        self.bytes.get(from..).unwrap_or_default()
    }

    /// A token of a known shape at the beginning of a word; its prefix stays readable.
    fn token(&self) -> Option<(usize, usize)> {
        if !self.at_word() {
            return None;
        }
        let rest = self.rest(self.at);
        let shape = shape::at(rest)?;
        let start = self.at + shape.prefix.len();
        Some((start, start + shape.length(self.rest(start))))
    }

    /// Returns whether a word begins here, perhaps after an escape (`\n`) or a secret.
    fn at_word(&self) -> bool {
        if self.found.last().is_some_and(|last| last.end == self.at) {
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
        // "Bearer tokens" and "basic authentication" are words.
        let secret = value.len() >= 20 || (value.len() >= 8 && has_digit);
        secret.then_some((start, start + value.len()))
    }

    /// A private key, up to its end marker or the end of the text.
    fn private_key(&mut self) -> Option<(usize, usize)> {
        const BEGIN: &[u8] = b"-----BEGIN ";
        const DASHES: &[u8] = b"-----";
        let rest = self.rest(self.at);
        if !rest.starts_with(BEGIN) {
            return None;
        }
        let name = run(self.rest(self.at + BEGIN.len()), |byte| {
            byte.is_ascii_alphanumeric() || byte == b' '
        });
        let dashes = self.at + BEGIN.len() + name.len();
        let is_private = name.ends_with(b"PRIVATE KEY")
            || name.ends_with(b"PRIVATE KEY BLOCK")
            || name.starts_with(b"OpenVPN Static key");
        if !is_private || !self.rest(dashes).starts_with(DASHES) {
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
        let nothing = secret.iter().all(u8::is_ascii_whitespace);
        (!nothing && end > after).then_some((after, end))
    }

    /// `password=…`, `"token": "…"`, `API_KEY='…'`, `password: …`, `Cookie: …`
    fn named_value(&self) -> Option<(usize, usize)> {
        let equals = self.bytes.get(self.at) == Some(&b'=');
        let mut name_end = self.at;
        let closing = self.quote_before(&mut name_end, equals);
        let before = self.bytes.get(..name_end).unwrap_or_default();
        let Some(name) = names::kind(before) else {
            return if equals { None } else { self.header(before) };
        };
        let mut start = self.at + 1;
        // `:=`, `==`, `=>`
        if matches!(self.bytes.get(start), Some(b'=' | b'>')) {
            start += 1;
        }
        let spaces = run(self.rest(start), |byte| matches!(byte, b' ' | b'\t')).len();
        start += spaces;
        if name != names::Name::Weak
            && spaces <= 20
            && let Some(opening) = self.quote_at(start, closing)
        {
            return self.quoted(start + opening.len(), opening);
        }
        let is_joined = spaces == 0 && self.bytes.get(name_end) == Some(&b'=') && !closing;
        if is_joined && equals && name != names::Name::Weak {
            let value = run(self.rest(start), |byte| {
                !byte.is_ascii_whitespace() && !b"\"'`\\&,;()[]{}<>|".contains(&byte)
            });
            return (!value.is_empty()).then_some((start, start + value.len()));
        }
        // The value of a quoted name is a JSON number or literal.
        if closing {
            return None;
        }
        self.unquoted(name, name_end, start)
    }

    /// `password: …` and `password = …` in settings, headers, prose and code.
    fn unquoted(&self, name: names::Name, name_end: usize, start: usize) -> Option<(usize, usize)> {
        let line_start = self.line_start(name_end);
        let name_start = name_end
            - run_back(self.bytes.get(line_start..name_end)?, |byte| {
                names::is_word(byte) || byte == b'.'
            });
        let opening = name_start.checked_sub(1).and_then(|at| self.bytes.get(at));
        if let Some(quote @ (b'"' | b'\'')) = opening
            && !self.json
        {
            // `-H 'X-Api-Key: …'`
            let value = run(self.rest(start), |byte| byte != *quote && byte != b'\n');
            let is_closed = self.bytes.get(start + value.len()) == Some(quote);
            let text = self
                .line
                .get(start..start + value.len())
                .unwrap_or_default();
            let is_value = !text.contains(' ') || value::is_random(text);
            if is_closed && is_value && !text.is_empty() && !value::is_reference(text) {
                return Some((start, start + value.len()));
            }
        }
        let word = run(self.rest(start), |byte| {
            !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'\\')
        });
        let word = word.get(..word.len().min(LONGEST_VALUE))?;
        let end = start + word.len();
        let before = self.line.get(line_start..name_start)?;
        let context = if begins_a_setting(before) && self.is_last(end) {
            value::Context::Setting
        } else {
            value::Context::Sentence
        };
        let text = self.line.get(start..end)?;
        let kept = text.trim_end_matches([',', ';']);
        value::is_secret(name, text, context).then_some((start, start + kept.len()))
    }

    /// `Authorization: …`, `Cookie: …`, `Set-Cookie: …`
    fn header(&self, name: &[u8]) -> Option<(usize, usize)> {
        let ends_with = |known: &[u8]| {
            let end = name.len().checked_sub(known.len());
            let end = end.and_then(|at| name.get(at..));
            end.is_some_and(|end| end.eq_ignore_ascii_case(known))
        };
        let is_cookie = ends_with(b"cookie");
        if !is_cookie && !ends_with(b"authorization") {
            return None;
        }
        let spaces = run(self.rest(self.at + 1), |byte| byte == b' ').len();
        let mut start = self.at + 1 + spaces;
        let rest = self.rest(start);
        let rest = rest
            .get(..rest.len().min(LONGEST_VALUE))
            .unwrap_or_default();
        let value = run(rest, |byte| !b"\r\n\"'`\\".contains(&byte)).trim_ascii_end();
        let end = start + value.len();
        if is_cookie {
            let equals = value.iter().position(|byte| *byte == b'=')?;
            let is_name = |byte: &u8| byte.is_ascii_graphic() && *byte != b';';
            if equals == 0 || !value.get(..equals)?.iter().all(is_name) {
                return None;
            }
            start += equals + 1;
            let attributes = ends_with(b"set-cookie")
                .then(|| value.iter().position(|byte| *byte == b';'))
                .flatten();
            let end = attributes.map_or(end, |length| start - equals - 1 + length);
            return (end > start).then_some((start, end));
        }
        let scheme = run(value, names::is_word).len();
        let is_scheme = |known: &str| {
            let word = value.get(..scheme).unwrap_or_default();
            word.eq_ignore_ascii_case(known.as_bytes())
        };
        if SCHEMES.split(' ').any(is_scheme) && value.get(scheme) == Some(&b' ') {
            return (end > start + scheme + 1).then_some((start + scheme + 1, end));
        }
        let text = self.line.get(start..end)?;
        value::is_random(text).then_some((start, end))
    }

    /// `--password …`
    fn option(&self) -> Option<(usize, usize)> {
        let rest = self.rest(self.at);
        if !rest.starts_with(b"--") || !self.at_word() {
            return None;
        }
        let name = run(rest, names::is_word);
        let spaces = run(rest.get(name.len()..)?, |byte| byte == b' ').len();
        if spaces == 0 || !names::is_secret(name) {
            return None;
        }
        let start = self.at + name.len() + spaces;
        if let Some(opening) = self.quote_at(start, false) {
            return self.quoted(start + opening.len(), opening);
        }
        let word = run(self.rest(start), |byte| {
            !byte.is_ascii_whitespace() && !b"\"'`\\".contains(&byte)
        });
        let text = self.line.get(start..start + word.len())?;
        // A help text has a placeholder and a sentence.
        let is_placeholder = text.starts_with('-')
            || value::is_reference(text)
            || text
                .bytes()
                .all(|byte| !byte.is_ascii_lowercase() && !byte.is_ascii_digit())
            || spaces > 1;
        let is_value = !is_placeholder
            && value::is_secret(names::Name::Password, text, value::Context::Setting);
        is_value.then_some((start, start + word.len()))
    }

    /// `<password>…</password>`
    fn element(&self) -> Option<(usize, usize)> {
        let before = self.bytes.get(..self.at)?;
        let start = self.at + 1;
        let name = before.len() - run_back(before, names::is_word);
        if before.get(name.checked_sub(1)?) != Some(&b'<') || !names::is_secret(before) {
            return None;
        }
        let value = run(self.rest(start), |byte| !b"<>\"\n".contains(&byte));
        let is_closed = self.rest(start + value.len()).starts_with(b"</");
        (is_closed && !value.is_empty()).then_some((start, start + value.len()))
    }

    fn line_start(&self, at: usize) -> usize {
        // A name that begins a setting is near the beginning of a long line.
        let from = at.saturating_sub(200);
        let before = self.bytes.get(from..at).unwrap_or_default();
        let newline = before.iter().rposition(|byte| *byte == b'\n');
        let mut start = newline.map_or(from, |newline| from + newline + 1);
        while !self.line.is_char_boundary(start) {
            start += 1;
        }
        start
    }

    /// Returns whether only a comment follows a value in its line.
    fn is_last(&self, end: usize) -> bool {
        let rest = self.rest(end);
        let rest = rest.get(..rest.len().min(200)).unwrap_or_default();
        let rest = run(rest, |byte| byte != b'\n');
        let rest = rest.trim_ascii();
        rest.is_empty()
            || rest.starts_with(b"#")
            || rest.starts_with(b"//")
            || rest.starts_with(b"\\n")
    }

    /// Steps back over spaces and a closing quote; returns whether there was a quote.
    fn quote_before(&self, end: &mut usize, equals: bool) -> bool {
        let back = |end: usize| end.checked_sub(1).and_then(|at| self.bytes.get(at));
        let aligned = self.bytes.get(end.saturating_sub(20)..*end);
        let spaces = run_back(aligned.unwrap_or_default(), |byte| {
            matches!(byte, b' ' | b'\t')
        });
        *end -= spaces;
        // `os.environ["TOKEN"] = …`
        if equals
            && back(*end) == Some(&b']')
            && matches!(back(*end - 1), Some(b'"' | b'\'' | b'['))
        {
            *end -= 1;
            if back(*end) == Some(&b'[') {
                *end -= 1;
            }
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

    /// Returns the opening quote of a value; in JSON only after a quoted name.
    fn quote_at(&self, at: usize, name_was_quoted: bool) -> Option<&'static [u8]> {
        let rest = self.rest(at);
        let quotes: [&'static [u8]; 4] = [b"\\\"", b"'", b"\"", b"`"];
        let quote = quotes.into_iter().find(|quote| rest.starts_with(quote))?;
        let bare = quote == b"\"";
        let member = name_was_quoted && self.bytes.get(self.at) == Some(&b':');
        (!bare || !self.json || member).then_some(quote)
    }

    /// Returns a value up to its closing quote or the end of the JSON string.
    fn quoted(&self, start: usize, quote: &[u8]) -> Option<(usize, usize)> {
        let mut end = start;
        while let Some(&byte) = self.bytes.get(end) {
            let rest = self.rest(end);
            if rest.starts_with(quote) || (byte == b'"' && self.json) {
                break;
            }
            end += match byte {
                // `\\` and `\"` inside a bare quote; in another quote it is the end.
                b'\\' if quote == b"\"" => 2,
                b'\\' if self.json => break,
                _ => 1,
            };
        }
        end = end.min(self.bytes.len());
        // The step over an escape may have ended inside a character.
        while !self.line.is_char_boundary(end) {
            end -= 1;
        }
        (end > start).then_some((start, end))
    }

    /// `https://user:password@host`, and `https://token@host`
    fn url_password(&self) -> Option<(usize, usize)> {
        let rest = self.rest(self.at);
        let user = rest.strip_prefix(b"://")?;
        // A limit avoids quadratic time for repeated `://`.
        let user = user.get(..user.len().min(512)).unwrap_or_default();
        let authority = run(user, |byte| {
            byte.is_ascii_graphic() && !b"/\\\"'`<>".contains(&byte)
        });
        let at = authority.iter().rposition(|byte| *byte == b'@')?;
        let login = authority.get(..at)?;
        let start = self.at + 3;
        match login.iter().position(|byte| *byte == b':') {
            Some(colon) if colon + 1 < at => Some((start + colon + 1, start + at)),
            Some(_) => None,
            None => {
                let text = self.line.get(start..start + at)?;
                (at >= 20 && value::is_random(text)).then_some((start, start + at))
            }
        }
    }
}

/// Authentication schemes.
const SCHEMES: &str = "bearer basic token digest negotiate ntlm apikey api-key key bot oauth hawk \
    aws4-hmac-sha256 sharedkey";

/// Returns whether the text before a name is not a sentence.
fn begins_a_setting(before: &str) -> bool {
    const COMMANDS: &str = "export set setx env ENV ARG declare const var";
    if !before.contains(char::is_alphabetic) {
        return true;
    }
    // `file.yml:12:` and `server.` end in a sign, not in a word.
    let ends_in_sign = before.ends_with([':', '.', '>', '|', '{', '[', '(', '→']);
    let last = before.split_whitespace().next_back().unwrap_or_default();
    ends_in_sign || COMMANDS.split(' ').any(|command| command == last)
}

/// Returns the number of bytes at the end that fit.
fn run_back(bytes: &[u8], fits: impl Fn(u8) -> bool) -> usize {
    bytes.iter().rev().take_while(|byte| fits(**byte)).count()
}

/// Returns the longest prefix of bytes that fit.
pub(super) fn run(bytes: &[u8], fits: impl Fn(u8) -> bool) -> &[u8] {
    let length = bytes.iter().position(|byte| !fits(*byte));
    bytes
        .get(..length.unwrap_or(bytes.len()))
        .unwrap_or_default()
}

/// Returns 1 if the bytes end within an escape.
fn trailing_backslashes(bytes: &[u8]) -> usize {
    run_back(bytes, |byte| byte == b'\\') % 2
}
