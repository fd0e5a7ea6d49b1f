//! A project, and what is typed in it.

use std::io::Write as _;
use std::process::{Output, Stdio};

use rekindle_testkit::repository::{Project, text};

pub(crate) fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_rekindle"))
}

pub(crate) fn write(project: &Project, name: &str, contents: &str) {
    fs_err::write(project.path().join(name), contents).unwrap();
}

/// Runs rekindle with this on standard input.
pub(crate) fn typed(project: &Project, arguments: &[&str], input: &str) -> Output {
    let mut command = project.command(arguments);
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that asks nothing may have ended before.
    stdin.write_all(input.as_bytes()).ok();
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// Returns both outputs of a command that ended with this exit code.
#[track_caller]
pub(crate) fn said(output: &Output, code: i32) -> String {
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

#[track_caller]
pub(crate) fn assert_ended(output: &Output, code: i32, wanted: &[&str]) {
    let said = said(output, code);
    for wanted in wanted {
        assert!(said.contains(wanted), "no `{wanted}` in: {said}");
    }
}
