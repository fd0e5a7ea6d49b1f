//! Files that are written in place: ordinary ones with a single name, reached by no link.
//!
//! A link, or a second name (a hard link), can lead to any other file of the user, and its bytes
//! would be changed or gone. Files that are replaced as a whole are checked the same way.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use camino::Utf8Path;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::Error;
use crate::error::At as _;

/// A call of `disk.rs` that opens a file.
type Open = fn(&OpenOptions, &Path) -> io::Result<File>;

/// Opens an ordinary file, not through a link, and without waiting should it be a pipe.
pub(crate) fn open(options: &mut OpenOptions, path: &Utf8Path, open: Open) -> Result<File, Error> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed());
    // Even opening some devices does something, so the look comes first.
    if let Ok(found) = path.symlink_metadata() {
        check_kind(&found, path)?;
    }
    let file = match open(options, path.as_std_path()) {
        Err(error) if is(&error, Errno::LOOP) => {
            let path = path.to_owned();
            return Err(Error::Link { path });
        }
        Err(error) if is(&error, Errno::NXIO) => {
            let path = path.to_owned();
            return Err(Error::NotAFile { path });
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let path = path.to_owned();
            return Err(Error::Exists { path });
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
    // A file that was deleted while it was open has none.
    if found.nlink() > 1 {
        let path = path.to_owned();
        return Err(Error::SeveralNames { path });
    }
    Ok(())
}

fn check_kind(found: &Metadata, path: &Utf8Path) -> Result<(), Error> {
    let path = || path.to_owned();
    if found.is_symlink() {
        Err(Error::Link { path: path() })
    } else if found.is_file() {
        Ok(())
    } else {
        Err(Error::NotAFile { path: path() })
    }
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}
