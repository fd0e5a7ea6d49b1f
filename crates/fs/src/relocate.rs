//! Moving a folder to another file system.
//!
//! The folder is copied under a hidden name next to its target, synced, renamed, and only then
//! removed file by file, each after a check that the copy has the same bytes. A crash between two
//! steps loses nothing, and the next call continues.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{At as _, shown};
use crate::fingerprint::{hash_to, short_hash};
use crate::folder::{ensure_dir, parent, rename, sync_parent};
use crate::{Error, disk};

/// A move of a folder that one rename cannot do.
#[derive(Debug)]
pub struct Relocation {
    from: Utf8PathBuf,
    to: Utf8PathBuf,
    draft: Utf8PathBuf,
}

impl Relocation {
    /// Describes a move without looking at the disk.
    pub fn new(from: &Utf8Path, to: &Utf8Path) -> Self {
        let digest = short_hash(
            &[from.as_str().as_bytes(), b"\0", to.as_str().as_bytes()],
            16,
        );
        Self {
            from: from.to_owned(),
            to: to.to_owned(),
            draft: parent(to).join(format!(".rekindle-move-{digest}")),
        }
    }

    /// Copies the folder under a hidden name next to its target, synced; an incomplete copy is
    /// replaced.
    pub fn copy(&self) -> Result<(), Error> {
        ensure_dir(parent(&self.to))?;
        self.discard()?;
        copy_folder(self.from.as_std_path(), self.draft.as_std_path())?;
        // One sync for all, since thousands of small files would each cost one.
        let folder = File::open(&self.draft).at("open", &self.draft)?;
        disk::sync_file_system(&folder).at("sync", &self.draft)?;
        sync_parent(&self.draft)
    }

    /// Renames the copy to the target; gives [`Error::Exists`] when that name is taken.
    pub fn place(&self) -> Result<(), Error> {
        rename(&self.draft, &self.to)
    }

    /// Removes the source if the target has all of it with the same bytes; returns whether it is
    /// gone.
    pub fn finish(&self) -> Result<bool, Error> {
        let (from, to) = (self.from.as_std_path(), self.to.as_std_path());
        if !is_contained(from, to)? {
            return Ok(false);
        }
        self.discard()?;
        let is_gone = remove_contained(from, to)?;
        sync_parent(&self.from)?;
        Ok(is_gone)
    }

    /// Removes an incomplete copy.
    fn discard(&self) -> Result<(), Error> {
        match self.draft.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error).at("look at", &self.draft),
            Ok(_) => {
                make_all_writable(self.draft.as_std_path());
                disk::remove_all(self.draft.as_std_path()).at("remove the half copy", &self.draft)
            }
        }
    }
}

enum Kind {
    Folder,
    File,
    Link,
    Other,
}

fn kind_of(path: &Path) -> Result<Option<Kind>, Error> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(Some(Kind::Folder)),
        Ok(metadata) if metadata.is_file() => Ok(Some(Kind::File)),
        Ok(metadata) if metadata.is_symlink() => Ok(Some(Kind::Link)),
        Ok(_) => Ok(Some(Kind::Other)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at("look at", &shown(path)),
    }
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<std::ffi::OsString>, Error> {
    let list = || -> io::Result<Vec<_>> {
        let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
        names.collect()
    };
    let mut names = list().at("list", &shown(folder))?;
    names.sort();
    Ok(names)
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), Error> {
    disk::make_folder(to).at("make the folder", &shown(to))?;
    for name in names(from)? {
        let (from, to) = (from.join(&name), to.join(&name));
        match kind_of(&from)? {
            None => {}
            Some(Kind::Folder) => copy_folder(&from, &to)?,
            Some(Kind::File) => disk::copy(&from, &to).at("copy", &shown(&from))?,
            Some(Kind::Link) => fs::read_link(&from)
                .and_then(|target| disk::make_link(&target, &to))
                .at("copy the link", &shown(&from))?,
            Some(Kind::Other) => {
                return Err(Error::NotAFile(shown(&from)));
            }
        }
    }
    // Last, since a read-only folder cannot be written to.
    let mode = from.symlink_metadata().at("look at", &shown(from))?;
    disk::set_mode(to, mode.permissions()).at("keep the mode of", &shown(from))
}

