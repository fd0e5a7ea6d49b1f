//! Locks that a killed git left behind.
//!
//! git takes its locks away when it is asked to end, not when it is killed. They then stand in the
//! way of every git to come, and nothing in them tells whose they were: only a caller that knows
//! that nobody is at work there may take them away.

use std::fs;
use std::io;

use camino::Utf8Path;

use crate::error::Error;
use crate::repo::Repo;

/// What git locks in a worktree's own folder before it changes HEAD or the index.
const OF_A_WORKTREE: [&str; 2] = ["HEAD.lock", "index.lock"];

impl Repo {
    /// Takes away the locks on HEAD and index of this worktree, whose last user is gone.
    pub fn break_worktree_locks(&self) -> Result<(), Error> {
        let layout = self.layout_at_top()?;
        let mut locks = OF_A_WORKTREE.iter().map(|name| layout.git_dir.join(name));
        locks.try_for_each(|lock| remove(&lock))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a lock of git's own, which git itself says to remove"
)]
fn remove(lock: &Utf8Path) -> Result<(), Error> {
    match fs::remove_file(lock) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::Prepare {
            path: lock.into(),
            source: error,
        }),
        Ok(()) | Err(_) => Ok(()),
    }
}
