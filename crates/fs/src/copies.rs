//! Copies of single files, and links to files, that can be made again at any time.
//!
//! They are not synced: after a crash a copy may be missing or have other bytes, and then its length
//! or its time tells so, and the next call makes it again.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};

use crate::confine::confine;
use crate::error::At as _;
use crate::folder::{ensure_dir, parent};
use crate::{Error, GuardedFile, disk};

/// Copies a file to a path below `root`, unless a copy with its length, time and mode is there.
/// Returns whether there is one now: what is neither a file nor a link to one is not copied.
///
/// Where the file system can, the copy shares its blocks with the file. A link in the place of the
/// copy is replaced, and one that leads out of `root` on the way to it is [`Error::Outside`].
pub fn copy_into(from: &Utf8Path, root: &Utf8Path, to: &Utf8Path) -> Result<bool, Error> {
    let source = match GuardedFile::open_followed(from) {
        Ok(Some(source)) => source,
        Ok(None) | Err(Error::NotAFile(_)) => return Ok(false),
        Err(error) => return Err(error),
    };
    let of_source = source.metadata()?;
    let to = place_below(root, to)?;
    let modified = of_source.modified().at("look at", from)?;
    let mode = |found: &Metadata| found.permissions().mode() & 0o777;
    if let Ok(found) = to.symlink_metadata() {
        if found.is_dir() {
            return Ok(false);
        }
        let is_same = found.is_file()
            && found.len() == of_source.len()
            && found.modified().ok() == Some(modified)
            && mode(&found) == mode(&of_source);
        if is_same {
            return Ok(true);
        }
        // It may be a link, or a second name of a file.
        disk::remove_file(to.as_std_path()).at("remove", &to)?;
    }
    ensure_dir(parent(&to))?;
    // Not through a file with another name: after a crash nobody would know that it is a copy.
    let real = from.canonicalize_utf8().at("resolve", from)?;
    disk::copy(real.as_std_path(), to.as_std_path()).at("copy", from)?;
    let copy = GuardedFile::open(&to)?.map(GuardedFile::into_file);
    if let Some(copy) = copy {
        disk::set_time_of(&copy, modified).at("keep the time of", from)?;
    }
    Ok(true)
}

/// Makes a link to `target` at a path below `root`, in the place of another link; returns whether
/// it is there now. Anything else stays.
pub fn link_into(target: &Utf8Path, root: &Utf8Path, path: &Utf8Path) -> Result<bool, Error> {
    let path = place_below(root, path)?;
    match path.symlink_metadata() {
        Ok(found) if !found.is_symlink() => return Ok(false),
        Ok(_) if path.read_link_utf8().is_ok_and(|now| now == target) => return Ok(true),
        Ok(_) => disk::remove_file(path.as_std_path()).at("remove the link", &path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => ensure_dir(parent(&path))?,
        Err(error) => return Err(error).at("look at", &path),
    }
    disk::make_link(target.as_std_path(), path.as_std_path()).at("make the link", &path)?;
    Ok(true)
}

/// Removes a copy or link that one of the functions above made; a folder stays.
pub fn remove_copy(root: &Utf8Path, path: &Utf8Path) -> Result<(), Error> {
    let path = place_below(root, path)?;
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => disk::remove_file(path.as_std_path()).at("remove", &path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).at("look at", &path),
    }
}

/// Returns the path with its folder resolved, which must be inside `root`.
fn place_below(root: &Utf8Path, path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) => Ok(confine(root, above)?.join(name)),
        _ => Err(Error::NotAFile(path.to_owned())),
    }
}

#[cfg(test)]
#[path = "copies_tests.rs"]
mod tests;
