//! Folders: making them, syncing them, and moving a name without overwriting another.
//!
//! A file is only on the disk when its folder is: `fsync` of a file says nothing about its name.
//! So every function here that changes names syncs the folders it changed before it returns.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::io::Errno;

use crate::confine::resolve;
use crate::error::At as _;
use crate::{Error, disk};

/// Makes the folder and all its missing parents, durably; an existing folder is left alone.
pub fn ensure_dir(path: &Utf8Path) -> Result<(), Error> {
    let path = resolve(path)?;
    let mut missing: Vec<&Utf8Path> = path
        .ancestors()
        .take_while(|folder| !folder.is_dir())
        .collect();
    while let Some(folder) = missing.pop() {
        match disk::make_folder(folder.as_std_path()) {
            Ok(()) => {}
            // Another process may have made it between the look and now.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => return Err(error).at("make the folder", folder),
        }
        sync_parent(folder)?;
    }
    Ok(())
}

/// Who else may be in a folder that is not for everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// Nobody.
    Nobody,
    /// The group, if it may write to the folder above: what it works in, it works in together.
    GroupAbove,
}

/// Makes a folder that others can not look into, durably; an existing one is left as it is.
pub fn ensure_private_dir(path: &Utf8Path, company: Company) -> Result<(), Error> {
    let path = resolve(path)?;
    if path.is_dir() {
        return Ok(());
    }
    let above = parent(&path);
    ensure_dir(above)?;
    let is_shared = match company {
        Company::Nobody => false,
        Company::GroupAbove => fs::metadata(above).at("look at", above)?.mode() & 0o020 != 0,
    };
    let mode = if is_shared { 0o770 } else { 0o700 };
    match disk::make_private_folder(path.as_std_path(), mode) {
        Ok(()) => sync_parent(&path),
        // Another process may have made it between the look and now.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error).at("make the folder", &path),
    }
}

/// Makes a folder with files in it that appears whole or not at all, durably.
///
/// The files are written under a hidden name beside it, synced together, and the folder is renamed to
/// its name last; what a crash leaves is for [`sweep_drafts`](crate::sweep_drafts). Gives
/// [`Error::Exists`] when something has the name.
pub fn create_folder(path: &Utf8Path, files: &[(Utf8PathBuf, String)]) -> Result<(), Error> {
    ensure_dir(parent(path))?;
    let draft = crate::temporary::draft_beside(path);
    let made = fill(&draft, files).and_then(|()| rename(&draft, path));
    if made.is_err() {
        crate::temporary::remove_draft(&draft);
    }
    made
}

fn fill(draft: &Utf8Path, files: &[(Utf8PathBuf, String)]) -> Result<(), Error> {
    for (relative, contents) in files {
        let file = draft.join(relative);
        let folder = parent(&file);
        disk::make_folders(folder.as_std_path()).at("make the folder", folder)?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let opened = disk::open(&options, file.as_std_path()).at("make", &file)?;
        disk::write_all(&opened, contents.as_bytes()).at("write", &file)?;
    }
    // One sync for all: thousands of small files would each cost one.
    let folder = File::open(draft).at("open", draft)?;
    disk::sync_file_system(&folder).at("sync", draft)
}

/// Moves a file or folder to a name that is free, durably.
///
/// Gives [`Error::Exists`] and changes nothing when something has the new name, be it a link that
/// leads nowhere. Where the file system cannot do this in one step, a file is linked under the new
/// name and then unlinked under the old one, so that a crash leaves both names and never none; a
/// folder is renamed after a look, and an empty folder made in between would be overwritten.
pub fn rename(from: &Utf8Path, to: &Utf8Path) -> Result<(), Error> {
    let renamed = match disk::rename_if_free(from.as_std_path(), to.as_std_path()) {
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => rename_in_two_steps(from, to),
        other => other.map_err(io::Error::from),
    };
    match renamed {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Error::Exists {
                path: to.to_owned(),
            });
        }
        // The system does not say which of the two it means; the one that cannot be seen is named.
        other if from.symlink_metadata().is_err() => other.at("rename", from)?,
        other => other.at("rename to", to)?,
    }
    // The new name first: between the two, a crash may show the file twice but not lose it.
    sync_parent(to)?;
    if from.parent() != to.parent() {
        sync_parent(from)?;
    }
    Ok(())
}

/// Removes a folder with all that is in it, durably; one that is not there is no error.
///
/// Only for what is rekindle's own and has its source elsewhere. Links in it are not followed.
pub fn remove_copies(folder: &Utf8Path) -> Result<(), Error> {
    match disk::remove_all(folder.as_std_path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).at("remove", folder),
        Ok(()) => sync_parent(folder),
    }
}

/// Removes a folder in which nothing is, durably; any other stays, and that is an error.
pub fn remove_empty(folder: &Utf8Path) -> Result<(), Error> {
    disk::remove_folder(folder.as_std_path()).at("remove", folder)?;
    sync_parent(folder)
}

/// Syncs the folder in which this name stands.
pub(crate) fn sync_parent(path: &Utf8Path) -> Result<(), Error> {
    let folder = parent(path);
    let synced = File::open(folder).and_then(|folder| disk::sync(&folder));
    match synced {
        // Some network and user-space file systems cannot sync a folder and answer so; there is
        // nothing more one can do on them, and refusing to work there would help nobody.
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
        other => other.at("sync the folder", folder),
    }
}

/// Returns the folder of this name, which is `.` for a bare name.
pub(crate) fn parent(path: &Utf8Path) -> &Utf8Path {
    match path.parent() {
        Some(folder) if !folder.as_str().is_empty() => folder,
        Some(_) => ".".into(),
        None => path,
    }
}

