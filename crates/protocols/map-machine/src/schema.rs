//! The checks that `retry_quarantine.json` and `flaky_test_triage.json` have in common.

use rekindle_text::python_json::{Json, Object};

use crate::desk::{Desk, Document};
use crate::manifest;
use crate::reply::Fault;

/// Reads an object, or returns why there is none.
pub(crate) fn load(desk: Desk<'_>, path: &str) -> Result<Object, String> {
    match desk.json(path) {
        Ok(Document::Value(Json::Object(file))) => Ok(file),
        Ok(Document::Value(other)) => Err(format!("{path} is {}, not an object", other.kind())),
        Ok(Document::Broken(reason)) => Err(format!("{path} is not JSON: {reason}")),
        Ok(Document::Absent) => Err(format!("{path} does not exist")),
        Err(Fault(reason)) => Err(reason),
    }
}

/// Checks the head of a file and every entry of its list; returns the errors.
pub(crate) fn errors(
    file: &Object,
    list: &str,
    check_entry: impl Fn(&Object, &mut Checks<'_>),
) -> Vec<String> {
    let mut errors = Vec::new();
    if file.text("schema_version") != Some("1.0") {
        errors.push("schema_version must be 1.0".to_owned());
    }
    if file.text("branch").unwrap_or_default().is_empty() {
        errors.push("branch must be a non-empty string".to_owned());
    }
    if file.list(list).is_empty() {
        errors.push(format!("{list} must be a non-empty list"));
    }
    for (index, entry) in file.list(list).iter().enumerate() {
        let mut checks = Checks {
            name: &format!("{list}[{index}]"),
            errors: &mut errors,
        };
        match entry.as_object() {
            Some(entry) => check_entry(entry, &mut checks),
            None => errors.push(format!("{list}[{index}] must be an object")),
        }
    }
    errors
}

/// Collects the errors of one entry.
pub(crate) struct Checks<'a> {
    name: &'a str,
    errors: &'a mut Vec<String>,
}

impl Checks<'_> {
    /// Adds an error, unless the rule holds.
    pub(crate) fn check(&mut self, holds: bool, rule: &str) {
        if !holds {
            self.errors.push(format!("{}.{rule}", self.name));
        }
    }

    /// Checks that an entry has these keys, separated by spaces.
    pub(crate) fn required(&mut self, entry: &Object, keys: &str) {
        for key in keys.split(' ') {
            self.check(entry.has(key), &format!("{key} is required"));
        }
    }

    /// Checks that these keys have non-empty strings.
    pub(crate) fn texts(&mut self, entry: &Object, prefix: &str, keys: &[&str]) {
        for key in keys {
            let holds = !entry.text(key).unwrap_or_default().is_empty();
            self.check(holds, &format!("{prefix}{key} must be a non-empty string"));
        }
    }
}

/// Returns the report on a file; one that cannot be read is not in the manifest.
pub(crate) fn report(desk: Desk<'_>, path: &str, errors: Vec<String>, is_read: bool) -> Object {
    let is_valid = errors.is_empty();
    let mut report = Object::new()
        .with("status", if is_valid { "success" } else { "error" })
        .with("valid", is_valid)
        .with("path", path);
    if is_read {
        report.set("manifest_path", manifest::path(desk));
    }
    report
        .with("errors", errors)
        .with("warnings", Vec::<Json>::new())
}
