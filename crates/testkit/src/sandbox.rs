//! A scratch project with a home beside it, and the binary under test in a hermetic environment.
//!
//! [`Sandbox`] is the place, [`Typed`] one command line in it, [`Ran`] what came of it. A [`Ran`] shows
//! itself as exit code and both outputs, with everything that differs between two machines replaced, so
//! that it can be held against a snapshot as it is.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Output;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;
use tempfile::TempDir;

use crate::hermetic;
use crate::process::{self, Call, Environment};
use crate::running::Running;
use crate::terminal::Terminal;

pub use crate::files::Files;

/// How long one command may take; far more than any needs, so that only a hang ends there.
pub const LIMIT: Duration = Duration::from_secs(60);

/// The time at which every command runs unless it is told another.
pub const NOW: &str = "2026-01-20T12:00:00Z";

/// What differs from machine to machine or from run to run, and what is shown instead.
const VOLATILE: [(&str, &str); 6] = [
    (r"plan digest: [0-9a-f]{32}", "plan digest: [DIGEST]"),
    (r"\bprocess \d+", "process [PID]"),
    (r"\bkill \d+", "kill [PID]"),
    (r"on `[^`]*` since", "on `[HOST]` since"),
    (r"\brekindle: \d+\.[^,\n]*", "rekindle: [VERSION]"),
    (r"\bgit: git \d+\.\d+\S*", "git: git [VERSION]"),
];

/// A scratch folder with a project and a home; dropping it removes everything.
#[derive(Debug)]
pub struct Sandbox {
    binary: Utf8PathBuf,
    root: Utf8PathBuf,
    project: Utf8PathBuf,
    environment: Environment,
    _scratch: TempDir,
}

impl Sandbox {
    /// Makes an empty project.
    pub fn new(binary: &str) -> io::Result<Self> {
        Self::named(binary, "project")
    }

    /// Makes an empty project in a folder of this name.
    pub fn named(binary: &str, name: &str) -> io::Result<Self> {
        Self::at(binary, name, scratch().tempdir()?)
    }

    /// Makes an empty project in memory, where the system offers that.
    ///
    /// For tests that run hundreds of commands: each syncs its files, which a disk takes its time for.
    pub fn in_memory(binary: &str) -> io::Result<Self> {
        Self::named_in_memory(binary, "project")
    }

    /// Makes an empty project in memory, in a folder of this name.
    pub fn named_in_memory(binary: &str, name: &str) -> io::Result<Self> {
        Self::at(binary, name, scratch_in_memory()?)
    }

    /// Takes over a place in which a project stands already, with the environment it was made in.
    pub(crate) fn standing(
        binary: &str,
        root: Utf8PathBuf,
        project: Utf8PathBuf,
        environment: Environment,
        scratch: TempDir,
    ) -> Self {
        Self {
            binary: binary.into(),
            root,
            project,
            environment,
            _scratch: scratch,
        }
    }

    fn at(binary: &str, name: &str, scratch: TempDir) -> io::Result<Self> {
        let given = Utf8PathBuf::from_path_buf(scratch.path().to_owned())
            .map_err(|path| io::Error::other(format!("{} is not UTF-8", path.display())))?;
        let root = given.canonicalize_utf8()?;
        let project = root.join(name);
        fs_err::create_dir(root.join("home"))?;
        fs_err::create_dir(&project)?;
        let mut environment = hermetic::environment(&root.join("home"), &project);
        for leaking in ["CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES"] {
            environment.remove(OsString::from(leaking).as_os_str());
        }
        environment.insert("REKINDLE_NOW".into(), NOW.into());
        Ok(Self {
            binary: binary.into(),
            root,
            project,
            environment,
            _scratch: scratch,
        })
    }

    /// Returns the scratch folder that holds the project, for what must stand outside of it.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns the project's folder.
    pub fn project(&self) -> &Utf8Path {
        &self.project
    }

    /// Returns the environment of every command.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns the binary under test.
    pub fn binary(&self) -> &Utf8Path {
        &self.binary
    }

