//! Lines, blanks, digits and words as Python's `str` and `re` define them.
//!
//! Python programs read the same plans and reviews, so both must agree. The tables are those of
//! Unicode 14, the version of Python 3.11.

/// Returns the text with every line end as `\n`, as Python reads files.
pub fn universal_newlines(text: &str) -> String {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.to_owned()
    }
}

/// Returns the lines without their ends, as `str.splitlines` does.
pub fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((end, c)) = rest.char_indices().find(|(_, c)| is_line_end(*c)) else {
            return Some(std::mem::take(&mut rest));
        };
        let line = &rest[..end];
        rest = &rest[end + c.len_utf8()..];
        if c == '\r' {
            rest = rest.strip_prefix('\n').unwrap_or(rest);
        }
        Some(line)
    })
}

fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Returns whether it matches `\s` and is removed by `str.strip`.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Returns the text without blanks at both ends.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Returns the text without blanks at its end.
pub fn rstrip(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// Returns the value of a decimal digit of any script, as `\d` matches it.
pub fn digit(c: char) -> Option<u32> {
    let code = u32::from(c);
    let zero = ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?;
    Some(code - ZEROS[zero]).filter(|value| *value < 10)
}

/// Returns whether `str.isdigit` accepts it but `int` does not: superscript, circled and so on.
pub fn is_odd_digit(c: char) -> bool {
    matches!(
        u32::from(c),
        0xB2..=0xB3 | 0xB9 | 0x1369..=0x1371 | 0x19DA | 0x2070 | 0x2074..=0x2079 | 0x2080..=0x2089 | 0x2460..=0x2468 | 0x2474..=0x247C | 0x2488..=0x2490 | 0x24EA | 0x24F5..=0x24FD | 0x24FF | 0x2776..=0x277E | 0x2780..=0x2788 | 0x278A..=0x2792 | 0x1_0A40..=0x1_0A43 | 0x1_0E60..=0x1_0E68 | 0x1_1052..=0x1_105A | 0x1_F100..=0x1_F10A
    )
}

/// Returns whether it matches `\w`.
pub fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The zeros of all scripts; the other nine digits follow each.
const ZEROS: &[u32] = &[
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66,
    0xDE6, 0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90,
    0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x1_04A0, 0x1_0D30, 0x1_1066, 0x1_10F0, 0x1_1136, 0x1_11D0, 0x1_12F0, 0x1_1450, 0x1_14D0,
    0x1_1650, 0x1_16C0, 0x1_1730, 0x1_18E0, 0x1_1950, 0x1_1C50, 0x1_1D50, 0x1_1DA0, 0x1_6A60,
    0x1_6AC0, 0x1_6B50, 0x1_D7CE, 0x1_D7D8, 0x1_D7E2, 0x1_D7EC, 0x1_D7F6, 0x1_E140, 0x1_E2F0,
    0x1_E950, 0x1_FBF0,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_in_python() {
        let lines = |text| split_lines(text).collect::<Vec<_>>();
        assert_eq!(
            lines("a\r\nb\rc\n\nd\u{b}e\u{1c}f\u{85}g\u{2028}h"),
            ["a", "b", "c", "", "d", "e", "f", "g", "h"]
        );
        assert_eq!(lines("a\n"), ["a"]);
        assert_eq!(lines("\n"), [""]);
        assert!(lines("").is_empty());
        assert_eq!(lines("a\u{1f}b"), ["a\u{1f}b"]);
        assert_eq!(universal_newlines("a\r\nb\rc\r\r\n"), "a\nb\nc\n\n");
    }

    #[test]
    fn blanks_and_digits_are_those_of_python() {
        assert_eq!(strip("\u{1f}\u{a0} a b\u{3000}\n"), "a b");
        assert_eq!(rstrip(" a \t"), " a");
        assert_eq!(digit('7'), Some(7));
        assert_eq!(digit('\u{0664}'), Some(4));
        assert_eq!(digit('\u{1FBF9}'), Some(9));
        for c in ['a', '²', '①', '\u{3A}', '\u{2F}'] {
            assert_eq!(digit(c), None, "{c}");
        }
        assert!(is_odd_digit('²') && is_odd_digit('①') && !is_odd_digit('2'));
        assert!(is_word('_') && is_word('é') && is_word('٤') && !is_word('-'));
    }
}
