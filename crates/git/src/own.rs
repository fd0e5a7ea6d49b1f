//! A verified linked worktree: the only thing whose HEAD, index and files can be changed.
//!
//! An agent can write anything into its worktree, including a `.git` that leads to the user's own
//! repository. So [`OwnWorktree::open`] compares both ends: `.git` must name a folder in
//! `worktrees` of the expected repository, and that folder must name exactly this path. Every
//! method checks again before it runs git, which gets the folder explicitly, so that an exchanged
//! `.git` has no effect.
//!
//! Nothing here saves anything: call [`Repo::rescue`] first.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use camino::{Utf8Path, Utf8PathBuf};

use crate::abandoned;
use crate::error::Error;
use crate::head_name;
use crate::id::ObjectId;
use crate::path::RepoPath;
use crate::program::Program;
use crate::repo::Repo;

/// Files of a worktree's git folder that git would write through a link.
const WRITTEN: [&str; 8] = [
    "HEAD",
    "ORIG_HEAD",
    "index",
    "logs",
    "logs/HEAD",
    "refs",
    "config.worktree",
    "locked",
];

/// A linked worktree of a repository, at its registered path.
#[derive(Clone, Debug)]
pub struct OwnWorktree {
    /// Runs git with the worktree's own git folder, whatever `.git` says.
    repo: Repo,
    common_dir: Utf8PathBuf,
    git_dir: Utf8PathBuf,
}

impl OwnWorktree {
    /// Verifies that `path` is the top of a linked worktree of the repository with this shared
    /// folder, else [`Error::NotOurWorktree`]. Only reads files.
    pub fn open(program: &Program, common_dir: &Utf8Path, path: &Utf8Path) -> Result<Self, Error> {
        let git_dir = verify(common_dir, path)?;
        Ok(Self {
            repo: Repo::pinned(program, path, &git_dir),
            common_dir: common_dir.to_owned(),
            git_dir,
        })
    }

    /// Returns the worktree for questions, snapshots and rescues.
    pub fn repo(&self) -> &Repo {
        &self.repo
    }

    /// Returns the folder of the worktree.
    pub fn path(&self) -> &Utf8Path {
        self.repo.dir()
    }

    /// Returns the worktree's own folder in the repository.
    pub(crate) fn git_dir(&self) -> &Utf8Path {
        &self.git_dir
    }

    /// Returns the folder that all worktrees of the repository share.
    pub(crate) fn common_dir(&self) -> &Utf8Path {
        &self.common_dir
    }

    /// Returns the error of a worktree that is not what it was.
    pub(crate) fn changed(&self, what: &str) -> Error {
        not_ours(self.path(), what)
    }

    /// Removes the locks that a killed git left; the last user must be gone.
    pub fn break_locks(&self) -> Result<(), Error> {
        self.verify()?;
        abandoned::break_locks_in(&self.git_dir)
    }

    /// Detaches HEAD at a commit; index and files stay.
    pub fn detach(&self, commit: &ObjectId) -> Result<(), Error> {
        self.verify()?;
        self.repo
            .write()
            .args(["update-ref", "--no-deref", "HEAD", commit.as_str()])
            .done()
    }

    /// Sets HEAD (and the branch it is on), the index and all tracked files to `commit`.
    pub fn reset_hard(&self, commit: &ObjectId) -> Result<(), Error> {
        self.verify()?;
        self.repo
            .write()
            .args(["reset", "--quiet", "--hard", commit.as_str(), "--"])
            .done()
    }

    /// Deletes all untracked files, except ignored ones, repositories, and those in `keep`.
    pub fn clean(&self, keep: &[RepoPath]) -> Result<(), Error> {
        self.verify()?;
        // Not as excluding pathspecs: with those, git 2.47 deletes an untracked folder with a file
        // to keep in it.
        let keep = keep
            .iter()
            .flat_map(|path| [OsString::from("-e"), pattern(path)]);
        // One `-f` only: with two, git would delete repositories inside the worktree.
        self.repo
            .write()
            .args(["clean", "--quiet", "-f", "-d"])
            .args(keep)
            .done()
    }

    /// Checks again that the worktree is what it was when it was opened.
    pub fn verify(&self) -> Result<(), Error> {
        let found = verify(&self.common_dir, self.path())?;
        if found == self.git_dir {
            Ok(())
        } else {
            Err(not_ours(self.path(), "its `.git` has changed"))
        }
    }
}

/// Returns the worktree's own folder in the repository, if both name each other.
fn verify(common_dir: &Utf8Path, path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let refuse = |what: &str| not_ours(path, what);
    let is_folder = |path: &Utf8Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
    if !is_folder(path) {
        return Err(refuse("it is not a folder"));
    }
    let (Ok(real), Ok(common)) = (path.canonicalize_utf8(), common_dir.canonicalize_utf8()) else {
        return Err(refuse("its path cannot be resolved"));
    };
    let Some(link) = read_link(&real.join(".git")) else {
        return Err(refuse("its `.git` is not a file that names a repository"));
    };
    let Some(named) = link.strip_prefix("gitdir:") else {
        return Err(refuse("its `.git` does not name a repository"));
    };
    let named = real.join(named.trim_start());
    let registry = common.join("worktrees");
    let above = named
        .parent()
        .and_then(|above| above.canonicalize_utf8().ok());
    let Some(name) = named
        .file_name()
        .filter(|_| above.as_ref() == Some(&registry))
    else {
        return Err(refuse("its `.git` leads elsewhere"));
    };
    let git_dir = registry.join(name);
    if !is_folder(&registry) || !is_folder(&git_dir) {
        return Err(refuse("the repository does not have it"));
    }
    if !names(&git_dir, &real) {
        return Err(refuse("the repository has it at another path"));
    }
    let shared = read_link(&git_dir.join("commondir"));
    let shared = shared.and_then(|shared| git_dir.join(shared).canonicalize_utf8().ok());
    if shared != Some(common) {
        return Err(refuse("its git folder shares another repository"));
    }
    for name in WRITTEN {
        let Ok(found) = git_dir.join(name).symlink_metadata() else {
            continue;
        };
        if found.is_symlink() {
            return Err(refuse(&format!("`{name}` in its git folder is a link")));
        }
        // git would wait for somebody at the other end of a pipe.
        if !found.is_file() && !found.is_dir() {
            return Err(refuse(&format!("`{name}` in its git folder is not a file")));
        }
    }
    Ok(git_dir)
}

/// Returns whether a git folder names this path without links as its worktree.
pub(crate) fn names(git_dir: &Utf8Path, real: &Utf8Path) -> bool {
    let Some(back) = read_link(&git_dir.join("gitdir")) else {
        return false;
    };
    let back = Utf8Path::new(&back);
    if back.is_absolute() {
        // As text: a link in between could lead both ends to another folder.
        return back == real.join(".git");
    }
    // With `worktree.useRelativePaths`.
    let above = git_dir.join(back);
    let above = above
        .parent()
        .and_then(|above| above.canonicalize_utf8().ok());
    back.file_name() == Some(".git") && above.as_deref() == Some(real)
}

/// Reads a file with one path; `None` if it is not an ordinary file.
fn read_link(path: &Utf8Path) -> Option<String> {
    let text = head_name::text(path)?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}

fn not_ours(dir: &Utf8Path, what: &str) -> Error {
    Error::NotOurWorktree {
        dir: dir.to_owned(),
        what: what.to_owned(),
    }
}

/// Returns an ignore pattern that matches only this path.
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
