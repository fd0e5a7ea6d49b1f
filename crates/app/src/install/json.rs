//! Settings of agents in JSON, as data: which file, which hooks, and whether it has our server.
//!
//! Claude Code has hooks and servers in two files, Gemini CLI in one, Codex only its hooks. Timeouts
//! are in seconds, those of Gemini CLI in milliseconds.

use camino::Utf8PathBuf;
use rekindle_agents::hook::Moment;

use super::hooks::{self, Hook};
use super::{Program, Scope, Settings, Unfit, home, server};
use crate::{Preset, Project};

/// A settings file in JSON.
pub(super) struct JsonSettings {
    agent: Preset,
    /// The variable that names the agent's folder, and that folder in the home.
    home: (Option<&'static str>, &'static str),
    /// The path in the agent's folder.
    user: &'static str,
    /// The path in a project.
    project: &'static str,
    hooks: &'static [Hook],
    has_server: bool,
    /// What the user must still do, for the file of the user and for that of a project.
    to_do: [&'static [&'static str]; 2],
}

pub(super) const CLAUDE_HOOKS: JsonSettings = JsonSettings {
    agent: Preset::Claude,
    home: (Some("CLAUDE_CONFIG_DIR"), ".claude"),
    user: "settings.json",
    project: ".claude/settings.json",
    hooks: &[
        hook("SessionStart", Moment::SessionStart, 10),
        hook("PreCompact", Moment::PreCompact, 10),
        hook("SessionEnd", Moment::SessionEnd, 10),
        hook("Stop", Moment::Stop, 10),
        hook("StopFailure", Moment::StopFailure, 10),
        hook("PostToolUse", Moment::PostToolUse, 10),
    ],
    has_server: false,
    to_do: [
        &[],
        &[
            "Claude Code runs hooks of a project only after you have told it that you trust the folder",
        ],
    ],
};

pub(super) const CLAUDE_SERVERS: JsonSettings = JsonSettings {
    agent: Preset::Claude,
    home: (Some("CLAUDE_CONFIG_DIR"), ""),
    user: ".claude.json",
    project: ".mcp.json",
    hooks: &[],
    has_server: true,
    to_do: [
        &[],
        &[
            "Claude Code starts servers of a project only after you have approved them: start `claude` and answer, or type `/mcp`",
        ],
    ],
};

pub(super) const CODEX_HOOKS: JsonSettings = JsonSettings {
    agent: Preset::Codex,
    home: (Some("CODEX_HOME"), ".codex"),
    user: "hooks.json",
    project: ".codex/hooks.json",
    hooks: &[
        hook("SessionStart", Moment::SessionStart, 10),
        hook("PreCompact", Moment::PreCompact, 10),
        // Codex allows no more here, and warns at every start of more.
        hook("SessionEnd", Moment::SessionEnd, 3),
        hook("Stop", Moment::Stop, 10),
        hook("PostToolUse", Moment::PostToolUse, 10),
    ],
    has_server: false,
    to_do: [
        &[TRUST_IN_HOOKS],
        &[
            TRUST_IN_HOOKS,
            "Codex reads hooks and servers of a project only where you trust the project",
        ],
    ],
};

/// The record of that trust is the user's alone to make; `codex exec` skips hooks silently.
const TRUST_IN_HOOKS: &str = "Codex skips hooks until you trust them: start `codex`, type `/hooks`, and trust those of rekindle";

pub(super) const GEMINI: JsonSettings = JsonSettings {
    agent: Preset::Gemini,
    home: (None, ".gemini"),
    user: "settings.json",
    project: ".gemini/settings.json",
    hooks: &[
        hook("SessionStart", Moment::SessionStart, 10_000),
        hook("PreCompress", Moment::PreCompact, 10_000),
        hook("SessionEnd", Moment::SessionEnd, 10_000),
        hook("AfterAgent", Moment::Stop, 10_000),
        hook("AfterTool", Moment::PostToolUse, 10_000),
    ],
    has_server: true,
    to_do: [
        &["Gemini CLI starts servers only in folders that you trust"],
        &[
            "Gemini CLI warns of new hooks of a project, and uses them and its servers only in a folder that you trust",
        ],
    ],
};

const fn hook(event: &'static str, moment: Moment, timeout: u32) -> Hook {
    Hook {
        event,
        moment,
        timeout,
    }
}

impl Settings for JsonSettings {
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf> {
        let (variable, folder) = self.home;
        Some(match scope {
            Scope::User => home(project, variable, folder)?.join(self.user),
            Scope::Project => project.folder().join(self.project),
        })
    }

    fn with(&self, settings: Option<&str>, program: &Program) -> Result<String, Unfit> {
        let with_hooks = match self.hooks {
            [] => settings.map(str::to_owned),
            all => Some(hooks::with(settings, self.agent, all, program)?),
        };
        if self.has_server {
            return server::with(with_hooks.as_deref(), program);
        }
        Ok(with_hooks.unwrap_or_default())
    }

    fn without(&self, settings: &str) -> Result<Option<String>, Unfit> {
        // The last one first: it was added last.
        let left = if self.has_server {
            server::without(settings)?
        } else {
            Some(settings.to_owned())
        };
        match left {
            Some(settings) => hooks::without(&settings, self.hooks),
            None => Ok(None),
        }
    }

    fn to_do(&self, scope: Scope) -> Vec<String> {
        let [of_user, of_project] = self.to_do;
        let all = match scope {
            Scope::User => of_user,
            Scope::Project => of_project,
        };
        all.iter().map(|text| (*text).to_owned()).collect()
    }
}
