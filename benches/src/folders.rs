//! The size of folders.

use std::fs;
use std::io::{self, ErrorKind};
use std::ops::AddAssign;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What a folder holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) n_files: u64,
    /// The lengths of all files.
    pub(crate) bytes: u64,
    /// What the file system allocates for them, folders included.
    pub(crate) on_disk: u64,
}

impl AddAssign for Held {
    fn add_assign(&mut self, other: Self) {
        self.n_files += other.n_files;
        self.bytes += other.bytes;
        self.on_disk += other.on_disk;
    }
}

/// Returns the size of all files below a path; links are not followed, and a missing path has none.
pub(crate) fn held(path: &Path) -> Result<Held, String> {
    sum(path).map_err(|e| format!("cannot measure `{}`: {e}", path.display()))
}

fn sum(path: &Path) -> io::Result<Held> {
    let meta = match path.symlink_metadata() {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Held::default()),
        other => other?,
    };
    let is_file = !meta.is_dir();
    let mut held = Held {
        n_files: u64::from(is_file),
        bytes: if is_file { meta.len() } else { 0 },
        // The kernel counts blocks of 512 bytes on every file system.
        on_disk: meta.blocks() * 512,
    };
    if meta.is_dir() {
        for entry in fs::read_dir(path)? {
            held += sum(&entry?.path())?;
        }
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_below_a_folder_is_counted_once() {
        let folder = std::env::temp_dir().join(format!("rekindle-held-{}", std::process::id()));
        let folder = xtask::files::empty_folder(folder).unwrap();
        assert_eq!(held(&folder).unwrap().n_files, 0);
        fs::create_dir(folder.join("a")).unwrap();
        fs::write(folder.join("a/one"), "12345").unwrap();
        fs::write(folder.join("two"), "678").unwrap();
        std::os::unix::fs::symlink("/", folder.join("a/root")).unwrap();
        let all = held(&folder).unwrap();
        assert_eq!((all.n_files, all.bytes), (3, 5 + 3 + 1));
        assert_eq!(held(&folder.join("none")).unwrap(), Held::default());
        fs::remove_dir_all(&folder).unwrap();
    }
}
