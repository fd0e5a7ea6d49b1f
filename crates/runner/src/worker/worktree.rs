//! The worktree of an attempt: created, or that of an earlier attempt prepared, with nothing lost.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_git::{Checkout, Head, ObjectId, OwnWorktree, Repo};

use super::Worker;
use crate::Error;

impl Worker<'_> {
    /// Creates the worktree, or cleans that of an earlier attempt after saving its files.
    pub(super) fn prepare(&self, base: &ObjectId) -> Result<(), Error> {
        let (main, worktree) = (&self.main, &self.order.worktree);
        rekindle_fs::confine(&self.order.project, worktree)?;
        if worktree.symlink_metadata().is_err() {
            self.make(base)?;
            return self.bring_files();
        }
        main.unlock_half_made(worktree)?;
        if is_ready(self.reuse(base).and_then(|()| self.bring_files()))? {
            return Ok(());
        }
        let sparse = &self.order.outfit.sparse;
        make_anew(main, &self.order.common_dir, worktree, base, sparse)?;
        self.bring_files()
    }

    /// Creates the worktree where nothing is.
    pub(super) fn make(&self, base: &ObjectId) -> Result<(), Error> {
        let (main, worktree) = (&self.main, &self.order.worktree);
        // Without the parent folder git does not see that the path is registered already,
        // registers it again, and then releases neither.
        if let Some(above) = worktree.parent() {
            rekindle_fs::ensure_dir(above)?;
        }
        let (common_dir, sparse) = (&self.order.common_dir, &self.order.outfit.sparse);
        if add(main, common_dir, worktree, base, sparse).is_ok() {
            return Ok(());
        }
        make_anew(main, common_dir, worktree, base, sparse)
    }

    /// Resets the worktree of an earlier attempt to the base commit of this one.
    fn reuse(&self, base: &ObjectId) -> Result<(), Error> {
        let own = self.own()?;
        own.break_locks()?;
        let head = own.repo().head()?;
        let untouched =
            head == Head::Detached {
                commit: base.clone(),
            } && own.repo().status()?.is_empty();
        if !untouched {
            own.repo().rescue(&self.order.workflow, &self.order.task)?;
            // The agent may have checked out a branch, which a reset would move.
            own.detach(base)?;
            own.reset_hard(base)?;
            own.clean(&[])?;
        }
        Ok(())
    }
}

/// Creates a worktree; an existing folder is moved aside.
pub(crate) fn make_anew(
    main: &Repo,
    common_dir: &Utf8Path,
    worktree: &Utf8Path,
    commit: &ObjectId,
    sparse: &[String],
) -> Result<(), Error> {
    make_anew_at(main, common_dir, worktree, commit, (worktree, sparse))
}

/// Creates a worktree as [`make_anew`] does; what is moved aside gets a name next to `place`.
pub(super) fn make_anew_at(
    main: &Repo,
    common_dir: &Utf8Path,
    worktree: &Utf8Path,
    commit: &ObjectId,
    (place, sparse): (&Utf8Path, &[String]),
) -> Result<(), Error> {
    make_room(main, common_dir, worktree, place)?;
    main.forget_worktree(worktree)?;
    add(main, common_dir, worktree, commit, sparse)
}

/// Creates a worktree with all files, or with those of some folders.
fn add(
    main: &Repo,
    common_dir: &Utf8Path,
    worktree: &Utf8Path,
    commit: &ObjectId,
    sparse: &[String],
) -> Result<(), Error> {
    if sparse.is_empty() {
        return Ok(main.add_worktree(worktree, commit, Checkout::Detached)?);
    }
    main.add_worktree(worktree, commit, Checkout::Empty)?;
    let own = OwnWorktree::open(main.program(), common_dir, worktree)?;
    Ok(own.bring_to(commit, None, None, sparse)?)
}

/// Moves a worktree to a place, or next to it if something is there.
pub(super) fn move_to(own: OwnWorktree, place: &Utf8Path) -> Result<(), Error> {
    let from = own.path().to_owned();
    let to = match place.symlink_metadata() {
        Ok(_) => aside(place),
        Err(_) => place.to_owned(),
    };
    if let Some(above) = to.parent() {
        rekindle_fs::ensure_dir(above)?;
    }
    own.register_at(&to)?;
    Ok(rekindle_fs::rename(&from, &to)?)
}

