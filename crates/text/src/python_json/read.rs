//! Reads values as Python does.

use super::{Float, Json, Object};

/// The nesting limit: Python's recursion limit with room for the caller.
const DEEPEST: usize = 900;

/// Why a text is not JSON, in the words of Python's reader, which scripts compare.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: line {line} column {column} (char {character})")]
pub struct ParseError {
    /// The problem.
    pub what: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The character in the text, from 0.
    pub character: usize,
}

/// Reads one value and nothing after it.
pub fn parse(text: &str) -> Result<Json, ParseError> {
    let mut reader = Reader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        return Err(reader.wrong("Unexpected UTF-8 BOM (decode using utf-8-sig)"));
    }
    reader.skip_space();
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.wrong("Extra data"));
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn wrong(&self, what: &'static str) -> ParseError {
        self.wrong_at(self.at, what)
    }

    fn wrong_at(&self, at: usize, what: &'static str) -> ParseError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        ParseError {
            what,
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            character: before.chars().count(),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, ParseError> {
        if depth > DEEPEST {
            return Err(self.wrong("values are nested too deeply"));
        }
        match self.peek() {
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Json, ParseError> {
        let words = [
            ("null", Json::Null),
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
            ("NaN", f64::NAN.into()),
            ("Infinity", f64::INFINITY.into()),
            ("-Infinity", f64::NEG_INFINITY.into()),
        ];
        for (word, value) in words {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.number()
    }

    fn number(&mut self) -> Result<Json, ParseError> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| {
            let run = bytes.get(from..).unwrap_or_default();
            run.iter().take_while(|byte| byte.is_ascii_digit()).count()
        };
        let sign = usize::from(bytes.first() == Some(&b'-'));
        let mut whole = digits(sign);
        if whole == 0 {
            return Err(self.wrong("Expecting value"));
        }
        if bytes.get(sign) == Some(&b'0') {
            whole = 1;
        }
        let mut end = sign + whole;
        let mut is_whole = true;
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
            is_whole = false;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let power = digits(end + 1 + sign);
            if power > 0 {
                end += 1 + sign + power;
                is_whole = false;
            }
        }
        let text = &self.rest()[..end];
        let value = if is_whole {
            let whole = text.parse().map(Json::Int);
            whole.unwrap_or_else(|_| Json::LargeInt(text.to_owned()))
        } else {
            Json::Float(Float::parse(text))
        };
        self.at += end;
        Ok(value)
    }

    fn list(&mut self, depth: usize) -> Result<Json, ParseError> {
        let mut items = Vec::new();
        self.members(b']', |reader| {
            items.push(reader.value(depth + 1)?);
            Ok(())
        })?;
        Ok(Json::List(items))
    }

    fn object(&mut self, depth: usize) -> Result<Json, ParseError> {
        let mut object = Object::new();
        self.members(b'}', |reader| {
            if reader.peek() != Some(b'"') {
                return Err(reader.wrong("Expecting property name enclosed in double quotes"));
            }
            let key = reader.string()?;
            reader.skip_space();
            if !reader.take(b':') {
                return Err(reader.wrong("Expecting ':' delimiter"));
            }
            reader.skip_space();
            object.set(key, reader.value(depth + 1)?);
            Ok(())
        })?;
        Ok(Json::Object(object))
    }

    /// Reads members separated by commas, from the opening to the closing bracket.
    fn members(
        &mut self,
        close: u8,
        mut member: impl FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        self.at += 1;
        self.skip_space();
        if self.take(close) {
            return Ok(());
        }
        loop {
            self.skip_space();
            member(self)?;
            self.skip_space();
            if self.take(close) {
                return Ok(());
            }
            if !self.take(b',') {
                return Err(self.wrong("Expecting ',' delimiter"));
            }
        }
    }

    fn string(&mut self) -> Result<String, ParseError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain = rest
                .find(|c: char| c == '"' || c == '\\' || c < ' ')
                .filter(|plain| rest.get(*plain..) != Some("\\"))
                .ok_or_else(|| self.wrong_at(start, "Unterminated string starting at"))?;
            text.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(self.wrong("Invalid control character at")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let letter = self.text.as_bytes().get(self.at + 1).copied();
        let plain = match letter {
            Some(b'u') => return self.unicode_escape(),
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(self.wrong("Invalid \\escape")),
        };
        self.at += 2;
        Ok(plain)
    }

    fn unicode_escape(&mut self) -> Result<char, ParseError> {
        let high = self.code_unit(self.at)?;
        if let Some(plain) = char::from_u32(high) {
            self.at += 6;
            return Ok(plain);
        }
        let low = self.code_unit(self.at + 6).unwrap_or_default();
        let is_pair = high < 0xDC00 && (0xDC00..0xE000).contains(&low);
        let joined = is_pair.then(|| 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
        match joined.and_then(char::from_u32) {
            Some(joined) => {
                self.at += 12;
                Ok(joined)
            }
            None => Err(self.wrong("half of a surrogate pair in a string")),
        }
    }

    /// Reads `\uXXXX` at a position.
    fn code_unit(&self, at: usize) -> Result<u32, ParseError> {
        let digits = self
            .text
            .get(at..at + 6)
            .and_then(|escape| escape.strip_prefix("\\u"))
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        digits
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.wrong_at(at + 1, "Invalid \\uXXXX escape"))
    }
}
