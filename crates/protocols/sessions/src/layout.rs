//! Where the programs keep their sessions.

use camino::Utf8PathBuf;
use rekindle_agents::traces::home;
use rekindle_world::World;

/// Returns the data folder of Claude Code.
pub(crate) fn claude(world: &dyn World) -> Option<Utf8PathBuf> {
    home(world, "CLAUDE_CONFIG_DIR", ".claude")
}

/// Returns the data folder of Codex.
pub(crate) fn codex(world: &dyn World) -> Option<Utf8PathBuf> {
    home(world, "CODEX_HOME", ".codex")
}

/// Returns the database of opencode; relative names are inside its data folder.
pub(crate) fn opencode(world: &dyn World) -> Option<Utf8PathBuf> {
    let data = home(world, "XDG_DATA_HOME", ".local/share")?;
    let named = world
        .variable("OPENCODE_DB")
        .filter(|name| !name.is_empty());
    let name = named.as_deref().unwrap_or("opencode.db");
    Some(data.join("opencode").join(name))
}

/// Returns the data folder of Gemini CLI.
pub(crate) fn gemini(world: &dyn World) -> Option<Utf8PathBuf> {
    Some(home(world, "GEMINI_CLI_HOME", "")?.join(".gemini"))
}

/// Returns whether any of the programs has kept anything.
pub(crate) fn is_any(world: &dyn World) -> bool {
    let places = [
        claude(world).map(|home| home.join("projects")),
        codex(world).map(|home| home.join("sessions")),
        opencode(world),
        gemini(world).map(|home| home.join("tmp")),
    ];
    places
        .into_iter()
        .flatten()
        .any(|place| world.stat(&place).is_ok())
}
