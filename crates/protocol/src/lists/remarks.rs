//! Needs that a text names: `depends on T012, T015-T017`.

use std::collections::HashMap;

use crate::lists::scan;
use crate::lists::task::{Notice, TaskFile};

/// A range names at most as many tasks.
const LONGEST_RANGE: u64 = 200;
const WORDS: &str = "depends on";

/// Adds the needs that the texts of tasks name; `id` returns the id at the start of a text.
pub fn add_needs(file: &mut TaskFile, id: fn(&str) -> Option<&str>) {
    let named = file.tasks.iter().map(|task| {
        let mut named = named(&task.title, id);
        named.extend(self::named(&task.details, id));
        named
    });
    let named: Vec<Vec<String>> = named.collect();
    connect(file, named);
}

/// Adds needs by their ids; one that is no task is noticed.
pub fn connect(file: &mut TaskFile, named: Vec<Vec<String>>) {
    if named.iter().all(Vec::is_empty) {
        return;
    }
    let ids = file.tasks.iter().enumerate();
    let places: HashMap<String, usize> = ids.map(|(at, task)| (task.id.clone(), at)).collect();
    for (at, named) in named.into_iter().enumerate() {
        for need in named {
            match places.get(&need) {
                Some(&found) if !file.tasks[at].needs.contains(&found) => {
                    file.tasks[at].needs.push(found);
                }
                Some(_) => {}
                None => {
                    let (line, id) = (file.tasks[at].line, &file.tasks[at].id);
                    let about = format!("`{id}` needs `{need}`");
                    file.notice(Notice::UnknownNeed, line, about);
                }
            }
        }
    }
}

/// Returns the ids that a text says it depends on.
fn named(text: &str, id: fn(&str) -> Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = find(rest) {
        rest = &rest[at + WORDS.len()..];
        rest = list(rest, id, &mut found);
    }
    found
}

/// Finds the words in any case.
fn find(text: &str) -> Option<usize> {
    let bytes = text.as_bytes().windows(WORDS.len());
    let mut places = bytes.enumerate();
    let found = places.find(|(_, window)| window.eq_ignore_ascii_case(WORDS.as_bytes()));
    found.map(|(at, _)| at)
}

/// Reads ids with commas, `and` and ranges between them; returns what follows.
fn list<'t>(text: &'t str, id: fn(&str) -> Option<&str>, found: &mut Vec<String>) -> &'t str {
    let mut rest = skip(text.strip_prefix(':').unwrap_or(text));
    let mut last: Option<&str> = None;
    let mut is_range = false;
    while let Some(next) = id(rest) {
        match last {
            Some(first) if is_range => add_range(first, next, found),
            Some(_) | None => found.push(next.to_owned()),
        }
        last = Some(next);
        rest = skip(&rest[next.len()..]);
        let Some((after, is_next_range)) = separator(rest) else {
            break;
        };
        is_range = is_next_range;
        rest = after;
    }
    rest
}

/// Takes what may stand between two ids, and returns whether it makes a range of them.
fn separator(text: &str) -> Option<(&str, bool)> {
    for sign in ["-", "\u{2013}", "\u{2014}"] {
        if let Some(rest) = text.strip_prefix(sign) {
            return Some((skip(rest), true));
        }
    }
    if let Some(rest) = word(text, "to") {
        return Some((rest, true));
    }
    let mut rest = text;
    let mut is_any = false;
    loop {
        let signs = rest.strip_prefix([',', '&', '+', '/']);
        let Some(after) = signs.map(skip).or_else(|| word(rest, "and")) else {
            return is_any.then_some((rest, false));
        };
        rest = after;
        is_any = true;
    }
}

fn word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let is_word = text.get(..word.len())?.eq_ignore_ascii_case(word);
    let rest = &text[word.len()..];
    (is_word && rest.starts_with(scan::BLANKS)).then(|| skip(rest))
}

fn skip(text: &str) -> &str {
    text.trim_start_matches(|c| scan::BLANKS.contains(&c) || c == '`' || c == '*')
}

/// Adds the ids after the first of a range, up to the last.
fn add_range(first: &str, last: &str, found: &mut Vec<String>) {
    let split = |id: &str| {
        let digits = id.trim_end_matches(|c: char| !c.is_ascii_digit());
        let stem = digits.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = digits.get(stem.len()..)?;
        let value: u64 = number.parse().ok()?;
        (digits.len() == id.len()).then(|| (stem.to_owned(), value, number.len()))
    };
    if let (Some((stem, from, width)), Some((other, to, _))) = (split(first), split(last))
        && stem == other
        && from < to
    {
        let end = to.min(from.saturating_add(LONGEST_RANGE - 1));
        found.extend((from + 1..=end).map(|number| format!("{stem}{number:0width$}")));
    } else {
        found.push(last.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `T012`, `T-12` or `T030b`.
    fn id(text: &str) -> Option<&str> {
        let rest = text.strip_prefix('T')?;
        let rest = rest.strip_prefix('-').unwrap_or(rest);
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let letter = usize::from(digits.starts_with(|c: char| c.is_ascii_lowercase()));
        let is_id = digits.len() < rest.len();
        is_id.then(|| &text[..text.len() - digits.len() + letter])
    }

    #[test]
    fn ids_that_a_text_depends_on_are_found() {
        for (text, expected) in [
            ("write it (depends on T012, T013)", &["T012", "T013"][..]),
            (
                "Depends On T001 and T002 & T003 + T004 / T005.",
                &["T001", "T002", "T003", "T004", "T005"],
            ),
            (
                "depends on: `T012`, and **T013** for the rest",
                &["T012", "T013"],
            ),
            ("depends on T015-T017", &["T015", "T016", "T017"]),
            (
                "depends on T015\u{2013}T016, T020 to T021",
                &["T015", "T016", "T020", "T021"],
            ),
            ("depends on T-01-T-03", &["T-01", "T-02", "T-03"]),
            ("depends on T1, depends on T2", &["T1", "T2"]),
            ("depends on T030b-T031", &["T030b", "T031"]),
            ("depends on T9-T2", &["T9", "T2"]),
            ("depends on nothing, T012 is done", &[]),
            ("T012 is done", &[]),
        ] {
            assert_eq!(named(text, id), expected, "{text}");
        }
        assert_eq!(named("depends on T1-T99999", id).len(), 200);
    }
}
