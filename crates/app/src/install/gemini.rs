//! Gemini CLI: hooks and servers in `settings.json` in `~/.gemini` or in `.gemini` of the project;
//! timeouts in milliseconds.

use camino::Utf8PathBuf;
use rekindle_agents::hook::Moment;

use super::hooks::{self, Hook};
use super::{Program, Scope, Settings, Unfit, home, server};
use crate::{Preset, Project};

pub(super) struct Gemini;

const HOOKS: [Hook; 5] = [
    hook("SessionStart", Moment::SessionStart),
    hook("PreCompress", Moment::PreCompact),
    hook("SessionEnd", Moment::SessionEnd),
    hook("AfterAgent", Moment::Stop),
    hook("AfterTool", Moment::PostToolUse),
];

const fn hook(event: &'static str, moment: Moment) -> Hook {
    Hook {
        event,
        moment,
        timeout: 10_000,
    }
}

impl Settings for Gemini {
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf> {
        let folder = match scope {
            Scope::User => home(project, None, ".gemini")?,
            Scope::Project => project.folder().join(".gemini"),
        };
        Some(folder.join("settings.json"))
    }

    fn with(&self, settings: Option<&str>, program: &Program) -> Result<String, Unfit> {
        let settings = hooks::with(settings, Preset::Gemini, &HOOKS, program)?;
        server::with(Some(&settings), program)
    }

    fn without(&self, settings: &str) -> Result<Option<String>, Unfit> {
        // The last one first: it was added last.
        match server::without(settings)? {
            Some(settings) => hooks::without(&settings, &HOOKS),
            None => Ok(None),
        }
    }

    fn to_do(&self, scope: Scope) -> Vec<String> {
        match scope {
            Scope::User => {
                vec!["Gemini CLI starts servers only in folders that you trust".to_owned()]
            }
            Scope::Project => vec![
                "Gemini CLI warns of new hooks of a project, and uses them and its servers only in a folder that you trust"
                    .to_owned(),
            ],
        }
    }
}
