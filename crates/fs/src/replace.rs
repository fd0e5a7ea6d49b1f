//! Files that are written whole: replaced as they were read, created where nothing was, or removed.
//!
//! Both write a temporary file in the same folder, sync it, give it the name in one step, and sync the
//! folder. After a crash at any instant, a power cut included, the file is either old or new; at worst
//! a temporary file is left, which a later write in that folder removes.
//!
//! What is not kept by a replacement: hard links (other names keep the old contents), access control
//! lists and extended attributes. Paths are taken as they are: see [`confine`](crate::confine()).

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use camino::Utf8Path;
use tempfile::NamedTempFile;

use crate::confine::resolve;
use crate::disk::{self, Taken};
use crate::error::At as _;
use crate::folder::{ensure_dir, parent, sync_parent};
use crate::{Content, Error, temporary};

/// What a new file may be at most; the umask takes away from it, as for any file.
const NEW_FILE_MODE: u32 = 0o644;

/// Replaces the contents of a file that still is what the caller read, durably and in one step.
///
/// After a crash the file is either old or new. Symbolic links are followed: the file they lead to is
/// replaced and the links stay. Mode and, as far as the system lets us, owner are kept. With
/// [`Content::Absent`] the file is made, in a folder that must exist.
///
/// Gives [`Error::Changed`], and leaves everything as it is, when the file is not `expected`. That is
/// looked at as late as possible, just before the new file gets the name. A writer that does not take
/// our lock can still slip in between those two system calls; for a file that was absent it cannot.
/// After an error in the last step, syncing the folder, the file is new but may be old after a crash.
pub fn replace(path: &Utf8Path, expected: &Content, new: &[u8]) -> Result<(), Error> {
    let target = resolve(path)?;
    let folder = parent(&target);
    let old = match target.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => Some(metadata),
        Ok(_) => return Err(Error::NotAFile { path: target }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error).at("look at", &target),
    };
    temporary::sweep(folder);
    let temporary = write_temporary(&target, new, old.as_ref())?;

    if Content::read(&target)? != *expected {
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

/// Creates a file with these contents where nothing is, durably; missing folders are made.
///
/// The file appears whole: nobody ever sees it empty or half. It gets its name by a rename that does
/// not overwrite, or where the file system has none, by a hard link, which does not either. Gives
/// [`Error::Exists`] when something has the name, be it a link that leads nowhere.
pub fn create(path: &Utf8Path, bytes: &[u8]) -> Result<(), Error> {
    let Some(name) = path.file_name() else {
        return Err(Error::NotAFile {
            path: path.to_owned(),
        });
    };
    let folder = resolve(parent(path))?;
    let target = folder.join(name);
    ensure_dir(&folder)?;
    if target.symlink_metadata().is_ok() {
        return Err(Error::Exists { path: target });
    }
    temporary::sweep(&folder);
    let temporary = write_temporary(&target, bytes, None)?;
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
/// A link is not followed and not removed: [`Error::NotAFile`].
pub fn remove(path: &Utf8Path, expected: &Content) -> Result<(), Error> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => {
            return Err(Error::NotAFile {
                path: path.to_owned(),
            });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).at("look at", path),
    }
    if Content::read(path)? != *expected {
        return Err(Error::Changed {
            path: path.to_owned(),
        });
    }
    disk::remove_file(path.as_std_path()).at("remove", path)?;
    sync_parent(path)
}

/// Writes the contents beside the target and syncs them, with the rights of the file it replaces.
fn write_temporary(
    target: &Utf8Path,
    bytes: &[u8],
    old: Option<&Metadata>,
) -> Result<NamedTempFile, Error> {
    // A replacement is private until it has its final mode: the old file may be a secret.
    let mode = if old.is_some() { 0o600 } else { NEW_FILE_MODE };
    let temporary =
        temporary::create_in(parent(target), mode).at("make a temporary file beside", target)?;
    disk::write_all(temporary.as_file(), bytes).at("write a temporary file beside", target)?;
    if let Some(old) = old {
        keep_rights(temporary.as_file(), old).at("keep the mode of", target)?;
    }
    disk::sync(temporary.as_file()).at("sync a temporary file beside", target)?;
    Ok(temporary)
}

fn keep_rights(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // Only root may give files away. An editor that saves somebody else's file in a shared
        // folder becomes its owner as well, so this is no reason to refuse.
        disk::give_to(file, Some(old.uid()), Some(old.gid()))
            .or_else(|_| disk::give_to(file, None, Some(old.gid())))
            .ok();
    }
    // After the owner, because changing that clears the set-id bits.
    disk::set_mode_of(file, Permissions::from_mode(old.mode() & 0o7777))
}

#[cfg(test)]
#[path = "replace_tests.rs"]
mod tests;
