//! Reading of files that anybody may have put there.
//!
//! A clone can contain links, named pipes, devices and sparse files of many gigabytes. None of them
//! may make us wait, run out of memory, or read something elsewhere. So a file is checked before
//! and after it is opened without blocking, and read up to a limit. Start at [`read_within`] for
//! files below a folder, where no link is followed, and at [`read_followed`] for files that a user
//! may link, such as those in the home folder.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::Error;
use crate::error::At as _;

/// Reads a file below `root` of at most `limit` bytes; `None` if it does not exist.
///
/// Gives [`Error::Link`] for a link anywhere below `root`, [`Error::NotAFile`] for anything that is
/// not an ordinary file, [`Error::TooLarge`], and [`Error::Outside`] for a path not below `root`.
pub fn read_within(root: &Utf8Path, path: &Utf8Path, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    GuardedFile::open_within(root, path)?
        .map(|file| file.bytes(limit))
        .transpose()
}

/// Reads an ordinary file of at most `limit` bytes through links; `None` if it does not exist.
pub fn read_followed(path: &Utf8Path, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    GuardedFile::open_followed(path)?
        .map(|file| file.bytes(limit))
        .transpose()
}

/// Returns the sorted names in a folder below `root`, without following links; none if it is
/// missing.
pub fn list_within(root: &Utf8Path, folder: &Utf8Path) -> Result<Vec<OsString>, Error> {
    let relative = below(root, folder)?;
    let Some(open) = walk(root, &relative)? else {
        return Ok(Vec::new());
    };
    let list = || -> Result<Vec<OsString>, Errno> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&open)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        names.sort();
        Ok(names)
    };
    list().at("list", folder)
}

/// Refuses a path below `root` that contains a link; call it before a write or lock.
pub fn refuse_links(root: &Utf8Path, path: &Utf8Path) -> Result<(), Error> {
    let relative = below(root, path)?;
    let (Some(above), Some(name)) = (relative.parent(), relative.file_name()) else {
        return Ok(());
    };
    let Some(folder) = walk(root, above)? else {
        return Ok(());
    };
    match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => {
            Err(Error::Link(root.join(relative)))
        }
        Ok(_) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error).at("look at", path),
    }
}

/// An ordinary file that is open for reading.
#[derive(Debug)]
pub struct GuardedFile {
    path: Utf8PathBuf,
    file: File,
}

impl GuardedFile {
    /// Opens a file below `root`, following no link below it; `None` if it does not exist.
    pub fn open_within(root: &Utf8Path, path: &Utf8Path) -> Result<Option<Self>, Error> {
        let relative = below(root, path)?;
        let whole = root.join(&relative);
        let (Some(above), Some(name)) = (relative.parent(), relative.file_name()) else {
            return Err(Error::NotAFile(whole));
        };
        let Some(folder) = walk(root, above)? else {
            return Ok(None);
        };
        Self::open_at(folder.as_fd(), name, Links::Refused, whole)
    }

    /// Opens a file, following links; `None` if it does not exist.
    pub fn open_followed(path: &Utf8Path) -> Result<Option<Self>, Error> {
        Self::open_at(CWD, path.as_str(), Links::Followed, path.to_owned())
    }

    /// Opens a file unless its last part is a link; `None` if it does not exist.
    ///
    /// For callers that have confined the folder already.
    pub fn open(path: &Utf8Path) -> Result<Option<Self>, Error> {
        Self::open_at(CWD, path.as_str(), Links::Refused, path.to_owned())
    }

    fn open_at(
        folder: BorrowedFd<'_>,
        name: &str,
        links: Links,
        path: Utf8PathBuf,
    ) -> Result<Option<Self>, Error> {
        match open_file(folder, OsStr::new(name), links) {
            Ok(Opened::File(file)) => Ok(Some(Self { path, file })),
            Ok(Opened::Absent) => Ok(None),
            Ok(Opened::Link) => Err(Error::Link(path)),
            Ok(Opened::Other) => Err(Error::NotAFile(path)),
            Err(error) => Err(error).at("open", &path),
        }
    }

    /// Returns the metadata of the open file.
    pub fn metadata(&self) -> Result<Metadata, Error> {
        self.file.metadata().at("look at", &self.path)
    }

    pub(crate) fn as_file(&self) -> &File {
        &self.file
    }

    /// Returns the open file.
    pub fn into_file(self) -> File {
        self.file
    }

    /// Returns the contents, or [`Error::TooLarge`] before that much is held in memory.
    pub fn bytes(mut self, limit: u64) -> Result<Vec<u8>, Error> {
        let len = self.check_length(limit)?;
        // A file that grows while it is read is cut off one byte over the limit.
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        let mut all = (&mut self.file).take(limit.saturating_add(1));
        all.read_to_end(&mut bytes).at("read", &self.path)?;
        match u64::try_from(bytes.len()).unwrap_or(u64::MAX) {
            len if len > limit => Err(self.too_large(len, limit)),
            _ => Ok(bytes),
        }
    }

    /// Returns the bytes from a position on, or [`Error::TooLarge`] when there are more than `limit`.
    pub fn bytes_from(self, start: u64, limit: u64) -> Result<Vec<u8>, Error> {
        let len = self.metadata()?.len().saturating_sub(start);
        if len > limit {
            return Err(self.too_large(len, limit));
        }
        self.part(start, limit)
    }

    /// Returns the first bytes, at most `most` of them.
    pub fn head(self, most: u64) -> Result<Vec<u8>, Error> {
        self.part(0, most)
    }

