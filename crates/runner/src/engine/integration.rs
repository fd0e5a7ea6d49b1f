//! The worktree in which merged work is checked: that of the pool, or one of the run's own while
//! another run has that one.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::Lock;
use rekindle_git::{ObjectId, OwnWorktree};
use rekindle_model::WorkflowId;

use super::Engine;
use crate::Error;
use crate::pool::{Found, Slot, User, fingerprint};

/// Where merged work is checked.
pub(super) struct Integration {
    folder: Utf8PathBuf,
    pooled: Option<(Slot, Lock)>,
    /// The setup that was done in it, if it is not of the pool.
    setup: Option<String>,
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
                setup: None,
            },
            None => Self {
                folder: engine.state.worktrees(engine.id).join(".integration"),
                pooled: None,
                setup: None,
            },
        })
    }

    pub(super) fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// Brings the worktree to a commit, whatever the last check did to it.
    pub(super) fn bring(
        &self,
        own: &OwnWorktree,
        commit: &ObjectId,
        sparse: &[String],
    ) -> Result<(), Error> {
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
            return Ok(own.bring_to(commit, index.as_ref(), settings.as_ref(), sparse)?);
        }
        // A check may have checked out a branch, which a reset would move.
        own.detach(commit)?;
        own.reset_hard(commit)?;
        Ok(own.clean(&[])?)
    }

    /// Returns the setup that was done in it.
    pub(super) fn setup(&self) -> Option<String> {
        match &self.pooled {
            Some((slot, _)) => slot.record()?.setup,
            None => self.setup.clone(),
        }
    }

    /// Records that the setup was done.
    pub(super) fn set_up(&mut self, setup: String) {
        match &self.pooled {
            // Without a record it is done again.
            Some((slot, _)) => drop(slot.set_up(&setup)),
            None => self.setup = Some(setup),
        }
    }

    /// Records how the worktree was checked out, so that next time only what differs is touched.
    pub(super) fn record(&self, own: &OwnWorktree, id: &WorkflowId, setup: Option<String>) {
        let Some((slot, _)) = &self.pooled else {
            return;
        };
        let Ok(settings) = own.settings() else {
            return;
        };
        let found = Found {
            settings,
            index: own.keep_index().ok(),
            setup,
        };
        let user = User {
            protocol: id.protocol.as_str(),
            workflow: &id.name,
            task: ".integration",
            attempt: 0,
        };
        // Without a record all files are written anew.
        slot.free_for(user, found).ok();
    }
}
