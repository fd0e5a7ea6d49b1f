//! A program that is still running: what it has said so far, answers to it, and its sudden end.

use std::io::{self, Read, Write as _};
use std::process::{Child, ChildStdin, ExitStatus, Output};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::process::{Call, Error};

/// A started program; dropping it kills its process group.
#[derive(Debug)]
pub struct Running {
    child: Child,
    group: Pid,
    program: String,
    limit: Duration,
    stdin: Option<ChildStdin>,
    /// How much of its standard output was read line by line.
    n_read: usize,
    stdout: Heard,
    stderr: Heard,
    ended: bool,
}

impl Running {
    /// Starts a program; the call's input is written at once, and the pipe stays open.
    pub fn start(call: &Call<'_>) -> Result<Self, Error> {
        let program = call.program.to_owned();
        let failed = |source| Error::Run {
            program: program.clone(),
            source,
        };
        let mut child = call.spawn().map_err(failed)?;
        let group = Pid::from_child(&child);
        let stdout = Heard::listen(child.stdout.take());
        let stderr = Heard::listen(child.stderr.take());
        let mut running = Self {
            stdin: child.stdin.take(),
            n_read: 0,
            child,
            group,
            program: call.program.to_owned(),
            limit: call.limit,
            stdout,
            stderr,
            ended: false,
        };
        running.answer(call.stdin)?;
        Ok(running)
    }

    /// Returns the process's number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes to its standard input.
    pub fn answer(&mut self, text: &str) -> Result<(), Error> {
        self.send(text.as_bytes())
    }

    /// Writes to its standard input whatever it is.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = match &mut self.stdin {
            Some(pipe) => pipe.write_all(bytes),
            None => Ok(()),
        };
        written.map_err(|source| self.failed(source))
    }

    /// Waits for the next whole line of its standard output.
    pub fn next_line(&mut self) -> Result<String, Error> {
        let from = self.n_read;
        let line = |bytes: &[u8]| {
            let rest = bytes.get(from..).unwrap_or_default();
            let end = rest.iter().position(|byte| *byte == b'\n')?;
            Some(String::from_utf8_lossy(&rest[..end]).into_owned())
        };
        self.stdout.wait(self.limit, |heard| {
            heard.closed || line(&heard.bytes).is_some()
        });
        let bytes = self.stdout.take();
        match line(&bytes) {
            Some(line) => {
                let rest = bytes.iter().skip(from);
                self.n_read += rest.take_while(|byte| **byte != b'\n').count() + 1;
                Ok(line)
            }
            None => Err(self.failed(io::Error::other(format!(
                "it said no more on standard output; on standard error: {}",
                String::from_utf8_lossy(&self.stderr.take())
            )))),
        }
    }

    /// Ends its standard input.
    pub fn end_input(&mut self) {
        self.stdin = None;
    }

    /// Waits until it has said something on standard error.
    pub fn wait_for(&self, text: &str) -> Result<(), Error> {
        let said = self.stderr.wait(self.limit, |heard| {
            let said = String::from_utf8_lossy(&heard.bytes).contains(text);
            said || heard.closed
        });
        if said && String::from_utf8_lossy(&self.stderr.take()).contains(text) {
            return Ok(());
        }
        Err(self.failed(io::Error::other(format!(
            "it never said `{text}`, but: {}",
            String::from_utf8_lossy(&self.stderr.take())
        ))))
    }

    /// Waits until it has said something on standard error, and returns that line from there on.
    pub fn wait_for_line(&self, text: &str) -> Result<String, Error> {
        let line = |heard: &[u8]| {
            let heard = String::from_utf8_lossy(heard).into_owned();
            let at = heard.find(text)?;
            let (line, _) = heard[at..].split_once('\n')?;
            Some(line.to_owned())
        };
        self.stderr.wait(self.limit, |heard| {
            line(&heard.bytes).is_some() || heard.closed
        });
        let heard = self.stderr.take();
        line(&heard).ok_or_else(|| {
            let heard = String::from_utf8_lossy(&heard);
            self.failed(io::Error::other(format!(
                "it never said `{text}`, but: {heard}"
            )))
        })
    }

    /// Ends its input and waits for it and for every holder of its outputs.
    pub fn finish(mut self) -> Result<Output, Error> {
        self.stdin = None;
        self.ended()
    }

    /// Waits for it and for every holder of its outputs, and keeps its input open.
    pub fn ended(mut self) -> Result<Output, Error> {
        let whole = self.stdout.wait(self.limit, |heard| heard.closed)
            && self.stderr.wait(self.limit, |heard| heard.closed);
        if !whole {
            return Err(Error::Timeout {
                program: self.program.clone(),
                limit: self.limit,
            });
        }
        let status = self.wait()?;
        Ok(Output {
            status,
            stdout: self.stdout.take(),
            stderr: self.stderr.take(),
        })
    }

    /// Asks it to end, as `kill` does.
    pub fn ask_to_end(&self) -> io::Result<()> {
        let pid = Pid::from_child(&self.child);
        Ok(rustix::process::kill_process(pid, Signal::TERM)?)
    }

    /// Kills it alone, as `kill -9` does: what it started lives on.
    pub fn kill(mut self) -> Result<(), Error> {
        self.child.kill().map_err(|source| self.failed(source))?;
        self.wait()?;
        Ok(())
    }

    fn wait(&mut self) -> Result<ExitStatus, Error> {
        let status = self.child.wait();
        self.ended = true;
        status.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Run {
            program: self.program.clone(),
            source,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            // A test that failed in the middle leaves nothing behind.
            rustix::process::kill_process_group(self.group, Signal::KILL).ok();
            self.child.wait().ok();
        }
    }
}

