//! Repairs halves of surrogate pairs, which JSON allows and a Rust string cannot contain.
//!
//! Writers that cut a text in the middle of `\ud83d\ude00` produce them, and the parser rejects the
//! line.

use std::borrow::Cow;

/// The escaped replacement character, as long as the half that it replaces.
const REPLACEMENT: &str = "\\ufffd";

/// Replaces every unpaired half in a JSON text.
pub(super) fn replace_halves(json: &str) -> Cow<'_, str> {
    let mut replaced = Cow::Borrowed(json);
    let mut at = 0;
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let first = escape(json, at);
        let second = escape(json, at + REPLACEMENT.len());
        match (first, second) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 2 * REPLACEMENT.len(),
            (Some(0xD800..=0xDFFF), _) => {
                let half = at..at + REPLACEMENT.len();
                replaced.to_mut().replace_range(half, REPLACEMENT);
                at += REPLACEMENT.len();
            }
            (Some(_), _) => at += REPLACEMENT.len(),
            // An escape of two characters, such as a backslash before a backslash.
            (None, _) => at += 2,
        }
    }
    replaced
}

/// Returns the code of an escape like `\u0041` at `at`.
fn escape(json: &str, at: usize) -> Option<u32> {
    let digits = json
        .get(at..at.checked_add(REPLACEMENT.len())?)?
        .strip_prefix("\\u")?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_unpaired_halves_only() {
        let table = [
            (r#""plain""#, r#""plain""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""a\ude00b\u0041""#, r#""a\ufffdb\u0041""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d \n\\""#, r#""\\ud83d \n\\""#),
        ];
        for (json, expected) in table {
            assert_eq!(replace_halves(json), expected);
            assert!(serde_json::from_str::<String>(&replace_halves(json)).is_ok());
        }
    }

    #[test]
    fn accepts_text_that_is_not_json() {
        for odd in ["\\", "\\u", "\\u12", "\\é", "\\u00é", "\\ud83"] {
            assert_eq!(replace_halves(odd), odd);
        }
    }
}
