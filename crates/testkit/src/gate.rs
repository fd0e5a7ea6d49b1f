//! A place at which a scripted agent stops until the test lets it go on; no clock is involved.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::sync::mpsc;
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{Mode, OFlags};

use crate::process::{Call, Environment};
use crate::sandbox::{LIMIT, quoted};

/// Two pipes: one by which the agent says that it is there, one for which it waits.
#[derive(Debug)]
pub struct Gate {
    arrived: Utf8PathBuf,
    go: Utf8PathBuf,
    arriving: File,
    going: File,
}

impl Gate {
    /// Makes the two pipes in a folder.
    pub fn new(folder: &Utf8Path) -> io::Result<Self> {
        let arrived = folder.join("gate-arrived");
        let go = folder.join("gate-go");
        Ok(Self {
            arriving: pipe(&arrived)?,
            going: pipe(&go)?,
            arrived,
            go,
        })
    }

    /// Returns the shell commands that stop at the gate.
    pub fn script(&self) -> String {
        let go = quoted(self.go.as_str());
        format!("{}\nread -r _ <{go}\n", self.knock())
    }

    /// Returns the shell command that only says that a script is there.
    pub fn knock(&self) -> String {
        format!("echo $$ >{}", quoted(self.arrived.as_str()))
    }

    /// Waits until a script has come to the gate; returns the number of its process.
    pub fn wait(&self) -> io::Result<u32> {
        let pipe = self.arriving.try_clone()?;
        let (sender, heard) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(pipe).read_line(&mut line);
            sender.send(read.map(|_| line)).ok();
        });
        let line = heard
            .recv_timeout(LIMIT)
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "nobody came to the gate"))??;
        line.trim().parse().map_err(io::Error::other)
    }

    /// Lets one script go on.
    pub fn open(&mut self) -> io::Result<()> {
        self.going.write_all(b"go\n")
    }
}

/// Makes a named pipe and opens it for both ways, so that nobody who opens it has to wait.
fn pipe(path: &Utf8Path) -> io::Result<File> {
    make_pipe(path)?;
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(path.as_std_path(), flags, Mode::empty())?;
    Ok(file.into())
}

/// Makes a named pipe.
pub fn make_pipe(path: &Utf8Path) -> io::Result<()> {
    let made = Call {
        program: "mkfifo",
        args: &[path.to_string()],
        folder: Utf8Path::new("/"),
        environment: &Environment::from([("PATH".into(), "/usr/bin:/bin".into())]),
        stdin: "",
        limit: LIMIT,
    };
    let made = made.run().map_err(io::Error::other)?;
    if made.status.success() {
        return Ok(());
    }
    Err(io::Error::other(
        String::from_utf8_lossy(&made.stderr).into_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Sandbox;

    #[test]
    fn a_script_stops_at_the_gate_until_it_is_opened() {
        let sandbox = Sandbox::new("/bin/sh").unwrap();
        let mut gate = Gate::new(sandbox.root()).unwrap();
        let typed = sandbox.typed(&["-c", &format!("{}echo through", gate.script())]);
        let running = typed.start().unwrap();
        assert_eq!(gate.wait().unwrap(), running.pid());
        gate.open().unwrap();
        assert_eq!(
            typed.ran(running.finish().unwrap()).to_string(),
            "exit 0\n--- stdout\nthrough\n"
        );
    }
}
