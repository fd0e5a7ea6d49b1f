//! What must be equal: answers and files, without sentences and times.

use std::sync::LazyLock;

use camino::Utf8Path;
use regex::Regex;
use rekindle_text::python_json::{self, Json};

/// Values that are sentences; theirs and ours differ.
const SENTENCES: &[&str] = &[
    "aag_contract",
    "description",
    "diagnostic_hint",
    "hint",
    "instruction",
    "message",
    "monitor_rejection_summary",
    "prune_rationale",
    "skeleton",
    "warning",
];
/// Lists of sentences, of which only the number must be equal.
const LISTS: &[&str] = &[
    "do_not_repeat",
    "errors",
    "preserved_constraints",
    "required_evidence",
    "validation_criteria",
];

static TIMES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)").unwrap());
static STAMPS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d{8}T\d{6}(\d{6})?Z").unwrap());

/// Returns a text with what differs between two projects, or two instants, replaced.
pub(crate) fn plain(text: &str, project: &Utf8Path) -> String {
    let text = text.replace(project.as_str(), "<project>");
    let text = TIMES.replace_all(&text, "<time>");
    STAMPS.replace_all(&text, "<stamp>").into_owned()
}

/// Returns a JSON text with its sentences taken out, in one form; what is no JSON stays as it is.
pub(crate) fn without_sentences(text: &str, prose: &[&str]) -> String {
    match python_json::parse(text) {
        Ok(mut value) => {
            take_out(&mut value, prose);
            value.to_lines()
        }
        Err(_) => text.to_owned(),
    }
}

fn take_out(value: &mut Json, prose: &[&str]) {
    match value {
        Json::List(items) => items.iter_mut().for_each(|item| take_out(item, prose)),
        Json::Object(object) => {
            for (key, value) in object.iter_mut() {
                let is_sentence = SENTENCES.contains(&key) || prose.contains(&key);
                let is_list = LISTS.contains(&key);
                if let (true, Json::List(items)) = (is_list, &mut *value) {
                    for item in items.iter_mut().filter(|item| item.as_text().is_some()) {
                        *item = "*".into();
                    }
                } else if is_sentence && value.as_text().is_some_and(|text| !text.is_empty()) {
                    *value = "*".into();
                } else {
                    take_out(value, prose);
                }
            }
        }
        Json::Null
        | Json::Bool(_)
        | Json::Int(_)
        | Json::LargeInt(_)
        | Json::Float(_)
        | Json::Text(_) => {}
    }
}

/// Returns whether a JSON file is laid out as the peer lays it out.
pub(crate) fn is_in_form(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    python_json::parse(text).is_ok_and(|value| value.to_lines() == body)
}
