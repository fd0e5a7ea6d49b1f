//! Secrets in base64, such as an encoded file of variables.

use std::ops::Range;

/// The least length that is decoded.
const LEAST: usize = 20;
/// The maximum length that is decoded.
const MOST: usize = 16 * 1024;
/// The length by which text is recognized; images and hashes end here.
const TASTE: usize = 12;

/// Adds the runs of base64 with a secret.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest.iter().position(|byte| digit(*byte).is_none());
        let length = length.unwrap_or(rest.len());
        let run = rest.get(..length).unwrap_or_default();
        if length >= LEAST && has_a_secret(run) {
            let padding = rest.iter().skip(length).take_while(|byte| **byte == b'=');
            let end = at + length + padding.take(2).count();
            found.push(at..end);
        }
        at += length + 1;
    }
}

fn has_a_secret(run: &[u8]) -> bool {
    let is_text = |bytes: &[u8]| {
        let printable = |byte: &u8| (0x20..0x7f).contains(byte) || b"\n\r\t".contains(byte);
        bytes.iter().all(printable)
    };
    if !is_text(&decode(run.get(..TASTE).unwrap_or_default())) {
        return false;
    }
    let decoded = decode(run.get(..run.len().min(MOST)).unwrap_or_default());
    let Ok(text) = std::str::from_utf8(&decoded) else {
        return false;
    };
    let (secrets, _) = super::find_plain(text);
    // An encoded mask is not a secret.
    secrets.into_iter().any(|range| {
        let secret = text.get(range).unwrap_or_default();
        secret.bytes().any(|byte| byte != b'*')
    })
}

/// Decodes base64 of either alphabet; an incomplete byte at the end is dropped.
fn decode(run: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(run.len() / 4 * 3 + 3);
    let (mut bits, mut n_bits) = (0_u32, 0);
    for digit in run.iter().copied().filter_map(digit) {
        bits = (bits << 6) | u32::from(digit);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            decoded.push(u8::try_from((bits >> n_bits) & 0xff).unwrap_or_default());
        }
    }
    decoded
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_alphabets_are_decoded() {
        assert_eq!(decode(b"QVdTX1NFQ1JFVD14"), b"AWS_SECRET=x");
        assert_eq!(decode(b"Pz8_Pz8-"), decode(b"Pz8/Pz8+"));
        assert_eq!(decode(b"YQ"), b"a");
    }
}
