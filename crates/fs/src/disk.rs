//! All system calls by which this crate changes the disk.
//!
//! Each passes a crash point first, at which a build for tests can die or find the disk full: see
//! `rekindle-fault`. A test checks that no other file makes such calls.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, PermissionsExt as _, fchown, symlink};
use std::path::Path;
use std::time::SystemTime;

use rekindle_fault::{change, growth};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use tempfile::{NamedTempFile, TempDir};

const MAKE_FOLDER: &str = "fs-make-folder";
const MAKE_FILE: &str = "fs-make-file";
const MAKE_LINK: &str = "fs-make-link";
const WRITE: &str = "fs-write";
const SYNC: &str = "fs-sync";
const MODE: &str = "fs-mode";
const RENAME: &str = "fs-rename";
const REMOVE: &str = "fs-remove";

/// Returns the name of each crash point that is passed before the disk is changed.
pub fn places() -> [&'static str; 8] {
    [
        MAKE_FOLDER,
        MAKE_FILE,
        MAKE_LINK,
        WRITE,
        SYNC,
        MODE,
        RENAME,
        REMOVE,
    ]
}

/// Turns the error of a crash point into the type that `rustix` calls return.
fn raw(passed: io::Result<()>) -> Result<(), Errno> {
    passed.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// What happens to a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    IsReplaced,
    IsAnError,
}

/// A file whose every write passes the crash point.
pub(crate) struct Written<'a>(pub(crate) &'a File);

impl Write for Written<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write(self.0, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    growth(MAKE_FOLDER)?;
    fs::create_dir(path)
}

/// Makes a folder with at most these permissions.
pub(crate) fn make_private_folder(path: &Path, mode: u32) -> io::Result<()> {
    growth(MAKE_FOLDER)?;
    fs::DirBuilder::new().mode(mode).create(path)
}

pub(crate) fn make_folders(path: &Path) -> io::Result<()> {
    growth(MAKE_FOLDER)?;
    fs::create_dir_all(path)
}

pub(crate) fn make_folder_in(folder: &OwnedFd, name: &OsStr, mode: Mode) -> Result<(), Errno> {
    raw(growth(MAKE_FOLDER))?;
    rustix::fs::mkdirat(folder, name, mode)
}

/// Opens a file that the options may create.
pub(crate) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    growth(MAKE_FILE)?;
    options.open(path)
}

/// Opens a file with options that do not create it.
pub(crate) fn open_as_it_is(options: &OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Opens a new file in a folder.
pub(crate) fn make_file_in(folder: &OwnedFd, name: &OsStr, mode: Mode) -> io::Result<File> {
    growth(MAKE_FILE)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(folder, name, flags, mode)?))
}

/// Makes a temporary file whose name starts with `prefix`; dropping it removes it.
pub(crate) fn make_temporary(folder: &Path, prefix: &str, mode: u32) -> io::Result<NamedTempFile> {
    growth(MAKE_FILE)?;
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
}

/// Makes a temporary folder for its owner alone; dropping it removes it.
pub(crate) fn make_temporary_folder(above: &Path, prefix: &str) -> io::Result<TempDir> {
    growth(MAKE_FOLDER)?;
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(above)
}

/// Makes a file without a name.
pub(crate) fn make_nameless() -> io::Result<File> {
    growth(MAKE_FILE)?;
    tempfile::tempfile()
}

pub(crate) fn make_link(target: &Path, path: &Path) -> io::Result<()> {
    growth(MAKE_LINK)?;
    symlink(target, path)
}

pub(crate) fn make_link_in(target: &OsStr, folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    growth(MAKE_LINK)?;
    Ok(rustix::fs::symlinkat(target.as_bytes(), folder, name)?)
}

/// Writes in one system call; returns how many bytes were written.
pub(crate) fn write(mut file: &File, bytes: &[u8]) -> io::Result<usize> {
    rekindle_fault::write(WRITE, bytes, |bytes| file.write(bytes))
}

pub(crate) fn write_all(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    rekindle_fault::write(WRITE, bytes, |bytes| file.write_all(bytes))
}

/// Replaces the contents; a crash in between leaves less.
pub(crate) fn overwrite(file: &File, bytes: &[u8]) -> io::Result<()> {
    rekindle_fault::write(WRITE, bytes, |bytes| {
        file.set_len(0)?;
        file.write_all_at(bytes, 0)
    })
}

/// Writes over the beginning of a file, and ends it there.
pub(crate) fn write_over(file: &File, bytes: &[u8]) -> io::Result<()> {
    rekindle_fault::write(WRITE, bytes, |bytes| {
        file.write_all_at(bytes, 0)?;
        file.set_len(bytes.len() as u64)
    })
}

