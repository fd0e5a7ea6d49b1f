//! Merging without a worktree.

use crate::error::Error;
use crate::id::ObjectId;
use crate::path::{RepoPath, records};
use crate::repo::Repo;

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The merged tree.
    Clean(ObjectId),
    /// The paths with conflicts.
    Conflicts(Vec<RepoPath>),
}

impl Repo {
    /// Merges two commits over their common base; no ref, index or worktree is changed.
    pub fn merge(&self, ours: &ObjectId, theirs: &ObjectId) -> Result<Merge, Error> {
        let call = self.write().args([
            "merge-tree",
            "--write-tree",
            "-z",
            "--name-only",
            "--no-messages",
            ours.as_str(),
            theirs.as_str(),
        ]);
        let (clean, output) = call.found()?;
        let mut parts = records(&output);
        let tree = parts.next().and_then(ObjectId::from_output);
        match (clean, tree) {
            (true, Some(tree)) => Ok(Merge::Clean(tree)),
            (false, Some(_)) => Ok(Merge::Conflicts(parts.map(RepoPath::new).collect())),
            (_, None) => {
                let what = "no tree was printed";
                Err(Error::unexpected(&["merge-tree"], self.dir(), what))
            }
        }
    }
}
