//! What the worktree of an attempt gets besides its commit, before its agent starts.

use std::time::Duration;

use rekindle_agents::{Exit, Redactor};
use rekindle_git::RepoPath;
use rekindle_model::{Happened, Stage};
use rekindle_wire::order::Command;
use tokio::signal::unix::Signal;

use super::supervise::Ended;
use super::{Worker, not_started, own_files, paths};
use crate::Error;
use crate::outfit::{Furnishing, redactor, shown};
use crate::output_log::OutputLog;

impl Worker<'_> {
    /// Brings ignored files of the project.
    pub(super) fn bring_files(&self) -> Result<(), Error> {
        let own = self.runs_own();
        self.furnishing(&own).bring(&self.main, &self.own()?)
    }

    /// Returns what masks secrets in the output, those of the brought files included.
    pub(super) fn redactor(&self) -> Redactor {
        self.own()
            .map_or_else(|_| Redactor::new(), |own| redactor(&own))
    }

    /// Runs the setup, unless it was done here before; returns why no agent may start.
    pub(super) async fn set_up(
        &self,
        stop: &mut Signal,
        output: &mut OutputLog,
    ) -> Result<Option<Happened>, Error> {
        let own = self.runs_own();
        let furnishing = self.furnishing(&own);
        let Some(wanted) = furnishing.setup(&self.order.worktree)? else {
            return Ok(None);
        };
        let slot = self.slot();
        let done = slot.as_ref().and_then(|slot| slot.record()?.setup);
        if done.as_ref() == Some(&wanted) {
            return Ok(None);
        }
        for command in &self.order.outfit.setup {
            if let Some(ended) = self.run_of_outfit("setup", command, stop, output).await? {
                return Ok(Some(ended));
            }
        }
        if let Some(reason) = furnishing.after_setup(&self.own()?)? {
            return Ok(Some(not_started(reason)));
        }
        if let Some(slot) = slot {
            slot.set_up(&wanted)?;
        }
        Ok(None)
    }

    /// Runs what has to be done before the worktree is removed; returns whether it went well.
    pub(super) async fn tear_down(
        &self,
        stop: &mut Signal,
        output: &mut OutputLog,
    ) -> Result<bool, Error> {
        for command in &self.order.outfit.teardown {
            let ended = self
                .run_of_outfit("teardown", command, stop, output)
                .await?;
            if ended.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs one command; returns what came of it, unless it went well.
    async fn run_of_outfit(
        &self,
        key: &str,
        command: &Command,
        stop: &mut Signal,
        output: &mut OutputLog,
    ) -> Result<Option<Happened>, Error> {
        let line = shown(command);
        output.line(&format!("[worktree] {key}: {line}"));
        let limit = self.order.outfit.limit;
        let mut last = String::new();
        let ended = self
            .supervise(
                command,
                Stage::Implementing,
                Some(Duration::from_secs(limit)),
                stop,
                output,
                &mut |line| {
                    if !line.trim().is_empty() {
                        line.clone_into(&mut last);
                    }
                },
            )
            .await?;
        let how = match ended {
            Ended::Exit(Exit::Code(0)) => return Ok(None),
            Ended::Stopped => return Ok(Some(Happened::Stopped { killed: None })),
            Ended::Exit(Exit::Code(code)) => format!("ended with exit code {code}"),
            Ended::Exit(Exit::Signal(signal)) => format!("was killed by signal {signal}"),
            Ended::TimedOut => format!("took longer than {limit} s"),
            Ended::NotStarted(reason) => reason,
        };
        let said = match last.trim() {
            "" => String::new(),
            said => format!(": {}", rekindle_text::excerpt(said, 200)),
        };
        let reason = format!("`{line}` of `[worktree] {key}` {how}{said}");
        Ok(Some(not_started(reason)))
    }

    fn furnishing<'a>(&'a self, own: &'a [RepoPath]) -> Furnishing<'a> {
        Furnishing {
            outfit: &self.order.outfit,
            project: &self.order.project,
            folder: &self.order.folder,
            own,
        }
    }

    /// Returns the run's own files in the repository, whether they exist or not.
    fn runs_own(&self) -> Vec<RepoPath> {
        paths(&own_files(&self.order.folder, self.scribe.own_folders()))
    }
}
