//! Checks of files before a write: ordinary ones with a single name, not reached through a link.
//!
//! A link or hard link can lead to any other file of the user, whose bytes would be changed.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use camino::Utf8Path;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::Error;
use crate::error::At as _;

/// A function of `disk.rs` that opens a file.
type Open = fn(&OpenOptions, &Path) -> io::Result<File>;

/// Opens an ordinary file, not through a link, without blocking on a pipe.
pub(crate) fn open(options: &mut OpenOptions, path: &Utf8Path, open: Open) -> Result<File, Error> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed());
    // Even opening some devices has effects, so this check comes first.
    if let Ok(found) = path.symlink_metadata() {
        check_kind(&found, path)?;
    }
    let file = match open(options, path.as_std_path()) {
        Err(error) if is(&error, Errno::LOOP) => {
            return Err(Error::Link(path.to_owned()));
        }
        Err(error) if is(&error, Errno::NXIO) => {
            return Err(Error::NotAFile(path.to_owned()));
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Error::Exists(path.to_owned()));
        }
        other => other.at("open", path)?,
    };
    check_kind(&file.metadata().at("look at", path)?, path)?;
    Ok(file)
}

/// Opens a file as [`open`] does, if it has no other name.
pub(crate) fn open_to_write(
    options: &mut OpenOptions,
    path: &Utf8Path,
    how: Open,
) -> Result<File, Error> {
    let file = open(options, path, how)?;
    check(&file.metadata().at("look at", path)?, path)?;
    Ok(file)
}

/// Refuses what is not an ordinary file with a single name.
pub(crate) fn check(found: &Metadata, path: &Utf8Path) -> Result<(), Error> {
    check_kind(found, path)?;
    // A file that was deleted while open has no name.
    if found.nlink() > 1 {
        return Err(Error::SeveralNames(path.to_owned()));
    }
    Ok(())
}

fn check_kind(found: &Metadata, path: &Utf8Path) -> Result<(), Error> {
    if found.is_symlink() {
        Err(Error::Link(path.to_owned()))
    } else if found.is_file() {
        Ok(())
    } else {
        Err(Error::NotAFile(path.to_owned()))
    }
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}
