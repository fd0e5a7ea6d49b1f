//! Codex CLI: `hooks.json` in `~/.codex` or in `.codex` of the project; timeouts in seconds.
//!
//! Codex skips every hook that its user has not trusted, and `codex exec` does so without a word. The
//! record of that trust is the user's alone to make.

use camino::Utf8PathBuf;
use rekindle_agents::hook::Moment;

use super::hooks::{self, Hook};
use super::{Scope, Settings, Unfit, home};
use crate::{Preset, Project};

pub(super) struct Codex;

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

impl Settings for Codex {
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf> {
        let folder = match scope {
            Scope::User => home(project, Some("CODEX_HOME"), ".codex")?,
            Scope::Project => project.folder().join(".codex"),
        };
        Some(folder.join("hooks.json"))
    }

    fn with(&self, settings: Option<&str>, command: &str) -> Result<String, Unfit> {
        hooks::with(settings, Preset::Codex, &HOOKS, command)
    }

    fn without(&self, settings: &str) -> Result<Option<String>, Unfit> {
        hooks::without(settings, &HOOKS)
    }

    fn to_do(&self, scope: Scope) -> Vec<String> {
        let trust = "Codex skips hooks until you trust them: start `codex`, type `/hooks`, and trust those of rekindle".to_owned();
        let project = "Codex reads hooks of a project only where you trust the project".to_owned();
        match scope {
            Scope::User => vec![trust],
            Scope::Project => vec![trust, project],
        }
    }
}