    /// Returns the last bytes, at most `most` of them.
    pub fn tail(self, most: u64) -> Result<Vec<u8>, Error> {
        let start = self.metadata()?.len().saturating_sub(most);
        self.part(start, most)
    }

    fn part(mut self, start: u64, most: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let sought = self.file.seek(SeekFrom::Start(start));
        sought
            .and_then(|_| self.file.take(most).read_to_end(&mut bytes))
            .at("read", &self.path)?;
        Ok(bytes)
    }

    /// Passes each line to `sink` with its line break, holding one at a time.
    ///
    /// Gives [`Error::TooLarge`] for more than `limit` bytes in all. A line longer than `longest`
    /// is passed as [`Line::Long`].
    pub fn lines(
        self,
        limit: u64,
        longest: usize,
        mut sink: impl FnMut(Line<'_>),
    ) -> Result<(), Error> {
        self.check_length(limit)?;
        let Self { path, file } = self;
        let mut reader = BufReader::with_capacity(64 * 1024, file.take(limit));
        let mut line = Vec::new();
        let mut length = 0_usize;
        loop {
            let piece = match reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other.at("read", &path)?,
            };
            let at_end = piece.is_empty();
            let end = piece.iter().position(|&byte| byte == b'\n');
            let n_taken = end.map_or(piece.len(), |end| end + 1);
            let room = longest.saturating_sub(line.len());
            line.extend_from_slice(&piece[..n_taken.min(room)]);
            length += n_taken;
            reader.consume(n_taken);
            if (at_end || end.is_some()) && length > 0 {
                sink(if length > longest {
                    Line::Long {
                        beginning: &line,
                        length,
                    }
                } else {
                    Line::Whole(&line)
                });
                line.clear();
                length = 0;
            }
            if at_end {
                return Ok(());
            }
        }
    }

    fn check_length(&self, limit: u64) -> Result<u64, Error> {
        match self.metadata()?.len() {
            len if len > limit => Err(self.too_large(len, limit)),
            len => Ok(len),
        }
    }

    fn too_large(&self, len: u64, limit: u64) -> Error {
        Error::TooLarge {
            path: self.path.clone(),
            len,
            limit,
        }
    }
}

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The whole line with its line break; only the last line of a file can lack one.
    Whole(&'a [u8]),
    /// A line that is too long to be held.
    Long {
        /// Its first bytes.
        beginning: &'a [u8],
        /// Its full length in bytes.
        length: usize,
    },
}

/// Whether a link in place of a file is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Followed,
    Refused,
}

/// What is at the path of a file.
#[derive(Debug)]
pub(crate) enum Opened {
    File(File),
    Absent,
    Link,
    Other,
}

/// Opens an ordinary file in a folder, and nothing else: even opening some devices has effects.
pub(crate) fn open_file(folder: BorrowedFd<'_>, name: &OsStr, links: Links) -> io::Result<Opened> {
    let (look, open) = match links {
        Links::Followed => (AtFlags::empty(), OFlags::empty()),
        Links::Refused => (AtFlags::SYMLINK_NOFOLLOW, OFlags::NOFOLLOW),
    };
    match rustix::fs::statat(folder, name, look) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Symlink => return Ok(Opened::Link),
            FileType::Directory
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => return Ok(Opened::Other),
        },
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Opened::Absent),
        Err(error) => return Err(error.into()),
    }
    // A pipe or terminal that replaces the file meanwhile must not block us or become ours.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | open;
    match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(file) => {
            let file = File::from(file);
            let is_file = file.metadata()?.is_file();
            Ok(if is_file {
                Opened::File(file)
            } else {
                Opened::Other
            })
        }
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(Opened::Absent),
        Err(Errno::LOOP) if links == Links::Refused => Ok(Opened::Link),
        Err(error) => Err(error.into()),
    }
}

/// Opens a folder in a folder, unless it is a link.
pub(crate) fn open_folder(folder: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

/// Opens a folder below `root`, following no link below it; `None` if it does not exist.
fn walk(root: &Utf8Path, relative: &Utf8Path) -> Result<Option<OwnedFd>, Error> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let mut folder = match rustix::fs::open(root.as_str(), flags, Mode::empty()) {
        Ok(folder) => folder,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error).at("open", root),
    };
    let mut path = root.to_owned();
    for part in relative.components() {
        path.push(part);
        folder = match open_folder(folder.as_fd(), OsStr::new(part.as_str())) {
            Ok(next) => next,
            Err(Errno::NOENT) => return Ok(None),
            Err(error @ (Errno::NOTDIR | Errno::LOOP)) => {
                let is_link = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
                return if is_link {
                    Err(Error::Link(path))
                } else {
                    Err(error).at("open the folder", &path)
                };
            }
            Err(error) => return Err(error).at("open", &path),
        };
    }
    Ok(Some(folder))
}

/// Returns a path relative to `root`, judged by its text alone.
fn below(root: &Utf8Path, path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let outside = || Error::Outside {
        root: root.to_owned(),
        path: path.to_owned(),
    };
    let relative = if path.is_absolute() {
        path.strip_prefix(root).map_err(|_| outside())?
    } else {
        path
    };
    let mut plain = Utf8PathBuf::new();
    for part in relative.components() {
        match part {
            Utf8Component::Normal(name) => plain.push(name),
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir | Utf8Component::RootDir | Utf8Component::Prefix(_) => {
                return Err(outside());
            }
        }
    }
    Ok(plain)
}

#[cfg(test)]
#[path = "guarded_tests.rs"]
mod tests;
