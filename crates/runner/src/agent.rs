//! Starts an agent in two steps: it is created and waits, then it is released.
//!
//! Between the two its process is recorded in the journal. If rekindle dies in that moment,
//! no agent is left at work, since one that is not released ends.
//!
//! One agent runs at a time, in the project's folder and in our own process
//! group, so that Ctrl-C on a terminal reaches it too. Its output
//! goes to standard error: standard output belongs to the protocol.

use std::io::{self, PipeWriter, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};

use rekindle_agents::Invocation;
use rekindle_fs::{Liveness, ProcessIdentity};

use crate::Error;

/// Waits for a line on the pipe that replaces standard output, then becomes the command.
const HOLD: &str = r#"read -r _ <&1 && exec "$@" >&2"#;

/// A command that is created but not released.
#[derive(Debug)]
pub(crate) struct Waiting {
    child: Child,
    go: PipeWriter,
}

/// The variable by which the processes of an agent are found when the agent itself has ended.
const MARK: &str = "REKINDLE_AGENT";

/// Prepares a command; it and its children have the mark in their environment.
pub(crate) fn prepare(invocation: &Invocation, mark: &str) -> io::Result<Waiting> {
    let input = rekindle_fs::scratch(invocation.input.as_bytes())?;
    let (held, go) = io::pipe()?;
    let child = Command::new("/bin/sh")
        .args(["-c", HOLD, "rekindle", &invocation.program])
        .args(&invocation.arguments)
        .envs(
            invocation
                .variables
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .env(MARK, mark)
        .env("PWD", &invocation.folder)
        .current_dir(&invocation.folder)
        // A file and not a pipe: an agent that does not read must not block us.
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(held))
        .stderr(Stdio::inherit())
        .spawn()?;
    Ok(Waiting { child, go })
}

impl Waiting {
    /// Returns the process, which is the same before and after the release.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Releases it.
    pub(crate) fn begin(mut self) -> Child {
        // A killed one cannot read the line; its exit status says why.
        self.go.write_all(b"go\n").ok();
        self.child
    }
}

/// Returns how a command failed; `None` if it succeeded.
pub(crate) fn failure(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt as _;
    if status.success() {
        return None;
    }
    Some(match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended without success".to_owned(),
    })
}

/// Two agents on one task could do the same work twice, so a living one is never ignored; its
/// children may continue without it.
pub(crate) fn refuse_living(
    role: &str,
    task: Option<&String>,
    process: serde_json::Value,
    mark: Option<&str>,
) -> Result<(), Error> {
    let process = serde_json::from_value::<ProcessIdentity>(process).ok();
    let process = process.filter(|process| process.is_alive() == Liveness::Alive);
    let mut pids: Vec<u32> = process.iter().map(|process| process.pid).collect();
    let started = mark.map(|mark| rekindle_world::carrying(MARK, mark));
    pids.extend(started.unwrap_or_default());
    pids.sort_unstable();
    pids.dedup();
    if pids.is_empty() {
        return Ok(());
    }
    Err(Error::AgentAlive {
        pids,
        role: role.to_owned(),
        task: task.cloned(),
    })
}