    /// Returns a path in the project.
    pub fn path(&self, relative: impl AsRef<Utf8Path>) -> Utf8PathBuf {
        self.project.join(relative.as_ref())
    }

    /// Writes a file of the project, with the folders it needs.
    pub fn write(
        &self,
        relative: impl AsRef<Utf8Path>,
        contents: impl AsRef<[u8]>,
    ) -> io::Result<()> {
        let path = self.path(relative);
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        fs_err::write(path, contents)
    }

    /// Reads a file of the project.
    pub fn read(&self, relative: impl AsRef<Utf8Path>) -> io::Result<String> {
        fs_err::read_to_string(self.path(relative))
    }

    /// Writes a shell script beside the project and returns the command that runs it.
    pub fn script(&self, name: &str, text: &str) -> io::Result<String> {
        let path = self.root.join(name);
        fs_err::write(&path, text)?;
        // `exec`, so that the script is the process that was started and not a child of it.
        Ok(format!("exec sh {}", quoted(path.as_str())))
    }

    /// Runs the binary in the project, with nothing on its standard input.
    pub fn run(&self, args: &[&str]) -> Result<Ran, process::Error> {
        self.typed(args).run()
    }

    /// Returns a command line that is yet to be run.
    pub fn typed(&self, args: &[&str]) -> Typed<'_> {
        Typed {
            sandbox: self,
            words: [self.binary.as_str()]
                .iter()
                .chain(args)
                .map(|&word| word.to_owned())
                .collect(),
            folder: self.project.clone(),
            environment: self.environment.clone(),
            stdin: String::new(),
        }
    }

    /// Takes everything that stands in the project, rekindle's own folder included.
    pub fn files(&self) -> io::Result<Files> {
        Files::below(&self.project)
    }
}

/// Makes a scratch folder in memory, where the system offers that.
pub(crate) fn scratch_in_memory() -> io::Result<TempDir> {
    let place = scratch().tempdir_in("/dev/shm");
    place.or_else(|_| scratch().tempdir())
}

fn scratch() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("rekindle-e2e-");
    builder
}

/// One command line.
#[derive(Debug)]
pub struct Typed<'s> {
    sandbox: &'s Sandbox,
    words: Vec<String>,
    folder: Utf8PathBuf,
    environment: Environment,
    stdin: String,
}

impl Typed<'_> {
    /// Answers questions: this is on standard input, and then its end.
    #[must_use]
    pub fn answering(mut self, lines: &str) -> Self {
        lines.clone_into(&mut self.stdin);
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.environment.remove(OsString::from(name).as_os_str());
        self
    }

    /// Runs it at another time.
    #[must_use]
    pub fn at(self, now: &str) -> Self {
        self.with("REKINDLE_NOW", now)
    }

    /// Runs it in another folder.
    #[must_use]
    pub fn from(mut self, folder: impl Into<Utf8PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Runs it by way of another program, which gets the command line as its last arguments.
    #[must_use]
    pub fn through(mut self, program: &[&str]) -> Self {
        let before = program.iter().map(|&word| word.to_owned());
        self.words.splice(0..0, before);
        self
    }

    /// Runs it to its end.
    pub fn run(&self) -> Result<Ran, process::Error> {
        let output = self.call().run()?;
        Ok(self.ran(output))
    }

    /// Starts it; its input stays open for answers.
    pub fn start(&self) -> Result<Running, process::Error> {
        Running::start(&self.call())
    }

    /// Starts it on a terminal of its own.
    pub fn on_a_terminal(&self) -> Result<Terminal, process::Error> {
        Terminal::start(&self.call())
    }

    /// Returns what a started command came to, as [`Typed::run`] does.
    pub fn ran(&self, output: Output) -> Ran {
        let mut places: Vec<(String, &'static str)> = vec![
            (self.sandbox.project.to_string(), "[PROJECT]"),
            (self.sandbox.root.to_string(), "[ROOT]"),
        ];
        // A project's odd name is shown escaped.
        let escaped = self.sandbox.project.as_str().escape_default().to_string();
        places.push((escaped, "[PROJECT]"));
        Ran { output, places }
    }

    fn call(&self) -> Call<'_> {
        let (program, args) = match self.words.split_first() {
            Some((program, args)) => (program.as_str(), args),
            None => ("", [].as_slice()),
        };
        Call {
            program,
            args,
            folder: &self.folder,
            environment: &self.environment,
            stdin: &self.stdin,
            limit: LIMIT,
        }
    }
}

