//! Runs a command under supervision: reads its lines, limits its time, ends its whole process tree.

use std::fs::File;
use std::process::Stdio;
use std::time::Duration;

use rekindle_agents::Exit;
use rekindle_model::{Happened, Stage};
use rekindle_wire::order::Command as OrderCommand;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::signal::unix::Signal;
use tokio::sync::mpsc;

use super::{BEAT, Worker, working_folder};
use crate::output_log::OutputLog;
use crate::{Error, process_tree};

/// The shortest interval of heartbeats, so that a log is not flooded.
const SHORTEST_BEAT: Duration = Duration::from_millis(100);
/// The time for a process tree to end after TERM.
const GRACE: Duration = Duration::from_secs(5);
/// A line of an agent's output longer than this is cut.
const LONGEST_LINE: u64 = 1024 * 1024;

/// How a command under supervision ended.
pub(super) enum Ended {
    Exit(Exit),
    TimedOut,
    Stopped,
    NotStarted(String),
}

impl Worker<'_> {
    /// Runs a command until it ends, its time is over, or we are asked to stop.
    pub(super) async fn supervise(
        &self,
        command: &OrderCommand,
        stage: Stage,
        limit: Option<Duration>,
        stop: &mut Signal,
        output: &mut OutputLog,
        each_line: &mut dyn FnMut(&str),
    ) -> Result<Ended, Error> {
        // A full disk is not a failure of the agent, which would be counted.
        let input = rekindle_fs::scratch(command.input.as_bytes())
            .map_err(|source| Error::Worker { source })?;
        let mut child = match self.start(command, input) {
            Ok(child) => child,
            Err(error) => {
                return Ok(Ended::NotStarted(format!(
                    "it could not be started: {error}"
                )));
            }
        };
        let (lines, mut incoming) = mpsc::channel(64);
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(pump(stdout, lines.clone()));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(pump(stderr, lines.clone()));
        }
        drop(lines);
        let beat = self.order.beat.map_or(BEAT, Duration::from_millis);
        let mut beat = tokio::time::interval(beat.max(SHORTEST_BEAT));
        beat.tick().await;
        let deadline =
            tokio::time::sleep(limit.unwrap_or(Duration::from_secs(u64::from(u32::MAX))));
        tokio::pin!(deadline);
        let ended = loop {
            tokio::select! {
                status = child.wait() => break match status {
                    Ok(status) => Ended::Exit(exit(status)),
                    Err(error) => Ended::NotStarted(format!("waiting for it failed: {error}")),
                },
                Some(line) = incoming.recv() => each_line(&output.line(&line)),
                _ = beat.tick() => self.say(&Happened::Beat { stage })?,
                () = &mut deadline => break Ended::TimedOut,
                _ = stop.recv() => break Ended::Stopped,
            }
        };
        // Processes that the command left are ended, whether it ended by itself or not.
        let token = self.order.token.clone();
        let own = std::process::id();
        let has_children = !matches!(ended, Ended::Exit(_))
            || rustix::process::waitid(
                rustix::process::WaitId::All,
                rustix::process::WaitIdOptions::EXITED
                    | rustix::process::WaitIdOptions::NOHANG
                    | rustix::process::WaitIdOptions::NOWAIT,
            )
            .is_ok();
        if has_children {
            tokio::task::spawn_blocking(move || process_tree::end(&token, Some(own), GRACE))
                .await
                .ok();
            child.wait().await.ok();
        }
        while let Some(line) = incoming.recv().await {
            each_line(&output.line(&line));
        }
        Ok(ended)
    }

    fn start(&self, command: &OrderCommand, input: File) -> std::io::Result<Child> {
        let folder = working_folder(&self.order.worktree, &self.order.folder)?;
        Command::new(&command.program)
            .args(&command.arguments)
            .envs(command.variables.iter().map(|(name, value)| (name, value)))
            // In a worktree that it broke itself, an agent's git must not find the user's repository.
            .env(
                "GIT_CEILING_DIRECTORIES",
                self.order.worktree.parent().unwrap_or(&self.order.worktree),
            )
            // Some programs use this as their working folder; it would be the user's own.
            .env("PWD", &folder)
            .current_dir(folder)
            .stdin(Stdio::from(input))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
    }
}

fn exit(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        // A shell reports with these that its command was killed.
        (Some(code @ (137 | 143)), _) => Exit::Signal(code - 128),
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(-1),
    }
}

/// Passes on the lines of a stream until its end.
async fn pump(stream: impl AsyncRead + Unpin, lines: mpsc::Sender<String>) {
    use tokio::io::AsyncReadExt as _;
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line without an end must not fill the memory.
        let mut piece = (&mut reader).take(LONGEST_LINE);
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line)
            .trim_end_matches(['\n', '\r'])
            .to_owned();
        if lines.send(text).await.is_err() {
            return;
        }
    }
}
