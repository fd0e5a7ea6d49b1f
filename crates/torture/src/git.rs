//! What is asked of git.

use std::process::{Command, Stdio};

use camino::Utf8Path;

use crate::Error;

/// Runs git in a folder and returns what it printed.
pub(crate) fn git(folder: &Utf8Path, arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=torture",
            "-c",
            "user.email=torture@localhost",
        ])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::system("start git"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Error::Git {
        what: arguments.join(" "),
        said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}