/// What came of a command.
#[derive(Debug, Clone)]
pub struct Ran {
    output: Output,
    places: Vec<(String, &'static str)>,
}

impl Ran {
    /// Returns the exit code; `None` when a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    /// Returns the signal that ended it.
    pub fn signal(&self) -> Option<i32> {
        self.output.status.signal()
    }

    /// Returns the bytes of standard output.
    pub fn stdout_bytes(&self) -> &[u8] {
        &self.output.stdout
    }

    /// Returns the bytes of standard error.
    pub fn stderr_bytes(&self) -> &[u8] {
        &self.output.stderr
    }

    /// Returns standard output as text.
    pub fn stdout(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.output.stdout)
    }

    /// Returns standard error as text.
    pub fn stderr(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.output.stderr)
    }

    /// Returns the one JSON object on standard output.
    pub fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::from_slice(&self.output.stdout)
    }

    fn steady(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (place, name) in &self.places {
            text = text.replace(place, name);
        }
        for (pattern, shown) in VOLATILE {
            // The patterns are ours; one that is wrong shows in the first snapshot.
            if let Ok(pattern) = Regex::new(pattern) {
                text = pattern.replace_all(&text, shown).into_owned();
            }
        }
        text
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code(), self.signal()) {
            (Some(code), _) => writeln!(f, "exit {code}")?,
            (None, signal) => writeln!(f, "signal {}", signal.unwrap_or_default())?,
        }
        for (name, text) in [("stdout", self.stdout()), ("stderr", self.stderr())] {
            if !text.is_empty() {
                write!(f, "--- {name}\n{}", self.steady(&text))?;
                if !text.ends_with('\n') {
                    f.write_str("[no line end]\n")?;
                }
            }
        }
        Ok(())
    }
}

/// Returns a word as a shell reads it back, whatever is in it.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_word_reaches_a_shell_unchanged() {
        let sandbox = Sandbox::new("/bin/sh").unwrap();
        let word = "a 'b' \"c\"\n$d";
        let script = format!("printf %s {}", quoted(word));
        assert_eq!(sandbox.run(&["-c", &script]).unwrap().stdout(), word);
    }

    #[test]
    fn what_differs_between_machines_is_not_shown() {
        let sandbox = Sandbox::new("/bin/sh").unwrap();
        let script = "echo \"process $$ in $PWD, plan digest: 0123456789abcdef0123456789abcdef\"; printf x >&2; exit 3";
        assert_eq!(
            sandbox.run(&["-c", script]).unwrap().to_string(),
            "exit 3\n--- stdout\nprocess [PID] in [PROJECT], plan digest: [DIGEST]\n--- stderr\nx[no line end]\n"
        );
    }

    #[test]
    fn new_changed_and_removed_files_and_folders_are_distinguished() {
        let sandbox = Sandbox::new("/bin/sh").unwrap();
        sandbox.write("a/changed", "1").unwrap();
        sandbox.write("a/gone", "1").unwrap();
        let before = sandbox.files().unwrap();
        sandbox.write("a/changed", "2").unwrap();
        fs_err::remove_file(sandbox.path("a/gone")).unwrap();
        fs_err::create_dir(sandbox.path("new")).unwrap();
        let after = sandbox.files().unwrap();
        assert_eq!(before.changes(&after), ["- a/gone", "~ a/changed", "+ new"]);
        assert_eq!(before.except("a").changes(&after.except("a")), ["+ new"]);
    }
}
