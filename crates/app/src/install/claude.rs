//! Claude Code: `settings.json` in `~/.claude` or in `.claude` of the project; timeouts in seconds.

use camino::Utf8PathBuf;
use rekindle_agents::hook::Moment;

use super::hooks::{self, Hook};
use super::{Scope, Settings, Unfit, home};
use crate::{Preset, Project};

pub(super) struct Claude;

const HOOKS: [Hook; 6] = [
    hook("SessionStart", Moment::SessionStart),
    hook("PreCompact", Moment::PreCompact),
    hook("SessionEnd", Moment::SessionEnd),
    hook("Stop", Moment::Stop),
    hook("StopFailure", Moment::StopFailure),
    hook("PostToolUse", Moment::PostToolUse),
];

const fn hook(event: &'static str, moment: Moment) -> Hook {
    Hook {
        event,
        moment,
        timeout: 10,
    }
}

impl Settings for Claude {
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf> {
        let folder = match scope {
            Scope::User => home(project, Some("CLAUDE_CONFIG_DIR"), ".claude")?,
            Scope::Project => project.folder().join(".claude"),
        };
        Some(folder.join("settings.json"))
    }

    fn with(&self, settings: Option<&str>, command: &str) -> Result<String, Unfit> {
        hooks::with(settings, Preset::Claude, &HOOKS, command)
    }

    fn without(&self, settings: &str) -> Result<Option<String>, Unfit> {
        hooks::without(settings, &HOOKS)
    }

    fn to_do(&self, scope: Scope) -> Vec<String> {
        match scope {
            Scope::User => Vec::new(),
            Scope::Project => vec![
                "Claude Code runs hooks of a project only after you have told it that you trust the folder".to_owned(),
            ],
        }
    }
}
