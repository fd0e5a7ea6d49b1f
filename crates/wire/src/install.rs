//! What `rekindle install` and `rekindle uninstall` print as JSON.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle install TARGET --json` and `rekindle uninstall TARGET --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InstallOut {
    /// `rekindle.install/1`.
    pub schema: &'static str,
    /// Into what, or out of what.
    pub target: &'static str,
    /// The files that were changed, or would be; none when all is as it should be.
    pub files: Vec<InstalledFileOut>,
    /// Whether it was done; false for a dry run and when the person said no.
    pub done: bool,
}

/// One file of an installation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InstalledFileOut {
    /// The file, relative to the project.
    pub path: String,
    /// What happens to it, in one sentence.
    pub change: String,
}
