//! Single files of a checkout, by names as git has them: read, replaced, removed.
//!
//! Names may be any bytes, and a checkout may contain anything. So every step walks down from the
//! open top folder and follows no link. A file is written next to its target ([`Tree::draft`]) and
//! renamed in one step ([`Draft::place`]); both, and [`Tree::remove`], take what must still be
//! there. The caller makes sure that git has the content.

mod node;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use self::node::{clear_at, look_at, open_file, stat, sync, write_copy, write_link};
use crate::disk::{self, Taken};
use crate::error::{At as _, shown};
use crate::guarded::open_folder;
use crate::{Error, Fingerprint, temporary};

/// The folder at the top of a checkout, held open.
#[derive(Debug)]
pub struct Tree {
    folder: OwnedFd,
    path: PathBuf,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Nothing, or a part of the path is not a folder.
    Absent,
    /// An ordinary file.
    File {
        /// What it holds.
        content: Fingerprint,
        /// Whether its owner may execute it, as git records.
        is_executable: bool,
    },
    /// A symbolic link.
    Link(OsString),
    /// A folder.
    Folder,
    /// A pipe, a socket, a device.
    Other,
}

/// Whether the executable bit of a replaced file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modes {
    /// It becomes that of the new file; all other bits are kept.
    Executable,
    /// All bits of the replaced file are kept (`core.fileMode=false`).
    Kept,
}

/// A written file or link without its final name; dropping it removes it.
#[derive(Debug)]
pub struct Draft {
    folder: OwnedFd,
    temporary: OsString,
    name: OsString,
    shown: PathBuf,
    /// `None` for a link.
    is_executable: Option<bool>,
    is_placed: bool,
}

