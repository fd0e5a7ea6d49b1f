//! `rekindle-run.json`: the settings of a run that `rekindle run` started, written once.
//!
//! Other readers ignore it.

use std::num::NonZeroU8;

use camino::Utf8PathBuf;
use rekindle_model::{AgentChoice, ListSource, Settings};
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
    #[serde(default, skip_serializing_if = "String::is_empty")]
    title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<Utf8PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentOnDisk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jobs: Option<NonZeroU8>,
    /// Older versions neither write nor read it: they do the tasks without marking them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    list: Option<ListOnDisk>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AgentOnDisk {
    Name(String),
    Command(String),
}

#[derive(Debug, Serialize, Deserialize)]
struct ListOnDisk {
    id: String,
    path: String,
}

/// Reads the file, or says why it cannot be used.
///
/// An unusable file is not a missing one: without it the run would continue in the project's
/// folder.
pub(super) fn parse(bytes: &[u8]) -> Result<Settings, String> {
    #[derive(Deserialize)]
    struct Version {
        schema: String,
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("it is empty".to_owned());
    }
    // The version first: a newer form may have other types in it.
    let version: Version = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if version.schema != SCHEMA {
        let found = rekindle_text::excerpt(&version.schema, 80);
        return Err(format!("it is in the form `{found}`, not `{SCHEMA}`"));
    }
    let read: OnDisk = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if !rekindle_text::is_branch_name(&read.branch) {
        let branch = rekindle_text::excerpt(&read.branch, 80);
        return Err(format!("`{branch}` cannot be the name of a branch"));
    }
    let is_commit =
        |id: &str| matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_commit(&read.base) {
        let base = rekindle_text::excerpt(&read.base, 80);
        return Err(format!("`{base}` is not the id of a commit"));
    }
    Ok(Settings {
        branch: read.branch,
        base: read.base,
        verify: read.verify,
        retries: read.retries,
        timeout: read.timeout_seconds,
        max_cost: read.max_cost_microdollars,
        title: read.title,
        plan: read.plan,
        agent: read.agent.map(|agent| match agent {
            AgentOnDisk::Name(name) => AgentChoice::Named(name),
            AgentOnDisk::Command(command) => AgentChoice::Command(command),
        }),
        jobs: read.jobs.map(|jobs| usize::from(jobs.get())),
        list: read.list.map(|list| ListSource {
            id: list.id,
            path: list.path.into(),
        }),
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
        title: settings.title.clone(),
        plan: settings.plan.clone(),
        agent: settings.agent.as_ref().map(|agent| match agent {
            AgentChoice::Named(name) => AgentOnDisk::Name(name.clone()),
            AgentChoice::Command(command) => AgentOnDisk::Command(command.clone()),
        }),
        jobs: settings
            .jobs
            .and_then(|jobs| NonZeroU8::new(u8::try_from(jobs).ok()?)),
        list: settings.list.as_ref().map(|list| ListOnDisk {
            id: list.id.clone(),
            path: list.path.to_string(),
        }),
    };
    // Strings and numbers can always be written as JSON.
    let mut text = serde_json::to_string_pretty(&on_disk).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            branch: "result".to_owned(),
            base: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            verify: vec!["true".to_owned()],
            retries: 2,
            timeout: Some(60),
            max_cost: Some(2_500_000),
            title: "Orders".to_owned(),
            plan: Some("plan.md".into()),
            agent: Some(AgentChoice::Named("claude".to_owned())),
            jobs: Some(3),
            list: Some(ListSource {
                id: "spec-kit:001-a".to_owned(),
                path: "specs/001-a/tasks.md".into(),
            }),
        }
    }

    #[test]
    fn settings_read_back() {
        let command = AgentChoice::Command("/opt/agent --fast".to_owned());
        for agent in [settings().agent, Some(command), None] {
            let settings = Settings {
                agent,
                ..settings()
            };
            assert_eq!(parse(text(&settings).as_bytes()), Ok(settings));
        }
    }

    #[test]
    fn a_record_of_an_earlier_release_names_no_agent() {
        let text = r#"{"schema":"rekindle.run-settings/1","branch":"result","retries":2,
            "base":"0123456789abcdef0123456789abcdef01234567"}"#;
        let read = parse(text.as_bytes()).unwrap();
        assert_eq!((read.agent, read.jobs, read.plan), (None, None, None));
    }

    #[test]
    fn explains_unusable_settings() {
        let written = text(&settings());
        for (from, to, why) in [
            (written.as_str(), "", "it is empty"),
            (written.as_str(), " \n", "it is empty"),
            (written.as_str(), "{", "EOF while parsing"),
            (written.as_str(), "[]", "expected struct"),
            (written.as_str(), "\0\0\0", "expected value"),
            ("settings/1", "settings/2", "run-settings/2`, not"),
            ("\"retries\": 2", "\"retries\": \"2\"", "invalid type"),
            ("\"retries\": 2,", "", "missing field"),
            ("result", "--all", "`--all` cannot be the name of a branch"),
            ("result", "a..b", "cannot be the name of a branch"),
            ("012345", "HEAD~1", "is not the id of a commit"),
        ] {
            let found = parse(written.replace(from, to).as_bytes()).unwrap_err();
            assert!(found.contains(why), "{to:?}: {found}");
        }
    }
}
