//! Where the repository says that a worktree is, brought up to date file by file.
//!
//! `git worktree repair` is not used: besides the path that it is given, it rewrites the `.git` file
//! at every registered path. In a copy of a project those paths are in the original.

#![expect(
    clippy::disallowed_methods,
    reason = "two small files of git's own, each behind its place; `git` does not know `fs`"
)]

use std::fs;
use std::io::{self, Write as _};

use camino::Utf8Path;

use crate::error::Error;
use crate::own::{OwnWorktree, names};
use crate::repo::Repo;

impl OwnWorktree {
    /// Says in the repository that the worktree is at `path`, where its folder is moved next.
    ///
    /// Afterwards this is not a verified worktree until the folder is there.
    pub fn register_at(self, path: &Utf8Path) -> Result<(), Error> {
        self.verify()?;
        let file = self.git_dir().join("gitdir");
        let draft = self.git_dir().join("gitdir.rekindle");
        let written = rekindle_fault::growth("git-register")
            .and_then(|()| write(&draft, &format!("{path}/.git\n")))
            .and_then(|()| fs::rename(&draft, &file));
        written.map_err(|source| prepare(&file, source))
    }
}

impl Repo {
    /// Gives a worktree its `.git` file back, if the repository has one at exactly this path and the
    /// folder has no `.git` at all; returns whether it did.
    ///
    /// git removes that file first when it removes a worktree, and may be killed then.
    pub fn rejoin_worktree(&self, path: &Utf8Path) -> Result<bool, Error> {
        let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let link = path.join(".git");
        if !is_folder || link.symlink_metadata().is_ok() {
            return Ok(false);
        }
        let registry = self.common_dir()?.join("worktrees");
        let entries = registry.read_dir_utf8();
        let entries = entries.map_err(|source| prepare(&registry, source))?;
        let Ok(real) = path.canonicalize_utf8() else {
            return Ok(false);
        };
        let mut folders = entries.filter_map(|entry| Some(entry.ok()?.into_path()));
        let Some(git_dir) = folders.find(|git_dir| names(git_dir, &real)) else {
            return Ok(false);
        };
        rekindle_fault::growth("git-rejoin")
            .and_then(|()| write(&link, &format!("gitdir: {git_dir}\n")))
            .map_err(|source| prepare(&link, source))?;
        Ok(true)
    }
}

/// Writes a file that must not be there, unless it is a draft of ours from before a crash.
fn write(path: &Utf8Path, text: &str) -> io::Result<()> {
    if path.extension() == Some("rekindle") && path.symlink_metadata().is_ok() {
        fs::remove_file(path)?;
    }
    let mut file = fs::File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn prepare(path: &Utf8Path, source: io::Error) -> Error {
    Error::Prepare {
        path: path.as_std_path().to_owned(),
        source,
    }
}
