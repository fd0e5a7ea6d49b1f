//! Codex CLI: servers in `config.toml` in `~/.codex` or in `.codex` of the project.

use camino::Utf8PathBuf;
use rekindle_text::{TomlTable, add_toml_table, remove_toml_table, toml_table};

use super::server::{ARGUMENT, NAME, calls_us, is_marked};
use super::{MARK, Program, Scope, Settings, Unfit, home};
use crate::Project;

pub(super) struct Servers;

/// The table of the server.
const SERVER: [&str; 2] = ["mcp_servers", NAME];

impl Settings for Servers {
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf> {
        let folder = match scope {
            Scope::User => home(project, Some("CODEX_HOME"), ".codex")?,
            Scope::Project => project.folder().join(".codex"),
        };
        Some(folder.join("config.toml"))
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
