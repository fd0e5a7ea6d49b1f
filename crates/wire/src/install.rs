//! The object of `rekindle install` and `uninstall`.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle install TARGET --json`, `rekindle uninstall TARGET --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InstallOut {
    /// `rekindle.install/1`.
    pub schema: &'static str,
    /// The program that is set up: claude, codex, gemini, opencode or map.
    pub target: String,
    /// The requested action: install or uninstall.
    pub wish: String,
    /// The scope of the settings: user or project.
    pub scope: String,
    /// Every file that was checked.
    pub files: Vec<InstallFileOut>,
    /// Whether the changed files were written.
    pub written: bool,
    /// What the user must still do, one sentence each.
    pub to_do: Vec<String>,
}

/// A settings file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InstallFileOut {
    /// The file.
    pub path: String,
    /// The changes as a unified diff; empty if nothing changes.
    pub diff: String,
}
