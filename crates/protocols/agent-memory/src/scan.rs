//! A fast parser for lines with one plain event.
//!
//! It accepts a strict subset of JSON and leaves everything else to the general parser; a test
//! compares the results of both.

use std::borrow::Cow;

use super::event::{Event, Key, Payload, Value};

/// Deeper lists and objects are left to the general parser, which has a limit of its own.
const DEEPEST: u32 = 32;

/// Reads a line into an empty event; if it returns false, the event is incomplete.
pub(super) fn event<'a>(line: &'a str, event: &mut Event<'a>) -> bool {
    let mut scanner = Scanner {
        text: line,
        bytes: line.as_bytes(),
        at: 0,
    };
    scanner.event(event).is_some()
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn event(&mut self, event: &mut Event<'a>) -> Option<()> {
        self.blanks();
        self.take(b'{')?;
        let mut more = self.first()?;
        while more {
            let key = self.key()?;
            match key {
                Key::Type(at) => event.types[at] = self.value()?,
                Key::Timestamp => event.timestamp = self.value()?,
                Key::RunId => event.run_id = self.value()?,
                Key::After => event.after = self.value()?,
                Key::Details => {
                    event.details = Payload::default();
                    self.details(&mut event.details)?;
                }
                Key::Payload(field) => event.top.put(field, self.value()?),
                Key::Unknown => self.skip(0)?,
            }
            more = self.next(b'}')?;
        }
        self.blanks();
        (self.at == self.bytes.len()).then_some(())
    }

    fn details(&mut self, payload: &mut Payload<'a>) -> Option<()> {
        if self.peek()? != b'{' {
            return self.skip(0);
        }
        self.at += 1;
        let mut more = self.first()?;
        while more {
            let key = self.key()?;
            match key {
                Key::Payload(field) => payload.put(field, self.value()?),
                Key::Type(_)
                | Key::Timestamp
                | Key::RunId
                | Key::After
                | Key::Details
                | Key::Unknown => self.skip(0)?,
            }
            more = self.next(b'}')?;
        }
        Some(())
    }

    /// Takes a key with its colon.
    #[inline]
    fn key(&mut self) -> Option<Key> {
        self.take(b'"')?;
        let start = self.at;
        let end = special(self.bytes, start);
        if self.bytes.get(end) != Some(&b'"') {
            return None;
        }
        let key = Key::parse(&self.bytes[start..end]);
        self.at = end + 1;
        self.blanks();
        self.take(b':')?;
        self.blanks();
        Some(key)
    }

    /// Takes a value that is looked at.
    #[inline]
    fn value(&mut self) -> Option<Value<'a>> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                let start = self.at;
                let end = special(self.bytes, start);
                if self.bytes.get(end) == Some(&b'"') {
                    self.at = end + 1;
                    return Some(Value::Text(Cow::Borrowed(self.text.get(start..end)?)));
                }
                self.escaped(start)
            }
            b't' => self.word("true", Value::Boolean(true)),
            b'f' => self.word("false", Value::Boolean(false)),
            b'n' => self.word("null", Value::Absent),
            b'0'..=b'9' => self.digits().map(Value::Integer),
            b'{' | b'[' => {
                self.skip(0)?;
                Some(Value::Opaque)
            }
            _ => None,
        }
    }

    #[cold]
    fn escaped(&mut self, start: usize) -> Option<Value<'a>> {
        self.string()?;
        let text: String = serde_json::from_str(self.text.get(start - 1..self.at)?).ok()?;
        Some(Value::Text(Cow::Owned(text)))
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Option<Value<'a>> {
        let end = self.at + word.len();
        (self.bytes.get(self.at..end)? == word.as_bytes()).then(|| {
            self.at = end;
            value
        })
    }

    /// Takes a small whole number.
    fn digits(&mut self) -> Option<i64> {
        let start = self.at;
        let mut number = 0_i64;
        while let Some(digit @ b'0'..=b'9') = self.bytes.get(self.at) {
            number = number
                .wrapping_mul(10)
                .wrapping_add(i64::from(digit - b'0'));
            self.at += 1;
        }
        let n_digits = self.at - start;
        let odd = matches!(self.bytes.get(self.at), Some(b'.' | b'e' | b'E'))
            || n_digits > 18
            || (n_digits > 1 && self.bytes[start] == b'0');
        (!odd).then_some(number)
    }

    /// Passes over a value.
    fn skip(&mut self, depth: u32) -> Option<()> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string()
            }
            b't' => self.word("true", Value::Absent).map(drop),
            b'f' => self.word("false", Value::Absent).map(drop),
            b'n' => self.word("null", Value::Absent).map(drop),
            b'0'..=b'9' => self.digits().map(drop),
            b'[' if depth < DEEPEST => {
                self.at += 1;
                self.blanks();
                if self.peek()? == b']' {
                    self.at += 1;
                    return Some(());
                }
                loop {
                    self.skip(depth + 1)?;
                    if !self.next(b']')? {
                        return Some(());
                    }
                }
            }
            b'{' if depth < DEEPEST => {
                self.at += 1;
                let mut more = self.first()?;
                while more {
                    self.take(b'"')?;
                    self.string()?;
                    self.blanks();
                    self.take(b':')?;
                    self.blanks();
                    self.skip(depth + 1)?;
                    more = self.next(b'}')?;
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Passes over the rest of a string.
    #[inline]
    fn string(&mut self) -> Option<()> {
        loop {
            self.at = special(self.bytes, self.at);
            match *self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => match *self.bytes.get(self.at + 1)? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
                    // Four digits, perhaps half of a pair: for the general parser.
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    /// Returns whether an object has a first key.
    #[inline]
    fn first(&mut self) -> Option<bool> {
        self.blanks();
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(false);
        }
        Some(true)
    }

    /// Returns whether another value follows.
    #[inline]
    fn next(&mut self, end: u8) -> Option<bool> {
        self.blanks();
        let sign = self.peek()?;
        self.at += 1;
        if sign == b',' {
            self.blanks();
            Some(true)
        } else {
            (sign == end).then_some(false)
        }
    }

    #[inline]
    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn take(&mut self, sign: u8) -> Option<()> {
        (self.peek()? == sign).then(|| self.at += 1)
    }
}

/// Returns the position of the first quote, backslash or control character, or the end.
#[inline]
fn special(bytes: &[u8], from: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let mut at = from;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = word ^ (ONES * 0x22);
        let quote = quote.wrapping_sub(ONES) & !quote;
        let backslash = word ^ (ONES * 0x5C);
        let backslash = backslash.wrapping_sub(ONES) & !backslash;
        // A borrow can only raise a false alarm above the first true one.
        let found = (control | quote | backslash) & HIGH;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at)
        && *byte >= 0x20
        && *byte != b'"'
        && *byte != b'\\'
    {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The general parser accepts the same lines with the same result.
    fn agrees(line: &str) -> bool {
        let mut short = Event::default();
        let taken = self::event(line, &mut short);
        if taken {
            let general: Event<'_> = serde_json::from_str(line).expect(line);
            assert_eq!(format!("{short:?}"), format!("{general:?}"), "{line}");
        }
        taken
    }

    const SEEDS: &[&str] = &[
        r#"{"event_type":"task-started","run_id":"r","timestamp":"2026-01-05T09:00:00Z","actor":"a","task_id":"T1","details":{"command":"x \"y\" \\ \n","exit_code":0,"list":["a",1,{"b":[true,false,null]}],"blocking":false}}"#,
        r#"{"type": "phase_transition", "from_phase": 0, "to_phase": "1", "notes": "n–n", "reason": ["x"], "error": "e", "summary": "s", "trigger": -1.5e3}"#,
        r#" { "task_id" : "a\tb" , "details" : [ ] , "task_id" : 7 , "details" : { } } "#,
        r#"{"recovery_possible":true,"message":null,"event":12,"timestamp":123456789012345678,"run_id":{"a":1},"x":0}"#,
    ];

    #[test]
    fn reads_plain_events() {
        assert!(agrees(SEEDS[0]));
        assert!(agrees("{}"));
    }

    #[test]
    fn agrees_with_the_general_parser() {
        let mut state = 1_u64;
        let mut random = |end: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % end
        };
        let signs: Vec<char> = "{}[]\",:\\ \t\r\u{1}\u{7f}0123456789.-+eEtrufalsn/bé\u{2013}x_"
            .chars()
            .collect();
        let mut n_taken = 0;
        for round in 0..100_000 {
            let mut line: Vec<char> = SEEDS[round % SEEDS.len()].chars().collect();
            for _ in 0..=random(3) {
                let at = random(line.len());
                match random(4) {
                    0 => {
                        line.remove(at);
                    }
                    1 => line[at] = signs[random(signs.len())],
                    2 => line.insert(at, signs[random(signs.len())]),
                    _ => {
                        let to = random(line.len());
                        let c = line[to];
                        line.insert(at, c);
                    }
                }
            }
            let line: String = line.into_iter().collect();
            n_taken += usize::from(agrees(&line));
        }
        assert!(n_taken > 5_000);
    }
}
