//! A run that a power cut ended in the middle of a task, and what is expected of its resume.

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::gate::Gate;
use rekindle_testkit::repository::{Project, kill, text};
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::LIMIT;
use tempfile::TempDir;

use crate::BINARY;

/// A repository with a run of the one task `A`, of which nobody is alive anymore.
pub(crate) struct Cut {
    pub(crate) project: Project,
    pub(crate) gate: Gate,
    /// The agent that is cut off in its first attempt; its second one finds the gate open.
    pub(crate) agent: String,
    beside: TempDir,
    /// The user's own checkout before anything was run.
    checkout: String,
}

impl Cut {
    /// Lets a run begin and kills all of it while the agent has half of its work written.
    pub(crate) fn new() -> Result<Self> {
        let beside = tempfile::tempdir()?;
        let place = Utf8Path::from_path(beside.path()).context("a name that is text")?;
        let project = Project::new(BINARY);
        project.plan("A");
        let gate = Gate::new(place)?;
        let agent = format!(
            "cat > /dev/null; echo \"$PWD $(git rev-parse --show-toplevel)\" >> {place}/places\n\
             echo half > half.txt\n{}\nrm half.txt; echo whole > A.txt",
            gate.script()
        );
        let checkout = seen(&project);
        let mut cut = Self {
            project,
            gate,
            agent,
            beside,
            checkout,
        };
        let run = ["run", "plan.json", "--branch", "result", "--yes"];
        cut.kill_in(&run)?;
        Ok(cut)
    }

    /// Starts a command and kills all that it started as soon as its agent is at work.
    pub(crate) fn kill_in(&mut self, words: &[&str]) -> Result<()> {
        let words = [words, &["--agent-cmd", &self.agent]].concat();
        let running = self.project.start(&words, &[]);
        let agent = self.gate.wait()?;
        running.kill()?;
        let left: Vec<u32> = self.project.processes().into_keys().collect();
        ensure!(
            left.contains(&agent),
            "the agent died with its orchestrator"
        );
        for pid in &left {
            kill(*pid, "KILL");
        }
        for pid in left {
            wait_until_gone(pid, LIMIT)?;
        }
        Ok(())
    }

    /// Returns where the agent was at work, in the order of attempts.
    pub(crate) fn places(&self) -> Result<Vec<Utf8PathBuf>> {
        let places = fs_err::read_to_string(self.beside.path().join("places"))?;
        let mut found = Vec::new();
        for line in places.lines() {
            let (folder, top) = line.split_once(' ').context("two folders")?;
            ensure!(folder == top, "at work in {folder}, which is part of {top}");
            found.push(folder.into());
        }
        Ok(found)
    }

    /// Returns the worktree of the task.
    pub(crate) fn worktree(&self) -> Result<Utf8PathBuf> {
        let mut places = self.places()?;
        places.pop().context("a worktree")
    }

    /// Runs a line of shell in the task's worktree; it must succeed.
    pub(crate) fn damage(&self, line: &str) -> Result<()> {
        let line = format!("cd {} && {line}", self.worktree()?);
        let done = self.project.shell(&line);
        ensure!(done.status.success(), "{line}: {}", text(&done.stderr));
        Ok(())
    }

    /// Resumes as [`Cut::lands`] does, and expects that no worktree is left over and every object is there.
    pub(crate) fn lands_cleanly(&mut self) -> Result<String> {
        let said = self.lands()?;
        ensure!(self.leftovers().is_empty(), "{:?}", self.leftovers());
        self.project.git(&["fsck", "--strict", "--no-progress"]);
        Ok(said)
    }

    /// Returns the worktrees beside the user's own checkout and those that the next run uses again.
    pub(crate) fn leftovers(&self) -> Vec<Utf8PathBuf> {
        let left = self.project.worktrees().into_iter();
        left.map(Utf8PathBuf::from).collect()
    }

    /// Resumes, and expects that the task lands once, from a worktree of its own.
    pub(crate) fn lands(&mut self) -> Result<String> {
        self.gate.open()?;
        let resume = ["resume", "--yes", "--agent-cmd", &self.agent];
        let output = self.project.rekindle(&resume);
        let said = text(&output.stderr);
        ensure!(output.status.success(), "{said}");
        ensure!(
            self.project.tasks() == "A",
            "landed: {}",
            self.project.tasks()
        );
        let landed = self.project.git(&["show", "result:A.txt"]);
        ensure!(landed == "whole\n", "{landed}");
        let places = self.places()?;
        let own = self.project.path().join(".rekindle/worktrees");
        ensure!(
            places.iter().all(|place| place.starts_with(&own)),
            "{places:?}"
        );
        let checkout = seen(&self.project);
        ensure!(
            checkout == self.checkout,
            "{checkout}, and before: {}",
            self.checkout
        );
        Ok(said)
    }

    /// Returns the half of the work that was written when the power was cut, if it was rescued.
    pub(crate) fn rescued(&self) -> Option<String> {
        let refs = [
            "for-each-ref",
            "--format=%(refname)",
            "refs/rekindle/rescue",
        ];
        let refs = self.project.git(&refs);
        let first = refs.lines().next()?;
        Some(self.project.git(&["show", &format!("{first}:half.txt")]))
    }
}

/// Returns what the user's own checkout looks like.
fn seen(project: &Project) -> String {
    let status = project.git(&["status", "--porcelain"]);
    let status = status.replace("?? .agent-memory/\n", "");
    let head = project.git(&["rev-parse", "HEAD"]);
    format!(
        "{}{head}{status}",
        project.git(&["branch", "--show-current"])
    )
}
