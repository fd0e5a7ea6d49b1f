//! Picks up any interrupted coding-agent workflow exactly where it stopped.
//!
//! The binary is thin: it parses, calls one use case of `rekindle-app`, renders
//! what comes back, and picks an exit code.

mod arguments;
mod commands;
mod completion;
mod environment;
mod failure;
mod keys;
mod live;
mod render;
mod terminal;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use rekindle_wire::exit;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    if let Some(code) = completion::complete() {
        return ExitCode::from(code);
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = unparsed(&error);
            // Some agents take a hook's exit code 2 for a veto, and may call us with words of a newer release.
            return ExitCode::from(if is_hook() { exit::DONE } else { code });
        }
    };
    let mut terminal = Terminal::new(&arguments.output);
    let code = match commands::run(
        arguments.command,
        &arguments.list,
        &arguments.output,
        &mut terminal,
    ) {
        Ok(code) => code,
        Err(failure) => failure.show(&mut terminal),
    };
    ExitCode::from(unless_lost(code, &mut terminal))
}

/// Returns the exit code: a result that could not be written is a failure, and is reported as one.
fn unless_lost(code: u8, terminal: &mut Terminal) -> u8 {
    let Some(error) = terminal.take_loss() else {
        return code;
    };
    let failed = Failure::lost_result(&error).show_as_text(terminal);
    if code == exit::DONE { failed } else { code }
}

/// Tells whether a hook was called, by the first word that is a command at all.
fn is_hook() -> bool {
    let commands = Arguments::command();
    let mut words = std::env::args_os().skip(1);
    let called = words.find_map(|word| commands.find_subcommand(word));
    called.is_some_and(|command| command.get_name() == "hook")
}

/// Shows help, version, or what is wrong with what was typed; returns the exit code.
fn unparsed(error: &clap::Error) -> u8 {
    let wants_json = std::env::args_os().any(|word| word == "--json");
    let mut terminal = Terminal::for_json();
    let code = u8::try_from(error.exit_code()).unwrap_or(exit::USAGE);
    if error.use_stderr() && wants_json {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let message = first.strip_prefix("error: ").unwrap_or(first);
        Failure::usage(message.to_owned())
            .hint("`rekindle --help` lists the commands")
            .show(&mut terminal);
    } else {
        let written = error.print().and_then(|()| std::io::stdout().flush());
        if !error.use_stderr() {
            terminal.note_loss(written);
        }
    }
    unless_lost(code, &mut terminal)
}
