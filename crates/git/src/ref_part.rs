//! Encoding of any text as a part of a ref's name.
//!
//! Letters, digits, `-`, `_` and single dots between letters or digits are kept; every other byte
//! becomes `%XX`. A part that is too long for a file name is split; a piece that ends with `%`
//! continues in the next one.

/// File names have at most 255 bytes, and git appends `.lock` to them.
const LONGEST: usize = 200;

/// Represents an empty name.
const EMPTY: &str = "%-";

/// Returns a text as one or more components of a ref's name; different texts give different names.
pub fn ref_part(text: &str) -> String {
    if text.is_empty() {
        return EMPTY.to_owned();
    }
    let bytes = text.as_bytes();
    let mut pieces = vec![String::new()];
    for (at, &byte) in bytes.iter().enumerate() {
        let is_full = pieces.last().is_none_or(|piece| piece.len() + 3 > LONGEST);
        if is_full {
            pieces.push(String::new());
        }
        let Some(piece) = pieces.last_mut() else {
            continue;
        };
        if is_plain(bytes, at) && !(byte == b'.' && piece.is_empty()) {
            piece.push(char::from(byte));
        } else {
            piece.extend([format!("%{byte:02X}")]);
        }
    }
    pieces.join("%/")
}

/// Returns whether the byte is kept: git refuses dots at either end, two dots in a row, and `.lock`
/// at the end.
fn is_plain(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b'.' => {
            let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
            let rest = &bytes[at + 1..];
            at > 0 && is_letter(bytes.get(at - 1)) && is_letter(rest.first()) && rest != b"lock"
        }
        byte => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
    }
}

/// Returns the text that [`ref_part`] encoded.
pub(crate) fn decode_part<'a>(pieces: &mut impl Iterator<Item = &'a str>) -> Option<String> {
    let mut encoded = String::new();
    loop {
        let piece = pieces.next()?;
        let Some(begin) = piece.strip_suffix('%') else {
            encoded.push_str(piece);
            break;
        };
        encoded.push_str(begin);
    }
    if encoded == EMPTY {
        return Some(String::new());
    }
    rekindle_text::percent_decoded(&encoded)
}