impl Tree {
    /// Opens the folder at the top.
    pub fn open(top: &Path) -> Result<Self, Error> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(top, flags, Mode::empty());
        let folder = folder.at("open", &shown(top))?;
        let path = top.to_owned();
        Ok(Self { folder, path })
    }

    /// Returns what is at a path.
    pub fn look(&self, path: &Path) -> Result<Node, Error> {
        let Some((folder, name)) = self.find(path)? else {
            return Ok(Node::Absent);
        };
        look_at(folder.as_fd(), name).at("look at", &self.shown(path))
    }

    /// Returns the bytes of a file, or `None` if they are not the expected ones.
    pub fn bytes(&self, path: &Path, expected: &Fingerprint) -> Result<Option<Vec<u8>>, Error> {
        let Some(file) = self.read(path)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(expected.length().saturating_add(1))
            .read_to_end(&mut bytes)
            .at("read", &self.shown(path))?;
        Ok(Some(bytes).filter(|bytes| Fingerprint::of(bytes) == *expected))
    }

    /// Returns everything below a folder that is not a folder, by paths from the top.
    pub fn files_below(&self, path: &Path) -> Result<Vec<PathBuf>, Error> {
        let mut found = Vec::new();
        let mut open = vec![path.to_owned()];
        while let Some(folder) = open.pop() {
            let whole = self.path.join(&folder);
            let entries = std::fs::read_dir(&whole).at("list", &shown(&whole))?;
            for entry in entries {
                let entry = entry.at("list", &shown(&whole))?;
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let list = if is_folder { &mut open } else { &mut found };
                list.push(folder.join(entry.file_name()));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Copies a file or link of another tree next to a path of this one, synced; missing folders
    /// are created.
    ///
    /// Gives [`Error::Changed`] when the source is not `expected`.
    pub fn draft(&self, path: &Path, source: &Self, expected: &Node) -> Result<Draft, Error> {
        let (above, name) = self.split(path)?;
        let Some(folder) = self.walk(above, Missing::IsMade)? else {
            return Err(Error::NotAFile(self.shown(path)));
        };
        temporary::sweep(self.path.join(above));
        let changed = || Error::Changed(source.shown(path));
        let written = match expected {
            Node::File { is_executable, .. } => {
                let from = source.read(path)?.ok_or_else(changed)?;
                write_copy(&folder, from, *is_executable)
                    .map(|(temporary, content)| (temporary, Some(content)))
            }
            Node::Link(target) => write_link(&folder, target).map(|temporary| (temporary, None)),
            Node::Absent | Node::Folder | Node::Other => return Err(changed()),
        };
        let (temporary, copied) =
            written.at("write a temporary file next to", &self.shown(path))?;
        let draft = Draft {
            folder,
            temporary,
            name: name.to_owned(),
            shown: self.path.join(path),
            is_executable: match expected {
                Node::File { is_executable, .. } => Some(*is_executable),
                Node::Link(_) | Node::Absent | Node::Folder | Node::Other => None,
            },
            is_placed: false,
        };
        let is_expected = match (expected, copied) {
            (Node::File { content, .. }, Some(copied)) => *content == copied,
            _ => source.look(path)? == *expected,
        };
        if is_expected {
            Ok(draft)
        } else {
            Err(changed())
        }
    }

    /// Removes a file or link that still is `expected`; a missing one is fine.
    pub fn remove(&self, path: &Path, expected: &Node) -> Result<(), Error> {
        let Some((folder, name)) = self.find(path)? else {
            return Ok(());
        };
        let found = look_at(folder.as_fd(), name).at("look at", &self.shown(path))?;
        if found == Node::Absent {
            return Ok(());
        }
        if found != *expected {
            return Err(Error::Changed(self.shown(path)));
        }
        self.take_away(&folder, path, name, expected)
    }

    /// Renames a file away and checks it again before removing it: a save that came meanwhile is
    /// put back.
    fn take_away(
        &self,
        folder: &OwnedFd,
        path: &Path,
        name: &OsStr,
        expected: &Node,
    ) -> Result<(), Error> {
        let shown = self.shown(path);
        let away = temporary::free_name();
        match disk::rename_in(folder, name, folder, &away, Taken::IsReplaced) {
            Err(Errno::NOENT) => return Ok(()),
            other => other.at("remove", &shown)?,
        }
        if look_at(folder.as_fd(), &away).at("look at", &shown)? != *expected {
            // If a newer save has the name by now, that one counts.
            match disk::rename_in(folder, &away, folder, name, Taken::IsAnError) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error).at("put back", &shown),
            }
            return Err(Error::Changed(shown));
        }
        disk::remove_in(folder, &away, AtFlags::empty())
            .and_then(|()| sync(folder))
            .at("remove", &shown)
    }

    /// Removes the empty folders above a path, as git does after a removal; never the top.
    pub fn prune(&self, path: &Path) -> Result<(), Error> {
        let above = path.ancestors().skip(1);
        for folder in above.filter(|folder| !folder.as_os_str().is_empty()) {
            let Some((above, name)) = self.find(folder)? else {
                continue;
            };
            match disk::remove_in(&above, name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => {}
                // It is not empty, or cannot be removed, which is harmless.
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Removes a folder that contains only folders; a missing one is fine.
    pub fn clear(&self, path: &Path) -> Result<(), Error> {
        let Some((folder, name)) = self.find(path)? else {
            return Ok(());
        };
        clear_at(&folder, name).at("remove the folder", &self.shown(path))
    }

    /// Opens an ordinary file for reading.
    fn read(&self, path: &Path) -> Result<Option<File>, Error> {
        let Some((folder, name)) = self.find(path)? else {
            return Ok(None);
        };
        open_file(folder.as_fd(), name).at("open", &self.shown(path))
    }

    /// Opens the folder of a path; `None` when it is missing.
    fn find<'a>(&self, path: &'a Path) -> Result<Option<(OwnedFd, &'a OsStr)>, Error> {
        let (above, name) = self.split(path)?;
        Ok(self
            .walk(above, Missing::Stays)?
            .map(|folder| (folder, name)))
    }

    /// Opens a folder below the top without following links; `None` when it is missing.
    fn walk(&self, path: &Path, missing: Missing) -> Result<Option<OwnedFd>, Error> {
        let again = self.folder.try_clone();
        let mut folder = again.at("open", &shown(&self.path))?;
        for part in path.components() {
            let name = part.as_os_str();
            let next = match open_folder(folder.as_fd(), name) {
                Err(Errno::NOENT) if missing == Missing::IsMade => {
                    let made = disk::make_folder_in(&folder, name, Mode::from_raw_mode(0o777));
                    made.and_then(|()| sync(&folder))
                        .and_then(|()| open_folder(folder.as_fd(), name))
                }
                other => other,
            };
            folder = match next {
                Ok(next) => next,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                Err(error) => return Err(error).at("open", &self.shown(path)),
            };
        }
        Ok(Some(folder))
    }

    /// Splits a path into folder and name; refuses one that could lead out of the tree.
    fn split<'a>(&self, path: &'a Path) -> Result<(&'a Path, &'a OsStr), Error> {
        let is_plain = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) if is_plain => Ok((above, name)),
            _ => Err(Error::Outside {
                root: shown(&self.path),
                path: shown(path),
            }),
        }
    }

    fn shown(&self, path: &Path) -> camino::Utf8PathBuf {
        shown(&self.path.join(path))
    }
}