pub(crate) fn empty(file: &File) -> io::Result<()> {
    change(REMOVE)?;
    file.set_len(0)
}

/// Copies a file with its mode, as `std` does.
#[expect(
    clippy::disallowed_methods,
    reason = "to a hidden name that is synced before the rename, or a copy that can be made again"
)]
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    growth(WRITE)?;
    fs::copy(from, to).map(drop)
}

pub(crate) fn sync(file: &File) -> io::Result<()> {
    growth(SYNC)?;
    file.sync_all()
}

pub(crate) fn sync_data(file: &File) -> io::Result<()> {
    growth(SYNC)?;
    file.sync_data()
}

pub(crate) fn sync_folder(folder: &OwnedFd) -> Result<(), Errno> {
    raw(growth(SYNC))?;
    rustix::fs::fsync(folder)
}

/// Syncs the whole file system on which a folder is.
pub(crate) fn sync_file_system(folder: &File) -> io::Result<()> {
    growth(SYNC)?;
    Ok(rustix::fs::syncfs(folder)?)
}

pub(crate) fn set_mode(path: &Path, mode: Permissions) -> io::Result<()> {
    change(MODE)?;
    fs::set_permissions(path, mode)
}

pub(crate) fn set_mode_of(file: &File, mode: Permissions) -> io::Result<()> {
    change(MODE)?;
    file.set_permissions(mode)
}

pub(crate) fn set_time_of(file: &File, modified: SystemTime) -> io::Result<()> {
    change(MODE)?;
    file.set_modified(modified)
}

/// Gives a file an extended attribute.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(crate) fn set_attribute(file: &File, name: &[u8], value: &[u8]) -> Result<(), Errno> {
    raw(change(MODE))?;
    rustix::fs::fsetxattr(file, name, value, rustix::fs::XattrFlags::empty())
}

pub(crate) fn give_to(file: &File, user: Option<u32>, group: Option<u32>) -> io::Result<()> {
    change(MODE)?;
    fchown(file, user, group)
}

/// Gives a temporary file its name.
pub(crate) fn place(temporary: NamedTempFile, target: &Path, taken: Taken) -> io::Result<()> {
    growth(RENAME)?;
    let placed = match taken {
        Taken::IsReplaced => temporary.persist(target),
        Taken::IsAnError => temporary.persist_noclobber(target),
    };
    placed.map(drop).map_err(|failed| failed.error)
}

/// Renames to a free name, if the system can do that in one step.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(crate) fn rename_if_free(from: &Path, to: &Path) -> Result<(), Errno> {
    let (from, to) = (from.as_os_str(), to.as_os_str());
    rename_in(&CWD, from, &CWD, to, Taken::IsAnError)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(crate) fn rename_if_free(_from: &Path, _to: &Path) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

pub(crate) fn rename_over(from: &Path, to: &Path) -> io::Result<()> {
    growth(RENAME)?;
    fs::rename(from, to)
}

pub(crate) fn rename_in(
    from_folder: &impl AsFd,
    from: &OsStr,
    to_folder: &impl AsFd,
    to: &OsStr,
    taken: Taken,
) -> Result<(), Errno> {
    raw(growth(RENAME))?;
    match taken {
        Taken::IsReplaced => rustix::fs::renameat(from_folder, from, to_folder, to),
        Taken::IsAnError => {
            let flags = RenameFlags::NOREPLACE;
            rustix::fs::renameat_with(from_folder, from, to_folder, to, flags)
        }
    }
}

/// Exchanges the names of two files.
pub(crate) fn exchange_in(folder: &impl AsFd, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
    raw(growth(RENAME))?;
    rustix::fs::renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE)
}

pub(crate) fn set_mode_in(folder: &impl AsFd, name: &OsStr, mode: Mode) -> Result<(), Errno> {
    raw(change(MODE))?;
    rustix::fs::chmodat(folder, name, mode, AtFlags::empty())
}

/// Gives a file a second name.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    growth(RENAME)?;
    fs::hard_link(from, to)
}

pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    change(REMOVE)?;
    fs::remove_file(path)
}

pub(crate) fn remove_in(folder: &OwnedFd, name: &OsStr, flags: AtFlags) -> Result<(), Errno> {
    raw(change(REMOVE))?;
    rustix::fs::unlinkat(folder, name, flags)
}

pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    change(REMOVE)?;
    fs::remove_dir(path)
}

#[expect(
    clippy::disallowed_methods,
    reason = "only for rekindle's own copies of what is stored elsewhere"
)]
pub(crate) fn remove_all(folder: &Path) -> io::Result<()> {
    change(REMOVE)?;
    fs::remove_dir_all(folder)
}
