//! Brings a worktree that was used before to a commit, and touches only what differs.
//!
//! Whoever used it may have left anything in its own git folder: a rebase in progress, hidden
//! files, an index that is none. So that folder is first reduced to what git needs, and the index
//! that [`OwnWorktree::keep_index`] kept takes the place of the one that is there. It describes the
//! files as they were checked out, so git compares times and sizes and reads only changed files.

#![expect(
    clippy::disallowed_methods,
    reason = "files of git's own in a worktree's git folder, each after a crash point"
)]

use std::fs;
use std::io;
use std::path::Path;

use camino::Utf8Path;
use rekindle_fs::{Fingerprint, GuardedFile};

use crate::abandoned;
use crate::brought::BROUGHT;
use crate::changes::{Change, ChangeKind};
use crate::error::Error;
use crate::head_name;
use crate::id::ObjectId;
use crate::own::OwnWorktree;
use crate::repo::Layout;
use crate::sparse::{self, Sparse};

/// The kept index, a second name of the index that git wrote.
const KEPT: &str = "rekindle-index";
/// What git needs in a worktree's own folder. Everything else belongs to work that was begun there.
const NEEDED: [&str; 10] = [
    "HEAD",
    "commondir",
    "gitdir",
    "index",
    KEPT,
    "locked",
    "modules",
    "refs",
    "reftable",
    BROUGHT,
];
/// The settings of one worktree, which a sparse checkout writes.
const SETTINGS: [&str; 2] = ["config.worktree", sparse::FILE];
/// The largest index; a million files have about 100 MB.
const LARGEST_INDEX: u64 = 1 << 30;
/// The largest file of settings.
const LARGEST_SETTINGS: u64 = 16 << 20;
/// Settings that would make an index depend on other files, or leave out what proves it whole.
const PLAIN_INDEX: [&str; 3] = [
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "index.skipHash=false",
];

impl OwnWorktree {
    /// Sets HEAD, index and all files that git does not ignore to `commit`; ignored files and
    /// repositories inside the worktree stay. Save first what must not be lost.
    ///
    /// `index` is what [`OwnWorktree::keep_index`] returned, and `settings` what
    /// [`OwnWorktree::settings`] returned then. With `sparse`, only these folders have files, and the
    /// folders above them.
    pub fn bring_to(
        &self,
        commit: &ObjectId,
        index: Option<&Fingerprint>,
        settings: Option<&Fingerprint>,
        sparse: &[String],
    ) -> Result<(), Error> {
        self.verify()?;
        self.restore_settings(settings)?;
        let sparse = self.write_sparse(sparse)?;
        let is_kept = self.restore_index(index)?;
        self.tidy(is_kept)?;
        // A reset would move a branch that is checked out.
        let head = head_name::text(&self.git_dir().join("HEAD")).unwrap_or_default();
        if ObjectId::parse(head.trim_ascii_end()).is_err() {
            self.detach(commit)?;
        }
        let args = ["reset", "--quiet", "--hard", commit.as_str(), "--"];
        self.verify()?;
        let reset = self.repo().write().args(args);
        let settings = PLAIN_INDEX.iter().chain(sparse.settings());
        settings
            .fold(reset, |call, name| call.setting(*name))
            .done()?;
        if sparse == Sparse::Ending {
            remove(&self.git_dir().join(sparse::FILE))?;
        }
        self.clean(&[])
    }

