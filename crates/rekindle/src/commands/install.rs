//! Installing into other programs, and taking it back.

use rekindle_app::{Error, InstallOptions, Installation, Project, Target};
use rekindle_wire::{InstallOut, InstalledFileOut, exit};

use crate::arguments::{InstallArguments, InstallTarget};
use crate::failure::Failure;
use crate::terminal::Terminal;

type Deed = fn(
    &Project,
    Target,
    InstallOptions,
    &mut dyn rekindle_app::Face,
) -> Result<Installation, Error>;

pub(super) fn install(
    project: &Project,
    arguments: &InstallArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    carry_out(project, arguments, terminal, rekindle_app::install)
}

pub(super) fn uninstall(
    project: &Project,
    arguments: &InstallArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    carry_out(project, arguments, terminal, rekindle_app::uninstall)
}

fn carry_out(
    project: &Project,
    arguments: &InstallArguments,
    terminal: &mut Terminal,
    deed: Deed,
) -> Result<u8, Failure> {
    let (target, name) = match arguments.target {
        InstallTarget::Map => (Target::Map, "map"),
    };
    let options = InstallOptions {
        yes: arguments.yes,
        dry_run: arguments.dry_run,
    };
    let installation = deed(project, target, options, terminal)?;
    if terminal.is_json() {
        let files = installation
            .changes
            .iter()
            .map(|(path, change)| InstalledFileOut {
                path: path.to_string(),
                change: change.clone(),
            });
        terminal.json(&InstallOut {
            schema: "rekindle.install/1",
            target: name,
            files: files.collect(),
            done: installation.done,
        });
        return Ok(exit::DONE);
    }
    if installation.changes.is_empty() {
        terminal.hint("everything is already as it should be\n");
    } else if arguments.dry_run {
        let text = installation.to_string();
        terminal.result(&rekindle_text::printable_block(&text));
    } else if installation.done {
        for (path, change) in &installation.changes {
            terminal.result(&format!("{path}: {change}\n"));
        }
    } else {
        terminal.hint("nothing was changed\n");
    }
    Ok(exit::DONE)
}
