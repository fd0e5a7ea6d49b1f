//! The results of attempts, and what follows from them.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_fs::GuardedFile;
use rekindle_model::{Delivery, Destination, FailureKind, Happened, Kill, Victim};

use super::board::Next;
use super::workers::Over;
use super::{After, Orchestrator, Progress};
use crate::Error;
use crate::port::Position;
use crate::worker::work_ref;

/// The most characters of a failed worker's output that are reported.
const MOST_SAID: usize = 400;
/// Why an agent was cut short that reached its limit.
pub(super) const LIMIT: &str = "its usage limit was reached";
/// The most bytes of a worker's output that are read.
const LARGEST_WORKER_LOG: u64 = 1024 * 1024;

impl Orchestrator<'_> {
    /// Reads the last report of a worker that has ended.
    pub(super) async fn settle(&mut self, over: Over) -> Result<(), Error> {
        let Over {
            task,
            attempt,
            signal,
            has_failed,
        } = over;
        let Some(active) = self
            .active
            .get(&task)
            .filter(|active| active.attempt == attempt)
        else {
            return Ok(());
        };
        let (log, errors) = (active.log.clone(), active.errors.clone());
        self.active.remove(&task);
        let last = self.outcome(task, attempt, &log).await?;
        if has_failed && !is_an_end(last.as_ref()) {
            return Err(self.worker_failed(task, errors));
        }
        self.conclude(task, attempt, last, signal).await
    }

    /// Returns the result of an attempt whose worker has ended: its last report, or what it delivered
    /// before it could report.
    pub(super) async fn outcome(
        &mut self,
        task: usize,
        attempt: u32,
        log: &Utf8Path,
    ) -> Result<Option<Happened>, Error> {
        let last = self.last_word(task, attempt, log);
        if is_an_end(last.as_ref()) {
            return Ok(last);
        }
        let delivered = self.silent_delivery(task, attempt).await?;
        Ok(delivered.or(last))
    }

    /// Reports that an attempt has delivered, if its commit exists: it is made last, after all checks.
    async fn silent_delivery(
        &mut self,
        task: usize,
        attempt: u32,
    ) -> Result<Option<Happened>, Error> {
        if self.engine.work.destination == Destination::Worktree {
            return Ok(None);
        }
        let kept = work_ref(&self.engine.id.name, self.task(task), attempt);
        let Some(commit) = self.repo.resolve(&kept)? else {
            return Ok(None);
        };
        let order = self.port.order(self.task(task), attempt);
        let tree = self.repo.tree_of(commit.as_str())?;
        let (Some(order), Some(tree)) = (order, tree) else {
            return Ok(None);
        };
        self.end_leftover(task, attempt).await;
        match order.slot {
            Some(number) => self.free_delivered(&order, number, &tree),
            None => self.remove_delivered(&order.worktree, tree.as_str()),
        }
        let implemented = Happened::Implemented(Delivery {
            commit: commit.as_str().to_owned(),
            tree: tree.as_str().to_owned(),
            base: order.base,
            session: None,
            cost: None,
        });
        self.say(task, attempt, &implemented)?;
        Ok(Some(implemented))
    }

    /// Returns why a worker failed, in its own words.
    fn worker_failed(&self, task: usize, errors: Option<(Utf8PathBuf, u64)>) -> Error {
        let (log, from) = errors.unwrap_or_default();
        let file = GuardedFile::open(&log).ok().flatten();
        let text = file.and_then(|file| file.bytes_from(from, LARGEST_WORKER_LOG).ok());
        let text = text.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let is_reason = |line: &&str| !line.is_empty() && !line.starts_with("hint:");
        let lines: Vec<&str> = text.lines().map(str::trim).filter(is_reason).collect();
        let said = match lines.join("; ") {
            said if said.is_empty() => format!("no output in `{log}`"),
            said => rekindle_text::excerpt(&said, MOST_SAID),
        };
        Error::WorkerFailed {
            task: self.task(task).to_owned(),
            said,
        }
    }

    /// Returns an attempt's last report of its result, and records its agent's session, cost and end.
    pub(super) fn last_word(
        &mut self,
        task: usize,
        attempt: u32,
        log: &Utf8Path,
    ) -> Option<Happened> {
        let (lines, _) = self.port.read(log, Position::default());
        let mut last = None;
        let mut asked = false;
        let mut named = false;
        self.ended.remove(&task);
        for line in &lines {
            let Some((_, _, happened)) = self
                .engine
                .scribe
                .heard(line)
                .filter(|(id, of, _)| id == self.task(task) && *of == attempt)
            else {
                continue;
            };
            match happened {
                Happened::Session { id } => {
                    self.sessions.insert(task, id);
                    named = true;
                }
                Happened::Cost { microdollars } => self.ledger.pay(task, attempt, microdollars),
                Happened::Ended(end) => {
                    self.ended.insert(task, (attempt, end));
                }
                happened @ (Happened::Claimed
                | Happened::Started { .. }
                | Happened::Beat { .. }
                | Happened::Implemented(_)
                | Happened::Failed { .. }
                | Happened::Limited { .. }
                | Happened::Stopped { .. }
                | Happened::Interrupted(_)
                | Happened::Completed { .. }
                | Happened::Blocked { .. }
                | Happened::Reopened { .. }) => {
                    asked |= matches!(happened, Happened::Started { .. });
                    last = Some(happened);
                }
            }
        }
        // An agent that fails without naming a session did not find the one to continue.
        if asked && !named && matches!(last, Some(Happened::Failed { .. })) {
            self.sessions.remove(&task);
        }
        last
    }

    /// Draws the conclusion from an attempt's last report, and from the signal that ended its worker.
    pub(super) async fn conclude(
        &mut self,
        task: usize,
        attempt: u32,
        last: Option<Happened>,
        signal: Option<i32>,
    ) -> Result<(), Error> {
        match last {
            Some(Happened::Implemented(delivery)) => {
                match self.engine.work.destination {
                    Destination::Branch => self.board.delivered(task, attempt, delivery),
                    Destination::Worktree => {
                        self.board.landed(task);
                        let id = &self.engine.work.tasks[task].id;
                        self.engine
                            .watcher
                            .progress(&Progress::Finished(id, attempt));
                    }
                }
                Ok(())
            }
            Some(Happened::Failed {
                reason,
                kind: FailureKind::Start,
            }) if self.engine.work.destination == Destination::Branch => {
                self.cannot_start.get_or_insert(reason);
                self.board.put_back(task);
                Ok(())
            }
            Some(Happened::Failed { reason, kind }) => self.failed(task, attempt, &reason, kind),
            Some(Happened::Limited { until }) => {
                self.leaves(task, attempt, LIMIT);
                let left = until
                    .as_ref()
                    .and_then(|time| self.engine.scribe.until(time));
                let wait = self.board.limited(task, left);
                let is_exact = until.is_some_and(|time| time.parse::<Timestamp>().is_ok());
                if left.is_some() && !is_exact {
                    // Others cannot know what `3am` meant.
                    let until = self.engine.scribe.after(wait);
                    let until = Some(rekindle_text::format_seconds(until));
                    self.say(task, attempt, &Happened::Limited { until })?;
                }
                self.not_before
                    .insert(task, tokio::time::Instant::now() + wait);
                let id = &self.engine.work.tasks[task].id;
                self.engine
                    .watcher
                    .progress(&Progress::Limited(id, attempt, wait));
                Ok(())
            }
            Some(Happened::Stopped { .. }) if self.is_stopping() => {
                self.board.put_back(task);
                Ok(())
            }
            Some(Happened::Stopped { killed }) => {
                // A worker stops only at a TERM: ours, since it was silent for too long, or somebody else's.
                let asked = Kill {
                    victim: Victim::Worker,
                    signal: Some(rustix::process::Signal::TERM.as_raw()),
                };
                self.interrupted(task, attempt, killed.unwrap_or(asked))
                    .await
            }
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
            | None => {
                let victim = Victim::Worker;
                self.interrupted(task, attempt, Kill { victim, signal })
                    .await
            }
        }
    }

    /// A worker or agent was killed. Its processes are ended before the worktree is used again.
    async fn interrupted(&mut self, task: usize, attempt: u32, kill: Kill) -> Result<(), Error> {
        self.end_leftover(task, attempt).await;
        self.leaves(task, attempt, &kill.to_string());
        if self.engine.work.destination == Destination::Worktree && self.is_stopping() {
            // As if it had reported so itself: a person's stop is not a failure of the task.
            self.mirror(task, &Happened::Stopped { killed: Some(kill) })?;
            self.board.put_back(task);
            return Ok(());
        }
        if self.engine.work.destination == Destination::Worktree && !self.has_work(task) {
            let (reason, kind) = (kill.to_string(), FailureKind::Work);
            let happened = Happened::Failed {
                reason: reason.clone(),
                kind,
            };
            self.mirror(task, &happened)?;
            return self.failed(task, attempt, &reason, kind);
        }
        let next = if self.is_stopping() {
            // A person stops everything, so the worker's end says nothing about the task.
            self.board.put_back(task);
            Next::Retry
        } else {
            self.say(task, attempt, &Happened::Interrupted(kill))?;
            self.board.interrupted(task, kill)
        };
        let after = match &next {
            Next::Retry => match self.when_again() {
                After::Again if self.has_work(task) => After::GoesOn,
                after @ (After::Again
                | After::GoesOn
                | After::Resume
                | After::Person
                | After::Protocol) => after,
            },
            Next::GiveUp { .. } => After::Person,
        };
        let id = &self.engine.work.tasks[task].id;
        self.engine
            .watcher
            .progress(&Progress::Interrupted(id, attempt, kill, after));
        match next {
            Next::Retry => Ok(()),
            Next::GiveUp { reason } => self.give_up(task, attempt, &reason),
        }
    }

    /// Ends processes that an attempt left behind when its worker was killed.
    pub(super) async fn end_leftover(&mut self, task: usize, attempt: u32) {
        if let Some(order) = self.port.order(self.task(task), attempt) {
            self.end_processes(order.token).await;
        }
    }

    /// Handles a failure that is already in the log of the attempt.
    pub(super) fn failed(
        &mut self,
        task: usize,
        attempt: u32,
        reason: &str,
        kind: FailureKind,
    ) -> Result<(), Error> {
        self.trouble.insert(task, reason.to_owned());
        let next = self.board.failed(task, reason, kind);
        let after = match (&next, self.engine.work.destination) {
            (_, Destination::Worktree) => After::Protocol,
            (Next::Retry, Destination::Branch) => self.when_again(),
            (Next::GiveUp { .. }, Destination::Branch) => After::Person,
        };
        let id = &self.engine.work.tasks[task].id;
        self.engine
            .watcher
            .progress(&Progress::Failed(id, attempt, reason, after));
        match next {
            Next::Retry => Ok(()),
            Next::GiveUp { reason } => self.give_up(task, attempt, &reason),
        }
    }

    /// Updates the host's own record of a task, if there is one.
    pub(super) fn mirror(&self, task: usize, happened: &Happened) -> Result<(), Error> {
        match &self.engine.work.tasks[task].place {
            Some(place) => crate::mirror::update(&place.mirror, self.engine.scribe, happened),
            None => Ok(()),
        }
    }

    fn give_up(&mut self, task: usize, attempt: u32, reason: &str) -> Result<(), Error> {
        let blocked = Happened::Blocked {
            reason: reason.to_owned(),
        };
        self.say(task, attempt, &blocked)
    }
}

/// Returns whether an attempt's last report is a result.
fn is_an_end(last: Option<&Happened>) -> bool {
    match last {
        Some(
            Happened::Implemented(_)
            | Happened::Failed { .. }
            | Happened::Limited { .. }
            | Happened::Stopped { .. }
            | Happened::Interrupted(_)
            | Happened::Completed { .. }
            | Happened::Blocked { .. }
            | Happened::Reopened { .. },
        ) => true,
        Some(
            Happened::Claimed
            | Happened::Started { .. }
            | Happened::Beat { .. }
            | Happened::Session { .. }
            | Happened::Cost { .. }
            | Happened::Ended(_),
        )
        | None => false,
    }
}
