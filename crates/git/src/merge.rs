//! Merging without a worktree: what would come of it, as a tree.

use crate::error::Error;
use crate::id::ObjectId;
use crate::path::RepoPath;
use crate::repo::Repo;

/// What a merge of two commits comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// They fit; this is the tree.
    Clean(ObjectId),
    /// They do not fit at these paths.
    Conflicts(Vec<RepoPath>),
}

impl Repo {
    /// Merges two commits over their common base; no ref, index or worktree is touched.
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
        let mut parts = output
            .split(|&byte| byte == 0)
            .filter(|part| !part.is_empty());
        let tree = parts.next().and_then(ObjectId::from_output);
        match (clean, tree) {
            (true, Some(tree)) => Ok(Merge::Clean(tree)),
            (false, Some(_)) => Ok(Merge::Conflicts(
                parts.map(|path| RepoPath::new(path.to_vec())).collect(),
            )),
            (_, None) => Err(Error::Unexpected {
                args: vec!["merge-tree".to_owned()],
                dir: self.dir().to_owned(),
                what: "no tree was printed".to_owned(),
            }),
        }
    }
}
