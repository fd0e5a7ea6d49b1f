//! The worktree of an attempt in the pool: brought to its base, and free again after a delivery.

use rekindle_git::{Change, Content, ObjectId, OwnWorktree};
use rekindle_wire::slot::SlotRecord;

use super::Worker;
use super::worktree::{is_ready, make_anew_at, move_to};
use crate::Error;
use crate::pool::{Found, Slot, User, fingerprint, is_of};

impl Worker<'_> {
    /// Returns the slot of the attempt, if it has one.
    pub(super) fn slot(&self) -> Option<Slot> {
        self.order.slot.map(|number| self.state.pool().slot(number))
    }

    /// Brings the worktree of a slot to the attempt's base. Files that nobody has saved are saved
    /// first; one that cannot be used is put aside, where the worktrees of its last task are.
    pub(super) fn prepare_slot(&self, slot: &Slot, base: &ObjectId) -> Result<(), Error> {
        let (order, worktree) = (self.order, &self.order.worktree);
        // Whatever an agent put in the place of the worktree itself is moved aside.
        let pool = worktree.parent().unwrap_or(worktree);
        rekindle_fs::refuse_links(&order.project, pool)?;
        let record = slot.record();
        let mut setup = None;
        if worktree.symlink_metadata().is_err() {
            self.make(base)?;
            self.bring_files()?;
        } else if is_ready(self.bring(record.as_ref(), base))? {
            setup = record.and_then(|record| record.setup);
        } else {
            let place = match &record {
                Some(last) => self.state.place(&last.protocol, &last.workflow, &last.task),
                None => self
                    .state
                    .place(&order.protocol, &order.workflow, &order.task),
            };
            let sparse = &order.outfit.sparse;
            make_anew_at(
                &self.main,
                &order.common_dir,
                worktree,
                base,
                (&place, sparse),
            )?;
            self.bring_files()?;
        }
        let own = self.own()?;
        let found = Found {
            settings: own.settings()?,
            // Without it the next task's files are written anew, which is slow and right.
            index: own.keep_index().ok(),
            setup,
        };
        slot.used_by(User::of(self.order), found)
    }

    /// Brings a worktree that exists to a commit.
    fn bring(&self, record: Option<&SlotRecord>, base: &ObjectId) -> Result<(), Error> {
        let (order, worktree) = (self.order, &self.order.worktree);
        let is_free = record.is_some_and(|record| record.is_free);
        if !is_free {
            // An agent may have removed `.git`; the repository knows whose the folder is.
            self.main.rejoin_worktree(worktree)?;
        }
        let own = self.own()?;
        if own.is_locked() {
            self.main.unlock_half_made(worktree)?;
        }
        if !is_free {
            own.break_locks()?;
            let saved = match record {
                Some(record) if !is_of(record, User::of(self.order)) => {
                    // Another task must not find them.
                    own.refuse_nested()?;
                    own.repo().rescue(&record.workflow, &record.task)?
                }
                Some(_) | None => own.repo().rescue(&order.workflow, &order.task)?,
            };
            let there = match saved {
                Some(rescue) => Some(rescue.tree),
                None => own.repo().head()?.commit().cloned(),
            };
            if let Some(there) = there {
                own.remove_added(&own.repo().between(base, &there)?)?;
            }
        }
        let index = record.and_then(|record| fingerprint(record.index.as_ref()));
        let settings = record.and_then(|record| fingerprint(record.settings.as_ref()));
        let sparse = &order.outfit.sparse;
        own.bring_to(base, index.as_ref(), settings.as_ref(), sparse)?;
        self.bring_files()
    }

    /// Frees the slot of an attempt whose files are all in a commit. A worktree that has more, such
    /// as a repository, becomes the task's own, so that it is kept.
    pub(super) fn leave_slot(
        &self,
        slot: &Slot,
        own: OwnWorktree,
        content: &Content,
        changes: &[Change],
    ) -> Result<(), Error> {
        if content.has_more() {
            let order = self.order;
            let place = self
                .state
                .place(&order.protocol, &order.workflow, &order.task);
            return move_to(own, &place);
        }
        own.remove_added(changes)?;
        match slot.record() {
            Some(record) => slot.free(record),
            // Somebody removed it; the next user looks at the files.
            None => Ok(()),
        }
    }
}
