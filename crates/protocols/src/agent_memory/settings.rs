//! `rekindle-run.json`: how a run that rekindle started is to be done.
//!
//! Only runs that `rekindle run` began have it; for every other reader it is a
//! file to ignore. It is written once, when the run begins.

use rekindle_model::Settings;
use serde::{Deserialize, Serialize};

/// The file's name in the run's folder.
pub(super) const FILE: &str = "rekindle-run.json";
const SCHEMA: &str = "rekindle.run-settings/1";

#[derive(Debug, Serialize, Deserialize)]
struct OnDisk {
    schema: String,
    branch: String,
    base: String,
    #[serde(default)]
    verify: Vec<String>,
    retries: u32,
    #[serde(default)]
    timeout_seconds: Option<u64>,
    #[serde(default)]
    max_cost_microdollars: Option<u64>,
}

/// Reads the file; one of another form is as good as none.
pub(super) fn parse(bytes: &[u8]) -> Option<Settings> {
    let read: OnDisk = serde_json::from_slice(bytes).ok()?;
    (read.schema == SCHEMA).then_some(Settings {
        branch: read.branch,
        base: read.base,
        verify: read.verify,
        retries: read.retries,
        timeout: read.timeout_seconds,
        max_cost: read.max_cost_microdollars,
    })
}

/// Returns the file's text.
pub(super) fn text(settings: &Settings) -> String {
    let on_disk = OnDisk {
        schema: SCHEMA.to_owned(),
        branch: settings.branch.clone(),
        base: settings.base.clone(),
        verify: settings.verify.clone(),
        retries: settings.retries,
        timeout_seconds: settings.timeout,
        max_cost_microdollars: settings.max_cost,
    };
    // Texts and numbers only: there is nothing in it that can not be written as JSON.
    let mut text = serde_json::to_string_pretty(&on_disk).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_read_back_and_other_forms_are_none() {
        let settings = Settings {
            branch: "result".to_owned(),
            base: "abc".to_owned(),
            verify: vec!["true".to_owned()],
            retries: 2,
            timeout: Some(60),
            max_cost: Some(2_500_000),
        };
        assert_eq!(parse(text(&settings).as_bytes()), Some(settings.clone()));
        assert_eq!(
            parse(
                text(&settings)
                    .replace("settings/1", "settings/2")
                    .as_bytes()
            ),
            None
        );
        assert_eq!(parse(b"{"), None);
    }
}
