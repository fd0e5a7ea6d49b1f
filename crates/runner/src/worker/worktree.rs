//! The worktree of an attempt: made, or that of a former attempt made ready, with nothing lost.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_git::{Checkout, Head, ObjectId, Repo};

use super::Worker;
use crate::Error;

impl Worker<'_> {
    /// Makes the worktree, or cleans the one of a former attempt after saving what is in it.
    pub(super) fn prepare(&self, base: &ObjectId) -> Result<(), Error> {
        let worktree = &self.order.worktree;
        rekindle_fs::confine(&self.order.project, worktree)?;
        let main = Repo::at(self.repo.program(), self.order.project.clone());
        if worktree.join(".git").exists() {
            main.unlock_half_made(worktree)?;
            if is_ready(self.reuse(base))? {
                return Ok(());
            }
        } else if !worktree.exists() {
            // Without the folder above it git does not see that the path is registered already,
            // registers it a second time, and then lets go of neither.
            if let Some(above) = worktree.parent() {
                rekindle_fs::ensure_dir(above)?;
            }
            let made = main.add_worktree(worktree, base, Checkout::Detached);
            if made.is_ok() {
                return Ok(());
            }
        }
        make_room(&main, worktree)?;
        main.prune_worktrees()?;
        Ok(main.add_worktree(worktree, base, Checkout::Detached)?)
    }

    /// Brings the worktree of a former attempt to the commit that this one begins with.
    fn reuse(&self, base: &ObjectId) -> Result<(), Error> {
        // An agent may have broken it; git would then climb up to the user's own repository.
        self.repo.verify_worktree_of(&self.order.common_dir)?;
        self.repo.break_worktree_locks()?;
        let head = self.repo.head()?;
        let untouched =
            head == Head::Detached {
                commit: base.clone(),
            } && self.repo.status()?.is_empty();
        if !untouched {
            self.repo.rescue(&self.order.workflow, &self.order.task)?;
            // The agent may have checked out a branch, which a reset would move.
            self.repo.detach(base)?;
            self.repo.reset_hard(base)?;
            self.repo.clean(&[])?;
        }
        Ok(())
    }
}

/// Moves aside what is in the way of a new worktree.
pub(super) fn make_room(main: &Repo, worktree: &Utf8Path) -> Result<(), Error> {
    main.unlock_half_made(worktree)?;
    if worktree.symlink_metadata().is_err() || remove_if_bare(worktree) {
        return Ok(());
    }
    let aside = aside(worktree);
    rekindle_fs::rename(worktree, &aside)?;
    // As long as git knows it, `rekindle clean` lists it; too broken a one git does not want to know.
    main.repair_worktree(&aside).ok();
    Ok(())
}

/// Removes a folder that holds nothing but its `.git`; returns whether it did. A killed `git worktree add` leaves one.
///
/// Only an empty folder can be removed in this way, so whatever else is there stays.
fn remove_if_bare(worktree: &Utf8Path) -> bool {
    let names = worktree.read_dir_utf8().into_iter().flatten();
    let is_bare = names.flatten().all(|entry| entry.file_name() == ".git");
    let git = worktree.join(".git");
    is_bare
        && (!git.is_file() || fs_err::remove_file(git).is_ok())
        && fs_err::remove_dir(worktree).is_ok()
}

/// Returns a free name beside a folder that is in the way; nothing is deleted.
fn aside(folder: &Utf8Path) -> Utf8PathBuf {
    let mut number = 1;
    loop {
        let aside = Utf8PathBuf::from(format!("{folder}.left-{number}"));
        if !aside.exists() {
            return aside;
        }
        number += 1;
    }
}

/// Tells whether a worktree could be used again; one that a crash left half made, or that somebody
/// broke, is put aside and made anew.
pub(super) fn is_ready(reused: Result<(), Error>) -> Result<bool, Error> {
    match reused {
        Ok(()) => Ok(true),
        // That a git was killed says nothing about the worktree: the next attempt looks again.
        Err(Error::Git(error)) if error.is_killed() => Err(Error::Git(error)),
        Err(_) => Ok(false),
    }
}
