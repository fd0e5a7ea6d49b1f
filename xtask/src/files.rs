//! Reads and writes files and folders; every error names the path.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Reads a text file.
pub fn read(path: impl AsRef<Path>) -> Result<String, String> {
    fs::read_to_string(&path).map_err(cannot("read", path.as_ref()))
}

/// Writes a file, and the folders above it.
pub fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> Result<(), String> {
    let path = path.as_ref();
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, contents))
        .map_err(cannot("write", path))
}

/// Makes a folder and those above it.
pub fn make_folder(path: impl AsRef<Path>) -> Result<(), String> {
    fs::create_dir_all(&path).map_err(cannot("make", path.as_ref()))
}

/// Removes a folder if it exists and makes it again, empty; returns its path.
pub fn empty_folder(path: impl Into<PathBuf>) -> Result<PathBuf, String> {
    let path = path.into();
    if path.exists() {
        fs::remove_dir_all(&path).map_err(cannot("remove", &path))?;
    }
    make_folder(&path)?;
    Ok(path)
}

/// Returns the paths in a folder, sorted.
pub fn list(folder: impl AsRef<Path>) -> Result<Vec<PathBuf>, String> {
    let folder = folder.as_ref();
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<Vec<_>>>()
    });
    let mut paths = entries.map_err(cannot("list", folder))?;
    paths.sort();
    Ok(paths)
}

/// Returns all files below a folder, sorted; a folder that does not exist has none.
pub fn list_all(folder: &Path) -> Result<Vec<PathBuf>, String> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for path in list(folder)? {
        if path.is_dir() {
            files.extend(list_all(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn cannot(verb: &str, path: &Path) -> impl FnOnce(io::Error) -> String {
    move |error| format!("cannot {verb} `{}`: {error}", path.display())
}
