//! Which worktree of the pool an attempt gets.

use rekindle_fs::{Lock, Occupancy};
use rekindle_git::ObjectId;
use rekindle_wire::order::Order;
use rekindle_wire::slot::SlotRecord;

use super::{Orchestrator, State};
use crate::Error;
use crate::pool::{Slot, User, is_of};

/// How gladly a task gets a worktree; the lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It holds the task's own files, and an agent can go on there.
    Own,
    /// Nothing in it has to be saved.
    Free,
    /// It holds files of a task that nobody works on any more.
    Left,
    /// It holds files of a task that will be tried again.
    Waiting,
    /// There is none yet.
    New,
}

impl Orchestrator<'_> {
    /// Takes a worktree of the pool for an attempt at a task; `None` if the task gets one of its own.
    pub(super) fn take_slot(&self, task: usize) -> Result<Option<(Slot, Lock)>, Error> {
        let engine = &self.engine;
        if engine.fresh || engine.work.tasks[task].place.is_some() {
            return Ok(None);
        }
        let pool = engine.state.pool();
        let slots = pool.slots();
        let numbers: Vec<u32> = slots.iter().filter_map(Slot::number).collect();
        let n_there = slots.iter().filter(|slot| slot.worktree().exists()).count();
        let mut choices = Vec::new();
        for slot in slots {
            if let Some(fit) = self.fit(task, &slot, n_there)? {
                choices.push((fit, slot));
            }
        }
        // As many as there can be of other runs, and one more.
        let unused = (0..).filter(|number| !numbers.contains(number));
        let fresh = unused.take(numbers.len() + 1);
        choices.extend(fresh.map(|number| (Fit::New, pool.slot(number))));
        choices.sort_by_key(|(fit, slot)| (*fit, slot.number()));
        for (_, slot) in choices {
            if let Some(lock) = slot.take(self.task(task), engine.scribe.stamp())? {
                return Ok(Some((slot, lock)));
            }
        }
        Ok(None)
    }

    /// Returns how a slot fits a task; `None` if a run that is alive needs it, or if there may be one
    /// more, so that no unfinished task has to give up its worktree.
    fn fit(&self, task: usize, slot: &Slot, n_there: usize) -> Result<Option<Fit>, Error> {
        let is_full = n_there >= self.engine.jobs;
        let is_there = slot.worktree().symlink_metadata().is_ok();
        let Some(record) = slot.record().filter(|_| is_there) else {
            return Ok(Some(if is_there { Fit::Left } else { Fit::New }));
        };
        if is_of(&record, self.user(task)) {
            return Ok(Some(Fit::Own));
        }
        if record.is_free {
            return Ok(Some(Fit::Free));
        }
        let Some(other) = self.task_of(&record) else {
            let is_left = is_full && self.is_of_nobody(&record)?;
            return Ok(is_left.then_some(Fit::Left));
        };
        Ok(match self.state(other) {
            State::Open | State::Running { .. } => is_full.then_some(Fit::Waiting),
            State::Delivered { .. } | State::Landed | State::Skipped | State::Blocked { .. } => {
                is_full.then_some(Fit::Left)
            }
        })
    }

    fn user(&self, task: usize) -> User<'_> {
        User {
            protocol: self.engine.id.protocol.as_str(),
            workflow: &self.engine.id.name,
            task: self.task(task),
            attempt: 0,
        }
    }

    /// Returns the task of this run that a record names.
    fn task_of(&self, record: &SlotRecord) -> Option<usize> {
        (0..self.engine.work.tasks.len()).find(|task| is_of(record, self.user(*task)))
    }

    /// Returns whether the run that a record names has ended.
    fn is_of_nobody(&self, record: &SlotRecord) -> Result<bool, Error> {
        let id = self.engine.id;
        if record.protocol == id.protocol.as_str() && record.workflow == id.name {
            return Ok(true);
        }
        let holder = self
            .engine
            .state
            .holder_of(&record.protocol, &record.workflow)?;
        Ok(matches!(holder, Occupancy::Free))
    }

    /// Frees the worktree of a worker that was killed after its delivery, if it holds nothing else.
    pub(super) fn free_delivered(&self, order: &Order, number: u32, tree: &ObjectId) {
        let slot = self.engine.state.pool().slot(number);
        let taken = slot.take(&order.task, self.engine.scribe.stamp());
        let record = slot.record().filter(|record| {
            let is_its = (&*record.task, record.attempt) == (&*order.task, order.attempt);
            is_its && is_of(record, User::of(order))
        });
        // Otherwise its files are saved before they go, although they have been.
        if let (Ok(Some(_lock)), Some(record)) = (taken, record)
            && let Ok(own) = self.own(&order.worktree)
            && let Ok(content) = own.content(tree, &self.own_paths())
            && content.tree == *tree
            && !content.has_more()
        {
            slot.free(record).ok();
        }
    }
}
