//! A terminal: a program in it behaves as if a person sat before it.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::process::{Call, Error};
use crate::running::Heard;

/// A program on a terminal of its own; dropping it kills its process group.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    keys: File,
    screen: Heard,
    program: String,
    limit: Duration,
}

impl Terminal {
    /// Starts a program; the call's input is typed at once.
    pub fn start(call: &Call<'_>) -> Result<Self, Error> {
        let failed = |source| Error::Run {
            program: call.program.to_owned(),
            source,
        };
        let (keys, child) = spawn(call).map_err(failed)?;
        let screen = Heard::listen(Some(keys.try_clone().map_err(failed)?));
        let mut terminal = Self {
            child,
            keys,
            screen,
            program: call.program.to_owned(),
            limit: call.limit,
        };
        terminal.answer(call.stdin)?;
        Ok(terminal)
    }

    /// Returns the process's number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Types a text.
    pub fn answer(&mut self, text: &str) -> Result<(), Error> {
        let typed = self.keys.write_all(text.as_bytes());
        typed.map_err(|source| self.failed(source))
    }

    /// Waits until a text is on the screen.
    pub fn wait_for(&self, text: &str) -> Result<(), Error> {
        let has = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(text);
        self.screen
            .wait(self.limit, |heard| has(&heard.bytes) || heard.closed);
        let shown = self.screen.take();
        if has(&shown) {
            return Ok(());
        }
        let shown = String::from_utf8_lossy(&shown);
        let never = format!("it never showed `{text}`, but: {shown}");
        Err(self.failed(io::Error::other(never)))
    }

    /// Waits for its end; returns all that was on the screen.
    pub fn ended(mut self) -> Result<(ExitStatus, String), Error> {
        if !self.screen.wait(self.limit, |heard| heard.closed) {
            return Err(Error::Timeout {
                program: self.program.clone(),
                limit: self.limit,
            });
        }
        let status = self.child.wait();
        let status = status.map_err(|source| self.failed(source))?;
        let shown = String::from_utf8_lossy(&self.screen.take()).into_owned();
        Ok((status, shown))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Run {
            program: self.program.clone(),
            source,
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let group = Pid::from_child(&self.child);
            rustix::process::kill_process_group(group, Signal::KILL).ok();
            self.child.wait().ok();
        }
    }
}

/// Makes a terminal: the end with keyboard and screen, and the end of its program.
pub(crate) fn open() -> io::Result<(File, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs: OwnedFd = rustix::fs::open(
        name.as_c_str(),
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    Ok((File::from(ours), theirs))
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests start the binary themselves"
)]
fn spawn(call: &Call<'_>) -> io::Result<(File, Child)> {
    let (ours, theirs) = open()?;
    let child = Command::new(call.program)
        .args(call.args)
        .current_dir(call.folder)
        .env_clear()
        .envs(call.environment)
        .stdin(Stdio::from(theirs.try_clone()?))
        .stdout(Stdio::from(theirs.try_clone()?))
        .stderr(Stdio::from(theirs))
        .process_group(0)
        .spawn()?;
    Ok((ours, child))
}

#[cfg(test)]
mod tests {
    use crate::sandbox::Sandbox;

    #[test]
    fn a_program_asks_a_person_and_is_answered() {
        let sandbox = Sandbox::new("/bin/sh").unwrap();
        let script = "test -t 0 && test -t 1 && test -t 2 && printf 'name? '; read name; echo \"hello $name\"; exit 3";
        let mut terminal = sandbox.typed(&["-c", script]).on_a_terminal().unwrap();
        terminal.wait_for("name? ").unwrap();
        terminal.answer("you\n").unwrap();
        let (status, shown) = terminal.ended().unwrap();
        assert_eq!(status.code(), Some(3));
        assert!(shown.ends_with("hello you\r\n"), "{shown}");
    }
}
