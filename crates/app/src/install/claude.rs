//! Claude Code: hooks in `settings.json` in `~/.claude` or in `.claude` of the project, timeouts in
//! seconds; servers in `~/.claude.json`, or in `.mcp.json` of the project.

use camino::Utf8PathBuf;
use rekindle_agents::hook::Moment;

use super::hooks::{self, Hook};
use super::{Program, Scope, Settings, Unfit, home, server};
use crate::{Preset, Project};

pub(super) struct Hooks;
pub(super) struct Servers;

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

impl Settings for Hooks {
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf> {
        let folder = match scope {
            Scope::User => home(project, Some("CLAUDE_CONFIG_DIR"), ".claude")?,
            Scope::Project => project.folder().join(".claude"),
        };
        Some(folder.join("settings.json"))
    }

    fn with(&self, settings: Option<&str>, program: &Program) -> Result<String, Unfit> {
        hooks::with(settings, Preset::Claude, &HOOKS, program)
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

impl Settings for Servers {
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf> {
        Some(match scope {
            Scope::User => home(project, Some("CLAUDE_CONFIG_DIR"), "")?.join(".claude.json"),
            Scope::Project => project.folder().join(".mcp.json"),
        })
    }

    fn with(&self, settings: Option<&str>, program: &Program) -> Result<String, Unfit> {
        server::with(settings, program)
    }

    fn without(&self, settings: &str) -> Result<Option<String>, Unfit> {
        server::without(settings)
    }

    fn to_do(&self, scope: Scope) -> Vec<String> {
        match scope {
            Scope::User => Vec::new(),
            Scope::Project => vec![
                "Claude Code starts servers of a project only after you have approved them: start `claude` and answer, or type `/mcp`".to_owned(),
            ],
        }
    }
}
