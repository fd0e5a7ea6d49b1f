//! `rekindle install` and `uninstall`: other programs' settings, shown before they are changed.

use rekindle_app::{Consent, FileChange, Installation, Preset, Project, Scope, Target, Wish};
use rekindle_wire::{InstallFileOut, InstallOut, exit};

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
    let target = target(arguments.target);
    if arguments.user && target == Target::Map {
        let message = "MAP's scripts belong to the project; there are no user settings for them";
        return Err(Failure::usage(message.to_owned()).hint("omit `--user`"));
    }
    let scope = if arguments.project || target == Target::Map {
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
    let done = rekindle_app::install(project, target, wish, scope, consent, terminal)?;
    if terminal.is_json() {
        terminal.json(&out(target, wish, scope, done));
        return Ok(exit::DONE);
    }
    terminal.result(&render::installation(&done, wish, consent));
    for to_do in done.to_do.iter().filter(|_| done.written) {
        terminal.note(&render::hint(to_do));
    }
    Ok(exit::DONE)
}

fn target(named: InstallTarget) -> Target {
    match named {
        InstallTarget::Claude => Target::Agent(Preset::Claude),
        InstallTarget::Codex => Target::Agent(Preset::Codex),
        InstallTarget::Gemini => Target::Agent(Preset::Gemini),
        InstallTarget::Opencode => Target::Agent(Preset::Opencode),
        InstallTarget::Map => Target::Map,
    }
}

fn file(change: FileChange) -> InstallFileOut {
    InstallFileOut {
        path: change.path.to_string(),
        diff: change.diff,
    }
}

fn out(target: Target, wish: Wish, scope: Scope, done: Installation) -> InstallOut {
    InstallOut {
        schema: "rekindle.install/1",
        target: target.as_str().to_owned(),
        wish: match wish {
            Wish::Install => "install",
            Wish::Uninstall => "uninstall",
        }
        .to_owned(),
        scope: scope.as_str().to_owned(),
        files: done.files.into_iter().map(file).collect(),
        written: done.written,
        to_do: done.to_do,
    }
}
