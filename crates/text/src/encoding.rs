//! Texts for names of files, refs and addresses: percent-encoding, and digests.

use sha2::{Digest as _, Sha256};

/// Returns a text with every byte as `%XX` that is not plain, by the text's bytes and its position.
pub fn percent_encoded(text: &str, is_plain: impl Fn(&[u8], usize) -> bool) -> String {
    let bytes = text.as_bytes();
    let mut encoded = String::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        if is_plain(bytes, at) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Returns the text that was encoded like this; `None` if it is not percent-encoded UTF-8.
pub fn percent_decoded(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex_digit(rest.next()?)? << 4 | hex_digit(rest.next()?)?,
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

fn hex_digit(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

/// Returns the first `n_bytes` of the SHA-256 of some bytes, as hexadecimal digits.
pub fn sha256_hex(bytes: &[u8], n_bytes: usize) -> String {
    let digest = Sha256::digest(bytes);
    crate::hex(&digest[..n_bytes.min(digest.len())])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn damaged_escapes_are_refused() {
        for damaged in ["%", "%4", "%+1", "%zz", "%ff"] {
            assert_eq!(percent_decoded(damaged), None, "{damaged}");
        }
        assert_eq!(percent_decoded("T%201%2e").as_deref(), Some("T 1."));
    }

    #[test]
    fn a_digest_is_that_of_other_programs() {
        assert_eq!(sha256_hex(b"", 4), "e3b0c442");
        assert_eq!(sha256_hex(b"", 64).len(), 64);
    }

    proptest! {
        #[test]
        fn any_text_survives(text in ".*") {
            let is_plain = |bytes: &[u8], at: usize| bytes[at].is_ascii_alphanumeric();
            let encoded = percent_encoded(&text, is_plain);
            prop_assert_eq!(percent_decoded(&encoded), Some(text));
        }
    }
}
