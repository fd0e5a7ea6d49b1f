//! Files that are written as a whole: replaced, created or removed.
//!
//! A temporary file in the same folder is written, synced and renamed, and the folder is synced.
//! After a crash the file is either old or new; a leftover temporary file is removed by a later
//! write in that folder. Links and files with a second name are not replaced. Mode, owner and
//! extended attributes are kept. Callers check paths: see [`confine`](crate::confine()).

use std::fs::{File, OpenOptions};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::NamedTempFile;

use crate::confine::resolve;
use crate::disk::{self, Taken};
use crate::error::At as _;
use crate::folder::{ensure_dir, parent, sync_parent};
use crate::{Content, Error, GuardedFile, attributes, sole, temporary};

/// The mode of a new file, before the umask.
const NEW_FILE_MODE: u32 = 0o644;
/// The mode of a file that only its owner may read.
const PRIVATE_MODE: u32 = 0o600;

/// Replaces a file that still is what the caller read, durably and in one step.
///
/// With [`Content::Absent`] the file is created, in a folder that must exist. Gives [`Error::Link`]
/// for a link, [`Error::SeveralNames`] for a file with a second name, and [`Error::Changed`] when
/// the file is not `expected`; nothing is changed then. That is checked just before the rename, so
/// a writer without our lock can slip in between the two, except where the file was absent. After
/// an error in the last step, syncing the folder, the file is new but may be old after a crash.
pub fn replace(path: &Utf8Path, expected: &Content, new: &[u8]) -> Result<(), Error> {
    replace_at(target(path)?, expected, new)
}

/// Replaces a file as [`replace`] does, but follows links, as for settings in the home folder that
/// are links into a version-controlled folder.
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
        return Err(Error::Changed(target));
    }
    let taken = match expected {
        Content::Present(_) => Taken::IsReplaced,
        Content::Absent => Taken::IsAnError,
    };
    match disk::place(temporary, target.as_std_path(), taken) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Changed(target)),
        Err(error) => Err(error).at("replace", &target),
        Ok(()) => sync_parent(&target),
    }
}

/// Returns the path with its folder resolved.
fn target(path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let Some(name) = path.file_name() else {
        return Err(Error::NotAFile(path.to_owned()));
    };
    Ok(resolve(parent(path))?.join(name))
}

/// Creates a file and its missing folders durably; the file appears with its whole contents.
///
/// Gives [`Error::Exists`] when the name is taken, even by a dangling link.
pub fn create(path: &Utf8Path, bytes: &[u8]) -> Result<(), Error> {
    create_with(path, bytes, NEW_FILE_MODE)
}

/// Creates a file as [`create`] does that only its owner can ever read.
pub fn create_private(path: &Utf8Path, bytes: &[u8]) -> Result<(), Error> {
    create_with(path, bytes, PRIVATE_MODE)
}

fn create_with(path: &Utf8Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let target = target(path)?;
    let folder = parent(&target);
    ensure_dir(folder)?;
    if target.symlink_metadata().is_ok() {
        return Err(Error::Exists(target));
    }
    temporary::sweep(folder);
    let temporary = write_temporary(&target, bytes, None, mode)?;
    match disk::place(temporary, target.as_std_path(), Taken::IsAnError) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Exists(target)),
        Err(error) => Err(error).at("create", &target),
        Ok(()) => sync_parent(&target),
    }
}

/// Whether a write has to be on the disk when the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It has to be.
    Synced,
    /// It need not: the old contents are fine after a crash.
    Lazy,
}

/// Writes a file in its place, with one sync at most; the folder must exist.
///
/// A crash can leave a part of it, so a reader has to check a seal, and take a file without one for
/// a missing one. Gives [`Error::Link`] for a link, and [`Error::SeveralNames`] for a file with a
/// second name.
pub fn write_sealed(path: &Utf8Path, text: &str, durability: Durability) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let is_new = path.symlink_metadata().is_err();
    let file = sole::open_to_write(&mut options, path, disk::open)?;
    disk::overwrite(&file, text.as_bytes()).at("write", path)?;
    if durability == Durability::Synced {
        disk::sync_data(&file).at("sync", path)?;
        if is_new {
            sync_parent(path)?;
        }
    }
    Ok(())
}

/// Removes a file that still is what the caller read; a missing one is fine, a link is
/// [`Error::Link`].
pub fn remove(path: &Utf8Path, expected: &Content) -> Result<(), Error> {
    if GuardedFile::open(path)?.is_none() {
        return Ok(());
    }
    if !expected.is_at(path)? {
        return Err(Error::Changed(path.to_owned()));
    }
    disk::remove_file(path.as_std_path()).at("remove", path)?;
    sync_parent(path)
}

/// Writes and syncs a temporary file next to the target, with the mode of the file it replaces.
fn write_temporary(
    target: &Utf8Path,
    bytes: &[u8],
    old: Option<&File>,
    new_mode: u32,
) -> Result<NamedTempFile, Error> {
    // A replacement is private until it has its final mode: the old file may be a secret.
    let mode = old.map_or(new_mode, |_| PRIVATE_MODE);
    let temporary =
        temporary::create_in(parent(target), mode).at("make a temporary file next to", target)?;
    disk::write_all(temporary.as_file(), bytes).at("write a temporary file next to", target)?;
    if let Some(old) = old {
        attributes::keep(temporary.as_file(), old).at("keep the mode of", target)?;
    }
    disk::sync(temporary.as_file()).at("sync a temporary file next to", target)?;
    Ok(temporary)
}

#[cfg(test)]
#[path = "replace_tests.rs"]
mod tests;
