//! Codex CLI: `hooks.json`, with timeouts in seconds, and servers in `config.toml`; both in `~/.codex`
//! or in `.codex` of the project.
//!
//! Codex skips every hook that its user has not trusted, and `codex exec` does so silently. The
//! record of that trust is the user's alone to make.

use camino::Utf8PathBuf;
use rekindle_agents::hook::Moment;
use rekindle_text::{TomlTable, add_toml_table, remove_toml_table, toml_table};

use super::hooks::{self, Hook};
use super::server::{ARGUMENT, NAME, calls_us, is_marked};
use super::{MARK, Program, Scope, Settings, Unfit, home};
use crate::{Preset, Project};

pub(super) struct Hooks;
pub(super) struct Servers;

/// The table of the server.
const SERVER: [&str; 2] = ["mcp_servers", NAME];

const HOOKS: [Hook; 5] = [
    hook("SessionStart", Moment::SessionStart, 10),
    hook("PreCompact", Moment::PreCompact, 10),
    // Codex allows no more here, and warns at every start of more.
    hook("SessionEnd", Moment::SessionEnd, 3),
    hook("Stop", Moment::Stop, 10),
    hook("PostToolUse", Moment::PostToolUse, 10),
];

const fn hook(event: &'static str, moment: Moment, timeout: u32) -> Hook {
    Hook {
        event,
        moment,
        timeout,
    }
}

impl Settings for Hooks {
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf> {
        Some(folder(project, scope)?.join("hooks.json"))
    }

    fn with(&self, settings: Option<&str>, program: &Program) -> Result<String, Unfit> {
        hooks::with(settings, Preset::Codex, &HOOKS, program)
    }

    fn without(&self, settings: &str) -> Result<Option<String>, Unfit> {
        hooks::without(settings, &HOOKS)
    }

    fn to_do(&self, scope: Scope) -> Vec<String> {
        let trust = "Codex skips hooks until you trust them: start `codex`, type `/hooks`, and trust those of rekindle".to_owned();
        let project = "Codex reads hooks and servers of a project only where you trust the project"
            .to_owned();
        match scope {
            Scope::User => vec![trust],
            Scope::Project => vec![trust, project],
        }
    }
}

impl Settings for Servers {
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf> {
        Some(folder(project, scope)?.join("config.toml"))
    }

    fn with(&self, settings: Option<&str>, program: &Program) -> Result<String, Unfit> {
        let found = toml_table(settings.unwrap_or_default(), &SERVER)?;
        match found {
            Some(server) if !starts_us(&server) => return Err(Unfit::ForeignServer),
            // A user's own does the same.
            Some(server) if !is_ours(&server) => {
                return Ok(settings.unwrap_or_default().to_owned());
            }
            Some(_) | None => {}
        }
        let server = TomlTable {
            texts: vec![("command".to_owned(), program.as_str().to_owned())],
            lists: vec![(
                "args".to_owned(),
                vec![ARGUMENT.to_owned(), MARK.to_owned()],
            )],
        };
        Ok(add_toml_table(settings, &SERVER, &server)?)
    }

    fn without(&self, settings: &str) -> Result<Option<String>, Unfit> {
        match toml_table(settings, &SERVER)? {
            Some(server) if is_ours(&server) => Ok(remove_toml_table(settings, &SERVER)?),
            Some(_) | None => Ok(Some(settings.to_owned())),
        }
    }

    fn to_do(&self, _: Scope) -> Vec<String> {
        // Codex asks by itself before a tool that changes something is used.
        Vec::new()
    }
}

fn folder(project: &Project, scope: Scope) -> Option<Utf8PathBuf> {
    match scope {
        Scope::User => home(project, Some("CODEX_HOME"), ".codex"),
        Scope::Project => Some(project.folder().join(".codex")),
    }
}

/// Returns whether a server was added by `install`, by its mark.
fn is_ours(server: &TomlTable) -> bool {
    starts_us(server) && is_marked(server.list("args").unwrap_or_default())
}

fn starts_us(server: &TomlTable) -> bool {
    let arguments = server.list("args").unwrap_or_default();
    let first = arguments.first().map(String::as_str);
    let command = server.text("command");
    command.is_some_and(|command| calls_us(command, first))
}
