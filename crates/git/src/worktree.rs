//! The worktrees of a repository: listed, added, removed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::Error;
use crate::head::branch_name;
use crate::id::ObjectId;
use crate::own::OwnWorktree;
use crate::path::{RepoPath, records};
use crate::repo::Repo;
use crate::status::StatusEntry;

/// A registered worktree. The first in a list is the main one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktree {
    /// Its path, not always UTF-8.
    pub path: PathBuf,
    /// Its commit; `None` in a bare repository or on an unborn branch.
    pub head: Option<ObjectId>,
    /// Its branch without `refs/heads/`.
    pub branch: Option<String>,
    /// Whether a commit is checked out without a branch.
    pub detached: bool,
    /// Whether this is a repository without a worktree.
    pub bare: bool,
    /// The reason for its lock, perhaps empty; `None` when it is not locked.
    pub locked: Option<String>,
    /// Why git would forget it; `None` when it would not.
    pub prunable: Option<String>,
}

/// What a new worktree checks out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkout<'a> {
    /// The commit, without a branch.
    Detached,
    /// The commit, without a branch and without files.
    Empty,
    /// A new branch at the commit. The name is without `refs/heads/`; it must not exist.
    NewBranch(&'a str),
}

/// What may be lost when a worktree is removed. Ignored files go in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Nothing: fails for a worktree that is not clean.
    OnlyIfClean,
    /// Everything that [`Repo::rescue`] can save; call that first. Fails for repositories inside
    /// the worktree and changed submodules.
    WithChanges,
}

impl Repo {
    /// Returns all worktrees of this repository, including missing ones.
    pub fn worktrees(&self) -> Result<Vec<Worktree>, Error> {
        self.read()
            .args(["worktree", "list", "--porcelain", "-z"])
            .parsed(parse)
    }

    /// Creates a worktree at `path` (relative to [`Repo::dir`]), which must be missing or empty.
    pub fn add_worktree(
        &self,
        path: &Utf8Path,
        commit: &ObjectId,
        checkout: Checkout<'_>,
    ) -> Result<(), Error> {
        let call = self.write().args(["worktree", "add", "--quiet"]);
        let call = match checkout {
            Checkout::Detached => call.args(["--detach"]),
            Checkout::Empty => call.args(["--detach", "--no-checkout"]),
            Checkout::NewBranch(name) => call.args(["--no-track", "-b", name]),
        };
        call.args(["--end-of-options", path.as_str(), commit.as_str()])
            .done()
    }

    /// Removes a worktree and its registration. A locked one stays.
    pub fn remove_worktree(&self, worktree: &OwnWorktree, removal: Removal) -> Result<(), Error> {
        let mut args = vec!["worktree", "remove"];
        if let Removal::WithChanges = removal {
            worktree.repo().refuse_nested()?;
            args.push("--force");
        }
        worktree.verify()?;
        args.extend(["--end-of-options", worktree.path().as_str()]);
        self.write().args(args).done()
    }

    /// Unregisters a missing worktree, unless it is locked.
    ///
    /// `git worktree prune` would also forget the user's worktrees on disks that are not mounted.
    pub fn forget_worktree(&self, path: &Utf8Path) -> Result<(), Error> {
        let path = self.dir().join(path);
        if path.symlink_metadata().is_ok() {
            return Ok(());
        }
        let is_there = |one: &Worktree| one.path == path.as_std_path() && one.locked.is_none();
        // A killed git can leave the same path registered more than once.
        for _ in self.worktrees()?.into_iter().filter(is_there) {
            let args = ["worktree", "remove", "--force", "--end-of-options"];
            self.write().args(args).args([path.as_str()]).output()?;
        }
        Ok(())
    }

    /// Unlocks a worktree after a killed `git worktree add`, which locks it with the reason
    /// "initializing" while it works. Other locks stay.
    pub fn unlock_half_made(&self, path: &Utf8Path) -> Result<(), Error> {
        self.unlock_where(path, |reason| reason == "initializing")
    }

    /// Unlocks a missing worktree, so that its path can be reused.
    pub fn unlock_lost(&self, path: &Utf8Path) -> Result<(), Error> {
        let is_lost = path.symlink_metadata().is_err();
        self.unlock_where(path, |_| is_lost)
    }

    fn unlock_where(&self, path: &Utf8Path, is_meant: impl Fn(&str) -> bool) -> Result<(), Error> {
        let is_locked = self.worktrees()?.into_iter().any(|worktree| {
            worktree.path == path.as_std_path() && worktree.locked.as_deref().is_some_and(&is_meant)
        });
        if is_locked {
            let args = ["worktree", "unlock", "--end-of-options", path.as_str()];
            self.write().args(args).output()?;
        }
        Ok(())
    }

    pub(crate) fn refuse_nested(&self) -> Result<(), Error> {
        let dir: Utf8PathBuf = self.layout_at_top()?.top_level;
        let changed_submodule = |entry: StatusEntry| match entry {
            StatusEntry::Tracked {
                path,
                is_submodule: true,
                ..
            } => Some(path),
            StatusEntry::Tracked { .. }
            | StatusEntry::Unmerged { .. }
            | StatusEntry::Untracked { .. } => None,
        };
        let mut paths: Vec<RepoPath> = self.nested_below()?;
        paths.extend(self.status()?.into_iter().filter_map(changed_submodule));
        if paths.is_empty() {
            Ok(())
        } else {
            Err(Error::Nested { dir, paths })
        }
    }
}

/// Reads attributes, separated by NUL.
pub(crate) fn parse(output: &[u8]) -> Result<Vec<Worktree>, String> {
    let mut worktrees: Vec<Worktree> = Vec::new();
    for attribute in records(output) {
        let space = attribute.iter().position(|byte| *byte == b' ');
        let (label, value) = match space {
            Some(space) => (&attribute[..space], &attribute[space + 1..]),
            None => (attribute, &[][..]),
        };
        if label == b"worktree" {
            worktrees.push(Worktree {
                path: Path::new(OsStr::from_bytes(value)).to_path_buf(),
                ..Worktree::default()
            });
            continue;
        }
        let Some(worktree) = worktrees.last_mut() else {
            return Err(format!(
                "`{}` before any worktree",
                String::from_utf8_lossy(attribute)
            ));
        };
        match label {
            b"HEAD" => worktree.head = ObjectId::from_output(value).filter(|id| !id.is_zero()),
            b"branch" => worktree.branch = Some(branch_name(value)),
            b"detached" => worktree.detached = true,
            b"bare" => worktree.bare = true,
            b"locked" => worktree.locked = Some(String::from_utf8_lossy(value).into_owned()),
            b"prunable" => worktree.prunable = Some(String::from_utf8_lossy(value).into_owned()),
            // git may add attributes.
            _ => {}
        }
    }
    Ok(worktrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_may_have_a_reason_or_none() {
        let text = "worktree /a b\0bare\0\0worktree /c\0HEAD x\0detached\0locked\0\0\
                    worktree /d\0locked on a stick\naway\0prunable gone\0new-one 1\0\0";
        let worktrees = parse(text.as_bytes()).unwrap();
        assert_eq!(worktrees[0].path, Path::new("/a b"));
        assert!(worktrees[0].bare && worktrees[1].detached);
        assert_eq!(worktrees[1].locked.as_deref(), Some(""));
        assert_eq!(worktrees[2].locked.as_deref(), Some("on a stick\naway"));
        assert_eq!(worktrees[2].prunable.as_deref(), Some("gone"));
        assert!(parse(b"HEAD x\0").is_err());
    }
}
