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
    /// Changes your own settings, for all projects; the default for agents, not for `map`
    #[arg(long, conflicts_with = "project")]
    pub(crate) user: bool,
    /// Changes the settings in the project's folder, for all who work on it; the default for `map`
    #[arg(long)]
    pub(crate) project: bool,
    /// Shows the change and writes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Writes without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Who can be set up to call rekindle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InstallTarget {
    Claude,
    Codex,
    Gemini,
    Opencode,
    /// The project's `.map/scripts/map_orchestrator.py`, which then hands its commands to `rekindle map`
    Map,
}

#[derive(Debug, Args)]
pub(crate) struct HookArguments {
    /// The moment: session-start, pre-compact, session-end, stop, stop-failure or post-tool-use
    pub(crate) event: String,
    /// Who calls: claude, codex, gemini or opencode; without it the agent is told by what it says
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The mark by which `rekindle uninstall` knows what `rekindle install` added; it does nothing
    #[arg(long = "installed", hide = true)]
    _installed: bool,
}
