//! Edits and readers of plain files: an edit changes only its own bytes, and what is written is read as the same.

use rekindle_text::markdown::Page;
use rekindle_text::python_json::{self, Json};
use rekindle_text::{
    Document, Edit, JsonChange, JsonValue, LineSplitter, Span, TomlTable, add_to_list,
    add_toml_table, edit_json, excerpt, fence, file_stamp, format_instant, format_seconds,
    headings, json_keys, json_member, json_text, list_elements, parse_instant, parse_yaml,
    printable, printable_block, prose, python_text, remove_from_list, remove_json_member,
    remove_toml_table, set_json_member, toml_table,
};

/// JSON as Python reads and writes it: what is written is read as the same.
pub fn python_json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(value) = python_json::parse(text) else {
        return;
    };
    let written = value.to_lines();
    let again = python_json::parse(&written);
    let again = again.unwrap_or_else(|error| panic!("{written:?} cannot be read: {error}"));
    assert_eq!(again.to_lines(), written);
    assert_eq!(again.to_line(), value.to_line());
    let _: (bool, &str) = (value.is_truthy(), value.kind());
    if let Json::Object(object) = &value {
        assert_eq!(object.len(), object.iter().count());
    }
}

/// A key that is set can be read, a removed one is missing, and everything else keeps its meaning.
pub fn json_edit(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else {
        return;
    };
    let path = ["metadata", "kiln_stage"];
    for value in [
        Some(JsonValue::Text("a \"b\"\n".to_owned())),
        Some(JsonValue::Number(-7)),
        Some(JsonValue::Bool(true)),
        Some(JsonValue::Null),
        None,
    ] {
        let change = JsonChange {
            path: &path,
            value: value.clone(),
        };
        let Ok(edited) = edit_json(source, std::slice::from_ref(&change)) else {
            continue;
        };
        let meant = |text: &str| {
            serde_json::from_str::<serde_json::Value>(text.trim_start_matches('\u{feff}')).ok()
        };
        // The other parser has lower limits of depth and size.
        let Some(mut wanted) = meant(source) else {
            continue;
        };
        let got = meant(&edited).unwrap_or_else(|| panic!("{edited:?} is not JSON"));
        set(&mut wanted, &path, value);
        assert_eq!(got, wanted, "{source:?} became {edited:?}");
        let twice = edit_json(&edited, &[change]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(twice, edited, "a second edit changes nothing");
    }
}

fn set(root: &mut serde_json::Value, path: &[&str; 2], value: Option<JsonValue>) {
    use serde_json::Value;
    let Some(object) = root.as_object_mut() else {
        return;
    };
    let Some(value) = value else {
        if let Some(inner) = object.get_mut(path[0]).and_then(Value::as_object_mut) {
            inner.remove(path[1]);
        }
        return;
    };
    let value = match value {
        JsonValue::Null => Value::Null,
        JsonValue::Bool(flag) => flag.into(),
        JsonValue::Number(number) => number.into(),
        JsonValue::Text(text) => text.into(),
    };
    let empty = || serde_json::json!({});
    let inner = object.entry(path[0]).or_insert_with(empty);
    // Null counts as missing.
    if inner.is_null() {
        *inner = empty();
    }
    if let Some(inner) = inner.as_object_mut() {
        inner.insert(path[1].to_owned(), value);
    }
}

/// An entry added to a program's settings can be removed without a trace.
pub fn settings(data: &[u8]) {
    const OURS: &str = r#"{"command": "rekindle hook session-start"}"#;
    let Ok(source) = std::str::from_utf8(data) else {
        return;
    };
    let path = ["hooks", "SessionStart"];
    drop(json_text(source, &path));
    let Ok(before) = list_elements(source, &path) else {
        return;
    };
    let is_ours = |element: &str| element == OURS;
    if before.iter().any(|element| is_ours(element)) {
        drop(remove_from_list(source, &path, &is_ours));
        return;
    }
    let Ok(added) = add_to_list(Some(source), &path, OURS) else {
        return;
    };
    let after = list_elements(&added, &path).unwrap_or_else(|error| panic!("{added:?}: {error}"));
    let wanted: Vec<&str> = before.iter().map(String::as_str).chain([OURS]).collect();
    assert_eq!(after, wanted, "{source:?} became {added:?}");
    let removed = remove_from_list(&added, &path, &is_ours);
    let removed = removed.unwrap_or_else(|error| panic!("{added:?}: {error}"));
    assert_eq!(removed.as_deref(), Some(source), "through {added:?}");
}

/// A member set in an object can be read, and removed without a trace.
pub fn json_members(data: &[u8]) {
    const OURS: &str = r#"{"command": "rekindle", "args": ["mcp"]}"#;
    let Ok(source) = std::str::from_utf8(data) else {
        return;
    };
    drop(json_keys(source));
    let path = ["mcpServers", "rekindle"];
    let Ok(before) = json_member(source, &path) else {
        return;
    };
    let Ok(set) = set_json_member(Some(source), &path, OURS) else {
        return;
    };
    let read = json_member(&set, &path).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(read.as_deref(), Some(OURS), "{source:?} became {set:?}");
    let removed = remove_json_member(&set, &path);
    let removed = removed.unwrap_or_else(|error| panic!("{set:?}: {error}"));
    if before.is_none() {
        assert_eq!(removed.as_deref(), Some(source), "through {set:?}");
    }
}

/// An added table can be read, and removed without a trace.
pub fn toml_tables(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else {
        return;
    };
    let path = ["mcp_servers", "rekindle"];
    let Ok(before) = toml_table(source, &path) else {
        return;
    };
    let ours = TomlTable {
        texts: vec![("command".to_owned(), "a \"b\"\\".to_owned())],
        lists: vec![("args".to_owned(), vec!["mcp".to_owned()])],
    };
    let Ok(added) = add_toml_table(Some(source), &path, &ours) else {
        return;
    };
    let read = toml_table(&added, &path).unwrap_or_else(|error| panic!("{added:?}: {error}"));
    let read = read.unwrap_or_else(|| panic!("{source:?} became {added:?}"));
    assert_eq!(read.text("command"), ours.text("command"), "{added:?}");
    if before.is_some() {
        drop(remove_toml_table(source, &path));
        return;
    }
    assert_eq!(read, ours, "{source:?} became {added:?}");
    let removed = remove_toml_table(&added, &path);
    let removed = removed.unwrap_or_else(|error| panic!("{added:?}: {error}"));
    assert_eq!(removed.as_deref(), Some(source), "through {added:?}");
}

/// Lines, headings and prose of Markdown are inside the text, and an edit changes only its span.
pub fn markdown(data: &[u8]) {
    let document = Document::new(data.to_vec());
    let mut end = 0;
    for line in document.lines() {
        let span = line.content;
        assert!(span.start <= span.end && span.end <= data.len() && span.start >= end);
        end = span.end;
        let edit = Edit::replace(&document, span, "new");
        let edited = document.apply(&[edit]);
        let edited = edited.unwrap_or_else(|error| panic!("{error}"));
        let edited = edited.as_bytes();
        assert_eq!(&edited[..span.start], &data[..span.start]);
        assert_eq!(&edited[span.start + 3..], &data[span.end..]);
    }
    let _ = (document.eol(), document.has_bom());
    let _ = document.slice(Span { start: 1, end: 3 });
    let mut n_lines = 0;
    let mut splitter = LineSplitter::new(64);
    for piece in data.chunks(7) {
        splitter.push(piece, &mut |_| n_lines += 1);
    }
    splitter.finish(&mut |_| n_lines += 1);
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    drop(headings(text));
    let page = Page::new(text);
    for (line, found) in page.check_boxes() {
        assert!(
            text[line.content.range()]
                .get(found.mark_at.range())
                .is_some()
        );
    }
    for (line, field) in page.fields() {
        assert_eq!(
            text[line.content.range()][field.value_at..].trim(),
            field.value
        );
    }
    for section in page.sections().take(100) {
        assert!(section.text.ends_with(section.body));
    }
    drop((page.tables(), page.code_blocks()));
    if let Some(yaml) = page.front_matter() {
        drop(parse_yaml::<serde_json::Value>(yaml));
    }
    for line in prose(text) {
        assert!(text.get(line.content.start..line.content.end).is_some());
    }
    assert!(!printable(text).contains(['\u{1b}', '\n']));
    assert!(!printable_block(text).contains('\u{1b}'));
    assert!(excerpt(text, 10).chars().count() <= 10);
    let fence = fence(text);
    assert!(!text.lines().any(|line| line.trim() == fence));
    drop(python_text::universal_newlines(text));
    assert!(python_text::split_lines(text).count() <= text.len() + 1);
}

/// Times in every format: one that was read can be written and is read as the same.
pub fn times(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Some(instant) = parse_instant(text) {
        // Instants are written to the microsecond, or to the second.
        for (written, most) in [
            (format_instant(instant), 1_000),
            (format_seconds(instant), 1_000_000_000),
        ] {
            let again = parse_instant(&written).unwrap_or_else(|| panic!("{written:?}"));
            let off = instant.as_nanosecond().abs_diff(again.as_nanosecond());
            assert!(off < most, "{instant} became {written}");
        }
    }
    let _: Option<jiff::Timestamp> = file_stamp(text);
    let now = jiff::Timestamp::from_second(1_771_254_000).unwrap_or_default();
    let now = now.to_zoned(jiff::tz::TimeZone::UTC);
    let zone = |name: &str| jiff::tz::TimeZone::posix(name).ok();
    let _ = rekindle_agents::limit::reset_time(text, &now, zone);
}
