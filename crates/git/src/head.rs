//! HEAD and names of commits.

use crate::error::Error;
use crate::id::ObjectId;
use crate::repo::Repo;

/// What HEAD points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch is checked out.
    Branch {
        /// Its name without `refs/heads/`.
        name: String,
        /// Its commit; `None` while the branch is unborn.
        commit: Option<ObjectId>,
    },
    /// A commit is checked out without a branch.
    Detached {
        /// The commit.
        commit: ObjectId,
    },
}

impl Head {
    /// Returns the commit, if there is one yet.
    pub fn commit(&self) -> Option<&ObjectId> {
        match self {
            Self::Branch { commit, .. } => commit.as_ref(),
            Self::Detached { commit } => Some(commit),
        }
    }

    /// Returns the branch's name without `refs/heads/`, if one is checked out.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Branch { name, .. } => Some(name),
            Self::Detached { .. } => None,
        }
    }
}

impl Repo {
    /// Returns what HEAD points at.
    pub fn head(&self) -> Result<Head, Error> {
        let branch = self
            .read()
            .args(["symbolic-ref", "--quiet", "HEAD"])
            .answer()?;
        let commit = self.resolve("HEAD")?;
        match (branch, commit) {
            (Some(line), commit) => Ok(Head::Branch {
                name: branch_name(&line),
                commit,
            }),
            (None, Some(commit)) => Ok(Head::Detached { commit }),
            (None, None) => {
                let what = "HEAD is neither a branch nor a commit";
                Err(Error::unexpected(
                    &["symbolic-ref", "HEAD"],
                    self.dir(),
                    what,
                ))
            }
        }
    }

    /// Returns the commit that `rev` names, or `None` if there is none, even for a full id.
    pub fn resolve(&self, rev: &str) -> Result<Option<ObjectId>, Error> {
        self.peel(rev, "commit")
    }

    /// Returns the tree of the commit or tree that `rev` names, or `None` if it names none.
    pub fn tree_of(&self, rev: &str) -> Result<Option<ObjectId>, Error> {
        self.peel(rev, "tree")
    }

    /// Returns whether every commit of `ancestor` is also in `descendant`; a missing commit is an
    /// error.
    pub fn is_ancestor(&self, ancestor: &ObjectId, descendant: &ObjectId) -> Result<bool, Error> {
        let args = [
            "merge-base",
            "--is-ancestor",
            ancestor.as_str(),
            descendant.as_str(),
        ];
        Ok(self.read().args(args).answer()?.is_some())
    }

    /// Returns whether a branch of a remote has a commit, as of the last fetch or push.
    pub fn is_on_a_remote(&self, commit: &ObjectId) -> Result<bool, Error> {
        let args = ["for-each-ref", "--count=1", "--contains", commit.as_str()];
        let found = self.read().args(args).args(["refs/remotes/"]).output()?;
        Ok(!found.is_empty())
    }

    /// Returns the id of the tree without files, and makes sure that it is stored.
    pub fn empty_tree(&self) -> Result<ObjectId, Error> {
        self.write().args(["mktree"]).input(Vec::new()).object_id()
    }

    fn peel(&self, rev: &str, kind: &str) -> Result<Option<ObjectId>, Error> {
        if rev.contains('\0') {
            return Ok(None);
        }
        let args = ["rev-parse", "--quiet", "--verify", "--end-of-options"];
        let answer = self
            .read()
            .args(args)
            .args([format!("{rev}^{{{kind}}}")])
            .answer()?;
        Ok(answer.and_then(|line| ObjectId::from_output(line.trim_ascii_end())))
    }
}

/// Removes `refs/heads/` from a branch; a HEAD that points elsewhere keeps its full name.
pub(crate) fn branch_name(full: &[u8]) -> String {
    let name = full.trim_ascii_end();
    let name = name.strip_prefix(b"refs/heads/").unwrap_or(name);
    String::from_utf8_lossy(name).into_owned()
}
