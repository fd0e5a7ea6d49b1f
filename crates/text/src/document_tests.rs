//! The laws of edits as properties, and odd files as tables.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[test]
fn an_edit_replaces_its_span_and_nothing_else() {
    let old = document("\u{feff}status: running  \r\nnote\tx\n");
    let edit = Edit::replace(&old, Span::new(11, 18), "paused ✓");
    assert_eq!(edit.expected, b"running");
    let new = old.apply(&[edit]).unwrap();
    assert_eq!(new, document("\u{feff}status: paused ✓  \r\nnote\tx\n"));
}

#[test]
fn an_insertion_goes_before_the_byte_at_its_offset() {
    let old = document("abc");
    for (at, expected) in [(0, "-abc"), (1, "a-bc"), (3, "abc-")] {
        assert_eq!(
            old.apply(&[Edit::insert(at, "-")]),
            Ok(document(expected)),
            "at {at}"
        );
    }
}

#[test]
fn an_insertion_at_the_border_of_a_replaced_span_keeps_its_side() {
    let old = document("abc");
    let middle = Edit::replace(&old, Span::new(1, 2), "B");
    let before = Edit::insert(1, "<");
    let after = Edit::insert(2, ">");
    assert_eq!(old.apply(&[after, middle, before]), Ok(document("a<B>c")));
}

#[test]
fn inserted_lines_have_the_line_ends_of_the_file() {
    for (old, at, new) in [
        ("a\nb\n", 0, "a\nx\ny\nb\n"),
        ("a\nb\n", 1, "a\nb\nx\ny\n"),
        ("a\r\nb", 0, "a\r\nx\r\ny\r\nb"),
        ("a\r\nb", 1, "a\r\nb\r\nx\r\ny"),
    ] {
        let old = document(old);
        let line = old.lines().nth(at).unwrap();
        let edit = old.insert_below(line, &["x", "y"]);
        assert_eq!(old.apply(&[edit]), Ok(document(new)));
    }
}

#[test]
fn spans_outside_the_file_are_refused() {
    let old = document("abc");
    for (start, end) in [
        (0, 4),
        (4, 4),
        (2, 1),
        (usize::MAX, usize::MAX),
        (0, usize::MAX),
    ] {
        let span = Span::new(start, end);
        let edit = Edit::replace(&old, span, "x");
        assert_eq!(old.slice(span), None);
        assert_eq!(
            old.apply(&[edit]),
            Err(EditError::OutOfRange { span, len: 3 })
        );
    }
}

#[test]
fn overlapping_edits_are_refused_in_any_order() {
    check_overlap((0, 2), (1, 3));
    check_overlap((0, 3), (1, 2));
    check_overlap((0, 3), (1, 1));
    check_overlap((0, 2), (0, 2));
    check_overlap((0, 1), (0, 2));
}

#[test]
fn two_insertions_at_the_same_point_overlap() {
    check_overlap((0, 0), (0, 0));
    check_overlap((3, 3), (3, 3));
}

#[test]
fn an_edit_made_for_another_text_is_refused() {
    let old = document("status: running\n");
    let edit = Edit::replace(&old, Span::new(8, 15), "done");
    let moved = document("status: blocked\n");
    let error = moved.apply(std::slice::from_ref(&edit)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "bytes 8..15 are `blocked`, not `running`"
    );

    let wrong_length = Edit {
        expected: b"runnin".to_vec(),
        ..edit
    };
    assert!(matches!(
        old.apply(&[wrong_length]),
        Err(EditError::Unexpected { .. })
    ));
}

#[test]
fn errors_show_foreign_bytes_on_one_safe_line() {
    let error = EditError::Unexpected {
        span: Span::new(0, 3),
        expected: b"a\x1b[2J\n".to_vec(),
        found: vec![0xff; 100],
    };
    let found = "\u{fffd}".repeat(39);
    assert_eq!(
        error.to_string(),
        format!("bytes 0..3 are `{found}…`, not `a\\u{{1b}}[2J\\n`")
    );
}

#[test]
fn the_check_after_splicing_detects_every_kind_of_damage() {
    let edit = Edit {
        span: Span::new(2, 4),
        expected: b"cd".to_vec(),
        replacement: b"X".to_vec(),
    };
    let differs = |new: &str| !only_spans_differ(b"abcdef", new.as_bytes(), &[&edit]);
    assert!(!differs("abXef"));
    for damaged in [
        "", "ab", "abX", "abXe", "abXeF", "abXeff", "AbXef", "abYef", "abcdef", "aXef",
    ] {
        assert!(differs(damaged), "{damaged}");
    }
}

