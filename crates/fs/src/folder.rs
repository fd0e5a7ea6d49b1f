//! Folders: creating, syncing and renaming them without overwriting anything.
//!
//! `fsync` of a file does not cover its name, so every function that changes names syncs the
//! folders.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::io::Errno;

use crate::confine::resolve;
use crate::error::At as _;
use crate::{Error, disk};

/// Creates the folder and its missing parents durably; an existing folder is left alone.
pub fn ensure_dir(path: &Utf8Path) -> Result<(), Error> {
    let path = resolve(path)?;
    let mut missing: Vec<&Utf8Path> = path
        .ancestors()
        .take_while(|folder| !folder.is_dir())
        .collect();
    while let Some(folder) = missing.pop() {
        match disk::make_folder(folder.as_std_path()) {
            Ok(()) => {}
            // Another process may have created it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => return Err(error).at("make the folder", folder),
        }
        sync_parent(folder)?;
    }
    Ok(())
}

/// Who else may access a private folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// Nobody.
    Nobody,
    /// The group, if it may write to the parent folder.
    GroupAbove,
}

/// Creates a folder that others cannot look into, durably; an existing one is left as it is.
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
        // Another process may have created it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error).at("make the folder", &path),
    }
}

/// Creates a folder with files that appears completely or not at all, durably.
///
/// The files are written under a hidden name next to it and synced together; the rename comes last.
/// [`sweep_drafts`](crate::sweep_drafts) removes what a crash leaves. Gives [`Error::Exists`] when
/// the name is taken.
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
    let mut made: Option<Utf8PathBuf> = None;
    for (relative, contents) in files {
        let file = draft.join(relative);
        let folder = parent(&file);
        // Thousands of files are in one folder.
        if made.as_deref() != Some(folder) {
            disk::make_folders(folder.as_std_path()).at("make the folder", folder)?;
            made = Some(folder.to_owned());
        }
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let opened = disk::open(&options, file.as_std_path()).at("make", &file)?;
        disk::write_all(&opened, contents.as_bytes()).at("write", &file)?;
    }
    // One sync for all, since thousands of small files would each cost one.
    let folder = File::open(draft).at("open", draft)?;
    disk::sync_file_system(&folder).at("sync", draft)
}

/// Moves a file or folder to a free name, durably.
///
/// Gives [`Error::Exists`] and changes nothing when the name is taken, even by a dangling link.
/// Where the file system cannot do this in one step, a file is linked and then unlinked, so that a
/// crash leaves both names and never none; a folder is renamed after a check, and an empty folder
/// created in between would be overwritten.
pub fn rename(from: &Utf8Path, to: &Utf8Path) -> Result<(), Error> {
    let renamed = match disk::rename_if_free(from.as_std_path(), to.as_std_path()) {
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => rename_in_two_steps(from, to),
        other => other.map_err(io::Error::from),
    };
    match renamed {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Error::Exists(to.to_owned()));
        }
        // The system does not say which of the two paths it means; the missing one is named.
        other if from.symlink_metadata().is_err() => other.at("rename", from)?,
        other => other.at("rename to", to)?,
    }
    // The new name first: a crash in between may show the file twice but not lose it.
    sync_parent(to)?;
    if from.parent() != to.parent() {
        sync_parent(from)?;
    }
    Ok(())
}

/// Removes a folder with its contents, durably, following no links; a missing folder is fine.
///
/// Only for rekindle's own copies of what is stored elsewhere.
pub fn remove_copies(folder: &Utf8Path) -> Result<(), Error> {
    match disk::remove_all(folder.as_std_path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).at("remove", folder),
        Ok(()) => sync_parent(folder),
    }
}

/// Removes a folder with its contents, durably; a missing folder is fine.
///
/// It is renamed first: after a crash all of it is there under its name, or none of it, and
/// [`sweep_drafts`](crate::sweep_drafts) removes the rest.
pub fn discard(folder: &Utf8Path) -> Result<(), Error> {
    if folder.symlink_metadata().is_err() {
        return Ok(());
    }
    let gone = crate::temporary::draft_beside(folder);
    rename(folder, &gone)?;
    remove_copies(&gone)
}

/// Removes an empty folder, durably; any other is an error.
pub fn remove_empty(folder: &Utf8Path) -> Result<(), Error> {
    disk::remove_folder(folder.as_std_path()).at("remove", folder)?;
    sync_parent(folder)
}

/// Syncs the folder that contains this name.
pub(crate) fn sync_parent(path: &Utf8Path) -> Result<(), Error> {
    let folder = parent(path);
    let synced = File::open(folder).and_then(|folder| disk::sync(&folder));
    match synced {
        // Some network and user-space file systems cannot sync a folder and say so.
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

    use super::*;
    use crate::create;
    use crate::log::tests::folder;

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
    fn copies_are_removed_with_their_contents_and_other_folders_only_when_empty() {
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
    fn what_is_discarded_is_gone_with_all_that_was_in_it_and_no_link_is_followed() {
        let (_folder, base) = folder();
        create(&base.join("old/deep/file"), b"1").unwrap();
        create(&base.join("kept"), b"2").unwrap();
        symlink(base.join("kept"), base.join("old/link")).unwrap();
        discard(&base.join("old")).unwrap();
        discard(&base.join("old")).unwrap();
        let left = fs::read_dir(&base).unwrap().map(|entry| entry.unwrap());
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["kept"]);
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
                matches!(&error, Error::Exists(path) if *path == to),
                "{error:?}"
            );
            let error = rename_in_two_steps(&from, &to).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        }
        assert_eq!(fs::read(base.join("from")).unwrap(), b"from");
        assert_eq!(fs::read(base.join("taken")).unwrap(), b"taken");
    }

    #[test]
    fn renaming_in_two_steps_gives_the_same_result_as_in_one() {
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
    fn a_private_folder_excludes_all_but_the_group_of_its_parent() {
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
            // The umask of the test process counts too.
            assert_eq!(mode(&path) & 0o707, expected & 0o707);
            assert_eq!(mode(&path) & !expected, 0, "{:o}", mode(&path));
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            ensure_private_dir(&path, company).unwrap();
            assert_eq!(mode(&path), 0o755, "an existing folder stays as it is");
        }
    }

    #[test]
    fn renaming_a_missing_file_names_it() {
        let (_folder, base) = folder();
        let error = rename(&base.join("not-there"), &base.join("to")).unwrap_err();
        assert!(error.to_string().contains("not-there"), "{error}");
    }
}
