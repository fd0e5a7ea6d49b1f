//! Checks of merged work, in a worktree of their own.

use std::process::{Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use camino::Utf8Path;
use rekindle_git::ObjectId;
use tokio::process::Command;

use super::Orchestrator;
use super::integration::Integration;
use crate::Error;
use crate::outfit::{Furnishing, shown};
use crate::worker::{is_ready, make_anew};

/// The result of the checks on an integrated tree.
pub(super) enum Checked {
    Passed,
    Failed(String),
    Stopped,
}

/// How a command ended.
enum Ended {
    With(Output),
    TooLate,
    Stopped,
}

/// The time limit of a check if attempts have none.
const LONGEST_CHECK: u64 = 3600;

impl Orchestrator<'_> {
    /// Runs the checks on the integrated tree.
    pub(super) async fn verify(
        &mut self,
        task: usize,
        landing: &ObjectId,
    ) -> Result<Checked, Error> {
        let engine = &self.engine;
        let checks: Vec<String> = engine.work.tasks[task]
            .checks
            .iter()
            .chain(&engine.work.settings.verify)
            .cloned()
            .collect();
        if checks.is_empty() {
            return Ok(Checked::Passed);
        }
        if self.integration.is_none() {
            let place = Integration::take(engine)?;
            let folder = place.folder();
            rekindle_fs::confine(engine.project, folder)?;
            if let Some(above) = folder.parent() {
                rekindle_fs::ensure_dir(above)?;
            }
            self.repo.unlock_half_made(folder)?;
            self.integration = Some(place);
        }
        let Some(place) = &self.integration else {
            return Ok(Checked::Passed);
        };
        let folder = place.folder().to_owned();
        let bring = || {
            let own = self.own(&folder)?;
            place.bring(&own, landing, &self.outfit.sparse)?;
            self.bring_files(&folder)
        };
        let mut setup = None;
        if is_ready(bring())? {
            setup = place.setup();
        } else {
            make_anew(
                &self.repo,
                &self.common_dir,
                &folder,
                landing,
                &self.outfit.sparse,
            )?;
            self.bring_files(&folder)?;
        }
        place.record(&self.own(&folder)?, engine.id, setup.clone());
        if let Some(reason) = self.set_up(task, &folder, setup).await? {
            // It says nothing about the work, which lands with the next resume.
            self.cannot_start.get_or_insert(reason);
            return Ok(Checked::Stopped);
        }
        for check in checks {
            match self.check(task, &folder, &check).await? {
                Checked::Passed => {}
                other @ (Checked::Failed(_) | Checked::Stopped) => return Ok(other),
            }
        }
        Ok(Checked::Passed)
    }

    fn bring_files(&self, folder: &Utf8Path) -> Result<(), Error> {
        self.furnishing(&self.own_paths())
            .bring(&self.repo, &self.own(folder)?)
    }

    fn furnishing<'a>(&'a self, own: &'a [rekindle_git::RepoPath]) -> Furnishing<'a> {
        Furnishing {
            outfit: &self.outfit,
            project: self.engine.project,
            folder: &self.folder,
            own,
        }
    }

    /// Runs the setup in the worktree of checks, unless it was done there before; returns why no check
    /// can run.
    async fn set_up(
        &mut self,
        task: usize,
        folder: &Utf8Path,
        done: Option<String>,
    ) -> Result<Option<String>, Error> {
        let own = self.own_paths();
        let Some(wanted) = self.furnishing(&own).setup(folder)? else {
            return Ok(None);
        };
        if done.as_ref() == Some(&wanted) {
            return Ok(None);
        }
        let limit = Duration::from_secs(self.outfit.limit);
        for command in self.outfit.setup.clone() {
            let line = shown(&command);
            let how = match self.run_line(task, folder, line, limit).await? {
                Ended::With(output) if output.status.success() => continue,
                Ended::With(output) => {
                    format!("({}): {}", output.status, self.said(folder, &output))
                }
                Ended::TooLate => format!("took longer than {} s", limit.as_secs()),
                Ended::Stopped => "was stopped".to_owned(),
            };
            let what = "`[worktree] setup` for checks of merged work";
            return Ok(Some(format!("`{line}` of {what} did not pass {how}")));
        }
        let reason = self.furnishing(&own).after_setup(&self.own(folder)?)?;
        if reason.is_none()
            && let Some(place) = &mut self.integration
        {
            place.set_up(wanted);
        }
        Ok(reason)
    }

    /// Runs one check in the project's folder of a worktree, with the time limit of an attempt.
    async fn check(
        &mut self,
        task: usize,
        folder: &Utf8Path,
        check: &str,
    ) -> Result<Checked, Error> {
        let limit = Duration::from_secs(self.engine.work.settings.timeout.unwrap_or(LONGEST_CHECK));
        Ok(match self.run_line(task, folder, check, limit).await? {
            Ended::With(output) if output.status.success() => Checked::Passed,
            Ended::With(output) => Checked::Failed(format!(
                "`{check}` did not pass on the integrated tree ({}): {}",
                output.status,
                self.said(folder, &output)
            )),
            Ended::TooLate => Checked::Failed(format!(
                "`{check}` on the integrated tree took longer than {} s",
                limit.as_secs()
            )),
            Ended::Stopped => Checked::Stopped,
        })
    }

    /// Returns the last lines of what a command said, without what brought files say.
    fn said(&self, folder: &Utf8Path, output: &Output) -> String {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut redactor = match self.own(folder) {
            Ok(own) => crate::outfit::redactor(&own),
            Err(_) => rekindle_agents::Redactor::new(),
        };
        let mut last: Vec<&str> = said.lines().rev().take(5).collect();
        last.reverse();
        let last: Vec<String> = last
            .into_iter()
            .map(|line| redactor.line(line).into_owned())
            .collect();
        rekindle_text::excerpt(&last.join(" / "), 500)
    }

    /// Runs a line of shell in the project's folder of a worktree.
    async fn run_line(
        &mut self,
        task: usize,
        folder: &Utf8Path,
        line: &str,
        limit: Duration,
    ) -> Result<Ended, Error> {
        let token = super::fresh();
        let mut command = Command::new("/bin/sh");
        for name in rekindle_git::SCRUBBED {
            command.env_remove(name);
        }
        let working = crate::worker::working_folder(folder, &self.folder)
            .map_err(|source| Error::Worker { source })?;
        let child = command
            .args(["-c", line])
            .env("PWD", &working)
            .current_dir(working)
            .env("REKINDLE_RUN", &self.engine.id.name)
            .env("REKINDLE_TASK", &self.engine.work.tasks[task].id)
            .env("REKINDLE_PROJECT", self.engine.project)
            .env("REKINDLE_WORKTREE", folder)
            .env("REKINDLE_TOKEN", &token)
            .envs(crate::ports::variables(
                self.engine.project,
                crate::ports::OF_CHECKS,
            ))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Ctrl-C is meant for rekindle, and a check that dies of it says nothing about the work.
            .process_group(0)
            .spawn()
            .map_err(|source| Error::Worker { source })?;
        let stops = Arc::clone(&self.stops);
        let ended = self.attend(async {
            tokio::select! {
                ended = tokio::time::timeout(limit, child.wait_with_output()) => ended.ok(),
                () = stopped_twice(&stops) => None,
            }
        });
        let ended = ended.await;
        // Processes that it left running are ended.
        self.end_processes(token).await;
        Ok(match ended {
            Some(output) => Ended::With(output.map_err(|source| Error::Worker { source })?),
            None if self.is_stopping() => Ended::Stopped,
            None => Ended::TooLate,
        })
    }
}

/// Waits until a person wants everything to end now.
async fn stopped_twice(stops: &AtomicU8) {
    while stops.load(Ordering::Relaxed) < 2 {
        tokio::time::sleep(super::TICK).await;
    }
}