/// Returns whether `path` still leads to this open file.
pub(crate) fn still_leads_to(path: &Utf8Path, file: &File) -> io::Result<bool> {
    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn rename_in_two_steps(from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
    let (from, to) = (from.as_std_path(), to.as_std_path());
    if from.symlink_metadata()?.is_dir() {
        return match to.symlink_metadata() {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => disk::rename_over(from, to),
            Err(error) => Err(error),
        };
    }
    disk::link(from, to)?;
    disk::remove_file(from)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use camino::Utf8PathBuf;

    use super::*;
    use crate::create;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path())
            .unwrap()
            .canonicalize_utf8()
            .unwrap();
        (folder, path)
    }

    #[test]
    fn folders_are_made_with_their_parents_and_may_exist_already() {
        let (_folder, base) = folder();
        ensure_dir(&base.join("a/b/c")).unwrap();
        ensure_dir(&base.join("a/b/c")).unwrap();
        assert!(base.join("a/b/c").is_dir());
    }

    #[test]
    fn a_file_in_the_way_of_a_folder_is_an_error_that_names_it() {
        let (_folder, base) = folder();
        create(&base.join("a"), b"").unwrap();
        for path in ["a", "a/b"] {
            let error = ensure_dir(&base.join(path)).unwrap_err();
            assert!(
                error.to_string().contains(base.join("a").as_str()),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_and_a_folder_can_be_renamed_across_folders() {
        let (_folder, base) = folder();
        create(&base.join("a/file"), b"1").unwrap();
        ensure_dir(&base.join("b")).unwrap();
        rename(&base.join("a/file"), &base.join("b/file")).unwrap();
        rename(&base.join("b"), &base.join("a/b")).unwrap();
        assert_eq!(fs::read(base.join("a/b/file")).unwrap(), b"1");
        assert!(!base.join("b").exists());
    }

    #[test]
    fn copies_go_with_all_that_is_in_them_and_an_empty_folder_alone() {
        let (_folder, base) = folder();
        create(&base.join("copies/deep/file"), b"1").unwrap();
        create(&base.join("kept"), b"2").unwrap();
        symlink(base.join("kept"), base.join("copies/link")).unwrap();
        remove_empty(&base.join("copies")).unwrap_err();
        assert!(base.join("copies/deep/file").exists());
        remove_copies(&base.join("copies")).unwrap();
        remove_copies(&base.join("copies")).unwrap();
        assert!(!base.join("copies").exists() && base.join("kept").exists());
        ensure_dir(&base.join("empty")).unwrap();
        remove_empty(&base.join("empty")).unwrap();
        assert!(!base.join("empty").exists());
    }

    #[test]
    fn rename_never_overwrites_in_one_step_or_two() {
        let (_folder, base) = folder();
        create(&base.join("from"), b"from").unwrap();
        create(&base.join("taken"), b"taken").unwrap();
        ensure_dir(&base.join("folder")).unwrap();
        ensure_dir(&base.join("empty")).unwrap();
        symlink("nowhere", base.join("dangling")).unwrap();
        for (from, to) in [
            ("from", "taken"),
            ("from", "dangling"),
            ("from", "empty"),
            ("folder", "empty"),
            ("folder", "taken"),
        ] {
            let (from, to) = (base.join(from), base.join(to));
            let error = rename(&from, &to).unwrap_err();
            assert!(
                matches!(&error, Error::Exists { path } if *path == to),
                "{error:?}"
            );
            let error = rename_in_two_steps(&from, &to).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        }
        assert_eq!(fs::read(base.join("from")).unwrap(), b"from");
        assert_eq!(fs::read(base.join("taken")).unwrap(), b"taken");
    }

    #[test]
    fn two_steps_lead_to_the_same_place_as_one() {
        let (_folder, base) = folder();
        create(&base.join("file"), b"1").unwrap();
        create(&base.join("folder/inner"), b"2").unwrap();
        rename_in_two_steps(&base.join("file"), &base.join("file-2")).unwrap();
        rename_in_two_steps(&base.join("folder"), &base.join("folder-2")).unwrap();
        assert_eq!(fs::read(base.join("file-2")).unwrap(), b"1");
        assert_eq!(fs::read(base.join("folder-2/inner")).unwrap(), b"2");
        assert!(!base.join("file").exists() && !base.join("folder").exists());
    }

    #[test]
    fn a_private_folder_lets_in_nobody_or_the_group_that_works_above() {
        use std::os::unix::fs::PermissionsExt as _;

        let (_folder, base) = folder();
        let mode = |path: &Utf8Path| fs::metadata(path).unwrap().mode() & 0o777;
        for (above, company, expected) in [
            (0o777, Company::Nobody, 0o700),
            (0o755, Company::GroupAbove, 0o700),
            (0o775, Company::GroupAbove, 0o770),
        ] {
            fs::set_permissions(&base, fs::Permissions::from_mode(above)).unwrap();
            let path = base.join(format!("{above:o}-{company:?}"));
            ensure_private_dir(&path, company).unwrap();
            // The umask of whoever runs the tests counts too.
            assert_eq!(mode(&path) & 0o707, expected & 0o707);
            assert_eq!(mode(&path) & !expected, 0, "{:o}", mode(&path));
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            ensure_private_dir(&path, company).unwrap();
            assert_eq!(mode(&path), 0o755, "what is there stays as it is");
        }
    }

    #[test]
    fn renaming_what_is_not_there_names_it() {
        let (_folder, base) = folder();
        let error = rename(&base.join("not-there"), &base.join("to")).unwrap_err();
        assert!(error.to_string().contains("not-there"), "{error}");
    }
}
