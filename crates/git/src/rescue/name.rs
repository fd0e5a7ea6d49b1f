//! Names of rescues: any text as a part of a ref, and back.
//!
//! Letters, digits, `-`, `_` and inner single dots stand for themselves, every other byte is `%XX`.
//! A part that is too long for a file name is cut; a piece that ends with `%` goes on in the next.

/// Below this all rescues are.
pub(super) const PREFIX: &str = "refs/rekindle/rescue/";

/// File names end at 255 bytes, and git puts `.lock` after them.
const LONGEST: usize = 200;

/// A larger number was not counted up to, and there must be room to count on.
const LARGEST: u32 = 1_000_000_000;

/// Stands for an empty name.
const EMPTY: &str = "%-";

/// Returns the name of the ref.
pub(super) fn encode(workflow: &str, task: &str, number: u32) -> String {
    format!(
        "{PREFIX}{}/{}/{number}",
        encode_part(workflow),
        encode_part(task)
    )
}

/// Returns workflow, task and number, if the name was made by [`encode`].
pub(super) fn decode(name: &str) -> Option<(String, String, u32)> {
    let mut pieces = name.strip_prefix(PREFIX)?.split('/');
    let workflow = decode_part(&mut pieces)?;
    let task = decode_part(&mut pieces)?;
    let number = pieces.next()?.parse().ok()?;
    let is_ours = pieces.next().is_none() && number <= LARGEST;
    (is_ours && encode(&workflow, &task, number) == name).then_some((workflow, task, number))
}

fn encode_part(text: &str) -> String {
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

/// git allows no dot at either end, no two in a row, and no `.lock` at the end.
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

fn decode_part<'a>(pieces: &mut impl Iterator<Item = &'a str>) -> Option<String> {
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
    let mut bytes = Vec::new();
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn usual_names_stay_readable() {
        assert_eq!(
            encode("map", "T-1.2_a", 3),
            "refs/rekindle/rescue/map/T-1.2_a/3"
        );
        let teams = encode("kiln-teams:phase-1", "phase-1:exec", 1);
        assert_eq!(
            teams,
            "refs/rekindle/rescue/kiln-teams%3Aphase-1/phase-1%3Aexec/1"
        );
        assert_eq!(
            encode("..", "a.lock", 1),
            "refs/rekindle/rescue/%2E%2E/a%2Elock/1"
        );
    }

    #[test]
    fn a_long_name_is_cut_and_no_piece_starts_with_a_dot() {
        for n_letters in LONGEST - 9..LONGEST + 9 {
            let text = "a".repeat(n_letters) + ".b";
            let name = encode(&text, "t", 1);
            assert!(
                name.split('/')
                    .all(|piece| !piece.starts_with('.') && piece.len() < 250)
            );
            assert_eq!(decode(&name), Some((text, "t".to_owned(), 1)));
        }
    }

    #[test]
    fn foreign_names_are_not_read() {
        for name in [
            "refs/heads/main",
            "refs/rekindle/rescue/a/1",
            "refs/rekindle/rescue/a/b/x",
            "refs/rekindle/rescue/a/b/01",
            "refs/rekindle/rescue/a/b/1/2",
            "refs/rekindle/rescue/a/b/4294967295",
            "refs/rekindle/rescue/a%3a/b/1",
            "refs/rekindle/rescue/a%/b%/1",
            "refs/rekindle/rescue/a%zz/b/1",
        ] {
            assert_eq!(decode(name), None, "{name}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_name_can_be_read_back(workflow in ".{0,300}", task in "[a.%/~-]{0,300}", n in 1..=LARGEST) {
            let name = encode(&workflow, &task, n);
            prop_assert_eq!(decode(&name), Some((workflow, task, n)));
            for piece in name.split('/') {
                prop_assert!(!piece.is_empty() && piece.len() < 250);
                prop_assert!(!piece.starts_with('.') && !piece.ends_with('.'));
                prop_assert!(!piece.contains("..") && piece.rsplit_once('.').unwrap_or_default().1 != "lock");
            }
        }
    }
}
