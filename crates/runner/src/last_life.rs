//! How the last rekindle ended that worked on a workflow for long: what its lock says.

use std::time::Duration;

use rekindle_fs::{Departure, Error, Lock};
use rekindle_model::{LastLife, LifeEnd, WorkflowId};

use crate::StateFolder;

/// How often an orchestrator writes down that it lives.
pub(crate) const STAMPED_EVERY: Duration = Duration::from_secs(30);

impl StateFolder {
    /// Returns how the last rekindle ended that worked on a workflow for long, if nobody holds it now.
    pub fn last_life(&self, id: &WorkflowId) -> Result<Option<LastLife>, Error> {
        let lock = self.lock(id);
        rekindle_fs::refuse_links(self.project(), &lock)?;
        Ok(Lock::last_life_at(&lock)?.as_ref().and_then(of_lock))
    }
}

/// Returns a life that a lock's text tells of; the text may be anybody's.
pub(crate) fn of_lock(life: &rekindle_fs::LastLife) -> Option<LastLife> {
    let end = match life.departure {
        Departure::Released => LifeEnd::Stopped,
        Departure::Died => LifeEnd::Interrupted,
        Departure::Restarted => LifeEnd::Restarted,
    };
    let seen = rekindle_text::parse_instant(&life.seen)?;
    Some(LastLife { seen, end })
}
