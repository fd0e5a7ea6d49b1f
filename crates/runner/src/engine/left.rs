//! What attempts left that were cut short: work that is checked and delivered, or a session in which
//! an agent goes on.

use camino::Utf8PathBuf;
use rekindle_fs::{Lock, ProcessIdentity};
use rekindle_model::AgentEnd;
use rekindle_wire::order::Order;

use super::Orchestrator;
use crate::Error;
use crate::pool::{Slot, User, is_of};

/// What the newest attempt at a task left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Left {
    attempt: u32,
    rest: Rest,
}

/// What there is to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rest {
    /// The agent has done its work, which was not delivered.
    Work,
    /// The agent was cut short, for this reason; it may have a session.
    Session(String),
}

/// Where an attempt works.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) worktree: Utf8PathBuf,
    /// The number of the worktree in the pool, if it is one of the pool.
    pub(super) slot: Option<u32>,
    /// The lock of that worktree, which the worker inherits.
    pub(super) lock: Option<Lock>,
    /// The attempt whose agent goes on there, if one does.
    pub(super) last: Option<Last>,
}

/// An attempt whose agent goes on in the next one.
#[derive(Debug)]
pub(super) struct Last {
    /// The commit that it began with.
    pub(super) base: String,
    /// Why it was cut short.
    pub(super) why: String,
}

/// The worktree of an attempt, which nobody else has used since.
#[derive(Debug)]
struct Kept {
    /// Its lock, if it is one of the pool.
    lock: Option<Lock>,
}

impl Rest {
    fn of(end: Option<&AgentEnd>, why: &str) -> Self {
        match end {
            Some(end) if end.boot == boot() => Self::Work,
            // What was not synced when the machine went down may be missing in the files.
            Some(_) => {
                Self::Session("the machine was restarted before the work was checked".into())
            }
            None => Self::Session(why.to_owned()),
        }
    }
}

/// Returns the boot of the machine, where it is known.
pub(crate) fn boot() -> Option<String> {
    ProcessIdentity::current().boot_id
}

impl Orchestrator<'_> {
    /// Remembers that an attempt was cut short, and why; the next one goes on from there if it can.
    pub(super) fn leaves(&mut self, task: usize, attempt: u32, why: &str) {
        let ended = self.ended.get(&task).filter(|(of, _)| *of == attempt);
        let rest = Rest::of(ended.map(|(_, end)| end), why);
        self.left.insert(task, Left { attempt, rest });
    }

    /// Forgets everything that earlier attempts left, if a person wants to start over.
    pub(super) fn forget_left(&mut self) {
        if self.engine.restart {
            self.left.clear();
            self.sessions.clear();
        }
    }

    /// Returns whether the work of a task is there and only has to be checked and delivered.
    pub(super) fn has_work(&self, task: usize) -> bool {
        let left = self.left.get(&task);
        left.is_some_and(|left| left.rest == Rest::Work)
    }

    /// Returns the task that starts next: those that were cut short come first, before another task
    /// needs their worktrees. Without an agent only work that is there can be delivered.
    pub(super) fn next_task(&self, has_agent: bool) -> Option<usize> {
        let mut left = self.left.keys().copied();
        let is_next =
            |task: &usize| self.board.may_start(*task) && (has_agent || self.has_work(*task));
        let left = left.find(is_next);
        left.or_else(|| self.board.startable().filter(|_| has_agent))
    }

    /// Returns the order of an attempt whose agent has done its work, with the lock of its worktree, if
    /// that still has the work.
    pub(super) fn take_up(&mut self, task: usize) -> Result<Option<(Order, Option<Lock>)>, Error> {
        if !self.has_work(task) {
            return Ok(None);
        }
        let Some(left) = self.left.remove(&task) else {
            return Ok(None);
        };
        let Some(order) = self.port.order(self.task(task), left.attempt) else {
            return Ok(None);
        };
        if !self.has_same_checks(task, &order) {
            let rest = Rest::Session("the checks of its task were changed".to_owned());
            self.left.insert(task, Left { rest, ..left });
            return Ok(None);
        }
        let kept = self.kept(&order)?;
        Ok(kept.map(|kept| (order, kept.lock)))
    }

    /// Returns whether an order has the checks that its task has now: the plan may have been edited.
    fn has_same_checks(&self, task: usize, order: &Order) -> bool {
        let ordered = order.checks.iter();
        let ordered = ordered.map(|check| check.arguments.last().map_or("", String::as_str));
        ordered.eq(self.checks(task).map(String::as_str))
    }

    /// Returns where the next attempt at a task works.
    pub(super) fn site(&mut self, task: usize) -> Result<Site, Error> {
        if let Some(site) = self.site_of_last(task)? {
            return Ok(site);
        }
        let (worktree, slot, lock) = match self.take_slot(task)? {
            Some((slot, lock)) => (slot.worktree(), slot.number(), Some(lock)),
            None => (self.worktree(task), None, None),
        };
        Ok(Site {
            worktree,
            slot,
            lock,
            last: None,
        })
    }

    /// Returns the worktree in which the agent of a task's last attempt can go on.
    fn site_of_last(&mut self, task: usize) -> Result<Option<Site>, Error> {
        let Some(Left {
            attempt,
            rest: Rest::Session(why),
        }) = self.left.remove(&task)
        else {
            return Ok(None);
        };
        let order = self.port.order(self.task(task), attempt);
        let Some(order) = order.filter(|order| order.place.is_none()) else {
            return Ok(None);
        };
        let folder = order.worktree.join(&self.folder);
        let session = self.sessions.get(&task).filter(|session| {
            self.engine.agent.continues(session) && (self.engine.can_go_on)(session, &folder)
        });
        if session.is_none() {
            return Ok(None);
        }
        let Some(Kept { lock }) = self.kept(&order)? else {
            return Ok(None);
        };
        Ok(Some(Site {
            worktree: order.worktree,
            slot: order.slot,
            lock,
            last: Some(Last {
                base: order.base,
                why,
            }),
        }))
    }

    /// Takes the worktree of an attempt, if it still has the files of this attempt.
    fn kept(&self, order: &Order) -> Result<Option<Kept>, Error> {
        let lock = match order
            .slot
            .map(|number| self.engine.state.pool().slot(number))
        {
            None => None,
            Some(slot) => {
                let lock = slot.take(&order.task, self.engine.scribe.stamp())?;
                if lock.is_none() || !holds(&slot, order) {
                    return Ok(None);
                }
                lock
            }
        };
        let is_there = self.own(&order.worktree).is_ok();
        Ok(is_there.then_some(Kept { lock }))
    }
}

/// Returns whether a worktree of the pool has files of exactly this attempt.
fn holds(slot: &Slot, order: &Order) -> bool {
    let record = slot.record().filter(|record| !record.is_free);
    record.is_some_and(|record| record.attempt == order.attempt && is_of(&record, User::of(order)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_an_agent_counts_only_in_the_boot_in_which_it_ended() {
        let rest = |boot: Option<String>| {
            let end = AgentEnd {
                exit: Some(0),
                denied: None,
                boot,
            };
            Rest::of(Some(&end), "why")
        };
        assert_eq!(rest(boot()), Rest::Work);
        let other = rest(Some("another boot".to_owned()));
        assert!(matches!(other, Rest::Session(why) if why.contains("restarted")));
        assert_eq!(Rest::of(None, "why"), Rest::Session("why".to_owned()));
    }
}
