//! The two steps that destroy work. Nothing is saved here: call [`Repo::rescue`] first.
//!
//! Both refuse a folder that is not the top of a worktree. A worktree that lost its `.git` file is
//! otherwise taken for a part of the repository around it, and the damage is done there.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use camino::Utf8Path;

use crate::error::Error;
use crate::id::ObjectId;
use crate::path::RepoPath;
use crate::repo::Repo;

impl Repo {
    /// Takes HEAD off whatever branch it is on and puts it at a commit; index and files stay.
    pub fn detach(&self, commit: &ObjectId) -> Result<(), Error> {
        self.layout_at_top()?;
        self.write()
            .args(["update-ref", "--no-deref", "HEAD", commit.as_str()])
            .output()
            .map(drop)
    }

    /// Checks that this folder is the top of a worktree of the repository with this common folder, and of no other.
    pub fn verify_worktree_of(&self, common_dir: &Utf8Path) -> Result<(), Error> {
        if self.layout_at_top()?.common_dir == common_dir {
            Ok(())
        } else {
            Err(Error::NotARepository {
                dir: self.dir().to_owned(),
            })
        }
    }

    /// Sets HEAD (and the branch it is on), the index and all tracked files to `commit`.
    pub fn reset_hard(&self, commit: &ObjectId) -> Result<(), Error> {
        self.layout_at_top()?;
        self.write()
            .args(["reset", "--quiet", "--hard", commit.as_str(), "--"])
            .output()
            .map(drop)
    }

    /// Deletes all untracked files, except ignored ones, repositories, and those in `keep`.
    pub fn clean(&self, keep: &[RepoPath]) -> Result<(), Error> {
        self.layout_at_top()?;
        // As patterns, not as excluding pathspecs: with those, git 2.47 deletes an untracked folder
        // although a file to be kept is in it.
        let keep = keep
            .iter()
            .flat_map(|path| [OsString::from("-e"), pattern(path)]);
        // One `-f` only: with two, repositories inside the worktree would go as well.
        self.write()
            .args(["clean", "--quiet", "-f", "-d"])
            .args(keep)
            .output()
            .map(drop)
    }
}

/// Writes a path as an ignore pattern that fits it alone.
fn pattern(path: &RepoPath) -> OsString {
    let mut bytes = vec![b'/'];
    for &byte in path.as_bytes() {
        if matches!(byte, b'\\' | b'*' | b'?' | b'[' | b' ') {
            bytes.push(b'\\');
        }
        bytes.push(byte);
    }
    OsString::from_vec(bytes)
}