/// Returns whether everything in a folder is in another too, with the same bytes.
fn is_contained(from: &Path, to: &Path) -> Result<bool, Error> {
    for name in names(from)? {
        let (from, to) = (from.join(&name), to.join(&name));
        let is_same = match (kind_of(&from)?, kind_of(&to)?) {
            (None, _) => true,
            (Some(Kind::Folder), Some(Kind::Folder)) => is_contained(&from, &to)?,
            (Some(_), _) => is_same(&from, &to)?,
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether two names are files with the same bytes, or links to the same target.
fn is_same(one: &Path, other: &Path) -> Result<bool, Error> {
    match (kind_of(one)?, kind_of(other)?) {
        (Some(Kind::File), Some(Kind::File)) => {
            let hash = |path: &Path| {
                let file = File::open(path).at("open", &shown(path))?;
                hash_to(file, &mut io::sink()).at("read", &shown(path))
            };
            Ok(hash(one)? == hash(other)?)
        }
        (Some(Kind::Link), Some(Kind::Link)) => {
            let target = |path: &Path| fs::read_link(path).at("read the link", &shown(path));
            Ok(target(one)? == target(other)?)
        }
        _ => Ok(false),
    }
}

/// Removes what another folder also has; returns whether nothing is left.
fn remove_contained(from: &Path, to: &Path) -> Result<bool, Error> {
    make_writable(from);
    for name in names(from)? {
        let (from, to): (PathBuf, PathBuf) = (from.join(&name), to.join(&name));
        match kind_of(&from)? {
            None => {}
            Some(Kind::Folder) if remove_contained(&from, &to)? => {}
            Some(Kind::Folder) => return Ok(false),
            Some(Kind::File | Kind::Link | Kind::Other) => {
                // Again just before the removal, since somebody may be writing to it.
                if !is_same(&from, &to)? {
                    return Ok(false);
                }
                disk::remove_file(&from).at("remove", &shown(&from))?;
            }
        }
    }
    match disk::remove_folder(from) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        Err(error) => Err(error).at("remove the folder", &shown(from)),
    }
}

/// Makes a folder writable for its owner; a failure shows at the removal.
fn make_writable(folder: &Path) {
    let Ok(metadata) = folder.symlink_metadata() else {
        return;
    };
    let mode = metadata.permissions().mode();
    if metadata.is_dir() && mode & 0o700 != 0o700 {
        disk::set_mode(folder, Permissions::from_mode(mode | 0o700)).ok();
    }
}

fn make_all_writable(folder: &Path) {
    if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return;
    }
    make_writable(folder);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_all_writable(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::disallowed_methods,
        reason = "what others write need be neither atomic nor durable"
    )]

    use std::os::unix::fs::symlink;

    use super::*;
    use crate::log::tests::folder;

    /// A folder with a nested one, odd names, links and modes.
    fn lay_out(from: &Utf8Path) {
        use std::os::unix::ffi::OsStrExt as _;
        crate::create(&from.join("a b\nc"), b"1").unwrap();
        crate::create(&from.join("nested/deep/x"), b"2").unwrap();
        let odd = from
            .as_std_path()
            .join(std::ffi::OsStr::from_bytes(b"-\xff"));
        fs::write(&odd, b"3").unwrap();
        fs::set_permissions(&odd, Permissions::from_mode(0o750)).unwrap();
        symlink("../nowhere", from.join("link")).unwrap();
        fs::create_dir(from.join("empty")).unwrap();
        fs::set_permissions(from.join("nested/deep"), Permissions::from_mode(0o555)).unwrap();
    }

    /// Every path below a folder with its mode and what it is.
    fn shape(folder: &Path) -> Vec<String> {
        let mut lines = Vec::new();
        for name in names(folder).unwrap() {
            let path = folder.join(&name);
            let mode = path.symlink_metadata().unwrap().permissions().mode();
            let what = match kind_of(&path).unwrap().unwrap() {
                Kind::Folder => shape(&path).join(";"),
                Kind::File => format!("{:?}", fs::read(&path).unwrap()),
                Kind::Link => format!("{:?}", fs::read_link(&path).unwrap()),
                Kind::Other => panic!("{path:?}"),
            };
            lines.push(format!("{name:?} {mode:o} {what}"));
        }
        lines
    }

    #[test]
    fn a_relocated_folder_keeps_all_its_contents() {
        let (_folder, base) = folder();
        let (from, to) = (base.join("from"), base.join("deep/er/to"));
        lay_out(&from);
        let before = shape(from.as_std_path());
        let relocation = Relocation::new(&from, &to);
        relocation.copy().unwrap();
        // As after a crash: the leftover copy is replaced.
        fs::write(relocation.draft.join("half"), b"").unwrap();
        relocation.copy().unwrap();
        relocation.place().unwrap();
        assert!(relocation.finish().unwrap());
        assert_eq!(shape(to.as_std_path()), before);
        assert!(!from.exists() && !relocation.draft.exists());
    }

    #[test]
    fn files_that_the_target_lacks_are_kept() {
        for (name, contents) in [("new", "x"), ("a b\nc", "other"), ("nested/deep/y", "")] {
            let (_folder, base) = folder();
            let (from, to) = (base.join("from"), base.join("to"));
            lay_out(&from);
            let relocation = Relocation::new(&from, &to);
            relocation.copy().unwrap();
            relocation.place().unwrap();
            make_writable(from.join("nested/deep").as_std_path());
            fs::write(from.join(name), contents).unwrap();
            let before = shape(from.as_std_path());
            assert!(!relocation.finish().unwrap(), "{name}");
            assert_eq!(shape(from.as_std_path()), before, "{name}");
        }
    }

    #[test]
    fn an_interrupted_removal_is_continued() {
        let (_folder, base) = folder();
        let (from, to) = (base.join("from"), base.join("to"));
        lay_out(&from);
        let relocation = Relocation::new(&from, &to);
        relocation.copy().unwrap();
        relocation.place().unwrap();
        fs::remove_file(from.join("a b\nc")).unwrap();
        assert!(relocation.finish().unwrap());
        assert!(!from.exists());
    }
}
