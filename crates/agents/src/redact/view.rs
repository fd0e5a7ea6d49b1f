//! A text as a reader sees it: without terminal sequences and JSON escapes.
//!
//! Secrets are found in the view and masked in the source, so a view maps its pieces to the source.

use std::borrow::Cow;
use std::ops::Range;

/// The visible text, and the sources of its pieces.
#[derive(Default)]
pub(super) struct View<'a> {
    pub(super) text: Cow<'a, str>,
    /// The pieces in order.
    pieces: Vec<Piece>,
}

struct Piece {
    /// The start in the view.
    at: usize,
    /// The range in the source.
    from: Range<usize>,
}

impl<'a> View<'a> {
    /// Removes terminal sequences and characters without width.
    pub(super) fn of_terminal(text: &'a str) -> Self {
        let is_plain = text.is_ascii() && !text.as_bytes().contains(&ESC);
        if is_plain || !text.contains(|c| c == '\u{1b}' || is_invisible(c)) {
            return Self::same(text);
        }
        let mut view = Self::default();
        let mut rest = text;
        while let Some(at) = rest.find(|c| c == '\u{1b}' || is_invisible(c)) {
            let start = text.len() - rest.len();
            view.push(&text[start..start + at], start..start + at);
            let hidden = rest.get(at..).unwrap_or_default();
            let length = sequence(hidden);
            rest = hidden.get(length..).unwrap_or_default();
        }
        view.push(rest, text.len() - rest.len()..text.len());
        view
    }

    /// Decodes the content of a JSON string.
    pub(super) fn of_json(text: &'a str) -> Self {
        if !text.contains('\\') {
            return Self::same(text);
        }
        let mut view = Self::default();
        let mut at = 0;
        while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
            view.push(&text[at..at + found], at..at + found);
            at += found;
            let (decoded, length) = escape(text.get(at..).unwrap_or_default());
            view.push(decoded.encode_utf8(&mut [0; 4]), at..at + length);
            at += length;
        }
        view.push(text.get(at..).unwrap_or_default(), at..text.len());
        view
    }

    fn same(text: &'a str) -> Self {
        let (at, from) = (0, 0..text.len());
        Self {
            text: Cow::Borrowed(text),
            pieces: vec![Piece { at, from }],
        }
    }

    fn push(&mut self, piece: &str, from: Range<usize>) {
        if !piece.is_empty() {
            let at = self.text.len();
            self.pieces.push(Piece { at, from });
            self.text.to_mut().push_str(piece);
        }
    }

    /// Returns the source of a range of the view, as one range.
    pub(super) fn whole(&self, range: &Range<usize>) -> Range<usize> {
        let parts = self.parts(range);
        let start = parts.first().map_or(0, |part| part.start);
        let end = parts.last().map_or(start, |part| part.end);
        start..end
    }

    /// Returns the source of a range of the view, without the invisible parts.
    pub(super) fn parts(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let first = self.pieces.partition_point(|piece| piece.at <= range.start);
        let mut parts = Vec::new();
        for (index, piece) in self.pieces.iter().enumerate().skip(first.max(1) - 1) {
            if piece.at >= range.end {
                break;
            }
            let next = self.pieces.get(index + 1);
            let end = next.map_or(self.text.len(), |next| next.at);
            let is_copied = end - piece.at == piece.from.len();
            let skipped = range.start.saturating_sub(piece.at);
            let cut = end.saturating_sub(range.end);
            // A decoded character is masked with its whole escape.
            parts.push(if is_copied {
                piece.from.start + skipped..piece.from.end - cut
            } else {
                piece.from.clone()
            });
        }
        parts
    }
}

const ESC: u8 = 0x1b;

/// Returns whether a character divides a word invisibly; `\u{9b}` is the 8-bit form of `ESC [`.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{9b}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
    )
}

