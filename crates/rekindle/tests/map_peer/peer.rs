//! The peer's scripts, compiled once and run in one process of Python.

#![expect(
    clippy::disallowed_methods,
    reason = "the test itself starts Python and finds it by the environment"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::process::Environment;
use serde::Deserialize;
use serde_json::json;

/// The variable that names the Python of the virtual environment.
const PYTHON: &str = "REKINDLE_MAP_PEER";

/// A running peer.
pub(crate) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// What a command came to.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Peer {
    /// Starts Python with the scripts of the installed package.
    pub(crate) fn start(environment: &Environment) -> Self {
        let python = python();
        let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/map_peer/driver.py");
        let mut child = Command::new(&python)
            .arg(driver)
            .arg(scripts(&python))
            .env_clear()
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the peer's Python can be started");
        let input = child.stdin.take().expect("its input is a pipe");
        let output = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        Self {
            child,
            input,
            output,
        }
    }

    /// Runs one command in a project.
    pub(crate) fn run(
        &mut self,
        project: &Utf8Path,
        script: &str,
        words: &[String],
        input: &str,
    ) -> Answer {
        let order = json!({"project": project, "script": script, "words": words, "input": input});
        writeln!(self.input, "{order}").expect("the peer takes orders");
        self.input.flush().expect("the peer takes orders");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the peer answers");
        serde_json::from_str(&line).expect("the peer answers with an object")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn python() -> Utf8PathBuf {
    let named = std::env::var(PYTHON).unwrap_or_default();
    assert!(
        !named.is_empty(),
        "{PYTHON} names no Python with mapify-cli; `cargo xtask test` sets it"
    );
    named.into()
}

/// Returns the folder of the scripts as the package brings them.
fn scripts(python: &Utf8Path) -> Utf8PathBuf {
    let code = "import mapify_cli, pathlib; print(pathlib.Path(mapify_cli.__file__).parent / 'templates/map/scripts')";
    let done = Command::new(python)
        .args(["-c", code])
        .output()
        .expect("Python can be started");
    let folder = String::from_utf8(done.stdout).expect("a path in UTF-8");
    let folder = Utf8PathBuf::from(folder.trim());
    assert!(folder.is_dir(), "mapify-cli is not installed for {python}");
    folder
}