impl Draft {
    /// Renames it, if the target still is `expected` (nothing, a file or a link). The permissions
    /// of a replaced file are kept.
    pub fn place(self, expected: &Node, modes: Modes) -> Result<(), Error> {
        let path = shown(&self.shown);
        if look_at(self.folder.as_fd(), &self.name).at("look at", &path)? != *expected {
            return Err(Error::Changed(path));
        }
        if let Node::File { .. } = expected {
            self.keep_mode(modes).at("set the mode of", &path)?;
        }
        self.rename(expected)
    }

    /// Copies the permissions of the replaced file, except for what git records.
    fn keep_mode(&self, modes: Modes) -> io::Result<()> {
        let (Some(is_executable), Some(found)) =
            (self.is_executable, stat(self.folder.as_fd(), &self.name)?)
        else {
            return Ok(());
        };
        let before = found.st_mode & 0o777;
        let mode = match (modes, is_executable) {
            (Modes::Kept, _) => before,
            // Everybody who may read it may execute it, as in git.
            (Modes::Executable, true) => before | ((before & 0o444) >> 2),
            (Modes::Executable, false) => before & !0o111,
        };
        let mode = Mode::from_raw_mode(mode);
        Ok(disk::set_mode_in(&self.folder, &self.temporary, mode)?)
    }

    /// Exchanges the names, and reverts that if the other file is not as expected: somebody may
    /// have saved it just now.
    fn rename(mut self, expected: &Node) -> Result<(), Error> {
        let path = shown(&self.shown);
        let (folder, from, to) = (&self.folder, &self.temporary, &self.name);
        let is_exchanged = match expected {
            Node::Absent => false,
            Node::File { .. } | Node::Link(_) => true,
            Node::Folder | Node::Other => return Err(Error::NotAFile(path)),
        };
        let renamed = if is_exchanged {
            disk::exchange_in(folder, from, to)
        } else {
            disk::rename_in(folder, from, folder, to, Taken::IsAnError)
        };
        match renamed {
            Ok(()) if is_exchanged => {
                // From here on the draft's name belongs to the user's file.
                self.is_placed = true;
                let out = look_at(folder.as_fd(), from).at("look at", &path)?;
                if out != *expected {
                    let back = disk::exchange_in(folder, from, to);
                    // A file that cannot be put back is not removed.
                    self.is_placed = back.is_err();
                    back.at("put back", &path)?;
                    return Err(Error::Changed(path));
                }
                // Removes the replaced file; a leftover is swept later.
                disk::remove_in(folder, from, AtFlags::empty()).ok();
            }
            Ok(()) => {}
            Err(Errno::EXIST | Errno::NOENT) => return Err(Error::Changed(path)),
            // Not every file system can do it; the target was checked a moment ago.
            Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {
                let replaced = disk::rename_in(folder, from, folder, to, Taken::IsReplaced);
                replaced.at("replace", &path)?;
            }
            Err(error) => return Err(error).at("replace", &path),
        }
        self.is_placed = true;
        sync(&self.folder).at("sync the folder of", &path)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_placed {
            disk::remove_in(&self.folder, &self.temporary, AtFlags::empty()).ok();
        }
    }
}

/// Whether a missing folder is created.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Stays,
    IsMade,
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
