//! MAP's own commands: what the use case answers is printed as it is.

use std::ffi::OsString;
use std::io::Read as _;

use rekindle_app::{MapAnswer, Project};

use crate::terminal::Terminal;

pub(super) fn map(project: &Project, typed: &[OsString], terminal: &mut Terminal) -> u8 {
    let words: Option<Vec<String>> = typed
        .iter()
        .map(|word| word.to_str().map(str::to_owned))
        .collect();
    let answer = match words {
        Some(words) => rekindle_app::map(project, &words, input),
        None => MapAnswer::failed("an argument is not UTF-8"),
    };
    terminal.note(&answer.stderr);
    terminal.verbatim(&answer.stdout);
    answer.exit
}

/// Reads standard input to its end; what can not be read is as good as nothing.
fn input() -> Vec<u8> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).ok();
    bytes
}
