//! One name in an open folder, and the calls that change it. No link is followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;

use rustix::fs::{AtFlags, FileType, Mode, Stat};
use rustix::io::Errno;

use super::Node;
use crate::fingerprint::hash_to;
use crate::guarded::{self, Links, Opened, open_folder};
use crate::{Fingerprint, disk, temporary};

pub(super) fn look_at(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<Node> {
    let Some(stat) = stat(folder, name)? else {
        return Ok(Node::Absent);
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Ok(Node::Folder),
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(folder, name, Vec::new())?;
            return Ok(Node::Link(OsString::from_vec(target.into_bytes())));
        }
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => return Ok(Node::Other),
    }
    let Some(file) = open_file(folder, name)? else {
        return Ok(Node::Absent);
    };
    Ok(Node::File {
        content: hash_to(file, &mut io::sink())?,
        is_executable: stat.st_mode & 0o100 != 0,
    })
}

pub(super) fn stat(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<Stat>> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Opens an ordinary file; `None` for anything else.
pub(super) fn open_file(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<File>> {
    Ok(match guarded::open_file(folder, name, Links::Refused)? {
        Opened::File(file) => Some(file),
        Opened::Absent | Opened::Link | Opened::Other => None,
    })
}

pub(super) fn write_copy(
    folder: &OwnedFd,
    from: File,
    is_executable: bool,
) -> io::Result<(OsString, Fingerprint)> {
    // As git creates files, before the umask.
    let mode = Mode::from_raw_mode(if is_executable { 0o777 } else { 0o666 });
    let name = temporary::free_name();
    let file = disk::make_file_in(folder, &name, mode)?;
    let copied = hash_to(from, &mut disk::Written(&file)).and_then(|content| {
        disk::sync(&file)?;
        Ok(content)
    });
    if copied.is_err() {
        disk::remove_in(folder, &name, AtFlags::empty()).ok();
    }
    Ok((name, copied?))
}

pub(super) fn write_link(folder: &OwnedFd, target: &OsStr) -> io::Result<OsString> {
    let name = temporary::free_name();
    disk::make_link_in(target, folder, &name)?;
    Ok(name)
}

pub(super) fn clear_at(folder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    let inner = match open_folder(folder.as_fd(), name) {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    };
    let names: Vec<OsString> = rustix::fs::Dir::read_from(&inner)?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_bytes().to_vec()))
        .filter(|name| name != b"." && name != b"..")
        .map(OsString::from_vec)
        .collect();
    for inside in names {
        clear_at(&inner, &inside)?;
    }
    disk::remove_in(folder, name, AtFlags::REMOVEDIR)
}

pub(super) fn sync(folder: &OwnedFd) -> Result<(), Errno> {
    match disk::sync_folder(folder) {
        // Some file systems cannot sync a folder.
        Err(Errno::INVAL) => Ok(()),
        other => other,
    }
}
