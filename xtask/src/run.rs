//! Runs programs in the workspace's folder.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Returns a command of cargo in the workspace.
pub fn cargo(args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// Runs a command with its output on the terminal; returns whether it succeeded.
pub fn succeeds(command: &mut Command) -> Result<bool, String> {
    let status = command.status().map_err(|e| cannot_run(command, &e))?;
    Ok(status.success())
}

/// Runs a command that must succeed, with its output on the terminal.
pub fn check(command: &mut Command) -> Result<(), String> {
    if succeeds(command)? {
        return Ok(());
    }
    Err(format!("`{}` failed", words(command)))
}

fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// Runs a command and passes every line it prints to `each`; returns whether it succeeded.
pub fn line_by_line(command: &mut Command, mut each: impl FnMut(&str)) -> Result<bool, String> {
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

/// Runs a command that must succeed; returns what it printed, and shows what it complained about if it failed.
pub fn output(command: &mut Command) -> Result<String, String> {
    let done = command.output().map_err(|e| cannot_run(command, &e))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(format!("`{}` failed: {}", words(command), said.trim()))
}

/// Returns what a command printed, or nothing if it does not exist or failed.
pub fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let done = Command::new(program)
        .args(args)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    done.status.success().then_some(text)
}

/// Does some work under a heading and prints how long it took.
pub fn timed<T>(title: &str, work: impl FnOnce() -> T) -> (T, Duration) {
    println!("── {title}");
    let start = Instant::now();
    let result = work();
    let took = start.elapsed();
    println!("── {title}: {:.1} s", took.as_secs_f64());
    (result, took)
}

/// Builds the release binary; returns its path.
pub fn release_build() -> Result<PathBuf, String> {
    let mut command = cargo(&["build", "--release", "--package", "rekindle"]);
    timed("build", || check(&mut command)).0?;
    let name = format!("rekindle{}", std::env::consts::EXE_SUFFIX);
    Ok(target_folder()?.join("release").join(name))
}

/// Returns cargo's target folder: this program is in `<target>/debug/` or `<target>/release/`.
pub fn target_folder() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    let target = program.ancestors().nth(2).map(Path::to_owned);
    target.ok_or_else(|| "this program is not in a target folder".to_owned())
}

/// Returns the workspace's folder.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Turns the result of a whole program into its exit code, and prints the error.
pub fn exit_code(result: Result<bool, String>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn cannot_run(command: &Command, problem: &std::io::Error) -> String {
    let program = command.get_program().to_string_lossy();
    format!("cannot run `{program}`: {problem}")
}
