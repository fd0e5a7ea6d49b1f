//! Runs programs in the workspace's folder and says what they are and how long they took.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Returns a command of cargo in the workspace.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// Runs a command with its output on the terminal; returns whether it succeeded.
pub(crate) fn watched(command: &mut Command) -> Result<bool, String> {
    let status = command.status().map_err(|e| cannot_run(command, &e))?;
    Ok(status.success())
}

/// Runs a command, hands on every line it prints; returns whether it succeeded.
pub(crate) fn line_by_line(
    command: &mut Command,
    mut each: impl FnMut(&str),
) -> Result<bool, String> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| cannot_run(command, &e))?;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n') {
            let line = line.map_err(|e| format!("cannot read the output: {e}"))?;
            each(&String::from_utf8_lossy(&line));
        }
    }
    let status = child.wait().map_err(|e| cannot_run(command, &e))?;
    Ok(status.success())
}

/// Returns what a command printed, or nothing if it is not there or failed.
pub(crate) fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let done = Command::new(program)
        .args(args)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    done.status.success().then_some(text)
}

/// Does something under a heading and says how long it took.
pub(crate) fn timed<T>(title: &str, work: impl FnOnce() -> T) -> (T, Duration) {
    println!("── {title}");
    let begun = Instant::now();
    let result = work();
    let took = begun.elapsed();
    println!("── {title}: {:.1} s", took.as_secs_f64());
    (result, took)
}

/// Returns the workspace's folder.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Returns cargo's target folder: this program lies in `<target>/debug/`.
pub(crate) fn target_folder() -> Result<PathBuf, String> {
    let me = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    let target = me.ancestors().nth(2).map(Path::to_owned);
    target.ok_or_else(|| "this program lies in no target folder".to_owned())
}

fn cannot_run(command: &Command, problem: &std::io::Error) -> String {
    format!(
        "cannot run `{}`: {problem}",
        command.get_program().to_string_lossy()
    )
}
