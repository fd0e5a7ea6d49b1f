//! The results of `rekindle config` and `rekindle init`.

use schemars::JsonSchema;
use serde::Serialize;

/// `rekindle config --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConfigOut {
    /// `rekindle.config/1`.
    pub schema: &'static str,
    /// The files in the order in which they count, the last one most.
    pub files: Vec<ConfigFileOut>,
    /// What holds, by key.
    pub settings: Vec<SettingOut>,
    /// Keys that are unknown or ignored.
    pub warnings: Vec<String>,
}

/// A file of the configuration.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConfigFileOut {
    /// Its path.
    pub path: String,
    /// Whose settings it has: `user`, `team`, or `project` for those of the user in this project.
    pub owner: String,
    /// Whether it is there.
    pub exists: bool,
}

/// A setting that holds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SettingOut {
    /// The key, such as `run.jobs`.
    pub key: String,
    /// The value as it is written in the file, in one line.
    pub value: String,
    /// The file that it is from; null if it is built in.
    pub path: Option<String>,
    /// Its line, from 1; null if it is built in.
    pub line: Option<usize>,
}

/// `rekindle init --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InitOut {
    /// `rekindle.init/1`.
    pub schema: &'static str,
    /// The file that was written.
    pub path: String,
    /// The built-in agents that are installed.
    pub agents: Vec<String>,
}