#[test]
fn unordered_spans_are_not_spliced() {
    let second = Edit::insert(1, "x");
    let first = Edit::insert(2, "y");
    assert_eq!(splice(b"abc", &[&first, &second]), None);
    assert!(!only_spans_differ(b"abc", b"abyxbc", &[&first, &second]));
    assert_eq!(splice(b"abc", &[&Edit::insert(4, "x")]), None);
}

#[test]
fn the_length_of_a_span_is_never_negative() {
    for (start, end, len) in [(2, 5, 3), (2, 2, 0), (5, 2, 0)] {
        let span = Span::new(start, end);
        assert_eq!(
            (span.len(), span.is_empty(), span.range()),
            (len, len == 0, start..end)
        );
    }
}

#[test]
fn the_dominant_line_end_is_found() {
    let check = |text: &str, eol| assert_eq!(document(text).eol(), eol, "{text:?}");
    check("", "\n");
    check("no line end\r", "\n");
    check("a\nb\n", "\n");
    check("a\r\nb", "\r\n");
    check("\r\n", "\r\n");
    check("a\r\nb\r\nc\n", "\r\n");
    check("a\r\nb\nc\n", "\n");
    check("a\r\nb\n", "\n");
}

#[test]
fn a_byte_order_mark_is_detected_and_not_part_of_the_first_line() {
    assert!(document("\u{feff}a").has_bom());
    assert!(!document("a\u{feff}").has_bom());
    assert!(!Document::new(BOM[..2].to_vec()).has_bom());
    check_lines("\u{feff}", &[("", "\u{feff}")]);
    check_lines("\u{feff}\r\n", &[("", "\u{feff}\r\n")]);
    check_lines(
        "\u{feff}a\n\u{feff}b",
        &[("a", "\u{feff}a\n"), ("\u{feff}b", "\u{feff}b")],
    );
}

#[test]
fn lines_end_with_lf_or_crlf_and_the_last_may_be_unterminated() {
    check_lines("", &[]);
    check_lines("\n", &[("", "\n")]);
    check_lines("a", &[("a", "a")]);
    check_lines(
        "a\r\nb\n\nc",
        &[("a", "a\r\n"), ("b", "b\n"), ("", "\n"), ("c", "c")],
    );
    check_lines("a\r\r\n", &[("a\r", "a\r\r\n")]);
    check_lines("a\rb\r", &[("a\rb\r", "a\rb\r")]);
}

#[test]
fn debug_output_shows_text_and_escapes_the_rest() {
    assert_eq!(
        format!("{:?}", Document::new(b"a\n\xff".to_vec())),
        r#"Document("a\n\xff")"#
    );
}

proptest! {
    #[test]
    fn no_edit_gives_identical_bytes(bytes in file_bytes(80)) {
        let document = Document::new(bytes.clone());
        prop_assert_eq!(&document.apply(&[]).unwrap(), &document);
        prop_assert_eq!(document.into_bytes(), bytes);
    }

    #[test]
    fn disjoint_edits_give_the_same_bytes_in_any_order(case in disjoint_edits()) {
        let all_at_once = case.old.apply(&case.edits).unwrap();
        prop_assert_eq!(&all_at_once, &case.expected);
        prop_assert_eq!(&case.old.apply(&case.shuffled).unwrap(), &all_at_once);

        let mut one_at_a_time = case.old.clone();
        for edit in case.edits.iter().rev() {
            one_at_a_time = one_at_a_time.apply(std::slice::from_ref(edit)).unwrap();
        }
        prop_assert_eq!(one_at_a_time, all_at_once);
    }

    #[test]
    fn an_edited_span_has_the_new_value_and_all_other_bytes_are_unchanged(
        bytes in file_bytes(80),
        new in file_bytes(10),
        a in any::<prop::sample::Index>(),
        b in any::<prop::sample::Index>(),
    ) {
        let (a, b) = (a.index(bytes.len() + 1), b.index(bytes.len() + 1));
        let span = Span::new(a.min(b), a.max(b));
        let old = Document::new(bytes);
        let edited = old.apply(&[Edit::replace(&old, span, new.clone())]).unwrap();
        let end = span.start + new.len();
        prop_assert_eq!(edited.slice(Span::new(span.start, end)), Some(new.as_slice()));
        prop_assert_eq!(&edited.as_bytes()[..span.start], &old.as_bytes()[..span.start]);
        prop_assert_eq!(&edited.as_bytes()[end..], &old.as_bytes()[span.end..]);

        let back = Edit::replace(&edited, Span::new(span.start, end), old.slice(span).unwrap());
        prop_assert_eq!(edited.apply(&[back]).unwrap(), old);
    }

    #[test]
    fn any_edits_are_made_or_refused_without_panic_in_any_order(
        bytes in file_bytes(12),
        edits in vec((0_usize..16, 0_usize..16, file_bytes(3), file_bytes(3)), 0..4),
    ) {
        let document = Document::new(bytes);
        let mut edits: Vec<Edit> = edits
            .into_iter()
            .map(|(start, end, expected, replacement)| {
                Edit { span: Span::new(start, end), expected, replacement }
            })
            .collect();
        let answer = document.apply(&edits);
        prop_assert_ne!(&answer, &Err(EditError::Spilled));
        edits.reverse();
        prop_assert_eq!(document.apply(&edits), answer);
    }

    #[test]
    fn the_full_spans_of_all_lines_are_the_file(bytes in file_bytes(60)) {
        let document = Document::new(bytes);
        let mut rebuilt = Vec::new();
        for (index, line) in document.lines().enumerate() {
            prop_assert_eq!(line.number, index + 1);
            prop_assert!(line.full.start <= line.content.start);
            prop_assert!(line.content.start <= line.content.end);
            prop_assert!(line.content.end <= line.full.end);
            prop_assert!(!document.slice(line.content).unwrap().contains(&b'\n'));
            rebuilt.extend_from_slice(document.slice(line.full).unwrap());
        }
        prop_assert_eq!(rebuilt, document.into_bytes());
    }
}

