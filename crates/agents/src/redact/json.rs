//! Secrets in a line of JSON, where every string is a separate text.

use serde::de::IgnoredAny;

use super::follow::Follow;
use super::view::View;
use super::{Mask, find as find_in, names};

/// Finds the secrets in the strings of a JSON object or list; `None` if the text is neither.
///
/// Masks stay within the quotes of a string, so the text stays JSON.
pub(super) fn find(text: &str, depth: u8) -> Option<Vec<Mask>> {
    if !text.trim_start().starts_with(['{', '['])
        || serde_json::from_str::<IgnoredAny>(text).is_err()
    {
        return None;
    }
    let mut walk = Walk {
        text,
        depth,
        name: None,
        says: Says::Nothing,
        found: Vec::new(),
    };
    walk.run();
    Some(walk.found)
}

/// What the strings so far say about the next one.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Nothing,
    /// `"name": "DB_PASSWORD"`: the member `value` is a secret.
    ValueIsSecret,
    /// `["--password", …`
    NextIsSecret,
}

struct Walk<'a> {
    text: &'a str,
    depth: u8,
    /// The name of the next value.
    name: Option<&'a str>,
    says: Says,
    found: Vec<Mask>,
}

impl<'a> Walk<'a> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let end = end_of_string(bytes, at + 1);
                    self.string(at + 1, end);
                    at = end;
                }
                b'{' | b'}' | b'[' | b']' => {
                    self.says = Says::Nothing;
                    self.name = None;
                }
                // The value is not a string.
                byte if byte.is_ascii_alphanumeric() => self.name = None,
                _ => {}
            }
            at += 1;
        }
    }

    /// Reads the string between two quotes.
    fn string(&mut self, start: usize, end: usize) {
        let content: &'a str = self.text.get(start..end).unwrap_or_default();
        let behind = self.text.get(end + 1..).unwrap_or_default();
        let is_name = behind.trim_start().starts_with(':');
        let name = self.name.take();
        let is_secret = match (name, self.says) {
            (_, Says::NextIsSecret) | (Some("value" | "Value"), Says::ValueIsSecret) => true,
            (Some(name), Says::Nothing | Says::ValueIsSecret) => {
                names::claims(name.as_bytes(), content)
            }
            (None, Says::Nothing | Says::ValueIsSecret) => false,
        };
        if is_name {
            self.name = Some(content);
        } else {
            self.says = match name {
                Some("name" | "Name" | "key" | "Key") if names::is_secret(content.as_bytes()) => {
                    Says::ValueIsSecret
                }
                None if content.starts_with("--") && names::is_secret(content.as_bytes()) => {
                    Says::NextIsSecret
                }
                Some(_) if self.says == Says::ValueIsSecret => Says::ValueIsSecret,
                Some(_) | None => Says::Nothing,
            };
        }
        if is_secret && !is_name {
            if content.bytes().any(|byte| byte != b'*') {
                let (range, is_first) = (start..end, true);
                self.found.push(Mask { range, is_first });
            }
            return;
        }
        let view = View::of_json(content);
        let masks = find_in(&view.text, &mut Follow::default(), self.depth + 1);
        self.found.extend(masks.into_iter().map(|mask| {
            let range = view.whole(&mask.range);
            Mask {
                range: start + range.start..start + range.end,
                is_first: mask.is_first,
            }
        }));
    }
}

/// Returns the position of the closing quote.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}
