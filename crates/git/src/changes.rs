//! Differences between a worktree and a commit.
//!
//! `git diff` omits staged changes, and `git diff <base>` untracked files. So the worktree is
//! written as a tree through a temporary index, and two trees are compared.

use crate::error::Error;
use crate::id::ObjectId;
use crate::path::RepoPath;
use crate::raw_diff;
use crate::repo::Repo;
use crate::scratch::{Objects, Scratch};

/// One difference between a commit and a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// Where it is now; for a deletion, where it was.
    pub path: RepoPath,
    /// What the base has; `None` for an addition.
    pub old: Option<Entry>,
    /// What the worktree has; `None` for a deletion.
    pub new: Option<Entry>,
}

/// What happened to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The base has no such path.
    Added,
    /// Other content, another mode, or both.
    Modified,
    /// The worktree has no such path.
    Deleted,
    /// Moved, perhaps with changes.
    Renamed {
        /// The path in the base.
        from: RepoPath,
    },
    /// A file became a symbolic link, or the like.
    TypeChanged,
}

/// One side of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What kind of file it is.
    pub mode: Mode,
    /// The id of its content; for [`Mode::Submodule`], of its commit.
    pub id: ObjectId,
}

/// The kinds of files that git keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// 100644.
    File,
    /// 100755.
    Executable,
    /// 120000; its content is the target.
    Symlink,
    /// 160000: a commit of another repository.
    Submodule,
}

impl Mode {
    pub(crate) fn parse(octal: &[u8]) -> Option<Self> {
        match octal {
            // Very old versions wrote 100664.
            b"100644" | b"100664" => Some(Self::File),
            b"100755" => Some(Self::Executable),
            b"120000" => Some(Self::Symlink),
            b"160000" => Some(Self::Submodule),
            _ => None,
        }
    }

    /// Returns the digits that git writes.
    pub fn as_octal(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Submodule => "160000",
        }
    }
}

impl Repo {
    /// Returns all differences between `base` (a commit or tree) and this worktree, by path.
    ///
    /// Includes staged, unstaged and untracked files, but neither ignored files nor repositories
    /// inside the worktree. Content is compared as a commit would have it, with filters only where
    /// the program is [`crate::Program::for_work`]. Index and object store stay unchanged, so new
    /// content cannot be read by its id; [`Repo::snapshot_tree`] is for that.
    pub fn changes(&self, base: &ObjectId) -> Result<Vec<Change>, Error> {
        // git's default limits, pinned against the user's settings.
        self.worktree_changes(base, &[], &["-M50%", "-l1000"])
    }

    /// Returns the same as [`Repo::changes`] without `exclude`; a move is a deletion and an
    /// addition.
    pub fn changes_except(
        &self,
        base: &ObjectId,
        exclude: &[RepoPath],
    ) -> Result<Vec<Change>, Error> {
        self.worktree_changes(base, exclude, &["--no-renames"])
    }

    fn worktree_changes(
        &self,
        base: &ObjectId,
        exclude: &[RepoPath],
        renames: &[&str],
    ) -> Result<Vec<Change>, Error> {
        let layout = self.layout()?;
        let scratch = Scratch::with_copied_index(&layout, Objects::Apart)?;
        self.stage_in(&layout, &scratch, exclude)?;
        let args = ["diff-index", "--cached", "-z", "--raw"];
        let call = self.read().args(args).args(renames);
        let call = call.args(["--ignore-submodules=none", base.as_str()]);
        scratch.apply(call).parsed(raw_diff::parse)
    }

    /// Returns all differences between two commits or trees, by path; a move is a deletion and an addition.
    pub fn between(&self, from: &ObjectId, to: &ObjectId) -> Result<Vec<Change>, Error> {
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames"];
        let ids = ["--end-of-options", from.as_str(), to.as_str()];
        self.read()
            .args(args)
            .args(["--ignore-submodules=none"])
            .args(ids)
            .parsed(raw_diff::parse)
    }

    /// Returns the differences between index and HEAD, by path; a move is a deletion and an
    /// addition.
    pub fn staged(&self) -> Result<Vec<Change>, Error> {
        let Some(head) = self.tree_of("HEAD")? else {
            return Ok(Vec::new());
        };
        let args = ["diff-index", "--cached", "-z", "--raw", "--no-renames"];
        self.read()
            .args(args)
            .args(["--ignore-submodules=none", head.as_str()])
            .parsed(raw_diff::parse)
    }
}
