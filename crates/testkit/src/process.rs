//! Runs one program to its end with a given input, an exact environment and a time limit.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use camino::Utf8Path;

/// The environment of a program, whole: nothing else is inherited.
pub type Environment = BTreeMap<OsString, OsString>;

/// One program to run.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The program's name or path.
    pub program: &'a str,
    /// Its arguments.
    pub args: &'a [String],
    /// The folder it starts in.
    pub folder: &'a Utf8Path,
    /// Everything it finds in its environment.
    pub environment: &'a Environment,
    /// What it reads from standard input.
    pub stdin: &'a str,
    /// How long it may take before its process group is killed.
    pub limit: Duration,
}

/// Writes a program that can be run at once.
///
/// A child writes it: were the file open for writing here while another test forks, the kernel would
/// refuse to run it ("text file busy").
#[expect(clippy::disallowed_methods, reason = "only tests use this crate")]
pub fn write_script(path: &Path, script: &str) -> io::Result<()> {
    let mut writer = Command::new("sh")
        .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = writer.stdin.take() {
        stdin.write_all(script.as_bytes())?;
    }
    if writer.wait()?.success() {
        Ok(())
    } else {
        Err(io::Error::other("the script could not be written"))
    }
}

/// Why a program gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be started, or its output could not be read.
    #[error("cannot run `{program}`")]
    Run {
        /// The program's name or path.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// It took longer than it may.
    #[error("no answer from `{program}` in {} s", limit.as_secs())]
    Timeout {
        /// The program's name or path.
        program: String,
        /// The time it had.
        limit: Duration,
    },
}

impl Call<'_> {
    /// Runs the program and returns its exit status and both outputs.
    ///
    /// As with a shell pipeline, the end is when every holder of the outputs has closed them.
    pub fn run(&self) -> Result<Output, Error> {
        let failed = |source| Error::Run {
            program: self.program.to_owned(),
            source,
        };
        let mut child = self.spawn().map_err(failed)?;
        let group = rustix::process::Pid::from_child(&child);
        feed(&mut child, self.stdin.to_owned());
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || sender.send(child.wait_with_output()));
        if let Ok(output) = ended.recv_timeout(self.limit) {
            return output.map_err(failed);
        }
        // An error here means that the group ended in this very moment.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
        Err(Error::Timeout {
            program: self.program.to_owned(),
            limit: self.limit,
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "tests start the binary and git themselves"
    )]
    pub(crate) fn spawn(&self) -> io::Result<Child> {
        Command::new(OsStr::new(self.program))
            .args(self.args)
            .current_dir(self.folder)
            .env_clear()
            .envs(self.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
    }
}

/// Writes the input from a thread of its own: a program that reads late must not block on its output.
fn feed(child: &mut Child, input: String) {
    if let Some(mut pipe) = child.stdin.take() {
        // A program may well end without reading its input: that error says nothing.
        thread::spawn(move || pipe.write_all(input.as_bytes()).ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, stdin: &str, limit: Duration) -> Result<Output, Error> {
        let environment = Environment::from([("PATH".into(), "/usr/bin:/bin".into())]);
        let args = ["-c".to_owned(), script.to_owned()];
        let folder = Utf8Path::new("/");
        Call {
            program: "/bin/sh",
            args: &args,
            folder,
            environment: &environment,
            stdin,
            limit,
        }
        .run()
    }

    #[test]
    fn input_reaches_the_program_and_both_outputs_come_back() {
        let done = shell(
            "cat; echo oops >&2; exit 3",
            "hello",
            Duration::from_secs(60),
        )
        .unwrap();
        assert_eq!(done.status.code(), Some(3));
        assert_eq!(done.stdout, b"hello");
        assert_eq!(done.stderr, b"oops\n");
    }

    #[test]
    fn input_that_nobody_reads_is_not_an_error() {
        let long = "x".repeat(1 << 20);
        let done = shell("exit 0", &long, Duration::from_secs(60)).unwrap();
        assert!(done.status.success());
    }

    #[test]
    fn a_program_that_hangs_is_killed_at_its_limit() {
        let wrong = shell("sleep 600", "", Duration::from_millis(50)).unwrap_err();
        assert!(matches!(wrong, Error::Timeout { .. }), "{wrong}");
    }
}
