//! The worktree in which merged work is checked: that of the pool, or one of the run's own while
//! another run has that one.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::Lock;
use rekindle_git::{ObjectId, OwnWorktree};
use rekindle_model::WorkflowId;

use super::Engine;
use crate::Error;
use crate::pool::{Slot, User, fingerprint};

/// Where merged work is checked.
pub(super) struct Integration {
    folder: Utf8PathBuf,
    pooled: Option<(Slot, Lock)>,
}

impl Integration {
    /// Takes the worktree of checks for as long as the value lives.
    pub(super) fn take(engine: &Engine<'_>) -> Result<Self, Error> {
        let slot = engine.state.pool().integration();
        let lock = if engine.fresh {
            None
        } else {
            slot.take("checks", engine.scribe.stamp())?
        };
        Ok(match lock {
            Some(lock) => Self {
                folder: slot.worktree(),
                pooled: Some((slot, lock)),
            },
            None => Self {
                folder: engine.state.worktrees(engine.id).join(".integration"),
                pooled: None,
            },
        })
    }

    pub(super) fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// Brings the worktree to a commit, whatever the last check did to it.
    pub(super) fn bring(&self, own: &OwnWorktree, commit: &ObjectId) -> Result<(), Error> {
        own.break_locks()?;
        if let Some((slot, _)) = &self.pooled {
            let record = slot.record();
            let known = |text: Option<&String>| fingerprint(text);
            let index = record
                .as_ref()
                .and_then(|record| known(record.index.as_ref()));
            let settings = record
                .as_ref()
                .and_then(|record| known(record.settings.as_ref()));
            return Ok(own.bring_to(commit, index.as_ref(), settings.as_ref())?);
        }
        // A check may have checked out a branch, which a reset would move.
        own.detach(commit)?;
        own.reset_hard(commit)?;
        Ok(own.clean(&[])?)
    }

    /// Records how the worktree was checked out, so that next time only what differs is touched.
    pub(super) fn record(&self, own: &OwnWorktree, id: &WorkflowId) {
        let Some((slot, _)) = &self.pooled else {
            return;
        };
        let (Ok(settings), index) = (own.settings(), own.keep_index().ok()) else {
            return;
        };
        let user = User {
            protocol: id.protocol.as_str(),
            workflow: &id.name,
            task: ".integration",
            attempt: 0,
        };
        // Without a record all files are written anew.
        slot.free_for(user, index.as_ref(), settings.as_ref()).ok();
    }
}
