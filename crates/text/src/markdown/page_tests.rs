//! Pages in, their parts out.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::line::{bold_field, id_and_title, is_id, list_item};
use super::*;

#[test]
fn fields_have_bold_or_plain_keys() {
    for (line, key, value, indent) in [
        ("**Status**: Idle", "Status", "Idle", 0),
        ("**Status:** Idle  ", "Status", "Idle", 0),
        ("- **Task ID** :  T014 é", "Task ID", "T014 é", 0),
        ("  * **Active Task**:", "Active Task", "", 2),
        ("- key: value: more", "key", "value: more", 0),
        ("depends on: T1", "depends on", "T1", 0),
    ] {
        let found = field(line).unwrap();
        assert_eq!((found.key, found.value, found.indent), (key, value, indent));
        assert_eq!(line[found.value_at..].trim_end(), value, "{line}");
    }
    for line in [
        "",
        "**bold** text",
        "**",
        "a, b: c",
        "http",
        "1: x",
        "- [x]: y",
    ] {
        assert_eq!(field(line), None, "{line}");
    }
    assert_eq!(bold_field("- key: value"), None);
}

#[test]
fn check_boxes_have_a_mark_and_an_id() {
    for (line, mark, text, done) in [
        ("- [ ] T1 a", "", "T1 a", Some(false)),
        ("  * [X] b ", "x", "b", Some(true)),
        ("12) [✅] c", "✅", "c", None),
        ("+\t[x]", "x", "", Some(true)),
    ] {
        let found = check_box(line).unwrap();
        assert!(found.mark.eq_ignore_ascii_case(mark), "{line}");
        assert_eq!((found.text, found.is_done()), (text, done), "{line}");
        assert_eq!(line[found.mark_at.range()].trim(), found.mark);
    }
    for line in ["[x] a", "- [link](x)", "-[x] a", "1.[ ] a", "- [x", "- x"] {
        assert_eq!(check_box(line), None, "{line}");
    }
    let id = |line| check_box(line).unwrap().id_and_title();
    assert_eq!(id("- [ ] **T001**: Add it"), Some(("T001", "Add it")));
    assert_eq!(id("- [ ] `P1-T2` — x"), Some(("P1-T2", "x")));
    assert_eq!(id("- [ ] write it"), None);
    assert_eq!(id_and_title("word"), ("word", ""));
    assert!(is_id("a.1-_") && !is_id("1a") && !is_id("a") && !is_id("ä1"));
    assert_eq!(list_item("3. text "), Some("text"));
    assert_eq!(list_item("3.text"), None);
}

#[test]
fn sections_end_at_the_next_heading_of_their_level() {
    let page = Page::new("a\r\n# A\r\nb\n## B ##\nc\n```\n# code\n```\n### C\nd\n## D");
    let shown: Vec<_> = page
        .sections()
        .map(|section| (section.title, section.body, section.end))
        .collect();
    let b = "c\n```\n# code\n```\n### C\nd\n";
    let a = format!("b\n## B ##\n{b}## D");
    assert_eq!(
        shown,
        [
            ("A", a.as_str(), usize::MAX),
            ("B", b, 11),
            ("C", "d\n", 11),
            ("D", "", usize::MAX),
        ]
    );
    let sections: Vec<_> = page.sections_until(|_, title| title == "C").collect();
    assert_eq!(sections[1].text, "## B ##\nc\n```\n# code\n```\n");
}

#[test]
fn tables_have_columns_and_rows() {
    let page = Page::new(
        "| **a** | `b` |\n|---|:-:|\n| 1 | x \\| y |\n|2|\n\n```\n|c|\n|-|\n```\n|d|\n|e|\n|-|\n|3|\n|f|\n|-|\n",
    );
    let shown: Vec<String> = page
        .tables()
        .iter()
        .map(|table| format!("{} {:?} {:?}", table.line, table.columns, table.rows))
        .collect();
    assert_eq!(
        shown,
        [
            r#"1 ["a", "b"] [(3, ["1", "x | y"]), (4, ["2"])]"#,
            r#"11 ["e"] [(13, ["3"])]"#,
            r#"14 ["f"] []"#,
        ]
    );
}

#[test]
fn code_blocks_have_an_info_string_and_their_code() {
    let source = "~~~ rust \n# a\n~~~\nx\n```\n```\n    ```\n````\nopen";
    let shown: Vec<_> = Page::new(source)
        .code_blocks()
        .iter()
        .map(|block| (block.info, &source[block.code.range()], block.is_closed))
        .collect();
    assert_eq!(
        shown,
        [("rust", "# a\n", true), ("", "", true), ("", "open", false)]
    );
}

#[test]
fn front_matter_is_the_text_between_its_rules() {
    for (source, expected) in [
        ("\u{feff}---\r\na: 1\r\n--- \r\nb: 2\n", Some("a: 1\r\n")),
        ("---\n---\n", Some("")),
        ("---\n\n---\n", None),
        ("---\na: 1\n", None),
        ("---", None),
        ("a\n---\n---\n", None),
    ] {
        let page = Page::new(source);
        assert_eq!(page.front_matter(), expected, "{source:?}");
    }
    let page = Page::new("---\nb: 1\n---\n- b: 2\n**B:** 3\n<!--\nc: 1\n-->\n- [ ] T1 x\n");
    assert_eq!(page.value("B"), Some("2"));
    let values: BTreeMap<String, u8> = page.front_matter_values().unwrap().unwrap();
    assert_eq!(values, BTreeMap::from([("b".to_owned(), 1)]));
    let none: Option<Result<(), _>> = Page::new("b: 1").front_matter_values();
    assert!(none.is_none());
    let bad: Option<Result<u8, _>> = Page::new("---\na: [\n---\n").front_matter_values();
    assert!(bad.unwrap().is_err());
    assert_eq!(page.value("c"), None);
    let boxes: Vec<_> = page.check_boxes().map(|(line, _)| line.number).collect();
    assert_eq!(boxes, [9]);
}

proptest! {
    #[test]
    fn every_part_is_a_part_of_its_line(source in "([#|`~<!>a:\\[\\]x*. \t\r\né-]|---\n|<!--|-->|```\n|# |- \\[ \\] |\\*\\*a:\\*\\* ){0,60}") {
        let page = Page::new(&source);
        for (line, field) in page.fields() {
            let text = &source[line.content.range()];
            prop_assert!(text[field.value_at..].trim() == field.value);
        }
        for (line, found) in page.check_boxes() {
            let text = &source[line.content.range()];
            prop_assert_eq!(text[found.mark_at.range()].trim(), found.mark);
        }
        for section in page.sections() {
            prop_assert!(section.text.ends_with(section.body));
            prop_assert!(section.text.contains(section.title));
        }
        for block in page.code_blocks() {
            prop_assert!(source.get(block.code.range()).is_some());
        }
        page.tables();
        page.front_matter();
    }
}
