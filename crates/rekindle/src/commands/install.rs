//! `rekindle install` and `uninstall`: other programs' settings, shown before they are changed.

use rekindle_app::{Consent, Installation, Preset, Project, Scope, Wish};
use rekindle_wire::{InstallOut, exit};

use crate::arguments::{InstallArguments, InstallTarget};
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

pub(super) fn install(
    project: &Project,
    arguments: &InstallArguments,
    wish: Wish,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let scope = if arguments.project {
        Scope::Project
    } else {
        Scope::User
    };
    let consent = if arguments.dry_run {
        Consent::Show
    } else if arguments.yes {
        Consent::Given
    } else {
        Consent::Ask
    };
    let agent = agent(arguments.target);
    let done = rekindle_app::install(project, agent, wish, scope, consent, terminal)?;
    if terminal.is_json() {
        terminal.json(&out(agent, wish, scope, done));
        return Ok(exit::DONE);
    }
    terminal.result(&render::installation(&done, wish, consent));
    for to_do in done.to_do.iter().filter(|_| done.written) {
        terminal.note(&render::hint(to_do));
    }
    Ok(exit::DONE)
}

fn agent(target: InstallTarget) -> Preset {
    match target {
        InstallTarget::Claude => Preset::Claude,
        InstallTarget::Codex => Preset::Codex,
        InstallTarget::Gemini => Preset::Gemini,
        InstallTarget::Opencode => Preset::Opencode,
    }
}

fn out(agent: Preset, wish: Wish, scope: Scope, done: Installation) -> InstallOut {
    InstallOut {
        schema: "rekindle.install/1",
        target: agent.name().to_owned(),
        wish: match wish {
            Wish::Install => "install",
            Wish::Uninstall => "uninstall",
        }
        .to_owned(),
        scope: scope.as_str().to_owned(),
        path: done.path.to_string(),
        diff: done.diff,
        written: done.written,
        to_do: done.to_do,
    }
}
