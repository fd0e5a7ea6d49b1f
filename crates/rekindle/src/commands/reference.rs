//! Completions and manual pages, all made from the arguments themselves.

use clap::CommandFactory as _;
use rekindle_text::printable;
use rekindle_wire::{TextOut, exit};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::terminal::Terminal;

pub(super) fn completions(shell: clap_complete::Shell, terminal: &mut Terminal) -> u8 {
    show(&crate::completion::script(shell), terminal)
}

/// Prints the page of one command, or one page with all of them.
pub(super) fn manual(words: &[String], terminal: &mut Terminal) -> Result<u8, Failure> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let mut page = Vec::new();
    if words.is_empty() {
        every_command(&command, &mut page);
        return Ok(show(&page, terminal));
    }
    let mut wanted = &command;
    for word in words {
        wanted = wanted.find_subcommand(word).ok_or_else(|| {
            Failure::usage(format!("unknown command `{}`", printable(word)))
                .hint("`rekindle --help` lists the commands")
        })?;
    }
    // Writing into memory has no way to fail.
    clap_mangen::Man::new(wanted.clone()).render(&mut page).ok();
    Ok(show(&page, terminal))
}

fn every_command(command: &clap::Command, page: &mut Vec<u8>) {
    let man = clap_mangen::Man::new(command.clone());
    // The list of commands is left out: it refers to pages that only an installed package has.
    man.render_title(page).ok();
    man.render_name_section(page).ok();
    man.render_synopsis_section(page).ok();
    man.render_description_section(page).ok();
    man.render_options_section(page).ok();
    sections("REKINDLE", command, page);
    man.render_extra_section(page).ok();
    man.render_version_section(page).ok();
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
