//! Files that are written whole: replaced as they were read, created where nothing was, or removed.
//!
//! Both write a temporary file in the same folder, sync it, give it the name in one step, and sync the
//! folder. After a crash at any instant, a power cut included, the file is either old or new; at worst
//! a temporary file is left, which a later write in that folder removes.
//!
//! A file that is a link or has a second name is not replaced: it may be somebody else's. Mode, owner
//! and extended attributes are kept. Paths are taken as they are: see [`confine`](crate::confine()).

use std::fs::File;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::NamedTempFile;

use crate::confine::resolve;
use crate::disk::{self, Taken};
use crate::error::At as _;
use crate::folder::{ensure_dir, parent, sync_parent};
use crate::{Content, Error, GuardedFile, attributes, sole, temporary};

/// What a new file may be at most; the umask takes away from it, as for any file.
const NEW_FILE_MODE: u32 = 0o644;
/// What a file is that nobody else may look into.
const PRIVATE_MODE: u32 = 0o600;

/// Replaces the contents of a file that still is what the caller read, durably and in one step.
///
/// After a crash the file is either old or new. Mode, extended attributes and, as far as the system
/// lets us, owner are kept. With [`Content::Absent`] the file is made, in a folder that must exist.
///
/// Gives [`Error::Link`] for a link and [`Error::SeveralNames`] for a file that has a second name.
/// Gives [`Error::Changed`], and leaves everything as it is, when the file is not `expected`. That is
/// looked at as late as possible, just before the new file gets the name. A writer that does not take
/// our lock can still slip in between those two system calls; for a file that was absent it cannot.
/// After an error in the last step, syncing the folder, the file is new but may be old after a crash.
pub fn replace(path: &Utf8Path, expected: &Content, new: &[u8]) -> Result<(), Error> {
    replace_at(target(path)?, expected, new)
}

/// Replaces a file as [`replace`] does, but follows links: the file they lead to is replaced.
///
/// For files whose place is the user's own choice, such as settings in the home that are links into
/// a folder under version control.
pub fn replace_followed(path: &Utf8Path, expected: &Content, new: &[u8]) -> Result<(), Error> {
    replace_at(resolve(path)?, expected, new)
}

fn replace_at(target: Utf8PathBuf, expected: &Content, new: &[u8]) -> Result<(), Error> {
    let old = GuardedFile::open(&target)?.map(GuardedFile::into_file);
    if let Some(old) = &old {
        sole::check(&old.metadata().at("look at", &target)?, &target)?;
    }
    temporary::sweep(parent(&target));
    let temporary = write_temporary(&target, new, old.as_ref(), NEW_FILE_MODE)?;

    if !expected.is_at(&target)? {
        return Err(Error::Changed { path: target });
    }
    let taken = match expected {
        Content::Present(_) => Taken::IsReplaced,
        Content::Absent => Taken::IsAnError,
    };
    match disk::place(temporary, target.as_std_path(), taken) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Error::Changed { path: target })
        }
        Err(error) => Err(error).at("replace", &target),
        Ok(()) => sync_parent(&target),
    }
}

/// Returns the path with its folder resolved and its last part as it is.
fn target(path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let Some(name) = path.file_name() else {
        return Err(Error::NotAFile {
            path: path.to_owned(),
        });
    };
    Ok(resolve(parent(path))?.join(name))
}

/// Creates a file with these contents where nothing is, durably; missing folders are made.
///
/// The file appears whole: nobody ever sees it empty or half. It gets its name by a rename that does
/// not overwrite, or where the file system has none, by a hard link, which does not either. Gives
/// [`Error::Exists`] when something has the name, be it a link that leads nowhere.
pub fn create(path: &Utf8Path, bytes: &[u8]) -> Result<(), Error> {
    create_with(path, bytes, NEW_FILE_MODE)
}

/// Creates a file as [`create`] does that only its owner can read, from its first byte on.
pub fn create_private(path: &Utf8Path, bytes: &[u8]) -> Result<(), Error> {
    create_with(path, bytes, PRIVATE_MODE)
}

fn create_with(path: &Utf8Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let target = target(path)?;
    let folder = parent(&target);
    ensure_dir(folder)?;
    if target.symlink_metadata().is_ok() {
        return Err(Error::Exists { path: target });
    }
    temporary::sweep(folder);
    let temporary = write_temporary(&target, bytes, None, mode)?;
    match disk::place(temporary, target.as_std_path(), Taken::IsAnError) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Error::Exists { path: target })
        }
        Err(error) => Err(error).at("create", &target),
        Ok(()) => sync_parent(&target),
    }
}

/// Removes a file that still is what the caller read; one that is gone already is no error.
///
/// A link is not followed and not removed: [`Error::Link`].
pub fn remove(path: &Utf8Path, expected: &Content) -> Result<(), Error> {
    if GuardedFile::open(path)?.is_none() {
        return Ok(());
    }
    if !expected.is_at(path)? {
        return Err(Error::Changed {
            path: path.to_owned(),
        });
    }
    disk::remove_file(path.as_std_path()).at("remove", path)?;
    sync_parent(path)
}

/// Writes the contents next to the target and syncs them, with the rights of the file it replaces.
fn write_temporary(
    target: &Utf8Path,
    bytes: &[u8],
    old: Option<&File>,
    new_mode: u32,
) -> Result<NamedTempFile, Error> {
    // A replacement is private until it has its final mode: the old file may be a secret.
    let mode = if old.is_some() {
        PRIVATE_MODE
    } else {
        new_mode
    };
    let temporary =
        temporary::create_in(parent(target), mode).at("make a temporary file beside", target)?;
    disk::write_all(temporary.as_file(), bytes).at("write a temporary file beside", target)?;
    if let Some(old) = old {
        attributes::keep(temporary.as_file(), old).at("keep the mode of", target)?;
    }
    disk::sync(temporary.as_file()).at("sync a temporary file beside", target)?;
    Ok(temporary)
}

#[cfg(test)]
#[path = "replace_tests.rs"]
mod tests;
