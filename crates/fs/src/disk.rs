//! Every system call by which this crate changes the disk, and nothing else.
//!
//! Each passes a named place first, at which a build for tests can die or find the disk full: see
//! `rekindle-fault`. A call that is not here has no such place, so a test looks that no other file of
//! the binary makes one, but for those on its list. A new one gets a function here, and [`Call`] a
//! variant if none fits.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, fchown, symlink};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use tempfile::{NamedTempFile, TempDir};

/// What a call does to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    MakeFolder,
    MakeFile,
    MakeLink,
    Write,
    Sync,
    Mode,
    Rename,
    Remove,
}

impl Call {
    const ALL: [Self; 8] = [
        Self::MakeFolder,
        Self::MakeFile,
        Self::MakeLink,
        Self::Write,
        Self::Sync,
        Self::Mode,
        Self::Rename,
        Self::Remove,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::MakeFolder => "fs-make-folder",
            Self::MakeFile => "fs-make-file",
            Self::MakeLink => "fs-make-link",
            Self::Write => "fs-write",
            Self::Sync => "fs-sync",
            Self::Mode => "fs-mode",
            Self::Rename => "fs-rename",
            Self::Remove => "fs-remove",
        }
    }

    fn pass(self) -> io::Result<()> {
        match self {
            Self::MakeFolder
            | Self::MakeFile
            | Self::MakeLink
            | Self::Write
            | Self::Sync
            | Self::Rename => rekindle_fault::growth(self.name()),
            Self::Mode | Self::Remove => rekindle_fault::change(self.name()),
        }
    }

    fn pass_raw(self) -> Result<(), Errno> {
        self.pass()
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}

/// Returns the name of each place that is passed before the disk is changed.
pub fn places() -> impl Iterator<Item = &'static str> {
    Call::ALL.into_iter().map(Call::name)
}

/// What happens to a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    IsReplaced,
    IsAnError,
}

/// A file of which every write passes its place.
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
    Call::MakeFolder.pass()?;
    fs::create_dir(path)
}

/// Makes a folder with these rights at the most.
pub(crate) fn make_private_folder(path: &Path, mode: u32) -> io::Result<()> {
    Call::MakeFolder.pass()?;
    fs::DirBuilder::new().mode(mode).create(path)
}

pub(crate) fn make_folders(path: &Path) -> io::Result<()> {
    Call::MakeFolder.pass()?;
    fs::create_dir_all(path)
}

pub(crate) fn make_folder_in(folder: &OwnedFd, name: &OsStr, mode: Mode) -> Result<(), Errno> {
    Call::MakeFolder.pass_raw()?;
    rustix::fs::mkdirat(folder, name, mode)
}

/// Opens a file that the options may make.
pub(crate) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    Call::MakeFile.pass()?;
    options.open(path)
}

/// Opens a file that the options do not make; the disk stays as it is.
pub(crate) fn open_as_it_is(options: &OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Opens a new file in a folder.
pub(crate) fn make_file_in(folder: &OwnedFd, name: &OsStr, mode: Mode) -> io::Result<File> {
    Call::MakeFile.pass()?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(folder, name, flags, mode)?))
}

/// Makes a temporary file whose name begins like this; dropping it removes it.
pub(crate) fn make_temporary(folder: &Path, prefix: &str, mode: u32) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt as _;
    Call::MakeFile.pass()?;
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
}

/// Makes a temporary folder for its owner alone, whose name begins like this; dropping it removes it.
pub(crate) fn make_temporary_folder(above: &Path, prefix: &str) -> io::Result<TempDir> {
    use std::os::unix::fs::PermissionsExt as _;
    Call::MakeFolder.pass()?;
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(above)
}

/// Makes a file without a name.
pub(crate) fn make_nameless() -> io::Result<File> {
    Call::MakeFile.pass()?;
    tempfile::tempfile()
}

pub(crate) fn make_link(target: &Path, path: &Path) -> io::Result<()> {
    Call::MakeLink.pass()?;
    symlink(target, path)
}

pub(crate) fn make_link_in(target: &OsStr, folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    Call::MakeLink.pass()?;
    Ok(rustix::fs::symlinkat(target.as_bytes(), folder, name)?)
}

/// Writes in one system call; returns how much of it was taken.
pub(crate) fn write(mut file: &File, bytes: &[u8]) -> io::Result<usize> {
    rekindle_fault::write(Call::Write.name(), bytes, |bytes| file.write(bytes))
}

pub(crate) fn write_all(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    rekindle_fault::write(Call::Write.name(), bytes, |bytes| file.write_all(bytes))
}

/// Replaces all that a file holds; a crash in between leaves less.
pub(crate) fn overwrite(file: &File, bytes: &[u8]) -> io::Result<()> {
    rekindle_fault::write(Call::Write.name(), bytes, |bytes| {
        file.set_len(0)?;
        file.write_all_at(bytes, 0)
    })
}

