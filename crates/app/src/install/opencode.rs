//! opencode: a plugin, which is a file of its own in `~/.config/opencode` or in `.opencode` of the project.

use camino::Utf8PathBuf;

use super::{Program, Scope, Settings, Unfit, home, quoted};
use crate::Project;

pub(super) struct Opencode;

/// The plugin, which also brings the MCP server. What starts rekindle takes the place of two words,
/// one for a shell and one for where there is none.
const PLUGIN: &str = include_str!("opencode.js");
const COMMAND: &str = "\"REKINDLE\"";
const PROGRAM: &str = "\"PROGRAM\"";
/// Every release of the plugin begins with this.
const FIRST_WORDS: &str = "// Made by `rekindle install opencode`";

impl Settings for Opencode {
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf> {
        let folder = match scope {
            Scope::User => home(project, Some("XDG_CONFIG_HOME"), ".config")?.join("opencode"),
            Scope::Project => project.folder().join(".opencode"),
        };
        Some(folder.join("plugin/rekindle.js"))
    }

    fn with(&self, settings: Option<&str>, program: &Program) -> Result<String, Unfit> {
        if settings.is_some_and(|text| !text.starts_with(FIRST_WORDS)) {
            return Err(Unfit::Foreign);
        }
        // A text of JavaScript in quotes is written as one of JSON is.
        let plugin = PLUGIN.replace(COMMAND, &quoted(&program.in_shell()));
        Ok(plugin.replace(PROGRAM, &program.quoted()))
    }

    fn without(&self, settings: &str) -> Result<Option<String>, Unfit> {
        if settings.starts_with(FIRST_WORDS) {
            Ok(None)
        } else {
            Err(Unfit::Foreign)
        }
    }

    fn to_do(&self, _: Scope) -> Vec<String> {
        vec!["opencode reads plugins when it starts: end it and start it again".to_owned()]
    }
}
