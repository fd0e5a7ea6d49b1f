//! Settings one by one, each with its file and line.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_text::{excerpt, printable};
use toml::de::{DeTable, DeValue};

use super::read::members;
use super::{File, Run, Worktree};

/// The longest value that is shown.
const LONGEST: usize = 300;

/// A setting, as it is written in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key, such as `run.jobs`.
    pub key: String,
    /// The value as it is written, in one printable line.
    pub value: String,
    /// The file and its line, from 1; `None` for what is built in.
    pub place: Option<(Utf8PathBuf, usize)>,
}

/// Returns the settings of a file, in its order.
pub(super) fn of_file(path: &Utf8Path, text: &str, table: &DeTable<'_>) -> Vec<Setting> {
    let mut settings = Vec::new();
    collect(path, text, "", table, &mut settings);
    settings
}

fn collect(
    path: &Utf8Path,
    text: &str,
    above: &str,
    table: &DeTable<'_>,
    settings: &mut Vec<Setting>,
) {
    for (_, at, found) in members(above, table) {
        if let DeValue::Table(inner) = found.value.get_ref() {
            collect(path, text, &found.key, inner, settings);
            continue;
        }
        let value = text.get(found.value.span()).unwrap_or_default();
        let words: Vec<&str> = value.split_whitespace().collect();
        settings.push(Setting {
            key: found.key,
            value: excerpt(&printable(&words.join(" ")), LONGEST),
            place: Some((path.to_owned(), super::read::line(text, at.start))),
        });
    }
}

/// Returns the settings that hold, by key; each file goes before those in front of it, of which the
/// first is the user's.
pub(super) fn merged<const N: usize>(files: [&File; N]) -> Vec<Setting> {
    let mut held: BTreeMap<String, Setting> = built_in()
        .into_iter()
        .map(|setting| (setting.key.clone(), setting))
        .collect();
    for (n, file) in files.into_iter().enumerate() {
        held.retain(|key, _| key.starts_with("notify.") || !file.puts_aside(key));
        // Only the user's own file says how they are told.
        let is_ignored = |key: &str| n > 0 && key.starts_with("notify.");
        let settings = file.settings.iter();
        let settings = settings.filter(|setting| !is_ignored(&setting.key));
        held.extend(settings.map(|setting| (setting.key.clone(), setting.clone())));
    }
    held.into_values().collect()
}

/// Returns the settings that hold where no file says anything.
fn built_in() -> Vec<Setting> {
    let (run, worktree) = (Run::default(), Worktree::default());
    [
        ("run.jobs", run.jobs.to_string()),
        ("run.retries", run.retries.to_string()),
        (
            "run.timeout",
            format!("\"{}m\"", run.timeout.as_secs() / 60),
        ),
        ("worktree.fresh", worktree.fresh.to_string()),
        (
            "worktree.timeout",
            format!("\"{}m\"", worktree.timeout.as_secs() / 60),
        ),
    ]
    .into_iter()
    .map(|(key, value)| Setting {
        key: key.to_owned(),
        value,
        place: None,
    })
    .collect()
}

impl File {
    /// Returns whether a setting of a file with less precedence does not count because of this one.
    pub(super) fn puts_aside(&self, key: &str) -> bool {
        self.settings.iter().any(|setting| {
            let program = [".preset", ".command"]
                .iter()
                .find_map(|end| setting.key.strip_suffix(end))
                .filter(|agent| agent.starts_with("agents."));
            setting.key == key
                || program.is_some_and(|agent| {
                    key.strip_prefix(agent)
                        .is_some_and(|rest| rest.starts_with('.'))
                })
        })
    }
}
