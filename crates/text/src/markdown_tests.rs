//! Pages in, headings out, written as `line level text`.

use proptest::prelude::*;

use super::*;

#[test]
fn the_opening_is_the_first_line_that_says_something() {
    for (source, expected) in [
        (
            "---\na: b\n---\n# T\n\n**Status:** x\n> q\n| a |\n\n- **Orders** first\n",
            Some("**Orders** first"),
        ),
        (
            "# T\n<!-- c -->\n```\ncode\n```\n[fill in]\n\nText: no field\nReal text, here\n",
            Some("Real text, here"),
        ),
        ("1. One\n", Some("One")),
        ("# T\n- [ ] a task\n---\n", None),
        ("", None),
    ] {
        assert_eq!(opening(source), expected, "{source:?}");
    }
}

#[test]
fn headings_of_all_levels_are_found() {
    check(
        "# a\n## b\n### c\n#### d\n##### e\n###### f\n",
        "1#a|2##b|3###c|4####d|5#####e|6######f",
    );
    check("####### seven\n", "");
    check("text\n# interrupts\ntext", "2#interrupts");
    check("# no line end", "1#no line end");
}

#[test]
fn signs_must_be_followed_by_a_blank_or_the_end() {
    check("#tag\n#!shebang\n#1\n\\# escaped\n", "");
    check("#\tTab\n", "1#Tab");
    check("#\n##  \n### ###\n", "1#|2##|3###");
}

#[test]
fn closing_signs_and_blanks_are_removed() {
    check("## a ##\n# a ######  \n#   a\t#\t\n", "1##a|2#a|3#a");
    check(
        "# C#\n# C# #\n# a ### b\n# a \\#\n",
        "1#C#|2#C#|3#a ### b|4#a \\#",
    );
    check("#  many   words  \n", "1#many   words");
}

#[test]
fn up_to_three_blanks_of_indentation_are_allowed() {
    check(
        " # a\n  # b\n   # c\n    # code\n\t# code\n  \t# code\n",
        "1#a|2#b|3#c",
    );
}

#[test]
fn crlf_and_a_byte_order_mark_are_not_part_of_the_text() {
    check("\u{feff}# a\r\n\r\n## b ##\r\n### c\r", "1#a|3##b|4###c");
    check("\u{feff}---\r\n# yaml\r\n---\r\n# a\r\n", "4#a");
}

#[test]
fn fenced_code_is_skipped() {
    check("```sh\n# comment\n```\n# a\n", "4#a");
    check("~~~\n# comment\n~~~\r\n# a\n", "4#a");
    check("```sh\r\n# comment\r\n```\r\n# a\r\n", "4#a");
    check("  ```\n# comment\n   ```  \n# a\n", "4#a");
    check("```\n# never closed\n", "");
}

#[test]
fn a_fence_is_closed_by_its_own_mark_at_its_own_length_or_more() {
    check("````\n```\n# in\n`````\n# out\n", "5#out");
    check("~~~\n```\n# in\n~~~\n# out\n", "5#out");
    check("```\n~~~\n# in\n```\n# out\n", "5#out");
    check("```\n``` rust\n# in\n```\n# out\n", "5#out");
    check("```\n    ```\n# in\n```\n# out\n", "5#out");
}

#[test]
fn lines_that_resemble_a_fence_open_nothing() {
    check("``\n# a\n", "2#a");
    check("```inline```\n# a\n", "2#a");
    check("``` a`b\n# a\n", "2#a");
    check("    ```\n# a\n", "2#a");
    check("text ```\n# a\n", "2#a");
    check("~~~ a`b~\n# in\n~~~\n# a\n", "4#a");
}

#[test]
fn a_fence_in_a_list_item_may_end_with_more_indentation() {
    check("1. step\n   ```\n   # in\n    ```\n# a\n", "5#a");
}

#[test]
fn comments_are_skipped() {
    check("<!-- one line -->\n# a\n", "2#a");
    check("<!--\n# in\n-->\n# a\n", "4#a");
    check(
        "  <!-- x\r\n# in\r\nend --> # still the comment's line\r\n# a\r\n",
        "4#a",
    );
    check("<!--\n```\n-->\n# a\n", "4#a");
    check("```\n<!--\n```\n# a\n", "4#a");
    check("<!-- never closed\n# in\n", "");
    check("<!-->\n# a\n", "2#a");
}

#[test]
fn a_comment_in_the_middle_of_a_line_hides_nothing_below() {
    check("text <!--\n# a\n-->\n", "2#a");
    check("# a <!-- note -->\n", "1#a <!-- note -->");
    check("    <!--\n# a\n", "2#a");
}

#[test]
fn front_matter_at_the_top_is_skipped() {
    check("---\ntitle: x\n# yaml comment\n---\n# a\n", "5#a");
    check("--- \n# in\n---\t\n# a\n---\n# b\n---\n", "4#a|6#b");
    check("---\n---\n# a\n", "3#a");
    check("---\nscalar: |\n  ---\n# in\n---\n# a\n", "6#a");
}

#[test]
fn a_thematic_break_is_not_front_matter() {
    check("---\n# never closed\n", "2#never closed");
    check("---\n\n# a\n---\n", "3#a");
    check("\n---\n# a\n---\n", "3#a");
    check("----\n# a\n----\n", "2#a");
    check("---", "");
}

#[test]
fn headings_inside_quotes_and_lists_do_not_count() {
    check("> # quoted\n- # item\n1. # item\n", "");
}

#[test]
fn texts_without_headings_have_none() {
    check("", "");
    check("\n\n", "");
    check("Title\n=====\n", "");
}

#[test]
fn spans_count_bytes_and_empty_ones_follow_the_signs() {
    let found = headings("\u{feff}é\r\n##   Ünï ✓ ##\r\n#  \n");
    let expected = [
        Heading {
            level: 2,
            text: Span::new(12, 21),
            line: 2,
            line_start: 7,
        },
        Heading {
            level: 1,
            text: Span::new(27, 27),
            line: 3,
            line_start: 26,
        },
    ];
    assert_eq!(found, expected);
}

proptest! {
    #[test]
    fn every_span_is_trimmed_text_of_its_own_line(source in "([#`~<!>a \t\r\né-]|---\n|<!--|-->|```|# ){0,60}") {
        let lines: Vec<&str> = source.split('\n').collect();
        for heading in headings(&source) {
            let text = source.get(heading.text.range());
            prop_assert!(text.is_some_and(|text| text.trim_matches(BLANKS) == text));
            let line = lines[heading.line - 1];
            let signs = "#".repeat(heading.level.into());
            prop_assert!(line.trim_start().starts_with(&signs));
            prop_assert!(line.contains(text.unwrap_or_default()));
        }
    }

    #[test]
    fn no_text_causes_a_panic(source in any::<String>()) {
        headings(&source);
        opening(&source);
    }
}

fn check(source: &str, expected: &str) {
    let found: Vec<String> = headings(source)
        .iter()
        .map(|heading| {
            let signs = "#".repeat(heading.level.into());
            format!("{}{signs}{}", heading.line, &source[heading.text.range()])
        })
        .collect();
    assert_eq!(found.join("|"), expected, "{source:?}");
}
