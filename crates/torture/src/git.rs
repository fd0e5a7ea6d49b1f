//! Calls of git.

use std::process::{Command, Output, Stdio};

use camino::Utf8Path;
use rekindle_git::{SCRUBBED, absolute_folders};

use crate::Error;

/// Settings that override the user's: no programs or signatures of the user, and a fixed output
/// format. Filters can only be turned off by attributes, which the scene does.
const SETTINGS: &[&str] = &[
    "user.name=torture",
    "user.email=torture@localhost",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "commit.gpgSign=false",
    "protocol.file.allow=always",
    // A background cleaning would still write while the folder is removed.
    "gc.auto=0",
    "maintenance.auto=false",
    "log.showSignature=false",
    "grep.lineNumber=false",
    "grep.column=false",
];

/// Runs git in a folder and returns its output.
pub(crate) fn git(folder: &Utf8Path, arguments: &[&str]) -> Result<String, Error> {
    let output = call(folder, arguments)?;
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(refused(arguments, &output))
}

/// Runs a search of git, which may find nothing.
pub(crate) fn search(folder: &Utf8Path, arguments: &[&str]) -> Result<String, Error> {
    let output = call(folder, arguments)?;
    match output.status.code() {
        Some(0 | 1) => Ok(text(&output.stdout)),
        _ => Err(refused(arguments, &output)),
    }
}

/// Removes the variables by which a hook or alias points git at its own repository, and the
/// relative folders of PATH, in which a repository could bring its own programs.
pub(crate) fn scrub(command: &mut Command) -> &mut Command {
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", absolute_folders(&path));
    }
    for name in SCRUBBED {
        command.env_remove(name);
    }
    command
}

fn call(folder: &Utf8Path, arguments: &[&str]) -> Result<Output, Error> {
    let mut command = Command::new("git");
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    scrub(&mut command)
        .args(arguments)
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "file")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::system("start git"))
}

fn refused(arguments: &[&str], output: &Output) -> Error {
    let said = text(&output.stderr);
    let lines = said.lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    Error::Git {
        what: arguments.join(" "),
        said: if lines.is_empty() {
            output.status.to_string()
        } else {
            lines.join("; ")
        },
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_git_is_reported_in_one_line() {
        let root = Utf8Path::new("/");
        let said = |arguments: &[&str]| git(root, arguments).unwrap_err().to_string();
        let arguments = [
            "-c",
            "alias.x=!echo one >&2; echo >&2; echo two >&2; false",
            "x",
        ];
        assert!(
            said(&arguments).ends_with(" x: one; two"),
            "{}",
            said(&arguments)
        );
        let silent = said(&["-c", "alias.x=!false", "x"]);
        assert!(silent.ends_with(" x: exit status: 1"), "{silent}");
    }
}
