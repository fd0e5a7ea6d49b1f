//! Continues a session of a coding agent with its own program.
//!
//! On a terminal this process becomes the program. Without one the program runs as a child, and what
//! it prints is read, masked and passed on.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};

use camino::Utf8Path;
use rekindle_agents::{Exit, Invocation, Redactor, Stream, StreamReader, Verdict, judge};
use rekindle_fs::ProcessIdentity;

/// A longer line of output is read in pieces.
const LONGEST_LINE: u64 = 8 * 1024 * 1024;

/// Becomes a program in a folder; returns only why it could not.
pub fn become_program(words: &[String], folder: &Utf8Path) -> io::Error {
    let Some((program, arguments)) = words.split_first() else {
        return io::Error::from(io::ErrorKind::InvalidInput);
    };
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("PWD", folder)
        .exec()
}

/// Runs an agent that continues a session; `begun` learns of its process and `heard` of each line for
/// people.
pub fn run_session(
    invocation: &Invocation,
    stream: Stream,
    begun: &mut dyn FnMut(Option<ProcessIdentity>),
    heard: &mut dyn FnMut(&str),
) -> io::Result<Verdict> {
    let input = rekindle_fs::scratch(invocation.input.as_bytes())?;
    let mut child = Command::new(&invocation.program)
        .args(&invocation.arguments)
        .envs(
            invocation
                .variables
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .env("PWD", &invocation.folder)
        .current_dir(&invocation.folder)
        // A file and not a pipe: an agent that does not read must not make us wait.
        .stdin(Stdio::from(input))
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    begun(ProcessIdentity::of(child.id()));
    let mut reader = StreamReader::new(stream);
    let mut redactor = Redactor::new();
    if let Some(output) = child.stdout.take() {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            if output
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)?
                == 0
            {
                break;
            }
            let text = String::from_utf8_lossy(&line);
            let masked = redactor.line(text.trim_end_matches(['\n', '\r']));
            if let Some(said) = reader.push_line(&masked).and_then(|update| update.text) {
                heard(&said);
            }
        }
    }
    let status = child.wait()?;
    Ok(judge(&reader.into_summary(), exit(status)))
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}
