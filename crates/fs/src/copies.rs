//! Copies of single files, and links to files, that can be made again at any time.
//!
//! They are not synced: after a crash a copy may be missing or have other bytes, and then its length
//! or its time tells so, and the next call makes it again.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};

use crate::confine::confine;
use crate::error::At as _;
use crate::folder::{ensure_dir, parent};
use crate::{Error, GuardedFile, disk};

/// Copies a file to a path below `root`, unless a copy with its length, time and mode is there.
/// Returns whether there is one now: what is neither a file nor a link to one is not copied.
///
/// Where the file system can, the copy shares its blocks with the file. A link in the place of the
/// copy is replaced, and one that leads out of `root` on the way to it is [`Error::Outside`].
pub fn copy_into(from: &Utf8Path, root: &Utf8Path, to: &Utf8Path) -> Result<bool, Error> {
    let source = match GuardedFile::open_followed(from) {
        Ok(Some(source)) => source,
        Ok(None) | Err(Error::NotAFile(_)) => return Ok(false),
        Err(error) => return Err(error),
    };
    let of_source = source.metadata()?;
    let to = place_below(root, to)?;
    let modified = of_source.modified().at("look at", from)?;
    let mode = |found: &Metadata| found.permissions().mode() & 0o777;
    if let Ok(found) = to.symlink_metadata() {
        if found.is_dir() {
            return Ok(false);
        }
        let is_same = found.is_file()
            && found.len() == of_source.len()
            && found.modified().ok() == Some(modified)
            && mode(&found) == mode(&of_source);
        if is_same {
            return Ok(true);
        }
        // It may be a link, or a second name of a file.
        disk::remove_file(to.as_std_path()).at("remove", &to)?;
    }
    ensure_dir(parent(&to))?;
    // Not through a file with another name: after a crash nobody would know that it is a copy.
    let real = from.canonicalize_utf8().at("resolve", from)?;
    disk::copy(real.as_std_path(), to.as_std_path()).at("copy", from)?;
    let copy = GuardedFile::open(&to)?.map(GuardedFile::into_file);
    if let Some(copy) = copy {
        disk::set_time_of(&copy, modified).at("keep the time of", from)?;
    }
    Ok(true)
}

/// Makes a link to `target` at a path below `root`, in the place of another link; returns whether
/// it is there now. Anything else stays.
pub fn link_into(target: &Utf8Path, root: &Utf8Path, path: &Utf8Path) -> Result<bool, Error> {
    let path = place_below(root, path)?;
    match path.symlink_metadata() {
        Ok(found) if !found.is_symlink() => return Ok(false),
        Ok(_) if path.read_link_utf8().is_ok_and(|now| now == target) => return Ok(true),
        Ok(_) => disk::remove_file(path.as_std_path()).at("remove the link", &path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => ensure_dir(parent(&path))?,
        Err(error) => return Err(error).at("look at", &path),
    }
    disk::make_link(target.as_std_path(), path.as_std_path()).at("make the link", &path)?;
    Ok(true)
}

/// Removes a copy or link that one of the functions above made; a folder stays.
pub fn remove_copy(root: &Utf8Path, path: &Utf8Path) -> Result<(), Error> {
    let path = place_below(root, path)?;
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => disk::remove_file(path.as_std_path()).at("remove", &path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).at("look at", &path),
    }
}

/// Returns the path with its folder resolved, which must be inside `root`.
fn place_below(root: &Utf8Path, path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) => Ok(confine(root, above)?.join(name)),
        _ => Err(Error::NotAFile(path.to_owned())),
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the test writes as another program does"
)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::create;
    use crate::log::tests::folder;

    #[test]
    fn a_copy_has_bytes_mode_and_time_and_is_made_again_when_it_differs() {
        let (_folder, base) = folder();
        let (from, root) = (base.join("secret"), base.join("work"));
        let to = root.join("deep/secret");
        ensure_dir(&root).unwrap();
        create(&from, b"KEY=1").unwrap();
        fs::set_permissions(&from, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(copy_into(&from, &root, &to).unwrap());
        let (of_source, of_copy) = (fs::metadata(&from).unwrap(), fs::metadata(&to).unwrap());
        assert_eq!(fs::read(&to).unwrap(), b"KEY=1");
        assert_eq!(of_copy.permissions(), of_source.permissions());
        assert_eq!(of_copy.modified().unwrap(), of_source.modified().unwrap());
        fs::write(&to, b"KEY=2 and more").unwrap();
        assert!(copy_into(&from, &root, &to).unwrap());
        assert_eq!(fs::read(&to).unwrap(), b"KEY=1");
        remove_copy(&root, &to).unwrap();
        remove_copy(&root, &to).unwrap();
        assert!(!to.exists() && from.exists());
    }

    #[test]
    fn what_is_no_file_is_not_copied_and_a_link_in_the_way_is_never_followed() {
        let (_folder, base) = folder();
        let root = base.join("work");
        ensure_dir(&root).unwrap();
        ensure_dir(&base.join("from")).unwrap();
        create(&base.join("outside/file"), b"mine").unwrap();
        create(&base.join("new"), b"new").unwrap();
        assert!(!copy_into(&base.join("from"), &root, &root.join("a")).unwrap());
        assert!(!copy_into(&base.join("none"), &root, &root.join("a")).unwrap());
        symlink(base.join("outside/file"), root.join("a")).unwrap();
        assert!(copy_into(&base.join("new"), &root, &root.join("a")).unwrap());
        assert_eq!(fs::read(root.join("a")).unwrap(), b"new");
        symlink(base.join("outside"), root.join("out")).unwrap();
        for path in ["out/file", "../outside/file"] {
            let path = root.join(path);
            copy_into(&base.join("new"), &root, &path).unwrap_err();
            link_into(&base.join("new"), &root, &path).unwrap_err();
            remove_copy(&root, &path).unwrap_err();
        }
        assert_eq!(fs::read(base.join("outside/file")).unwrap(), b"mine");
    }

    #[test]
    fn a_link_takes_the_place_of_a_link_and_of_nothing_else() {
        let (_folder, base) = folder();
        let (root, target) = (base.join("work"), base.join("modules"));
        ensure_dir(&root).unwrap();
        ensure_dir(&target).unwrap();
        let path = root.join("modules");
        symlink("elsewhere", &path).unwrap();
        for _ in 0..2 {
            assert!(link_into(&target, &root, &path).unwrap());
            assert_eq!(path.read_link_utf8().unwrap(), target);
        }
        remove_copy(&root, &path).unwrap();
        assert!(target.is_dir());
        ensure_dir(&path).unwrap();
        assert!(!link_into(&target, &root, &path).unwrap());
        remove_copy(&root, &path).unwrap();
        assert!(path.is_dir() && !path.is_symlink());
    }
}
