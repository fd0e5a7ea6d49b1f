//! `rekindle config` and `rekindle init`.

use rekindle_app::{ConfigFile, Configured, Initiated, Preset, Project, Setting};
use rekindle_wire::{ConfigFileOut, ConfigOut, InitOut, SettingOut, exit};

use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

/// Shows what is configured.
pub(super) fn config(project: &Project, terminal: &mut Terminal) -> Result<u8, Failure> {
    let configured = rekindle_app::configured(project)?;
    if terminal.is_json() {
        terminal.json(&object(configured));
        return Ok(exit::DONE);
    }
    let width = terminal.width();
    terminal.result(&render::settings(&configured, project, width));
    for warning in &configured.warnings {
        terminal.note(&render::warning(warning));
    }
    if configured.files.iter().all(|file| !file.exists) {
        terminal.hint(&render::hint("`rekindle init` writes a configuration"));
    }
    Ok(exit::DONE)
}

/// Writes the configuration of a team.
pub(super) fn init(project: &Project, terminal: &mut Terminal) -> Result<u8, Failure> {
    let initiated = rekindle_app::init(project)?;
    if terminal.is_json() {
        let Initiated { path, agents } = initiated;
        terminal.json(&InitOut {
            schema: "rekindle.init/1",
            path: path.into_string(),
            agents: agents
                .into_iter()
                .map(|one| one.name().to_owned())
                .collect(),
        });
        return Ok(exit::DONE);
    }
    let first = initiated.agents.first().map(|one| Preset::name(*one));
    terminal.result(&render::initiated(&initiated.path, first));
    terminal.hint(&render::hint(match first {
        Some(_) => "look through it, commit it for your team, then start with `rekindle run PLAN`",
        None => "install an agent, and name it in that file",
    }));
    Ok(exit::DONE)
}

fn object(configured: Configured) -> ConfigOut {
    let file = |file: ConfigFile| ConfigFileOut {
        path: file.path.into_string(),
        owner: file.owner.as_str().to_owned(),
        exists: file.exists,
    };
    let setting = |setting: &Setting| SettingOut {
        key: setting.key.clone(),
        value: setting.value.clone(),
        path: setting.place.as_ref().map(|(path, _)| path.to_string()),
        line: setting.place.as_ref().map(|(_, line)| *line),
    };
    ConfigOut {
        schema: "rekindle.config/1",
        settings: configured.config.settings().iter().map(setting).collect(),
        files: configured.files.into_iter().map(file).collect(),
        warnings: configured.warnings,
    }
}