/// Returns the length of the terminal sequence at the start of a text, at most 256 bytes, so that an
/// unterminated one does not hide the rest of the line.
fn sequence(text: &str) -> usize {
    const LONGEST: usize = 256;
    let bytes = text.as_bytes();
    let first = text.chars().next().map_or(1, char::len_utf8);
    let (kind, at) = match (text.starts_with('\u{1b}'), bytes.get(1)) {
        (false, _) if text.starts_with('\u{9b}') => (b'[', first),
        (false, _) | (true, None) => return first,
        (true, Some(kind)) => (*kind, 2),
    };
    let rest = bytes.iter().enumerate().skip(at).take(LONGEST);
    match kind {
        // CSI: parameters up to a final byte.
        b'[' => {
            for (index, byte) in rest {
                match byte {
                    0x20..=0x3f => {}
                    0x40..=0x7e => return index + 1,
                    _ => return index,
                }
            }
            at
        }
        // OSC and other strings: up to BEL or `ESC \`.
        b']' | b'P' | b'X' | b'^' | b'_' => {
            for (index, byte) in rest {
                match byte {
                    0x07 => return index + 1,
                    &ESC if bytes.get(index + 1) == Some(&b'\\') => return index + 2,
                    _ => {}
                }
            }
            at
        }
        // A character set: one more byte.
        b'(' | b')' | b'*' | b'+' | b'#' | b'%' if bytes.get(2).is_some_and(u8::is_ascii) => 3,
        0x20..=0x7e => 2,
        _ => 1,
    }
}

/// Returns the character and the length of a JSON escape.
fn escape(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(kind) = text.chars().nth(1) else {
        return ('\\', text.len().min(1));
    };
    let simple = match kind {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => {
            let units = [unit(0), unit(6)];
            let mut decoded = char::decode_utf16(units.into_iter().flatten());
            return match (unit(0), decoded.next()) {
                (Some(_), Some(Ok(c))) => (c, if c.len_utf16() == 2 { 12 } else { 6 }),
                (Some(_), _) => (char::REPLACEMENT_CHARACTER, 6),
                (None, _) => ('\\', 1),
            };
        }
        other => other,
    };
    (simple, 1 + kind.len_utf8())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terminal_sequences_are_removed() {
        for (text, seen) in [
            ("plain", "plain"),
            ("a\x1b[31mb\x1b[0mc", "abc"),
            ("a\x1b[38;5;12mb", "ab"),
            ("a\u{9b}1mb", "ab"),
            ("a\x1b]8;;http://x\x07b\x1b]8;;\x1b\\c", "abc"),
            ("a\x1b(Bb\x1b=c\x1b", "abc"),
            ("a\u{200b}b\u{feff}c\u{ad}d", "abcd"),
            ("a\x1b[ä", "aä"),
        ] {
            let view = View::of_terminal(text);
            assert_eq!(view.text, seen, "{text:?}");
        }
    }

    #[test]
    fn json_escapes_are_decoded_and_mapped_to_the_source() {
        let text = r#"a\"b\u001b[1m\ud83d\ude00\n\\é\u00e9"#;
        let view = View::of_json(text);
        assert_eq!(view.text, "a\"b\u{1b}[1m😀\n\\éé");
        let at = view.text.find('😀').unwrap();
        assert_eq!(&text[view.whole(&(at..at + 4))], r"\ud83d\ude00");
        assert_eq!(&text[view.whole(&(0..2))], r#"a\""#);
    }

    proptest! {
        #[test]
        fn every_range_maps_to_whole_characters(
            text in "[a\u{1b}\\[\\]m0;ä\u{200b}\\\\nu1\"]{0,30}", cut in any::<(usize, usize)>(),
        ) {
            for view in [View::of_terminal(&text), View::of_json(&text)] {
                let cuts: Vec<usize> = (0..=view.text.len())
                    .filter(|at| view.text.is_char_boundary(*at))
                    .collect();
                let (one, other) = (cuts[cut.0 % cuts.len()], cuts[cut.1 % cuts.len()]);
                let range = one.min(other)..one.max(other);
                for part in view.parts(&range) {
                    prop_assert!(text.get(part).is_some());
                }
            }
        }
    }
}