/// Waits until a process that may be nobody's child here has ended.
#[cfg(target_os = "linux")]
pub fn wait_until_gone(pid: u32, limit: Duration) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{PidfdFlags, pidfd_open};

    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let Some(pid) = pid else {
        return Err(io::Error::other("not a process's number"));
    };
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(rustix::io::Errno::SRCH) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    // The kernel makes it readable when the process has ended, collected or not.
    let mut waiting = [PollFd::new(&process, PollFlags::IN)];
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    match poll(&mut waiting, Some(&limit))? {
        0 => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the process did not end",
        )),
        _ => Ok(()),
    }
}

/// Only Linux has an event for the end of somebody else's child.
#[cfg(not(target_os = "linux"))]
pub fn wait_until_gone(_pid: u32, _limit: Duration) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What came through a pipe so far; a thread of its own listens.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard(Arc<(Mutex<Spoken>, Condvar)>);

#[derive(Debug, Default)]
pub(crate) struct Spoken {
    pub(crate) bytes: Vec<u8>,
    pub(crate) closed: bool,
}

impl Heard {
    pub(crate) fn listen(pipe: Option<impl Read + Send + 'static>) -> Self {
        let heard = Self::default();
        let writer = heard.clone();
        thread::spawn(move || {
            let mut piece = [0; 8192];
            let mut pipe = pipe;
            while let Some(pipe) = &mut pipe {
                match pipe.read(&mut piece) {
                    Ok(0) | Err(_) => break,
                    Ok(n) => writer.change(|spoken| spoken.bytes.extend(&piece[..n])),
                }
            }
            writer.change(|spoken| spoken.closed = true);
        });
        heard
    }

    fn change(&self, change: impl FnOnce(&mut Spoken)) {
        let (spoken, changed) = &*self.0;
        change(&mut spoken.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
    }

    /// Waits until something holds; returns whether it came to that.
    pub(crate) fn wait(&self, limit: Duration, holds: impl Fn(&Spoken) -> bool) -> bool {
        let (spoken, changed) = &*self.0;
        let guard = spoken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(guard, limit, |spoken| !holds(spoken));
        let (_guard, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        !waited.timed_out()
    }

    pub(crate) fn take(&self) -> Vec<u8> {
        let (spoken, _) = &*self.0;
        let guard = spoken.lock().unwrap_or_else(PoisonError::into_inner);
        guard.bytes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Sandbox;

    #[test]
    fn a_question_is_waited_for_and_answered() {
        let sandbox = Sandbox::new("/bin/sh").unwrap();
        let typed = sandbox.typed(&["-c", "printf 'name? ' >&2; read name; echo \"hello $name\""]);
        let mut running = typed.start().unwrap();
        running.wait_for("name? ").unwrap();
        running.answer("you\n").unwrap();
        let ran = typed.ran(running.finish().unwrap());
        assert_eq!(ran.stdout(), "hello you\n");
    }

    #[test]
    fn a_conversation_is_held_line_by_line_until_its_end() {
        let sandbox = Sandbox::new("/bin/sh").unwrap();
        let script = "while read word; do echo \"<$word>\"; echo; done";
        let mut running = sandbox.typed(&["-c", script]).start().unwrap();
        for word in ["one", "two"] {
            running.send(format!("{word}\n").as_bytes()).unwrap();
            assert_eq!(running.next_line().unwrap(), format!("<{word}>"));
            assert_eq!(running.next_line().unwrap(), "");
        }
        running.stdin = None;
        assert!(running.next_line().is_err());
    }

    #[test]
    fn what_is_never_said_is_an_error_as_soon_as_it_cannot_come() {
        let sandbox = Sandbox::new("/bin/sh").unwrap();
        let running = sandbox.typed(&["-c", "echo no >&2"]).start().unwrap();
        assert!(running.wait_for("yes").is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_kill_reaches_the_program_alone_and_the_end_of_its_child_can_be_waited_for() {
        let sandbox = Sandbox::new("/bin/sh").unwrap();
        // The child waits for the end of an input that this test holds.
        let script = "exec 3<&0; cat <&3 >/dev/null & echo $! >&2; echo ready >&2; wait";
        let mut running = sandbox.typed(&["-c", script]).start().unwrap();
        running.wait_for("ready").unwrap();
        let said = String::from_utf8(running.stderr.take()).unwrap();
        let child: u32 = said.lines().next().unwrap().parse().unwrap();
        let held = running.stdin.take();
        running.kill().unwrap();
        assert!(wait_until_gone(child, Duration::ZERO).is_err());
        drop(held);
        wait_until_gone(child, crate::sandbox::LIMIT).unwrap();
    }
}
