//! One child process: fed, read to the end, and stopped at its time limit.
//!
//! One `poll` waits for both outputs, the input and the exit, so neither a full pipe nor a silent
//! child blocks us. This module knows nothing about git.

use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How long a child may take to obey a signal. A terminated git removes its lock files, a killed
/// one does not.
const GRACE: Duration = Duration::from_millis(500);

/// How long the outputs are read after the child has exited. Silence then means that a process it
/// left behind holds them.
const LINGER: Duration = Duration::from_millis(100);

/// What a child left.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Finished {
    /// Returns a failed run of git with this message.
    pub(crate) fn failed(said: &str) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        Self {
            status: ExitStatus::from_raw(128 << 8),
            stdout: Vec::new(),
            stderr: said.as_bytes().to_vec(),
        }
    }
}

/// Why there is no [`Finished`].
#[derive(Debug)]
pub(crate) enum Failure {
    TimedOut,
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Runs `command` in a process group of its own; past `limit` the whole group is stopped.
pub(crate) fn run(
    command: &mut Command,
    input: Option<&[u8]>,
    limit: Duration,
) -> Result<Finished, Failure> {
    let deadline = Instant::now() + limit;
    let stdin = if input.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    };
    let child = command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let mut running = Running::new(child, input.unwrap_or_default());
    match running.start().and_then(|()| running.pump(deadline)) {
        Ok(Pumped::Ended) => running.finish(),
        Ok(Pumped::TimeIsOver) => {
            running.stop();
            Err(Failure::TimedOut)
        }
        Err(error) => {
            running.stop();
            Err(Failure::Io(error))
        }
    }
}

struct Running<'a> {
    child: Child,
    /// Reads end-of-file when the child exits; `None` afterwards.
    exit: Option<PipeReader>,
    stdin: Option<ChildStdin>,
    input: &'a [u8],
    stdout: Output<ChildStdout>,
    stderr: Output<ChildStderr>,
}

struct Output<T> {
    pipe: Option<T>,
    bytes: Vec<u8>,
}

enum Pumped {
    Ended,
    TimeIsOver,
}

#[derive(Clone, Copy)]
enum Source {
    Exit,
    Stdin,
    Stdout,
    Stderr,
}

impl<'a> Running<'a> {
    fn new(mut child: Child, input: &'a [u8]) -> Self {
        Self {
            exit: None,
            stdin: child.stdin.take(),
            input,
            stdout: Output::new(child.stdout.take()),
            stderr: Output::new(child.stderr.take()),
            child,
        }
    }

    fn start(&mut self) -> io::Result<()> {
        self.exit = Some(watch_exit(&self.child)?);
        self.open()
            .try_for_each(|(_, fd, _)| Ok(fcntl_setfl(fd, OFlags::NONBLOCK)?))
    }

    /// Returns the open pipes with what they are polled for.
    fn open(&self) -> impl Iterator<Item = (Source, BorrowedFd<'_>, PollFlags)> {
        let exit = self.exit.as_ref().map(AsFd::as_fd);
        let stdin = self.stdin.as_ref().map(AsFd::as_fd);
        let stdout = self.stdout.pipe.as_ref().map(AsFd::as_fd);
        let stderr = self.stderr.pipe.as_ref().map(AsFd::as_fd);
        [
            (Source::Exit, exit, PollFlags::IN),
            (Source::Stdin, stdin, PollFlags::OUT),
            (Source::Stdout, stdout, PollFlags::IN),
            (Source::Stderr, stderr, PollFlags::IN),
        ]
        .into_iter()
        .filter_map(|(source, fd, flags)| Some((source, fd?, flags)))
    }

    /// Moves bytes until the child has exited and its outputs are read, or the time is over.
    fn pump(&mut self, deadline: Instant) -> io::Result<Pumped> {
        loop {
            let has_ended = self.exit.is_none();
            if has_ended && self.stdout.pipe.is_none() && self.stderr.pipe.is_none() {
                return Ok(Pumped::Ended);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let wait = if has_ended { left.min(LINGER) } else { left };
            let ready = if wait.is_zero() {
                Vec::new()
            } else {
                self.wait(wait)?
            };
            if ready.is_empty() {
                return Ok(if has_ended {
                    Pumped::Ended
                } else {
                    Pumped::TimeIsOver
                });
            }
            for source in ready {
                match source {
                    Source::Exit => self.exit = None,
                    Source::Stdin => self.feed(),
                    Source::Stdout => self.stdout.drain()?,
                    Source::Stderr => self.stderr.drain()?,
                }
            }
        }
    }

    /// Returns what can be read or written; empty when the time is over.
    fn wait(&self, limit: Duration) -> io::Result<Vec<Source>> {
        let deadline = Instant::now() + limit;
        let watch = |(source, fd, flags)| (source, PollFd::from_borrowed_fd(fd, flags));
        let (sources, mut fds): (Vec<Source>, Vec<PollFd<'_>>) = self.open().map(watch).unzip();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).map_err(io::Error::other)?;
            match poll(&mut fds, Some(&left)) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let ready = sources
            .into_iter()
            .zip(&fds)
            .filter(|(_, fd)| !fd.revents().is_empty());
        Ok(ready.map(|(source, _)| source).collect())
    }

    fn feed(&mut self) {
        let Some(pipe) = &mut self.stdin else { return };
        while !self.input.is_empty() {
            match pipe.write(self.input) {
                Ok(n_written) => self.input = &self.input[n_written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The child closed its end; its exit status says why.
                Err(_) => break,
            }
        }
        self.stdin = None;
    }

    fn finish(mut self) -> Result<Finished, Failure> {
        let status = self.child.wait()?;
        Ok(Finished {
            status,
            stdout: self.stdout.bytes,
            stderr: self.stderr.bytes,
        })
    }

    /// Terminates the group, then kills it. The child is reaped last, so that its id cannot be
    /// reused meanwhile.
    fn stop(mut self) {
        self.stdin = None;
        for signal in [Signal::TERM, Signal::KILL] {
            self.signal_group(signal);
            if self.exit.is_some() {
                self.pump(Instant::now() + GRACE).ok();
            }
        }
        // A child in an uninterruptible wait survives even a kill and is left to the system.
        if self.exit.is_none() {
            self.child.wait().ok();
        }
    }

    fn signal_group(&self, signal: Signal) {
        if let Some(group) = pid_of(&self.child) {
            kill_process_group(group, signal).ok();
        }
    }
}

impl<T: Read> Output<T> {
    fn new(pipe: Option<T>) -> Self {
        let bytes = Vec::new();
        Self { pipe, bytes }
    }

    fn drain(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        let mut buffer = [0; 16 * 1024];
        // One buffer at a time: an endless output must not delay the deadline.
        match pipe.read(&mut buffer) {
            Ok(0) => self.pipe = None,
            Ok(n_read) => self.bytes.extend_from_slice(&buffer[..n_read]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Returns a pipe that is closed when the child exits, without reaping it.
///
/// A thread rather than a pidfd, which macOS does not have.
fn watch_exit(child: &Child) -> io::Result<PipeReader> {
    let pid = pid_of(child).ok_or_else(|| io::Error::other("child without a process id"))?;
    let (reader, writer) = io::pipe()?;
    thread::Builder::new()
        .name("git-exit".to_owned())
        .spawn(move || {
            let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), ended), Err(Errno::INTR)) {}
            drop(writer);
        })?;
    Ok(reader)
}

fn pid_of(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}