/// Takes away all that a file holds.
pub(crate) fn empty(file: &File) -> io::Result<()> {
    Call::Remove.pass()?;
    file.set_len(0)
}

/// Copies a file with its mode, as `std` does.
#[expect(
    clippy::disallowed_methods,
    reason = "only to a hidden name, which is synced before it gets its own"
)]
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    Call::Write.pass()?;
    fs::copy(from, to).map(drop)
}

pub(crate) fn sync(file: &File) -> io::Result<()> {
    Call::Sync.pass()?;
    file.sync_all()
}

pub(crate) fn sync_data(file: &File) -> io::Result<()> {
    Call::Sync.pass()?;
    file.sync_data()
}

pub(crate) fn sync_folder(folder: &OwnedFd) -> Result<(), Errno> {
    Call::Sync.pass_raw()?;
    rustix::fs::fsync(folder)
}

/// Syncs the whole file system on which a folder is.
pub(crate) fn sync_file_system(folder: &File) -> io::Result<()> {
    Call::Sync.pass()?;
    Ok(rustix::fs::syncfs(folder)?)
}

pub(crate) fn set_mode(path: &Path, mode: Permissions) -> io::Result<()> {
    Call::Mode.pass()?;
    fs::set_permissions(path, mode)
}

pub(crate) fn set_mode_of(file: &File, mode: Permissions) -> io::Result<()> {
    Call::Mode.pass()?;
    file.set_permissions(mode)
}

/// Gives a file an extended attribute.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(crate) fn set_attribute(file: &File, name: &[u8], value: &[u8]) -> Result<(), Errno> {
    Call::Mode.pass_raw()?;
    rustix::fs::fsetxattr(file, name, value, rustix::fs::XattrFlags::empty())
}

pub(crate) fn give_to(file: &File, user: Option<u32>, group: Option<u32>) -> io::Result<()> {
    Call::Mode.pass()?;
    fchown(file, user, group)
}

/// Gives a temporary file its name.
pub(crate) fn place(temporary: NamedTempFile, target: &Path, taken: Taken) -> io::Result<()> {
    Call::Rename.pass()?;
    let placed = match taken {
        Taken::IsReplaced => temporary.persist(target),
        Taken::IsAnError => temporary.persist_noclobber(target),
    };
    placed.map(drop).map_err(|failed| failed.error)
}

/// Renames where the new name must be free, if the system can do that in one step.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(crate) fn rename_if_free(from: &Path, to: &Path) -> Result<(), Errno> {
    rename_in(
        &CWD,
        from.as_os_str(),
        &CWD,
        to.as_os_str(),
        Taken::IsAnError,
    )
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(crate) fn rename_if_free(_from: &Path, _to: &Path) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

pub(crate) fn rename_over(from: &Path, to: &Path) -> io::Result<()> {
    Call::Rename.pass()?;
    fs::rename(from, to)
}

pub(crate) fn rename_in(
    from_folder: &impl AsFd,
    from: &OsStr,
    to_folder: &impl AsFd,
    to: &OsStr,
    taken: Taken,
) -> Result<(), Errno> {
    Call::Rename.pass_raw()?;
    match taken {
        Taken::IsReplaced => rustix::fs::renameat(from_folder, from, to_folder, to),
        Taken::IsAnError => {
            let flags = RenameFlags::NOREPLACE;
            rustix::fs::renameat_with(from_folder, from, to_folder, to, flags)
        }
    }
}

/// Lets two files change their names.
pub(crate) fn exchange_in(folder: &impl AsFd, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
    Call::Rename.pass_raw()?;
    rustix::fs::renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE)
}

pub(crate) fn set_mode_in(folder: &impl AsFd, name: &OsStr, mode: Mode) -> Result<(), Errno> {
    Call::Mode.pass_raw()?;
    rustix::fs::chmodat(folder, name, mode, AtFlags::empty())
}

/// Gives a file a second name.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    Call::Rename.pass()?;
    fs::hard_link(from, to)
}

pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    Call::Remove.pass()?;
    fs::remove_file(path)
}

pub(crate) fn remove_in(folder: &OwnedFd, name: &OsStr, flags: AtFlags) -> Result<(), Errno> {
    Call::Remove.pass_raw()?;
    rustix::fs::unlinkat(folder, name, flags)
}

pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    Call::Remove.pass()?;
    fs::remove_dir(path)
}

#[expect(
    clippy::disallowed_methods,
    reason = "only for what is rekindle's own and has its source elsewhere"
)]
pub(crate) fn remove_all(folder: &Path) -> io::Result<()> {
    Call::Remove.pass()?;
    fs::remove_dir_all(folder)
}
