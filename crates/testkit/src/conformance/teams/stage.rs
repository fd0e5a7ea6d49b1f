//! A wave that a test laid out itself, with the binary to let loose on it.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::super::case::Case;
use super::super::error::{Error, mismatch};
use super::super::scene::Scene;
use super::layout::{TEAM, root_below};
use crate::process::Call;
use crate::sandbox::{LIMIT, Ran, Sandbox, Typed};

/// The time at which every command runs unless it is told another.
pub(crate) const NOW: &str = "2026-02-16T15:00:00Z";

/// A project with its worktrees and its task list; dropping it removes everything.
#[derive(Debug)]
pub struct Stage {
    sandbox: Sandbox,
}

impl Stage {
    /// Lays out what a case's `teams` object says.
    pub fn new(binary: &str, teams: &Value) -> Result<Self, Error> {
        let case = Case::of_teams(teams)?;
        let scene = Scene::lay_out_in_memory(&case)?;
        let sandbox = scene.into_sandbox(binary);
        Ok(Self { sandbox })
    }

    /// Returns the place itself, for files and command lines of any kind.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Returns the folder of the worktrees.
    pub fn root(&self) -> Utf8PathBuf {
        root_below(self.sandbox.root(), self.sandbox.project())
    }

    /// Returns a task's worktree.
    pub fn worktree(&self, wave: u32, task: u32) -> Utf8PathBuf {
        let name = format!("phase-1-exec-wave-{wave}-task-{task}");
        self.root().join(name)
    }

    /// Returns the folder of the task list.
    pub fn task_list(&self) -> Utf8PathBuf {
        let home = self.sandbox.root().join("home");
        home.join(".claude/tasks").join(TEAM)
    }

    /// Returns the entry of the task list with this number.
    pub fn task(&self, number: u32) -> Result<Value, Error> {
        let bytes = fs_err::read(self.task_list().join(format!("{number}.json")))?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Changes the entry of the task list with this number.
    pub fn change_task(&self, number: u32, change: impl FnOnce(&mut Value)) -> Result<(), Error> {
        let mut entry = self.task(number)?;
        change(&mut entry);
        self.write_task(&number.to_string(), &entry)
    }

    /// Writes an entry of the task list, whatever it holds.
    pub fn write_task(&self, name: &str, entry: &Value) -> Result<(), Error> {
        let path = self.task_list().join(format!("{name}.json"));
        Ok(fs_err::write(path, format!("{entry:#}"))?)
    }

    /// Returns a command line of this protocol that is yet to be run.
    pub fn typed(&self, command: &str, args: &[&str]) -> Typed<'_> {
        let mut words = vec![command, "--protocol", "kiln-teams"];
        words.extend(args);
        self.sandbox.typed(&words)
    }

    /// Resumes with a yes to everything.
    pub fn resume(&self, args: &[&str]) -> Result<Ran, Error> {
        let mut words = vec!["--yes"];
        words.extend(args);
        Ok(self.typed("resume", &words).run()?)
    }

    /// Returns the whole answer of `inspect --json`.
    pub fn inspected(&self) -> Result<Value, Error> {
        let ran = self.typed("inspect", &["--json"]).run()?;
        match ran.json() {
            Ok(answer) => Ok(answer),
            Err(_) => mismatch(ran.to_string()),
        }
    }

    /// Returns the facts of the phase.
    pub fn facts(&self) -> Result<Value, Error> {
        Ok(self.inspected()?["facts"].take())
    }

    /// Runs git in the project, which must succeed, and returns what it printed.
    pub fn git(&self, args: &[&str]) -> Result<String, Error> {
        self.git_in(self.sandbox.project(), args)
    }

    /// Runs git in a folder, which must succeed, and returns what it printed.
    pub fn git_in(&self, folder: &Utf8Path, args: &[&str]) -> Result<String, Error> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let call = Call {
            program: "git",
            args: &args,
            folder,
            environment: self.sandbox.environment(),
            stdin: "",
            limit: LIMIT,
        };
        let done = call.run()?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
        }
        Err(Error::Git {
            args: args.join(" "),
            stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
        })
    }

    /// Returns the subjects on the checked-out branch, oldest first, without the scaffold's.
    pub fn log(&self) -> Result<Vec<String>, Error> {
        let log = self.git(&["log", "--reverse", "--format=%s"])?;
        Ok(log.lines().skip(1).map(str::to_owned).collect())
    }

    /// Returns `STATE.md`.
    pub fn state(&self) -> io::Result<String> {
        self.sandbox.read(".kiln/STATE.md")
    }

    /// Returns the cells of the rows of the retry ledger.
    pub fn ledger(&self) -> io::Result<Vec<Vec<String>>> {
        let state = self.state()?;
        let rows = state
            .lines()
            .skip_while(|line| !line.starts_with("| Plan Task ID"))
            .skip(2)
            .take_while(|line| line.starts_with('|'));
        let cells = |row: &str| {
            let inner = row.trim().trim_matches('|');
            inner
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect()
        };
        Ok(rows.map(cells).collect())
    }
}
