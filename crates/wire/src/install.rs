//! The object of `rekindle install` and `uninstall`.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle install TARGET --json`, `rekindle uninstall TARGET --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InstallOut {
    /// `rekindle.install/1`.
    pub schema: &'static str,
    /// Who is set up: claude, codex, gemini, opencode or map.
    pub target: String,
    /// What was wished: install or uninstall.
    pub wish: String,
    /// Whose settings: user or project.
    pub scope: String,
    /// Every file that was looked at.
    pub files: Vec<InstallFileOut>,
    /// Whether the files that change were written.
    pub written: bool,
    /// What the user must still do, each a sentence.
    pub to_do: Vec<String>,
}

/// A file of somebody's settings.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InstallFileOut {
    /// The file.
    pub path: String,
    /// The lines that change, as a unified diff; empty where all is as it should be.
    pub diff: String,
}