    /// Removes the files that these changes add and that a commit has. git may ignore them: then
    /// [`OwnWorktree::bring_to`] would leave them for the next task, whose commit does not have them.
    pub fn remove_added(&self, changes: &[Change]) -> Result<(), Error> {
        self.verify()?;
        let added = changes
            .iter()
            .filter(|change| change.kind == ChangeKind::Added);
        for path in added.map(|change| change.path.as_path()) {
            let mut above = path.ancestors().skip(1);
            // Behind a link is somebody else's folder.
            let is_inside = above.all(|folder| is_folder(&self.path().as_std_path().join(folder)));
            let file = self.path().as_std_path().join(path);
            if is_inside && file.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
                rekindle_fault::change("git-remove-added")
                    .and_then(|()| fs::remove_file(&file))
                    .map_err(Error::prepare(self.path()))?;
            }
        }
        Ok(())
    }

    /// Keeps the index as it is now for the next [`OwnWorktree::bring_to`], and returns its
    /// fingerprint.
    ///
    /// git replaces its index and never writes into it, so a second name is enough.
    pub fn keep_index(&self) -> Result<Fingerprint, Error> {
        self.verify()?;
        let (index, kept) = (self.git_dir().join("index"), self.git_dir().join(KEPT));
        second_name(&index, &kept)?;
        fingerprint(&kept, LARGEST_INDEX)?.ok_or_else(|| {
            let gone = io::Error::other("the index is missing");
            Error::prepare(&kept)(gone)
        })
    }

    /// Returns the fingerprint of the settings that only this worktree has; `None` if it has none.
    pub fn settings(&self) -> Result<Option<Fingerprint>, Error> {
        let mut all = Vec::new();
        for name in SETTINGS {
            if let Some(bytes) = read(&self.git_dir().join(name), LARGEST_SETTINGS)? {
                all.extend_from_slice(name.as_bytes());
                all.push(0);
                all.extend_from_slice(&bytes);
                all.push(0);
            }
        }
        Ok((!all.is_empty()).then(|| Fingerprint::of(&all)))
    }

    /// Returns whether the worktree is locked, as `git worktree lock` does.
    pub fn is_locked(&self) -> bool {
        self.git_dir().join("locked").symlink_metadata().is_ok()
    }

    /// Refuses a worktree with repositories or changed submodules in it, which no rescue contains.
    pub fn refuse_nested(&self) -> Result<(), Error> {
        self.verify()?;
        self.repo().refuse_nested()
    }

    /// Returns where everything of this worktree is, without asking git.
    pub(crate) fn layout(&self, of_the_same_length: &ObjectId) -> Layout {
        let object_format = match of_the_same_length.as_str().len() {
            40 => "sha1",
            _ => "sha256",
        };
        Layout {
            top_level: self.path().to_owned(),
            git_dir: self.git_dir().to_owned(),
            common_dir: self.common_dir().to_owned(),
            object_format: object_format.to_owned(),
        }
    }

    /// Takes away settings that were not there; other changes of them cannot be undone.
    fn restore_settings(&self, known: Option<&Fingerprint>) -> Result<(), Error> {
        if self.settings()?.as_ref() == known {
            return Ok(());
        }
        if known.is_some() {
            return Err(self.changed("its settings have changed"));
        }
        for name in SETTINGS {
            remove(&self.git_dir().join(name))?;
        }
        Ok(())
    }

    /// Puts the kept index in the place of the index, if it is the one that was kept.
    fn restore_index(&self, known: Option<&Fingerprint>) -> Result<bool, Error> {
        let (index, kept) = (self.git_dir().join("index"), self.git_dir().join(KEPT));
        let is_known =
            |known| fingerprint(&kept, LARGEST_INDEX).is_ok_and(|now| now == Some(known));
        if known.copied().is_some_and(is_known) {
            return second_name(&kept, &index).map(|()| true);
        }
        // Files that an unknown index hides would stay as they are: git writes all of them anew.
        remove(&index)?;
        remove(&kept).map(|()| false)
    }

    /// Removes what git does not need from the worktree's own git folder.
    fn tidy(&self, keeps_index: bool) -> Result<(), Error> {
        abandoned::break_locks_in(self.git_dir())?;
        let names = self.git_dir().read_dir_utf8();
        for entry in names.map_err(Error::prepare(self.git_dir()))? {
            let entry = entry.map_err(Error::prepare(self.git_dir()))?;
            let name = entry.file_name();
            let is_needed = NEEDED.contains(&name) && (keeps_index || name != KEPT);
            if !is_needed
                && !SETTINGS
                    .iter()
                    .any(|kept| kept.split('/').next() == Some(name))
            {
                remove(entry.path())?;
            }
        }
        let refs = self.git_dir().join("refs");
        if refs.is_dir() {
            for entry in refs.read_dir_utf8().map_err(Error::prepare(&refs))? {
                remove(entry.map_err(Error::prepare(&refs))?.path())?;
            }
        }
        Ok(())
    }
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

fn fingerprint(path: &Utf8Path, limit: u64) -> Result<Option<Fingerprint>, Error> {
    Ok(read(path, limit)?.map(|bytes| Fingerprint::of(&bytes)))
}

pub(crate) fn read(path: &Utf8Path, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    let failed = |source| Error::Prepare {
        path: path.as_std_path().to_owned(),
        source: io::Error::other(source),
    };
    let file = GuardedFile::open(path).map_err(failed)?;
    file.map(|file| file.bytes(limit))
        .transpose()
        .map_err(failed)
}

/// Gives a file a second name, in the place of whatever has it.
fn second_name(from: &Utf8Path, to: &Utf8Path) -> Result<(), Error> {
    let draft = to.with_extension("rekindle");
    let linked = rekindle_fault::growth("git-keep-index")
        .and_then(|()| remove_any(&draft))
        .and_then(|()| fs::hard_link(from, &draft))
        .and_then(|()| fs::rename(&draft, to))
        // With two names of one file a rename does nothing.
        .and_then(|()| remove_any(&draft));
    linked.map_err(Error::prepare(to))
}

pub(crate) fn remove(path: &Utf8Path) -> Result<(), Error> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    rekindle_fault::change("git-tidy")
        .and_then(|()| remove_any(path))
        .map_err(Error::prepare(path))
}

fn remove_any(path: &Utf8Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