/// Moves aside a folder that blocks a new worktree, to a name next to `place`.
pub(super) fn make_room(
    main: &Repo,
    common_dir: &Utf8Path,
    worktree: &Utf8Path,
    place: &Utf8Path,
) -> Result<(), Error> {
    main.unlock_half_made(worktree)?;
    let Ok(found) = worktree.symlink_metadata() else {
        return Ok(());
    };
    // A link would lead to somebody else's folder.
    if found.is_dir() && remove_if_bare(worktree) {
        return Ok(());
    }
    let aside = aside(place);
    if let Some(above) = aside.parent() {
        rekindle_fs::ensure_dir(above)?;
    }
    // The repository is told the new path only of a worktree of ours. That comes first: after a crash
    // in between, the folder no longer counts as ours and is moved to that very name.
    if let Ok(own) = OwnWorktree::open(main.program(), common_dir, worktree) {
        own.register_at(&aside)?;
    }
    Ok(rekindle_fs::rename(worktree, &aside)?)
}

/// Removes a folder that contains only its `.git`; returns whether it did. A killed `git worktree add` leaves one.
///
/// Only an empty folder can be removed in this way, so other contents stay.
fn remove_if_bare(worktree: &Utf8Path) -> bool {
    let names = worktree.read_dir_utf8().into_iter().flatten();
    let is_bare = names.flatten().all(|entry| entry.file_name() == ".git");
    is_bare && remove_bare(worktree).is_ok()
}

fn remove_bare(worktree: &Utf8Path) -> Result<(), rekindle_fs::Error> {
    let git = worktree.join(".git");
    if git.is_file() {
        rekindle_fs::remove(&git, &rekindle_fs::Content::read(&git)?)?;
    }
    rekindle_fs::remove_empty(worktree)
}

/// Returns a free name next to a folder that is in the way; nothing is deleted.
fn aside(folder: &Utf8Path) -> Utf8PathBuf {
    let mut number = 1;
    loop {
        let aside = Utf8PathBuf::from(format!("{folder}.left-{number}"));
        if aside.symlink_metadata().is_err() {
            return aside;
        }
        number += 1;
    }
}

/// Returns whether a worktree can be used again; one that is incomplete after a crash, or broken, is
/// moved aside and created again.
pub(crate) fn is_ready(reused: Result<(), Error>) -> Result<bool, Error> {
    match reused {
        Ok(()) => Ok(true),
        // The error says nothing about the worktree: the next attempt checks again.
        Err(error) if error.is_of_the_machine() => Err(error),
        Err(_) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    fn of_git(status: i32, stderr: &str) -> Error {
        Error::Git(rekindle_git::Error::Failed {
            args: vec!["reset".to_owned()],
            dir: "/w".into(),
            status: ExitStatus::from_raw(status),
            stderr: stderr.to_owned(),
        })
    }

    fn of_files(errno: rustix::io::Errno) -> Error {
        Error::Files(rekindle_fs::Error::Io {
            action: "rename",
            path: "/w/a".into(),
            source: errno.into(),
        })
    }

    #[test]
    fn a_worktree_is_given_up_for_its_own_faults_alone() {
        use rustix::io::Errno;
        assert!(is_ready(Ok(())).unwrap());
        for its_own in [
            of_git(128 << 8, "fatal: index file corrupt"),
            of_files(Errno::ACCESS),
            of_files(Errno::NOTDIR),
            Error::Files(rekindle_fs::Error::NotAFile("/w".into())),
        ] {
            assert!(!is_ready(Err(its_own)).unwrap());
        }
        for of_the_machine in [
            of_git(9, ""),
            of_git(
                128 << 8,
                "error: unable to write file a: No space left on device",
            ),
            of_git(128 << 8, "fatal: cannot write: Input/output error"),
            of_files(Errno::NOSPC),
            of_files(Errno::IO),
            of_files(Errno::ROFS),
            of_files(Errno::MFILE),
        ] {
            let told = of_the_machine.to_string();
            assert!(is_ready(Err(of_the_machine)).is_err(), "{told}");
        }
    }
}
