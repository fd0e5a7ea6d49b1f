//! The files in a rescue that differ from its base.

use std::collections::BTreeSet;

use super::{Rescue, Staged};
use crate::changes::{Change, ChangeKind};
use crate::error::Error;
use crate::id::ObjectId;
use crate::path::RepoPath;
use crate::repo::Repo;

/// One file of a rescue that differs from its base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescued {
    /// What differs; [`Change::new`] is what the rescue has.
    pub change: Change,
    /// Whether git did not track the file; `None` if the rescue does not record it.
    pub untracked: Option<bool>,
}

impl Rescue {
    /// Returns `<workflow>/<task>/<n>`, as in the ref.
    pub fn short_name(&self) -> &str {
        let prefix = super::name::PREFIX;
        self.name.strip_prefix(prefix).unwrap_or(&self.name)
    }
}

impl Repo {
    /// Returns the files of a rescue that differ from its commit, by path; without a commit, all
    /// files.
    ///
    /// A move is a deletion and an addition. A rescue has files as they were on the disk, so files
    /// that git converts (line ends, filters) differ. Nothing is written.
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

    /// Returns the paths that were staged, if the rescue records it.
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

    /// Returns the id of the empty tree without storing it.
    fn id_of_empty_tree(&self) -> Result<ObjectId, Error> {
        let args = ["hash-object", "-t", "tree", "--stdin"];
        self.read().args(args).input(Vec::new()).object_id()
    }
}
