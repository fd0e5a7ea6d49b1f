//! Recovers the state of a run: git first, then claims, then the last reports of workers.

use std::collections::HashMap;
use std::time::Duration;

use camino::Utf8Path;
use rekindle_git::{Expected, ObjectId};
use rekindle_model::{Destination, Happened, Standing};

use super::evidence::Proof;
use super::outcome::LIMIT;
use super::workers::Active;
use super::{Orchestrator, Progress, STOP_GRACE, State};
use crate::port::Held;
use crate::{Error, process_tree};

/// How often the claim of a new worker is checked.
const CLAIM_PAUSE: Duration = Duration::from_millis(20);

impl Orchestrator<'_> {
    /// Reconciles the record with git and with the workers that are still alive.
    pub(super) async fn recover(&mut self) -> Result<(), Error> {
        if self.engine.work.destination == Destination::Worktree {
            return self.find_workers().await;
        }
        let landed = self.find_landed()?;
        // Missing work is reopened before conclusions are drawn from dependencies.
        for task in 0..self.engine.work.tasks.len() {
            let is_done = self.engine.work.tasks[task].standing == Standing::Done;
            if is_done && !landed.contains_key(self.task(task)) {
                self.reopen(task)?;
            }
        }
        let begun = self.port.begun();
        for task in 0..self.engine.work.tasks.len() {
            let on_branch = landed.get(self.task(task));
            let is_new = self.engine.work.tasks[task].standing == Standing::Open
                && !begun.has(self.task(task));
            if is_new && on_branch.is_none() {
                continue;
            }
            if on_branch.is_some_and(|proof| proof.is_empty) {
                self.unchanged.insert(task);
            }
            self.recover_task(task, on_branch).await?;
        }
        Ok(())
    }

    /// Returns the tasks whose commits are on the branch; creates the branch if it is missing.
    fn find_landed(&mut self) -> Result<HashMap<String, Proof>, Error> {
        let settings = &self.engine.work.settings;
        let base = ObjectId::parse(&settings.base)?;
        if self.repo.resolve(base.as_str())?.is_none() {
            return Err(Error::BaseGone {
                base: settings.base.clone(),
            });
        }
        let Some(tip) = self.repo.resolve(&self.branch_ref())? else {
            self.repo
                .update_ref(&self.branch_ref(), &base, &Expected::Missing)?;
            return Ok(HashMap::new());
        };
        self.tip = tip;
        self.refuse_checked_out()?;
        super::evidence::landed(&self.repo, &self.engine.id.name, &base, &self.tip)
    }

    async fn recover_task(&mut self, task: usize, landed: Option<&Proof>) -> Result<(), Error> {
        let standing = self.engine.work.tasks[task].standing;
        let newest = self.port.newest(self.task(task));
        self.board.attempt_seen(task, newest);
        match (landed, standing) {
            // It landed, but the orchestrator died before it recorded that.
            (Some(proof), Standing::Open | Standing::AtWork | Standing::Blocked) => {
                let commit = proof.commit.as_str().to_owned();
                self.say(task, proof.attempt, &Happened::Completed { commit })?;
                self.board.landed(task);
                self.end_leftover(task, newest).await;
                return Ok(());
            }
            (Some(_), Standing::Done | Standing::Skipped) | (None, Standing::Skipped) => {
                return Ok(());
            }
            // Opened again already.
            (None, Standing::Done) => return Ok(()),
            (None, Standing::Open | Standing::AtWork | Standing::Blocked) => {}
        }
        if *self.state(task) != State::Open {
            return Ok(());
        }
        let Some(order) = self.port.order(self.task(task), newest) else {
            return self.pass_foreign(task);
        };
        if self.adopt(task, newest, &order.log).await? {
            return Ok(());
        }
        let last = self.outcome(task, newest, &order.log).await?;
        match last {
            Some(Happened::Implemented(delivery)) if !self.was_refused(task, newest) => {
                self.delivered_again(task, newest, delivery);
                Ok(())
            }
            Some(Happened::Limited { .. }) => {
                self.leaves(task, newest, LIMIT);
                self.wait_on(task, newest);
                Ok(())
            }
            // The failure is in the record already, which the board was made from.
            Some(Happened::Failed { .. } | Happened::Implemented(_)) => Ok(()),
            Some(
                Happened::Claimed
                | Happened::Started { .. }
                | Happened::Beat { .. }
                | Happened::Session { .. }
                | Happened::Cost { .. }
                | Happened::Ended(_)
                | Happened::Stopped { .. }
                | Happened::Interrupted(_)
                | Happened::Completed { .. }
                | Happened::Blocked { .. }
                | Happened::Reopened { .. },
            )
            | None => {
                self.end_leftover(task, newest).await;
                let why = match last {
                    Some(Happened::Stopped { killed: None }) => "it was stopped by a person",
                    Some(_) | None => "it was killed before it could finish",
                };
                self.leaves(task, newest, why);
                Ok(())
            }
        }
    }

    /// Waits for the rest of a usage limit that an earlier orchestrator waited for.
    fn wait_on(&mut self, task: usize, attempt: u32) {
        let until = self.engine.work.tasks[task].limited_until;
        let until = until.filter(|_| self.engine.heeds_limits);
        let Some(until) = until else {
            return;
        };
        let left = self.engine.scribe.until(&until.to_string());
        let Some(wait) = left.filter(|left| !left.is_zero()) else {
            return;
        };
        self.not_before
            .insert(task, tokio::time::Instant::now() + wait);
        let id = &self.engine.work.tasks[task].id;
        self.engine
            .watcher
            .progress(&Progress::Limited(id, attempt, wait));
    }

    /// Reports that an attempt's order was not written here; the task is done again.
    ///
    /// # Errors
    /// [`Error::ForeignWorker`] if its worker is alive: this folder was moved while it worked, and
    /// nobody else may work in the same worktree.
    fn pass_foreign(&mut self, task: usize) -> Result<(), Error> {
        let Some((attempt, _)) = self.port.foreign(self.task(task)) else {
            return Ok(());
        };
        if let Held::By(holder) = self.port.held(self.task(task), attempt)? {
            return Err(Error::ForeignWorker {
                task: self.task(task).to_owned(),
                pid: holder.map(|holder| holder.process.pid),
            });
        }
        let id = &self.engine.work.tasks[task].id;
        let news = Progress::Foreign(id, attempt);
        self.engine.watcher.progress(&news);
        Ok(())
    }

    /// Continues with the worker of an attempt if it is alive. Returns whether it is.
    async fn adopt(&mut self, task: usize, attempt: u32, log: &Utf8Path) -> Result<bool, Error> {
        // A new worker has no claim yet; no other may work in the same worktree.
        let order = self.port.order_path(self.task(task), attempt);
        let begun = tokio::time::Instant::now();
        while let Held::Free = self.port.held(self.task(task), attempt)? {
            if begun.elapsed() > STOP_GRACE || !process_tree::has_worker(&order) {
                return Ok(false);
            }
            tokio::time::sleep(CLAIM_PAUSE).await;
        }
        self.board.started(task, attempt);
        self.active
            .insert(task, Active::new(attempt, log.to_owned()));
        let id = &self.engine.work.tasks[task].id;
        self.engine
            .watcher
            .progress(&Progress::Adopted(id, attempt));
        Ok(true)
    }

    /// Finds the living workers, if finished work stays in its worktree.
    async fn find_workers(&mut self) -> Result<(), Error> {
        for task in 0..self.engine.work.tasks.len() {
            let newest = self.port.newest(self.task(task));
            self.board.attempt_seen(task, newest);
            let log = self
                .port
                .order(self.task(task), newest)
                .map(|order| order.log);
            if let Some(log) = &log
                && self.adopt(task, newest, log).await?
            {
                continue;
            }
            if log.is_none() {
                self.pass_foreign(task)?;
            }
            if self.has_moved_on(task) {
                let reason = "its record has changed since it was checked".to_owned();
                self.board.blocked(task, reason);
                continue;
            }
            if self.engine.work.tasks[task].standing == Standing::AtWork {
                self.end_leftover(task, newest).await;
                let last = log.and_then(|log| self.last_word(task, newest, &log));
                self.conclude_unseen(task, newest, last).await?;
            }
        }
        Ok(())
    }

    /// Returns whether a task that is about to start was started by somebody since it was assessed: a
    /// worker of an earlier orchestrator may even have ended. The protocol then assesses it again.
    fn has_moved_on(&self, task: usize) -> bool {
        let entry = &self.engine.work.tasks[task];
        let is_to_begin = entry.standing == Standing::Open;
        entry.place.as_ref().is_some_and(|place| {
            let now = rekindle_fs::read_followed(&place.mirror, crate::mirror::LARGEST);
            is_to_begin && matches!(now, Ok(Some(now)) if now != place.seen)
        })
    }

    /// Draws the conclusion from the last report of a worker that has ended, though the host's record says it runs.
    ///
    /// It may have ended since that was read, and its work must not be recorded as a failure.
    async fn conclude_unseen(
        &mut self,
        task: usize,
        attempt: u32,
        last: Option<Happened>,
    ) -> Result<(), Error> {
        match &last {
            Some(
                happened @ (Happened::Implemented(_)
                | Happened::Failed { .. }
                | Happened::Limited { .. }),
            ) => self.mirror(task, happened)?,
            Some(stopped @ Happened::Stopped { .. }) => return self.mirror(task, stopped),
            // It was killed, or it never started.
            Some(
                Happened::Claimed
                | Happened::Started { .. }
                | Happened::Beat { .. }
                | Happened::Session { .. }
                | Happened::Cost { .. }
                | Happened::Ended(_)
                | Happened::Interrupted(_)
                | Happened::Completed { .. }
                | Happened::Blocked { .. }
                | Happened::Reopened { .. },
            )
            | None => {}
        }
        self.conclude(task, attempt, last, None).await
    }

    /// Recorded as done, but not in git: the commit decides.
    fn reopen(&mut self, task: usize) -> Result<(), Error> {
        let reason = format!(
            "its commit is not on `{}`",
            self.engine.work.settings.branch
        );
        let newest = self.port.newest(self.task(task));
        self.say(task, newest, &Happened::Reopened { reason })?;
        self.board.reopened(task);
        let id = &self.engine.work.tasks[task].id;
        self.engine.watcher.progress(&Progress::Reopened(id));
        Ok(())
    }

    /// Returns whether a delivery was handed back before: then the last report is the failure.
    fn was_refused(&self, task: usize, attempt: u32) -> bool {
        let entry = &self.engine.work.tasks[task];
        entry.failures > 0 && entry.attempts == attempt && entry.last_failed == Some(attempt)
    }
}
