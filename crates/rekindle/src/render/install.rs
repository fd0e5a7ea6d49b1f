//! What `install` and `uninstall` show.

use std::fmt::Write as _;

use rekindle_app::{Consent, FileChange, Installation, Wish};
use rekindle_text::{printable, printable_block};

pub(crate) fn installation(done: &Installation, wish: Wish, consent: Consent) -> String {
    let files = done.files.iter();
    let lines = files.map(|file| of_file(file, done.written, wish, consent));
    lines.collect()
}

fn of_file(file: &FileChange, written: bool, wish: Wish, consent: Consent) -> String {
    let path = printable(file.path.as_str());
    if file.diff.is_empty() {
        return match wish {
            Wish::Install => format!("Already set up: `{path}` is unchanged.\n"),
            Wish::Uninstall => format!("`{path}` has no entries of rekindle.\n"),
        };
    }
    let mut text = String::new();
    // Who was asked has seen the change already.
    match consent {
        Consent::Show | Consent::Given => {
            put!(
                text,
                "--- {path}\n+++ {path}\n{}",
                printable_block(&file.diff)
            );
        }
        Consent::Ask => {}
    }
    match (written, wish) {
        (true, Wish::Install) => {
            put!(text, "Written: `{path}`\n");
        }
        (true, Wish::Uninstall) => {
            put!(text, "Removed rekindle's entries from `{path}`\n");
        }
        (false, _) => {
            put!(text, "Dry run: `{path}` was not changed\n");
        }
    }
    text
}
