//! Other engines that run steps durably, each with a script that does the same.

use std::path::Path;
use std::process::{Command, Stdio};

use xtask::files;
use xtask::packages::Python;

use crate::chore::Setting;

/// An engine in one configuration.
pub(crate) struct Engine {
    /// Its name, version and configuration.
    pub(crate) shown: &'static str,
    pub(crate) python: Python,
    script: &'static str,
    environment: &'static [(&'static str, &'static str)],
}

pub(crate) const LANGGRAPH: Engine = Engine {
    shown: "LangGraph 1.2.20, SqliteSaver 3.1.2, durability `sync`",
    python: Python {
        packages: &[
            ("langgraph", "1.2.20"),
            ("langgraph-checkpoint-sqlite", "3.1.2"),
        ],
    },
    script: include_str!("peers/langgraph_steps.py"),
    environment: &[],
};

pub(crate) const DBOS: Engine = Engine {
    shown: "DBOS 3.3.0, SQLite with its defaults",
    python: Python {
        packages: &[("dbos", "3.3.0")],
    },
    script: include_str!("peers/dbos_steps.py"),
    environment: &[],
};

/// Faster, though DBOS has no setting for it: the script sets the mode of the file.
pub(crate) const DBOS_WAL: Engine = Engine {
    shown: "DBOS 3.3.0, SQLite in WAL mode",
    environment: &[("DBOS_BENCH_JOURNAL", "WAL")],
    ..DBOS
};

impl Engine {
    /// Returns the command that runs or resumes steps, with its store in this folder.
    ///
    /// A step starts `program` with the number of the step, or does nothing.
    pub(crate) fn command(
        &self,
        setting: &Setting,
        store: &Path,
        n_steps: u32,
        program: &[&str],
    ) -> Result<Command, String> {
        let package = self.python.packages[0].0;
        let script = setting.folder.join(format!("{package}_steps.py"));
        files::write(&script, self.script)?;
        let mut command = Command::new(self.python.program("python")?);
        command
            .arg(script)
            .arg(store.join("steps.db"))
            .arg(n_steps.to_string())
            .args(program)
            .envs(self.environment.iter().copied())
            .stdin(Stdio::null());
        Ok(command)
    }

    /// Runs steps that do nothing in an empty store; returns the seconds they took.
    pub(crate) fn seconds(
        &self,
        setting: &Setting,
        store: &Path,
        n_steps: u32,
    ) -> Result<f64, String> {
        let done = self.command(setting, store, n_steps, &[])?.output();
        let done = done.map_err(|e| format!("cannot run {}: {e}", self.shown))?;
        let text = String::from_utf8_lossy(&done.stdout);
        let seconds = text.trim().parse().ok().filter(|_| done.status.success());
        seconds.ok_or_else(|| {
            let output = String::from_utf8_lossy(&done.stderr);
            format!("{} failed: {}\n{output}", self.shown, done.status)
        })
    }
}
