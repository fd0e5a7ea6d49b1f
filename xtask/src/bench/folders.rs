//! Scratch folders of benches, and how much they hold.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What a folder holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) n_files: u64,
    /// The lengths of all files.
    pub(super) bytes: u64,
    /// What the file system sets aside for them, folders too.
    pub(super) on_disk: u64,
}

/// Makes a folder, empty; returns it.
pub(super) fn fresh(folder: &Path) -> Result<PathBuf, String> {
    let made = || {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)
    };
    made().map_err(|e: std::io::Error| format!("cannot clean `{}`: {e}", folder.display()))?;
    Ok(folder.to_owned())
}

/// Returns what is below a path; links are not followed, and a path that is not there holds nothing.
pub(super) fn held(path: &Path) -> Result<Held, String> {
    let cannot = |e: std::io::Error| format!("cannot look at `{}`: {e}", path.display());
    let meta = match path.symlink_metadata() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Held::default()),
        other => other.map_err(cannot)?,
    };
    let mut sum = Held {
        n_files: 0,
        bytes: 0,
        // The kernel counts in blocks of 512 bytes, whatever the file system does.
        on_disk: meta.blocks() * 512,
    };
    if !meta.is_dir() {
        sum.n_files = 1;
        sum.bytes = meta.len();
        return Ok(sum);
    }
    for entry in fs::read_dir(path).map_err(cannot)? {
        let inner = held(&entry.map_err(cannot)?.path())?;
        sum.n_files += inner.n_files;
        sum.bytes += inner.bytes;
        sum.on_disk += inner.on_disk;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_below_a_folder_is_counted_once() {
        let folder = std::env::temp_dir().join(format!("rekindle-held-{}", std::process::id()));
        fresh(&folder).unwrap();
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
