//! What a worktree holds, found in one look at its files.
//!
//! `git add --all` looks at all files again after whoever asked whether they are too large. Here
//! `git status` looks once, and only what it names is added.

use crate::error::Error;
use crate::id::ObjectId;
use crate::own::OwnWorktree;
use crate::path::RepoPath;
use crate::scratch::{Objects, Scratch};
use crate::status::{State, StatusEntry};

/// What a worktree holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its files, as a commit would have them.
    pub tree: ObjectId,
    /// The repositories inside of it, which no tree has.
    pub nested: Vec<RepoPath>,
    /// Whether submodules have another commit, or changes of their own.
    pub has_changed_submodules: bool,
}

impl Content {
    /// Returns whether there is something that the tree does not have, besides ignored files.
    pub fn has_more(&self) -> bool {
        !self.nested.is_empty() || self.has_changed_submodules
    }
}

/// What `git status` says, by what has to be done about it.
#[derive(Default)]
struct Found {
    changed: Vec<RepoPath>,
    nested: Vec<RepoPath>,
    has_changed_submodules: bool,
}

impl OwnWorktree {
    /// Writes the worktree as a tree, as [`crate::Repo::snapshot_tree`] does, and says what the tree
    /// does not have. Its index stays unchanged.
    ///
    /// `exclude` is as in HEAD, and so is what was brought. `base` is any commit of the repository.
    pub fn content(&self, base: &ObjectId, exclude: &[RepoPath]) -> Result<Content, Error> {
        let mut exclude = exclude.to_vec();
        exclude.extend(self.brought()?);
        let here = self.repo();
        let mut found = Found::default();
        for entry in here.status()? {
            found.add(entry);
        }
        let is_own = |path: &RepoPath| exclude.iter().any(|own| path.is_within(own));
        found.changed.retain(|path| !is_own(path));
        here.refuse_large(&found.changed)?;
        let scratch = Scratch::with_copied_index(&self.layout(base), Objects::Repository)?;
        if !found.changed.is_empty() {
            here.update_index(&scratch, &found.changed)?;
        }
        if !exclude.is_empty() {
            here.unstage(&scratch, &exclude)?;
        }
        Ok(Content {
            tree: here.write_tree(&scratch)?,
            nested: found.nested,
            has_changed_submodules: found.has_changed_submodules,
        })
    }
}

impl Found {
    fn add(&mut self, entry: StatusEntry) {
        match entry {
            StatusEntry::Untracked { path } => match path.as_bytes().strip_suffix(b"/") {
                Some(folder) => self.nested.push(RepoPath::new(folder)),
                None => self.changed.push(path),
            },
            StatusEntry::Unmerged { path } => self.changed.push(path),
            StatusEntry::Tracked {
                path,
                from,
                unstaged,
                is_submodule,
                ..
            } => {
                self.has_changed_submodules |= is_submodule;
                if unstaged != State::Unchanged {
                    self.changed.push(path);
                    self.changed.extend(from);
                }
            }
        }
    }
}
