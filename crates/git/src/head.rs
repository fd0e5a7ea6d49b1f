//! Questions about commits: where HEAD is, what a name means, what a commit holds.

use crate::error::Error;
use crate::id::ObjectId;
use crate::path::RepoPath;
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
            (None, None) => Err(Error::Unexpected {
                args: vec!["symbolic-ref".to_owned(), "HEAD".to_owned()],
                dir: self.dir().to_owned(),
                what: "HEAD is neither a branch nor a commit".to_owned(),
            }),
        }
    }

    /// Returns the commit that `rev` names, or `None` if it names none that is here.
    ///
    /// Unlike plain `git rev-parse`, a full id of a commit that does not exist is `None` too.
    pub fn resolve(&self, rev: &str) -> Result<Option<ObjectId>, Error> {
        self.peel(rev, "commit")
    }

    /// Returns the tree of the commit or tree that `rev` names, or `None` if it names none.
    pub fn tree_of(&self, rev: &str) -> Result<Option<ObjectId>, Error> {
        self.peel(rev, "tree")
    }

    /// Whether every commit of `ancestor` is also in `descendant`; a commit is its own ancestor.
    ///
    /// A commit that is not here is an error, not a "no".
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

    /// Returns the bytes of a file in a commit or tree as they are stored, or `None` if there is
    /// no such file (or no such commit). For a symbolic link they are its target.
    pub fn file_at(&self, rev: &str, path: &RepoPath) -> Result<Option<Vec<u8>>, Error> {
        let mut question = format!("{rev}:").into_bytes();
        question.extend_from_slice(path.as_bytes());
        if question.contains(&0) {
            return Ok(None);
        }
        question.push(0);
        self.read()
            .args(["cat-file", "--batch", "-z"])
            .input(question)
            .parsed(parse_blob)
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

/// Takes `refs/heads/` off a branch; a HEAD that points elsewhere keeps its full name.
pub(crate) fn branch_name(full: &[u8]) -> String {
    let name = full.trim_ascii_end();
    let name = name.strip_prefix(b"refs/heads/").unwrap_or(name);
    String::from_utf8_lossy(name).into_owned()
}

/// Reads `<id> blob <size>\n<bytes>\n`; anything that is no blob is no file.
pub(crate) fn parse_blob(output: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let Some((head, rest)) = split_line(output) else {
        return Err("no line".to_owned());
    };
    let words: Vec<&[u8]> = head.split(|byte| *byte == b' ').collect();
    // `<name> missing` may span lines, since the name is repeated as it was given.
    let [id, kind, size] = words.as_slice() else {
        return Ok(None);
    };
    if ObjectId::from_output(id).is_none() || *kind != b"blob" {
        return Ok(None);
    }
    let size: usize = str::from_utf8(size)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| format!("bad size in `{}`", String::from_utf8_lossy(head)))?;
    match rest.get(..size) {
        Some(bytes) => Ok(Some(bytes.to_vec())),
        None => Err(format!("{size} bytes announced, {} there", rest.len())),
    }
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_blob_is_an_error_not_a_short_file() {
        let id = "a".repeat(40);
        let read = |text: String| parse_blob(text.as_bytes());
        assert_eq!(
            read(format!("{id} blob 3\nabc\n")),
            Ok(Some(b"abc".to_vec()))
        );
        assert_eq!(read(format!("{id} blob 0\n\n")), Ok(Some(Vec::new())));
        assert_eq!(read("HEAD:x missing\n".to_owned()), Ok(None));
        assert_eq!(read(format!("{id} tree 3\nabc\n")), Ok(None));
        assert!(read(format!("{id} blob 9\nabc")).is_err());
        assert!(read(String::new()).is_err());
    }
}
