//! The engines of others that run steps durably, each with a script of its own that does the same.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::chore::Setting;
use crate::packages::Python;

/// An engine in one configuration.
pub(super) struct Engine {
    /// With its version and how it is set up.
    pub(super) shown: &'static str,
    pub(super) python: Python,
    script: &'static str,
    environment: &'static [(&'static str, &'static str)],
}

pub(super) const LANGGRAPH: Engine = Engine {
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

const DBOS_PACKAGES: Python = Python {
    packages: &[("dbos", "3.3.0")],
};

/// As it comes.
pub(super) const DBOS: Engine = Engine {
    shown: "DBOS 3.3.0, SQLite as it comes",
    python: DBOS_PACKAGES,
    script: include_str!("peers/dbos_steps.py"),
    environment: &[],
};

/// The faster of the two, though DBOS does not offer it: the file is told so before.
pub(super) const DBOS_WAL: Engine = Engine {
    shown: "DBOS 3.3.0, SQLite in WAL mode",
    python: DBOS_PACKAGES,
    script: include_str!("peers/dbos_steps.py"),
    environment: &[("DBOS_BENCH_JOURNAL", "WAL")],
};

impl Engine {
    /// Returns the command that runs steps or goes on with them, its store in this folder.
    ///
    /// A step starts `program` with the number of the step, or does nothing.
    pub(super) fn command(
        &self,
        setting: &Setting,
        store: &Path,
        n_steps: u32,
        program: &[&str],
    ) -> Result<Command, String> {
        let interpreter = self.python.program("python")?;
        let package = self.python.packages[0].0;
        let script = setting.folder.join(format!("{package}_steps.py"));
        fs::write(&script, self.script).map_err(|e| format!("cannot write a script: {e}"))?;
        let mut command = Command::new(interpreter);
        command
            .arg(script)
            .arg(store.join("steps.db"))
            .arg(n_steps.to_string())
            .args(program)
            .envs(self.environment.iter().copied())
            .stdin(Stdio::null());
        Ok(command)
    }

    /// Runs so many steps that do nothing in an empty store, and returns the seconds they took.
    pub(super) fn seconds(
        &self,
        setting: &Setting,
        store: &Path,
        n_steps: u32,
    ) -> Result<f64, String> {
        let mut command = self.command(setting, store, n_steps, &[])?;
        let done = command
            .output()
            .map_err(|e| format!("cannot run {}: {e}", self.shown))?;
        let text = String::from_utf8_lossy(&done.stdout);
        let seconds = text.trim().parse().ok().filter(|_| done.status.success());
        seconds.ok_or_else(|| {
            let said = String::from_utf8_lossy(&done.stderr);
            format!("{} failed: {}\n{said}", self.shown, done.status)
        })
    }
}
