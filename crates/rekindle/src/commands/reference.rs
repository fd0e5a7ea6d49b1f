//! Completions and the manual page, both made from the arguments themselves.

use clap::CommandFactory as _;
use rekindle_wire::{TextOut, exit};

use crate::arguments::Arguments;
use crate::terminal::Terminal;

pub(super) fn completions(shell: clap_complete::Shell, terminal: &mut Terminal) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "rekindle", &mut script);
    show(&script, terminal)
}

/// Prints one page with every command in it.
pub(super) fn manual(terminal: &mut Terminal) -> u8 {
    let mut command = Arguments::command();
    command.build();
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    // Writing into memory has no way to fail. The list of commands is left out: it refers to a page
    // for each of them, and this is the only page.
    man.render_title(&mut page).ok();
    man.render_name_section(&mut page).ok();
    man.render_synopsis_section(&mut page).ok();
    man.render_description_section(&mut page).ok();
    man.render_options_section(&mut page).ok();
    sections("REKINDLE", &command, &mut page);
    man.render_extra_section(&mut page).ok();
    man.render_version_section(&mut page).ok();
    show(&page, terminal)
}

/// Prints what `--version` prints.
pub(super) fn version(terminal: &mut Terminal) -> u8 {
    let version = format!("{}\n", Arguments::command().render_version().trim_end());
    show(version.as_bytes(), terminal)
}

/// Writes a section for every command below this one.
fn sections(above: &str, command: &clap::Command, page: &mut Vec<u8>) {
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
    {
        let man = clap_mangen::Man::new(sub.clone());
        let name = format!("{above} {}", sub.get_name().to_uppercase());
        page.extend(format!(".SH \"{name}\"\n").as_bytes());
        man.render_synopsis_section(page).ok();
        man.render_description_section(page).ok();
        man.render_options_section(page).ok();
        sections(&name, sub, page);
    }
}

fn show(bytes: &[u8], terminal: &mut Terminal) -> u8 {
    let text = String::from_utf8_lossy(bytes);
    if terminal.is_json() {
        terminal.json(&TextOut {
            schema: "rekindle.text/1",
            text: text.into_owned(),
        });
    } else {
        terminal.result(&text);
    }
    exit::DONE
}
