//! The registered path of a worktree, updated file by file.
//!
//! `git worktree repair` also rewrites the `.git` file at every other registered path; in a copy of
//! a project those paths are in the original.

#![expect(
    clippy::disallowed_methods,
    reason = "two small files of git's own, each after a crash point"
)]

use std::fs;
use std::io::{self, Write as _};

use camino::Utf8Path;

use crate::error::Error;
use crate::own::{OwnWorktree, names};
use crate::repo::Repo;

impl OwnWorktree {
    /// Registers the worktree at `path`, where its folder is moved next.
    pub fn register_at(self, path: &Utf8Path) -> Result<(), Error> {
        self.verify()?;
        let file = self.git_dir().join("gitdir");
        let draft = self.git_dir().join("gitdir.rekindle");
        let written = rekindle_fault::growth("git-register")
            .and_then(|()| write(&draft, &format!("{path}/.git\n")))
            .and_then(|()| fs::rename(&draft, &file));
        written.map_err(Error::prepare(&file))
    }
}

impl Repo {
    /// Restores the `.git` file of a worktree that the repository has at exactly this path; returns
    /// whether it did.
    ///
    /// git removes that file first when it removes a worktree, and may be killed then.
    pub fn rejoin_worktree(&self, path: &Utf8Path) -> Result<bool, Error> {
        let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let link = path.join(".git");
        if !is_folder || link.symlink_metadata().is_ok() {
            return Ok(false);
        }
        let registry = self.common_dir()?.join("worktrees");
        let entries = match registry.read_dir_utf8() {
            Ok(entries) => entries,
            // git removes it with the last worktree.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Error::prepare(&registry)(error)),
        };
        let Ok(real) = path.canonicalize_utf8() else {
            return Ok(false);
        };
        let mut folders = entries.filter_map(|entry| Some(entry.ok()?.into_path()));
        let Some(git_dir) = folders.find(|git_dir| names(git_dir, &real)) else {
            return Ok(false);
        };
        rekindle_fault::growth("git-rejoin")
            .and_then(|()| write(&link, &format!("gitdir: {git_dir}\n")))
            .map_err(Error::prepare(&link))?;
        Ok(true)
    }
}

/// Writes a new file; only a draft of ours from before a crash is replaced.
fn write(path: &Utf8Path, text: &str) -> io::Result<()> {
    if path.extension() == Some("rekindle") && path.symlink_metadata().is_ok() {
        fs::remove_file(path)?;
    }
    let mut file = fs::File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
