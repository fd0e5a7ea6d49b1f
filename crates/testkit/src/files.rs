//! Everything in a folder, to compare it before and after.

use std::collections::BTreeMap;
use std::{fmt, io};

use camino::{Utf8Path, Utf8PathBuf};

/// Everything in a project: the bytes of files, the targets of links, folders and pipes by their kind.
#[derive(Clone, PartialEq, Eq)]
pub struct Files(BTreeMap<Utf8PathBuf, Vec<u8>>);

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(path, bytes): (&Utf8PathBuf, &Vec<u8>)| {
            (path.clone(), String::from_utf8_lossy(bytes).into_owned())
        };
        f.debug_map().entries(self.0.iter().map(shown)).finish()
    }
}

impl Files {
    /// Takes everything that stands in a folder.
    pub fn below(folder: &Utf8Path) -> io::Result<Self> {
        let mut found = BTreeMap::new();
        collect(folder, folder, &mut found)?;
        Ok(Self(found))
    }

    /// Returns what is other in `after`, one a line: `+` is new, `~` is changed, `-` is gone.
    pub fn changes(&self, after: &Self) -> Vec<String> {
        let gone = self.0.keys().filter(|path| !after.0.contains_key(*path));
        let mut changes: Vec<String> = gone.map(|path| format!("- {path}")).collect();
        for (path, bytes) in &after.0 {
            match self.0.get(path) {
                None => changes.push(format!("+ {path}")),
                Some(before) if before != bytes => changes.push(format!("~ {path}")),
                Some(_) => {}
            }
        }
        changes
    }

    /// Returns the same with a file without the lines that begin like this.
    #[must_use]
    pub fn without_lines(mut self, path: &str, start: &str) -> Self {
        if let Some(bytes) = self.0.get_mut(Utf8Path::new(path)) {
            let lines = bytes.split_inclusive(|&byte| byte == b'\n');
            *bytes = lines
                .filter(|line| !line.starts_with(start.as_bytes()))
                .flatten()
                .copied()
                .collect();
        }
        self
    }

    /// Returns the same with other bytes in a file.
    #[must_use]
    pub fn with(mut self, path: &Utf8Path, bytes: &[u8]) -> Self {
        self.0.insert(path.to_owned(), bytes.to_vec());
        self
    }

    /// Returns everything, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&Utf8Path, &[u8])> {
        self.0
            .iter()
            .map(|(path, bytes)| (path.as_path(), bytes.as_slice()))
    }

    /// Returns the part in whose paths no name begins like this.
    #[must_use]
    pub fn except_names(&self, start: &str) -> Self {
        let is_meant = |path: &Utf8Path| {
            let mut parts = path.components();
            parts.any(|part| part.as_str().starts_with(start))
        };
        let others = self.0.iter().filter(|(path, _)| !is_meant(path));
        Self(
            others
                .map(|(path, bytes)| (path.clone(), bytes.clone()))
                .collect(),
        )
    }

    /// Returns the part that is not below a folder.
    #[must_use]
    pub fn except(&self, folder: &str) -> Self {
        let outside = self.0.iter().filter(|(path, _)| !path.starts_with(folder));
        Self(
            outside
                .map(|(path, bytes)| (path.clone(), bytes.clone()))
                .collect(),
        )
    }
}

fn collect(
    top: &Utf8Path,
    folder: &Utf8Path,
    found: &mut BTreeMap<Utf8PathBuf, Vec<u8>>,
) -> io::Result<()> {
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let path = entry.path();
        let contents = if kind.is_file() {
            fs_err::read(path)?
        } else if kind.is_symlink() {
            let target = fs_err::read_link(path)?;
            format!("link to {}", target.display()).into_bytes()
        } else if kind.is_dir() {
            collect(top, path, found)?;
            b"folder".to_vec()
        } else {
            b"neither file nor folder".to_vec()
        };
        let shown = path.strip_prefix(top).unwrap_or(path);
        found.insert(shown.to_owned(), contents);
    }
    Ok(())
}
