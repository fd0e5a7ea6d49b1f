//! What is in a rescue: the files that differ from its base, and the commits that nothing else keeps.

use std::collections::BTreeSet;

use super::{Rescue, Staged};
use crate::changes::{Change, ChangeKind};
use crate::error::Error;
use crate::id::ObjectId;
use crate::path::RepoPath;
use crate::repo::Repo;

/// One file of a rescue that its base does not have like this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescued {
    /// What differs; [`Change::new`] is what the rescue has.
    pub change: Change,
    /// Whether git did not track the file; `None` if the rescue does not tell what was staged.
    pub untracked: Option<bool>,
}

impl Rescue {
    /// Returns the part of a name that says which rescue it is: `<workflow>/<task>/<n>`, as in the ref.
    pub fn short_name(&self) -> &str {
        let prefix = super::name::PREFIX;
        self.name.strip_prefix(prefix).unwrap_or(&self.name)
    }
}

impl Repo {
    /// Returns the files of a rescue that differ from the commit it was made on, by path.
    ///
    /// While there was no commit yet, that is every file. A move is a deletion and an addition. The
    /// rescue has files as they were on the disk, so one that git converts on its way there (line
    /// ends, filters) differs from its base. Nothing is written, not even an object.
    pub fn rescued(&self, rescue: &Rescue) -> Result<Vec<Rescued>, Error> {
        let base = match &rescue.head {
            Some(head) => head.clone(),
            None => self.id_of_empty_tree()?,
        };
        let changes = self.between(&base, &rescue.tree)?;
        let staged = self.staged_in(rescue, &base, &changes)?;
        let untracked = |change: &Change| match change.kind {
            ChangeKind::Added => Some(!staged.as_ref()?.contains(&change.path)),
            ChangeKind::Modified
            | ChangeKind::Deleted
            | ChangeKind::Renamed { .. }
            | ChangeKind::TypeChanged => Some(false),
        };
        Ok(changes
            .into_iter()
            .map(|change| Rescued {
                untracked: untracked(&change),
                change,
            })
            .collect())
    }

    /// Returns the paths that the index had otherwise than the base, if the rescue tells.
    fn staged_in(
        &self,
        rescue: &Rescue,
        base: &ObjectId,
        changes: &[Change],
    ) -> Result<Option<BTreeSet<RepoPath>>, Error> {
        let paths = |changes: &[Change]| changes.iter().map(|change| change.path.clone()).collect();
        Ok(match (rescue.staged, &rescue.index_tree) {
            (Staged::Nothing, _) => Some(BTreeSet::new()),
            (Staged::Everything, _) => Some(paths(changes)),
            (Staged::Apart, Some(index)) => Some(paths(&self.between(base, index)?)),
            (Staged::Apart, None) | (Staged::Untold, _) => None,
        })
    }

    /// Returns the id that a tree without files has, without storing one; git knows it anyway.
    fn id_of_empty_tree(&self) -> Result<ObjectId, Error> {
        let args = ["hash-object", "-t", "tree", "--stdin"];
        self.read().args(args).input(Vec::new()).object_id()
    }
}