fn document(text: &str) -> Document {
    Document::new(text.as_bytes().to_vec())
}

fn check_overlap(first: (usize, usize), second: (usize, usize)) {
    let old = document("abc");
    let (first, second) = (Span::new(first.0, first.1), Span::new(second.0, second.1));
    let edits = [
        Edit::replace(&old, first, "x"),
        Edit::replace(&old, second, "y"),
    ];
    let refused = Err(EditError::Overlapping { first, second });
    assert_eq!(old.apply(&edits), refused);
    let [one, other] = edits;
    assert_eq!(old.apply(&[other, one]), refused);
}

fn check_lines(text: &str, expected: &[(&str, &str)]) {
    let document = document(text);
    let found: Vec<(&[u8], &[u8])> = document
        .lines()
        .map(|line| {
            (
                document.slice(line.content).unwrap(),
                document.slice(line.full).unwrap(),
            )
        })
        .collect();
    let expected: Vec<(&[u8], &[u8])> = expected
        .iter()
        .map(|(content, full)| (content.as_bytes(), full.as_bytes()))
        .collect();
    assert_eq!(found, expected, "{text:?}");
}

/// Bytes that are rarely UTF-8, with many line ends and sometimes a byte order mark.
fn file_bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()];
    (prop::bool::weighted(0.2), vec(byte, 0..=max)).prop_map(|(has_bom, bytes)| {
        if has_bom {
            [BOM, &bytes].concat()
        } else {
            bytes
        }
    })
}

#[derive(Debug)]
struct Case {
    old: Document,
    expected: Document,
    /// In the order of their spans.
    edits: Vec<Edit>,
    shuffled: Vec<Edit>,
}

/// Builds the old text, the edits and the new text independently of the code under test.
fn disjoint_edits() -> impl Strategy<Value = Case> {
    let part = (file_bytes(4), file_bytes(4), file_bytes(4));
    (vec(part, 0..8), file_bytes(4))
        .prop_flat_map(|(parts, tail)| {
            let (mut old, mut new, mut edits) = (Vec::new(), Vec::new(), Vec::<Edit>::new());
            for (kept, expected, replacement) in parts {
                old.extend_from_slice(&kept);
                new.extend_from_slice(&kept);
                let span = Span::new(old.len(), old.len() + expected.len());
                if edits.last().is_some_and(|last| last.span == span) {
                    continue;
                }
                old.extend_from_slice(&expected);
                new.extend_from_slice(&replacement);
                edits.push(Edit {
                    span,
                    expected,
                    replacement,
                });
            }
            old.extend_from_slice(&tail);
            new.extend_from_slice(&tail);
            (
                Just(old),
                Just(new),
                Just(edits.clone()),
                Just(edits).prop_shuffle(),
            )
        })
        .prop_map(|(old, new, edits, shuffled)| Case {
            old: Document::new(old),
            expected: Document::new(new),
            edits,
            shuffled,
        })
}
