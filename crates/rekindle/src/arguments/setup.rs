//! Setting up coding agents, and answering them.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that can be typed"
)]
pub(crate) struct InstallArguments {
    /// The agent, or the project's MAP scripts
    pub(crate) target: InstallTarget,
    /// Change your own settings, for all projects (default for agents)
    #[arg(long, conflicts_with = "project")]
    pub(crate) user: bool,
    /// Change the settings of this project, for everyone who works on it (default for `map`)
    #[arg(long)]
    pub(crate) project: bool,
    /// Show the changes without writing them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// What can be set up to use rekindle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InstallTarget {
    Claude,
    Codex,
    Gemini,
    Opencode,
    /// The project's `.map/scripts/map_orchestrator.py`, which then calls `rekindle map`
    Map,
}

/// What is killed and resumed to show how it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DemoStory {
    /// A run of twelve tasks
    Run,
    /// Six sessions of coding agents
    Sessions,
}

#[derive(Debug, Args)]
pub(crate) struct HookArguments {
    /// The event: session-start, pre-compact, session-end, stop, stop-failure or post-tool-use
    pub(crate) event: String,
    /// The calling agent: claude, codex, gemini or opencode [default: detected from the input]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Marks an entry that `rekindle install` added, for `rekindle uninstall`; has no effect
    #[arg(long = "installed", hide = true)]
    _installed: bool,
}
