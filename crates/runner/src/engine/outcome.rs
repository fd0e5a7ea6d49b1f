//! What came of attempts: their last words, and what follows from them.

use camino::Utf8Path;
use rekindle_model::{FailureKind, Happened};

use super::board::Next;
use super::{LIMIT_WAIT, Orchestrator, Progress, STOP_GRACE};
use crate::port::Position;
use crate::{Error, process_tree};

impl Orchestrator<'_> {
    /// Takes in what a worker that has ended said last.
    pub(super) fn settle(&mut self, task: usize, attempt: u32) -> Result<(), Error> {
        let Some(active) = self
            .active
            .get(&task)
            .filter(|active| active.attempt == attempt)
        else {
            return Ok(());
        };
        let log = active.log.clone();
        self.active.remove(&task);
        let last = self.last_word(task, attempt, &log);
        self.conclude(task, attempt, last)
    }

    /// Returns what an attempt said last of how it went, and remembers its agent's session and cost.
    pub(super) fn last_word(
        &mut self,
        task: usize,
        attempt: u32,
        log: &Utf8Path,
    ) -> Option<Happened> {
        let (lines, _) = self.port.read(log, Position::default());
        let mut last = None;
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
                }
                Happened::Cost { microdollars } => self.ledger.pay(task, attempt, microdollars),
                happened @ (Happened::Claimed
                | Happened::Started { .. }
                | Happened::Beat { .. }
                | Happened::Implemented(_)
                | Happened::Failed { .. }
                | Happened::Limited { .. }
                | Happened::Stopped
                | Happened::Interrupted
                | Happened::Completed { .. }
                | Happened::Blocked { .. }
                | Happened::Reopened { .. }) => last = Some(happened),
            }
        }
        last
    }

    /// Draws the conclusion from an attempt's last word.
    fn conclude(&mut self, task: usize, attempt: u32, last: Option<Happened>) -> Result<(), Error> {
        match last {
            Some(Happened::Implemented(delivery)) => {
                self.board.delivered(task, attempt, delivery);
                Ok(())
            }
            Some(Happened::Failed { reason, kind }) => self.failed(task, attempt, &reason, kind),
            Some(Happened::Limited { until }) => {
                let wait = until
                    .and_then(|time| self.engine.scribe.until(&time))
                    .unwrap_or(LIMIT_WAIT);
                self.not_before
                    .insert(task, tokio::time::Instant::now() + wait);
                self.board.put_back(task);
                let id = &self.engine.work.tasks[task].id;
                self.engine.watcher.progress(&Progress::Limited(id, wait));
                Ok(())
            }
            Some(Happened::Stopped) if self.is_stopping() => {
                self.board.put_back(task);
                Ok(())
            }
            Some(
                Happened::Claimed
                | Happened::Started { .. }
                | Happened::Beat { .. }
                | Happened::Session { .. }
                | Happened::Cost { .. }
                | Happened::Stopped
                | Happened::Interrupted
                | Happened::Completed { .. }
                | Happened::Blocked { .. }
                | Happened::Reopened { .. },
            )
            | None => self.interrupted(task, attempt),
        }
    }

    /// A worker or agent was killed. What is left of it is ended before the worktree is used again.
    fn interrupted(&mut self, task: usize, attempt: u32) -> Result<(), Error> {
        if let Some(order) = self.port.order(self.task(task), attempt) {
            process_tree::end(&order.token, None, STOP_GRACE);
        }
        self.say(task, attempt, &Happened::Interrupted)?;
        match self.board.interrupted(task) {
            Next::Retry => {
                let id = &self.engine.work.tasks[task].id;
                self.engine
                    .watcher
                    .progress(&Progress::Interrupted(id, attempt));
                Ok(())
            }
            Next::GiveUp { reason } => self.give_up(task, attempt, &reason),
        }
    }

    /// Takes a failure in that is already in the log of the attempt.
    pub(super) fn failed(
        &mut self,
        task: usize,
        attempt: u32,
        reason: &str,
        kind: FailureKind,
    ) -> Result<(), Error> {
        self.trouble.insert(task, reason.to_owned());
        let next = self.board.failed(task, reason, kind);
        let again = next == Next::Retry;
        let id = &self.engine.work.tasks[task].id;
        self.engine
            .watcher
            .progress(&Progress::Failed(id, attempt, reason, again));
        match next {
            Next::Retry => Ok(()),
            Next::GiveUp { reason } => self.give_up(task, attempt, &reason),
        }
    }

    fn give_up(&mut self, task: usize, attempt: u32, reason: &str) -> Result<(), Error> {
        let blocked = Happened::Blocked {
            reason: reason.to_owned(),
        };
        self.say(task, attempt, &blocked)
    }
}
