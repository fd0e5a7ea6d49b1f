//! What a `case.json` says. An unknown key is an error, so that no expectation is ever passed over.

use camino::{Utf8Path, Utf8PathBuf};
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::error::Error;
use super::teams;

/// One case: the clock, what is laid out, what is run and what must come of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The folder of the case, with `case.json`, `project/`, `home/` and `stdout.txt`.
    #[serde(skip)]
    pub(crate) folder: Utf8PathBuf,
    /// What the case is about, in a sentence.
    #[serde(rename = "about")]
    pub(crate) _about: String,
    pub(crate) protocol: String,
    pub(crate) now: String,
    #[serde(default = "utc")]
    pub(crate) tz: String,
    #[serde(default)]
    pub(crate) args: Vec<String>,
    pub(crate) default_mtime: Option<String>,
    #[serde(default)]
    pub(crate) mtimes: IndexMap<String, String>,
    /// When the files of the home were written; now without it.
    pub(crate) home_mtime: Option<String>,
    /// When single files of the home were written.
    #[serde(default)]
    pub(crate) home_mtimes: IndexMap<String, String>,
    /// Variables of every command.
    #[serde(default)]
    pub(crate) env: IndexMap<String, String>,
    pub(crate) teams: Option<teams::Spec>,
    pub(crate) map: Option<Repository>,
    pub(crate) git: Option<Committed>,
    pub(crate) inspect: Option<Inspect>,
    pub(crate) status: Option<Status>,
    pub(crate) resume: Option<Resume>,
    pub(crate) run: Option<Run>,
    pub(crate) commands: Option<Vec<Step>>,
}

impl Case {
    /// Reads the `case.json` of a folder.
    pub fn load(folder: &Utf8Path) -> Result<Self, Error> {
        let path = folder.join("case.json");
        let bytes = fs_err::read(&path)?;
        let case: Self =
            serde_json::from_slice(&bytes).map_err(|source| Error::Case { path, source })?;
        Ok(Self {
            folder: folder.to_owned(),
            ..case
        })
    }

    /// Makes a case of nothing but a Kiln Teams wave, from what its `teams` object says.
    pub fn of_teams(teams: &Value) -> Result<Self, Error> {
        let case = serde_json::json!({
            "about": "made in place",
            "protocol": "kiln-teams",
            "now": teams::NOW,
            "teams": teams,
        });
        let path = Utf8PathBuf::from("in place");
        serde_json::from_value(case).map_err(|source| Error::Case { path, source })
    }

    /// Returns the protocol's name, as `--protocol` takes it.
    pub fn protocol(&self) -> &str {
        &self.protocol
    }
}

/// The repository that the project is, for cases that need an empty one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repository {
    #[serde(default = "main")]
    pub(crate) branch: String,
    #[serde(default)]
    pub(crate) git: Head,
}

/// Where the repository's `HEAD` stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Head {
    /// There is no repository.
    None,
    /// On a branch without a commit.
    Unborn,
    /// On a branch with one commit.
    #[default]
    Branch,
    /// On a commit, on no branch.
    Detached,
}

/// The repository that the project is, with its files in the first commit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Committed {
    #[serde(default = "main")]
    pub(crate) branch: String,
    /// When the first commit was made.
    pub(crate) date: Option<String>,
    /// What is in the first commit; everything without it.
    pub(crate) commit: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) detached: bool,
}

/// What `status --json` must say.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Status {
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// The workflows in order, each with its id and its state.
    pub(crate) workflows: Option<Vec<(String, String)>>,
    #[serde(default = "empty")]
    pub(crate) has: Value,
}

/// What a resume with an agent must leave on its branch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// The agent, a shell script.
    pub(crate) agent: String,
    /// Instead of `resume --protocol PROTOCOL`.
    pub(crate) command: Option<Vec<String>>,
    /// After the case's own.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    #[serde(default)]
    pub(crate) exit: i32,
    #[serde(default = "yes")]
    pub(crate) checkout_untouched: bool,
    /// The tasks whose commits are on the branch.
    pub(crate) landed: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) files: IndexMap<String, Rule>,
}

/// What `inspect --json` must say.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inspect {
    /// Instead of the case's own.
    pub(crate) args: Option<Vec<String>>,
    pub(crate) exit: Option<i32>,
    #[serde(default = "empty")]
    pub(crate) facts: Value,
    pub(crate) blockers: Option<Vec<String>>,
    pub(crate) warnings: Option<Vec<String>>,
}

/// What `resume` must print and leave behind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resume {
    /// After the case's own.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    #[serde(default)]
    pub(crate) stdin: String,
    pub(crate) exit: Option<i32>,
    #[serde(default = "yes")]
    pub(crate) stdout_exact: bool,
    #[serde(default)]
    pub(crate) stdout_contains: Vec<String>,
    #[serde(default)]
    pub(crate) stdout_not_contains: Vec<String>,
    #[serde(default)]
    pub(crate) stderr_contains: Vec<String>,
    #[serde(default)]
    pub(crate) unchanged: Vec<String>,
    #[serde(default)]
    pub(crate) changes_nothing: bool,
    #[serde(default)]
    pub(crate) files: IndexMap<String, Rule>,
    pub(crate) git: Option<teams::Outcome>,
}

/// What one file must hold afterwards.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) equals: Option<String>,
    #[serde(default)]
    pub(crate) contains: Vec<String>,
    #[serde(default)]
    pub(crate) not_contains: Vec<String>,
    /// How often each pattern matches; `^` and `$` stand for line ends.
    #[serde(default)]
    pub(crate) count: IndexMap<String, usize>,
    pub(crate) eol: Option<LineEnd>,
    /// The session history is numbered from one to this.
    pub(crate) history_entries: Option<u32>,
}

/// Line ends that must have been kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LineEnd {
    /// As on Windows.
    Crlf,
    /// As everywhere else; not checked.
    Lf,
}

/// One command of a `commands` case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) args: Vec<String>,
    #[serde(default)]
    pub(crate) stdin: String,
    pub(crate) exit: Option<i32>,
    /// The whole answer: an object has no key but these.
    #[serde(default, deserialize_with = "present")]
    pub(crate) json: Option<Value>,
    /// A part of the answer.
    #[serde(default, deserialize_with = "present")]
    pub(crate) has: Option<Value>,
    #[serde(default)]
    pub(crate) state_after: IndexMap<String, Value>,
}

/// Keeps a `null` that is written down apart from a key that is not there.
pub(crate) fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

fn utc() -> String {
    "UTC".to_owned()
}

fn main() -> String {
    "main".to_owned()
}

fn empty() -> Value {
    Value::Object(serde_json::Map::new())
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = r#"{"about": "x", "protocol": "map", "now": "2026-01-01T00:00:00Z""#;

    #[test]
    fn a_key_nobody_checks_is_an_error() {
        let wrong = serde_json::from_str::<Case>(&format!("{LEAST}, \"inspekt\": {{}}}}"));
        assert!(wrong.unwrap_err().to_string().contains("inspekt"));
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let case: Case = serde_json::from_str(&format!("{LEAST}}}")).unwrap();
        assert_eq!(case.tz, "UTC");
        assert!(case.args.is_empty() && case.commands.is_none());
    }

    #[test]
    fn an_expected_null_is_not_an_absent_expectation() {
        let step: Step = serde_json::from_str(r#"{"args": [], "json": null}"#).unwrap();
        assert_eq!(step.json, Some(Value::Null));
        assert_eq!(step.has, None);
    }
}
