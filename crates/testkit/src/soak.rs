//! Tests that try a part every time and everything in a soak: `REKINDLE_SOAK` names the file that what
//! was done is added to.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Returns whether everything is to be tried.
pub fn is_wanted() -> bool {
    file().is_some()
}

/// Adds what was done in a soak to its figures: a line for each, a name and a number.
pub fn note(figures: &[(&str, usize)]) -> io::Result<()> {
    let Some(file) = file() else {
        return Ok(());
    };
    let lines = figures.iter().map(|(what, n)| format!("{what} {n}\n"));
    let lines: Vec<String> = lines.collect();
    let mut file = fs_err::OpenOptions::new()
        .create(true)
        .append(true)
        .open(PathBuf::from(file))?;
    // In one call, since tests run side by side.
    file.write_all(lines.concat().as_bytes())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a switch for tests, which no binary reads"
)]
fn file() -> Option<OsString> {
    std::env::var_os("REKINDLE_SOAK")
}
