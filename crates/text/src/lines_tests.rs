//! The lines do not depend on the chunks.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[test]
fn lines_are_split_at_lf_and_crlf() {
    check("", "");
    check("a\nb\n", "1 a|2 b|");
    check("a\r\n\r\n\nb", "1 a|2 |3 |4 b<eof>|");
    check("a\rb\r\r\nc\r", "1 a\\rb\\r|2 c\\r<eof>|");
    check("a\n\r", "1 a|2 \\r<eof>|");
}

#[test]
fn a_byte_order_mark_is_removed_only_at_the_start() {
    check("\u{feff}", "");
    check("\u{feff}\n", "1 |");
    check("\u{feff}a\n\u{feff}b\n", "1 a|2 \\xef\\xbb\\xbfb|");
    check("\u{feff}\u{feff}", "1 \\xef\\xbb\\xbf<eof>|");
    check("\n\u{feff}", "1 |2 \\xef\\xbb\\xbf<eof>|");
}

#[test]
fn a_line_of_exactly_the_limit_is_whole_and_one_byte_more_is_oversized() {
    check("12345678\r\n", "1 12345678|");
    check("123456789\r\n", "1 [9 123456789]|");
    check("12345678\n", "1 12345678|");
    check("12345678", "1 12345678<eof>|");
    check("123456789", "1 [9 123456789]<eof>|");
    check("12345678\r", "1 [9 12345678\\r]<eof>|");
    check("\u{feff}12345678\r\n", "1 12345678|");
    check("\u{feff}123456789\n", "1 [9 123456789]|");
}

#[test]
fn lines_after_an_oversized_one_are_whole_again() {
    check(
        "1234567890\na\r\n1234567890\nb",
        "1 [10 1234567890]|2 a|3 [10 1234567890]|4 b<eof>|",
    );
}

#[test]
fn an_oversized_line_keeps_its_first_256_bytes() {
    let long = [vec![b'x'; 255], vec![b'y'; 1000], b"\n".to_vec()].concat();
    for size in [1, 100, 255, 256, 257, 2000] {
        let lines = split_in(&long, 8, std::iter::repeat(size));
        let head = [vec![b'x'; 255], vec![b'y'; 1]].concat();
        let text = Copy::Oversized { len: 1255, head };
        assert_eq!(lines, [(1, text, true)], "in chunks of {size}");
    }
}

#[test]
fn memory_stays_bounded_by_the_limit() {
    let mut splitter = LineSplitter::new(1000);
    for _ in 0..1000 {
        splitter.push(&[b'x'; 997], &mut |_| panic!("no line has ended"));
    }
    assert_eq!(splitter.carry.len(), 1004);
    assert!(splitter.carry.capacity() <= 2 * 1004);
    let mut len = 0;
    splitter.finish(&mut |line| {
        if let Text::Oversized { len: found, .. } = line.text {
            len = found;
        }
    });
    assert_eq!(len, 997_000);
}

#[test]
fn a_line_inside_a_chunk_is_borrowed() {
    let chunk = b"tail\nwhole line\nopen";
    let mut splitter = LineSplitter::new(100);
    splitter.push(b"carried ", &mut |_| {});
    let mut borrowed = Vec::new();
    splitter.push(chunk, &mut |line| {
        if let Text::Whole(text) = line.text {
            borrowed.push(chunk.as_ptr_range().contains(&text.as_ptr()));
        }
    });
    assert_eq!(borrowed, [false, true]);
}

#[test]
fn the_greatest_limit_does_not_overflow() {
    let lines = split_in(b"\xEF\xBB\xBFa\r\nb", usize::MAX, std::iter::repeat(1));
    assert_eq!(lines, split_naively(b"\xEF\xBB\xBFa\r\nb", usize::MAX));
}

proptest! {
    #[test]
    fn lines_equal_a_naive_split_for_any_bytes_and_any_chunks(
        bytes in log_bytes(),
        sizes in vec(0_usize..12, 1..40),
        limit in 0_usize..12,
    ) {
        let lines = split_in(&bytes, limit, sizes.into_iter());
        prop_assert_eq!(lines, split_naively(&bytes, limit));
    }

    #[test]
    fn long_lines_equal_a_naive_split_too(
        runs in vec((0_usize..700, prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("x")]), 0..6),
        size in 1_usize..600,
        limit in 200_usize..400,
    ) {
        let text: String = runs.iter().map(|(n, end)| "z".repeat(*n) + end).collect();
        let lines = split_in(text.as_bytes(), limit, std::iter::repeat(size));
        prop_assert_eq!(lines, split_naively(text.as_bytes(), limit));
    }
}

/// A line that outlives its chunk.
type Owned = (u64, Copy, bool);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Copy {
    Whole(Vec<u8>),
    Oversized { len: u64, head: Vec<u8> },
}

/// Splits in chunks of the given sizes and one last chunk.
fn split_in(bytes: &[u8], limit: usize, sizes: impl Iterator<Item = usize>) -> Vec<Owned> {
    let mut lines = Vec::new();
    let mut sink = |line: RawLine<'_>| {
        let text = match line.text {
            Text::Whole(text) => Copy::Whole(text.to_vec()),
            Text::Oversized { len, head } => Copy::Oversized {
                len,
                head: head.to_vec(),
            },
        };
        lines.push((line.number, text, line.terminated));
    };
    let mut splitter = LineSplitter::new(limit);
    let mut rest = bytes;
    for size in sizes {
        let (chunk, after) = rest.split_at(size.min(rest.len()));
        splitter.push(chunk, &mut sink);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    splitter.push(rest, &mut sink);
    splitter.finish(&mut sink);
    lines
}

fn split_naively(bytes: &[u8], limit: usize) -> Vec<Owned> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let (text, terminated) = match line.strip_suffix(b"\n") {
            Some(text) => (text.strip_suffix(b"\r").unwrap_or(text), true),
            None => (line, false),
        };
        let text = if text.len() <= limit {
            Copy::Whole(text.to_vec())
        } else {
            let head = text[..text.len().min(256)].to_vec();
            Copy::Oversized {
                len: text.len() as u64,
                head,
            }
        };
        lines.push((number, text, terminated));
    }
    lines
}

/// Checks the lines for all chunk sizes, with limit 8.
fn check(text: &str, expected: &str) {
    for size in 1..=text.len().max(1) {
        let mut shown = String::new();
        for (number, text, terminated) in split_in(text.as_bytes(), 8, std::iter::repeat(size)) {
            let text = match text {
                Copy::Whole(text) => text.escape_ascii().to_string(),
                Copy::Oversized { len, head } => format!("[{len} {}]", head.escape_ascii()),
            };
            let end = if terminated { "|" } else { "<eof>|" };
            shown.extend([number.to_string(), format!(" {text}{end}")]);
        }
        assert_eq!(shown, expected, "{text:?} in chunks of {size}");
    }
}

fn log_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(BOM.to_vec()),
        vec(any::<u8>(), 0..8),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}
